"""Writes `v*/models.py` and `v*/__init__.py`: one revision's schema as typed messages, and the package that gives them by name.

Rule: every type comes from that revision's own schema and its corrections; other revisions only tell since and until when it is.
"""

from __future__ import annotations

import collections.abc
import contextlib
import pathlib

import jinja2

from ..canonical.origins import Origins, find_origins
from ..canonical.words import PATH as WORDS
from ..reading.located import Place, Problem, SpecificationError
from ..rendering.output import Output, python_header
from ..schemas.published import PATH as CORRECTIONS
from ..schemas.revisions import PATH as REVISIONS
from ..schemas.revisions import Revision
from ..specification.loading import Specification
from ..specification.vocabulary import PATH as VOCABULARY
from ..templates.skeletons import failure
from .docstrings import revision_docstrings
from .text import render_models, render_package

TEMPLATES = "templates/models"

VOCABULARY_INPUTS = (REVISIONS, "specs/schemas/", "specs/pages/", CORRECTIONS, VOCABULARY, WORDS, f"{TEMPLATES}/")
"""What a module depends on that says of a type which revisions have it."""


@contextlib.contextmanager
def faults_of(path: str, root: pathlib.Path) -> collections.abc.Iterator[None]:
    """Say of a schema, by the path of its file, what rendering found wrong with it; of a template, at which of its lines."""
    try:
        yield
    except jinja2.TemplateError as error:
        raise failure(error, root, TEMPLATES) from error
    except ValueError as error:
        raise SpecificationError([Problem(Place(path, 1, 1), str(error))]) from error


def origins_of(specification: Specification) -> Origins:
    """Which revisions have what of the vocabulary."""
    drafts = [revision.version for revision in specification.revisions if revision.draft]
    return find_origins(specification.schemas, specification.rules, specification.canonical, drafts)


def write_models(specification: Specification, revision: Revision) -> list[Output]:
    """The models of one revision and its package."""
    schema = specification.schemas[revision.version]
    inputs = specification.inputs_under(REVISIONS, CORRECTIONS, revision.schema_path)
    folder = f"generated/mcp_revisions/{revision.module}"
    made_of = specification.inputs_under(*VOCABULARY_INPUTS)
    origins = origins_of(specification)
    with faults_of(revision.schema_path, specification.root):
        models = render_models(
            schema,
            templates=specification.root / TEMPLATES,
            header=python_header(made_of),
            docstring=f"The messages of {revision.version}: every definition of the published schema, under its name.",
            docstrings=revision_docstrings(revision, schema, specification.words, origins),
        )
        package = render_package(
            schema["$defs"],
            header=python_header(inputs),
            docstring=f"{revision.version}: its adapter and its messages, imported when they are asked for.",
            attributes={"Adapter": "adapter"},
        )
    return [Output(f"{folder}/__init__.py", package, inputs), Output(f"{folder}/models.py", models, made_of)]
