"""Writes `docs/matrix.md`: the inventory for reading, with its sources.

Rule: a concern is a section and a revision a line in it, so that one answer changes one line and a revision adds one to each section.
"""

from __future__ import annotations

import collections.abc

from ..inventory.concerns import FOLDER as INVENTORY
from ..inventory.concerns import Area
from ..inventory.table import rows
from ..rendering.output import Output, markdown_output
from ..schemas.revisions import PATH as REVISIONS
from ..specification.loading import Specification
from ..templates.beside_code import render_beside

PATH = "generated/docs/matrix.md"


def write_matrix(specification: Specification) -> list[Output]:
    """The inventory as Markdown."""
    inputs = specification.inputs_under(REVISIONS, f"{INVENTORY}/")
    return [markdown_output(PATH, specification_markdown(specification, specification.areas), inputs)]


def specification_markdown(specification: Specification, areas: collections.abc.Iterable[Area]) -> str:
    """A section for each of the areas, and within it one for each concern."""
    pages = {revision.version: revision.pages for revision in specification.revisions}
    return render_beside(__file__, "matrix.md", areas=[(area.title, rows(area)) for area in areas], pages=pages)
