"""`revgen matrix`: the inventory as a table."""

from __future__ import annotations

import collections.abc
import pathlib
import shutil
import textwrap
from typing import Any

import click

from ..documents.matrix import specification_markdown
from ..documents.matrix_html import matrix_html
from ..inventory.concerns import Area
from ..inventory.table import Cell, Line, Row, rows
from ..specification.loading import Specification, load_specification
from ..writing import files
from .options import Settings, takes_settings

_NARROWEST, _WIDEST = 12, 40


@click.command(name="matrix")
@click.option(
    "--format", "format_", type=click.Choice(["terminal", "markdown", "html"]), default="terminal", show_default=True
)
@click.option("--area", "names", multiple=True, help="Only this area; may be given several times.")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=pathlib.Path),
    help="Write it to this file instead of showing it.",
)
@takes_settings(only_shows=True)
def command(settings: Settings, format_: str, names: tuple[str, ...], output: pathlib.Path | None) -> None:
    """Show what each revision answers to each concern.

    A bold answer differs from that of the revision before; an asterisk marks it too.

    \b
    Examples:
      revgen matrix
      revgen matrix --area envelope
      revgen matrix --format markdown > matrix.md
      revgen matrix --format html --output matrix.html
    """
    specification = load_specification(settings.root)
    known = [area.name for area in specification.areas]
    for name in names:
        if name not in known:
            raise click.UsageError(f"'{name}' is not an area; areas: {', '.join(known)}")
    areas = [area for area in specification.areas if not names or area.name in names]
    if format_ == "markdown":
        text = specification_markdown(specification, areas)
    elif format_ == "html":
        text = matrix_html(specification, areas)
    else:
        width = shutil.get_terminal_size((120, 24)).columns
        text = "\n\n".join(_table(area, specification, width) for area in areas)
    if output is not None:
        files.apply(pathlib.Path.cwd(), {str(output): click.unstyle(text) + "\n"})
    else:
        settings.show({area.name: _data(area) for area in areas}, text)


def _data(area: Area) -> dict[str, Any]:
    return {
        row.concern.name: {
            "question": row.concern.question,
            "kind": row.concern.kind,
            "answers": {
                cell.version: {
                    "is": [line.text for line in cell.lines if not line.gone],
                    "changed": cell.changed,
                    "citations": [str(citation) for citation in cell.citations],
                }
                for cell in row.cells
            },
        }
        for row in rows(area)
    }


def _table(area: Area, specification: Specification, width: int) -> str:
    """Columns of equal width beside the names of the concerns; what is longer than its column goes on below."""
    names = max(len(concern.name) for concern in area.concerns)
    column = min(max(_NARROWEST, (width - names) // len(specification.versions) - 2), _WIDEST)
    head = "".join(f"  {version:<{column}}" for version in specification.versions).rstrip()
    lines = [click.style(area.title, bold=True), f"{'':<{names}}{head}"]
    for row in rows(area):
        lines += _row(row, names, column)
    return "\n".join(lines)


def _row(row: Row, names: int, column: int) -> collections.abc.Iterator[str]:
    cells = [[text for line in cell.lines for text in _wrapped(line, cell, column)] for cell in row.cells]
    for number in range(max(map(len, cells), default=0) or 1):
        name = row.concern.name if number == 0 else ""
        parts = [cell[number] if number < len(cell) else ("", False) for cell in cells]
        shown = ((click.style(text, bold=True) if bold else text) + " " * (column - len(text)) for text, bold in parts)
        yield f"{name:<{names}}  {'  '.join(shown)}".rstrip()


def _wrapped(line: Line, cell: Cell, column: int) -> list[tuple[str, bool]]:
    text = f"- {line.text}" if line.gone else f"* {line.text}" if line.changed else line.text
    return [(part, line.changed) for part in textwrap.wrap(text, column)] or [("", False)]
