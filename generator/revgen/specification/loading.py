"""Everything that is read before anything is decided: loaded, checked, and complete, or refused with all that is wrong.

Rule: this is the one place that knows which inputs there are. What comes after it finds no fault of an input; remarks come along.
"""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any

from ..canonical.merge import merge
from ..canonical.rules import Rules
from ..canonical.words import Words, complain_about_words, load_words
from ..inventory.concerns import Area
from ..inventory.loading import load_inventory
from ..inventory.selection import Rule, load_selection
from ..projection.compare import Projection
from ..reading.located import Problem, Problems
from ..schemas.keywords import load_harmless
from ..schemas.published import load_schemas
from ..schemas.revisions import Revision, load_revisions
from ..templates.adapter_names import adapter_members, read_names
from ..templates.macros import check_templates, make_environment
from .agreement import check_agreement
from .inputs import Inputs, read_inputs
from .names import check_names
from .selection import check_selection
from .strays import complain_about_strays
from .vocabulary import load_rules, project


@dataclasses.dataclass(frozen=True)
class Specification:
    """The inputs, and what follows from them alone.

    `remarks` are what a person should tidy up or look at, although what the inputs mean is clear. `revisions` are oldest first. `schemas` (corrected) and `projections` (what a revision can carry of `canonical`) are by version.
    `inputs` has the digests of everything that was read.
    """

    root: pathlib.Path
    revisions: tuple[Revision, ...]
    schemas: dict[str, dict[str, Any]]
    canonical: dict[str, Any]
    projections: dict[str, Projection]
    areas: tuple[Area, ...]
    selection: tuple[Rule, ...]
    rules: Rules
    words: Words
    inputs: Inputs
    remarks: tuple[Problem, ...]

    @property
    def versions(self) -> tuple[str, ...]:
        """The revisions by name, oldest first."""
        return tuple(revision.version for revision in self.revisions)

    def inputs_under(self, *prefixes: str) -> tuple[str, ...]:
        """The paths of the input files that start with one of the prefixes."""
        return tuple(path for path in self.inputs.files if path.startswith(prefixes))


def load_specification(root: pathlib.Path) -> Specification:
    """Read and check `specs/` and `templates/`.

    Args:
        root: the folder that holds both.

    Raises:
        SpecificationError: with every problem of every file; remarks alone raise nothing.
    """
    problems = Problems()
    revisions = load_revisions(root, problems)
    # All else is asked of every revision.
    problems.stop_if_any()
    complain_about_strays(root, [revision.version for revision in revisions], problems)
    schemas = load_schemas(root, revisions, problems)
    pages = {revision.version: revision.known for revision in revisions if revision.known is not None}
    load_harmless(root, problems)
    areas = load_inventory(root, [revision.version for revision in revisions], schemas, problems, pages)
    selection = load_selection(root, problems, pages.values())
    rules = load_rules(root, problems)
    words = load_words(root, problems)
    problems.stop_if_any()
    # What follows compares inputs with each other, which means nothing before each is right by itself.
    assert rules is not None
    canonical = merge(schemas, rules, problems, [revision.version for revision in revisions if revision.draft])
    complain_about_words(words, canonical["$defs"], problems)
    environment = make_environment(root)
    members = adapter_members(root)
    names = read_names(root, members | {concern.name for area in areas for concern in area.concerns})
    check_names(areas, members, names, problems)
    check_templates(root, areas, environment, names, problems)
    check_selection(root, selection, areas, schemas, environment, problems)
    problems.stop_if_any()
    check_agreement(areas, schemas, rules, members, environment, problems)
    projections = project(areas, revisions, schemas, rules, canonical, problems)
    problems.stop_if_any()
    return Specification(
        root=root,
        revisions=revisions,
        schemas=schemas,
        canonical=canonical,
        projections=projections,
        areas=areas,
        selection=selection,
        rules=rules,
        words=words,
        inputs=read_inputs(root),
        remarks=tuple(sorted(set(problems.remarks))),
    )
