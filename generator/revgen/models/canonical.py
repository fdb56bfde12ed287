"""Writes `canonical.py`: the vocabulary that handlers and callers use, as typed values.

Rule: it comes from the merged schema alone; which revision a member stems from does not show.
"""

from __future__ import annotations

from ..rendering.output import Output, python_header
from ..schemas.normal_form import DIALECT
from ..schemas.published import PATH as CORRECTIONS
from ..schemas.revisions import PATH as REVISIONS
from ..specification.loading import Specification
from ..specification.vocabulary import PATH as VOCABULARY
from .modules import TEMPLATES, faults_of
from .text import render_models


def write_canonical(specification: Specification) -> list[Output]:
    """The canonical vocabulary."""
    inputs = specification.inputs_under(REVISIONS, "specs/schemas/", CORRECTIONS, VOCABULARY, f"{TEMPLATES}/")
    newest_first = tuple(reversed(specification.revisions))

    def link(name: str) -> str:
        having = (revision for revision in newest_first if name in specification.schemas[revision.version]["$defs"])
        return next(having, newest_first[0]).link(name)

    with faults_of(VOCABULARY):
        text = render_models(
            {"$schema": DIALECT, **specification.canonical},
            templates=specification.root / TEMPLATES,
            header=python_header(inputs),
            docstring="What handlers and callers say, whatever revision carries it.",
            link=link,
        )
    return [Output("generated/mcp_revisions/canonical.py", text, inputs)]
