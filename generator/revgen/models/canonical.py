"""Writes `canonical.py`: the vocabulary that handlers and callers use, as typed values.

Rule: every type comes from the merged schema; which revisions have it is told in words alone.
"""

from __future__ import annotations

from ..canonical.merge import published_aliases
from ..rendering.output import Output, python_header
from ..schemas.normal_form import DIALECT
from ..schemas.references import reference
from ..specification.loading import Specification
from ..specification.vocabulary import PATH as VOCABULARY
from .docstrings import canonical_docstrings
from .modules import TEMPLATES, VOCABULARY_INPUTS, faults_of, origins_of
from .text import render_models


def write_canonical(specification: Specification) -> list[Output]:
    """The canonical vocabulary."""
    inputs = specification.inputs_under(*VOCABULARY_INPUTS)
    origins = origins_of(specification)
    renamed = _renamed(specification)
    definitions = {**specification.canonical["$defs"], **{old: reference(name) for old, name in renamed.items()}}
    docstrings = canonical_docstrings(
        specification.revisions, specification.schemas, specification.canonical, specification.words, origins, renamed
    )
    with faults_of(VOCABULARY, specification.root):
        text = render_models(
            {"$schema": DIALECT, "$defs": dict(sorted(definitions.items()))},
            templates=specification.root / TEMPLATES,
            header=python_header(inputs),
            docstring="What handlers and callers say, whatever revision carries it.",
            docstrings=docstrings,
        )
    return [Output("generated/mcp_revisions/canonical.py", text, inputs)]


def _renamed(specification: Specification) -> dict[str, str]:
    """Names that a move takes from a type, where no other type has them: each with the canonical name."""
    return {
        old: name
        for schema in specification.schemas.values()
        for old, name in sorted(published_aliases(schema, specification.rules).items())
        if old not in specification.canonical["$defs"] and name in specification.canonical["$defs"]
    }
