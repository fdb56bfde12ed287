"""Writes `docs/matrix.md`: the inventory for reading, with its sources.

Rule: nothing is numbered and no column is padded, so one answer changes the lines of its own concern only.
"""

from __future__ import annotations

import collections.abc

from ..inventory.citations import Citation
from ..inventory.concerns import FOLDER as INVENTORY
from ..inventory.concerns import Area
from ..inventory.table import Cell, Line, Row, rows
from ..rendering.output import Output, markdown_output
from ..schemas.revisions import PATH as REVISIONS
from ..specification.loading import Specification

PATH = "generated/docs/matrix.md"

_INTRODUCTION = (
    "# What varies between revisions\n\n"
    "A column is a revision, oldest first. **Bold** differs from the revision before; ~~struck out~~ was only there.\n"
)


def write_matrix(specification: Specification) -> list[Output]:
    """The inventory as Markdown."""
    inputs = specification.inputs_under(REVISIONS, f"{INVENTORY}/")
    return [markdown_output(PATH, specification_markdown(specification, specification.areas), inputs)]


def specification_markdown(specification: Specification, areas: collections.abc.Iterable[Area]) -> str:
    """A table for each of the areas, and below it the question and the sources of each concern."""
    pages = {revision.version: revision.pages for revision in specification.revisions}
    return "\n".join([_INTRODUCTION, *(_area(area, specification.versions, pages) for area in areas)])


def _area(area: Area, versions: collections.abc.Sequence[str], pages: collections.abc.Mapping[str, str]) -> str:
    table = rows(area)
    lines = [
        f"## {area.title}",
        "",
        f"| concern | {' | '.join(versions)} |",
        f"| --- |{' --- |' * len(versions)}",
        *(f"| `{row.concern.name}` | {' | '.join(map(_cell, row.cells))} |" for row in table),
        "",
    ]
    for row in table:
        lines += [f"`{row.concern.name}`: {row.concern.question}", "", *_sources(row, pages), ""]
    return "\n".join(lines)


def _cell(cell: Cell) -> str:
    return "<br>".join(_line(line, cell) for line in cell.lines).replace("|", "\\|")


def _line(line: Line, cell: Cell) -> str:
    if line.gone:
        return f"~~{line.text}~~"
    # Where only the order changed, no line differs on its own.
    alone = not any(other.changed for other in cell.lines)
    return f"**{line.text}**" if line.changed or (cell.changed and alone) else line.text


def _sources(row: Row, pages: collections.abc.Mapping[str, str]) -> collections.abc.Iterator[str]:
    for cell in row.cells:
        cited = "; ".join(_source(citation, pages[cell.version]) for citation in cell.citations)
        yield f"* {cell.version}: {cited}"


def _source(citation: Citation, pages: str) -> str:
    if citation.form == "page":
        return f"[{citation.text}]({pages}/{citation.text})"
    return f"schema `{citation.text}`" if citation.form == "schema" else str(citation)
