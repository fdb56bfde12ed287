"""Writes `docs/matrix.md`: the inventory for reading, with its sources.

Rule: a concern is a section and a revision a line in it, so that one answer changes one line and a revision adds one to each section.
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
    "Each question with the answer of every revision, oldest first, and its sources. **Bold** differs from the revision before; "
    "~~struck out~~ was only there.\n"
)


def write_matrix(specification: Specification) -> list[Output]:
    """The inventory as Markdown."""
    inputs = specification.inputs_under(REVISIONS, f"{INVENTORY}/")
    return [markdown_output(PATH, specification_markdown(specification, specification.areas), inputs)]


def specification_markdown(specification: Specification, areas: collections.abc.Iterable[Area]) -> str:
    """A section for each of the areas, and within it one for each concern."""
    pages = {revision.version: revision.pages for revision in specification.revisions}
    return "\n".join([_INTRODUCTION, *(_area(area, pages) for area in areas)])


def _area(area: Area, pages: collections.abc.Mapping[str, str]) -> str:
    lines = [f"## {area.title}", ""]
    for row in rows(area):
        lines += [f"### `{row.concern.name}`", "", row.concern.question, "", *_answers(row, pages), ""]
    return "\n".join(lines)


def _line(line: Line, cell: Cell) -> str:
    if line.gone:
        return f"~~{line.text}~~"
    # Where only the order changed, no line differs on its own.
    alone = not any(other.changed for other in cell.lines)
    return f"**{line.text}**" if line.changed or (cell.changed and alone) else line.text


def _answers(row: Row, pages: collections.abc.Mapping[str, str]) -> collections.abc.Iterator[str]:
    for cell in row.cells:
        said = "; ".join(_line(line, cell) for line in cell.lines) or "none"
        cited = "; ".join(_source(citation, pages[cell.version]) for citation in cell.citations)
        yield f"* {cell.version}: {said} ({cited})"


def _source(citation: Citation, pages: str) -> str:
    if citation.form == "page":
        return f"[{citation.text}]({pages}/{citation.text})"
    return f"schema `{citation.text}`" if citation.form == "schema" else str(citation)
