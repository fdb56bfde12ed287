"""Words the inventory as one HTML file: no network, no script, for a narrow screen, for paper, for light and dark.

Rule: what is said in colour is said in text as well. Every answer links to its source: to the page or the schema that it is in, or,
for a policy, to the sentence at the end of the file.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from ..inventory.citations import Citation
from ..inventory.concerns import Area, Concern
from ..inventory.table import Cell, Row, rows
from ..specification.loading import Specification
from ..templates.beside_code import render_beside
from .sources import sources


@dataclasses.dataclass(frozen=True)
class _Row:
    concern: Concern
    cells: tuple[_Cell, ...]


@dataclasses.dataclass(frozen=True)
class _Cell:
    """A cell with where each of its sources is to be read; policies are at the end of the page."""

    cell: Cell
    links: tuple[str, ...]
    policies: tuple[Citation, ...]


def matrix_html(specification: Specification, areas: Iterable[Area]) -> str:
    """The page, without a newline at its end.

    Args:
        specification: the inputs, checked.
        areas: those that are to be on it.
    """
    return render_beside(
        __file__,
        "matrix.html",
        versions=specification.versions,
        tables=[(area, [_row(specification, row) for row in rows(area)]) for area in areas],
    )


def _row(specification: Specification, row: Row) -> _Row:
    return _Row(row.concern, tuple(_cell(specification, row.concern, cell) for cell in row.cells))


def _cell(specification: Specification, concern: Concern, cell: Cell) -> _Cell:
    found = sources(specification, cell.version, cell.citations)
    return _Cell(
        cell,
        links=tuple(source.address or f"#{concern.name}-{cell.version}" for source in found),
        policies=tuple(citation for citation in cell.citations if citation.form == "policy"),
    )
