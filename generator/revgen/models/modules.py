"""Writes `v*/models.py` and `v*/__init__.py`: one revision's schema as typed messages, and the package that gives them by name.

Rule: everything here comes from that revision's own schema and its corrections; no other revision is looked at.
"""

from __future__ import annotations

import collections.abc
import contextlib

from ..reading.located import Place, Problem, SpecificationError
from ..rendering.output import Output, python_header
from ..schemas.published import PATH as CORRECTIONS
from ..schemas.revisions import PATH as REVISIONS
from ..schemas.revisions import Revision
from ..specification.loading import Specification
from .text import render_models, render_package

TEMPLATES = "templates/models"


@contextlib.contextmanager
def faults_of(path: str) -> collections.abc.Iterator[None]:
    """Say of a schema, by the path of its file, what rendering found wrong with it."""
    try:
        yield
    except ValueError as error:
        raise SpecificationError([Problem(Place(path, 1, 1), str(error))]) from error


def write_models(specification: Specification, revision: Revision) -> list[Output]:
    """The models of one revision and its package."""
    schema = specification.schemas[revision.version]
    inputs = specification.inputs_under(REVISIONS, CORRECTIONS, revision.schema_path)
    folder = f"generated/mcp_revisions/{revision.module}"
    made_of = (*inputs, *specification.inputs_under(f"{TEMPLATES}/"))
    with faults_of(revision.schema_path):
        models = render_models(
            schema,
            templates=specification.root / TEMPLATES,
            header=python_header(made_of),
            docstring=f"The messages of {revision.version}: every definition of the published schema, under its name.",
            link=revision.link,
        )
        package = render_package(
            schema["$defs"],
            header=python_header(inputs),
            docstring=f"{revision.version}: its adapter and its messages, imported when they are asked for.",
            attributes={"Adapter": "adapter"},
        )
    return [Output(f"{folder}/__init__.py", package, inputs), Output(f"{folder}/models.py", models, made_of)]
