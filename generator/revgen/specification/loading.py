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
from ..inventory.loading import load_inventory, taken_twice
from ..inventory.selection import Rule, load_selection
from ..projection.compare import Projection
from ..reading.located import Problem, Problems, SpecificationError
from ..schemas.keywords import load_harmless
from ..schemas.published import load_schemas
from ..schemas.revisions import Revision, load_removed, load_revisions
from ..templates.adapter_names import adapter_members, read_names
from ..templates.macros import check_templates, make_environment
from ..templates.model_templates import check_model_templates
from .agreement import check_agreement
from .inputs import Inputs, read_inputs
from .names import check_names
from .renames import complain_about_renames
from .rule_names import check_rule_names
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
    versions = [revision.version for revision in revisions]
    removed = load_removed(root)
    complain_about_strays(root, versions, problems)
    load_harmless(root, problems)
    # What compares inputs with each other means nothing before each of them is right by itself, and all else goes on.
    of_schemas, of_inventory, of_selection, of_rules, of_words = (Problems() for _ in range(5))
    schemas = load_schemas(root, revisions, of_schemas)
    pages = {revision.version: revision.known for revision in revisions if revision.known is not None}
    inventory = load_inventory(root, versions, schemas, of_inventory, pages)
    areas = inventory.areas
    selection = load_selection(root, of_selection, pages.values())
    rules = load_rules(root, of_rules)
    words = load_words(root, of_words)
    of_vocabulary, of_templates, of_both = Problems(), Problems(), Problems()
    canonical: dict[str, Any] | None = None
    unsettled: set[str] = set()
    rules_misnamed = False
    if rules is not None and not (of_schemas.found or of_rules.found):
        drafts = [revision.version for revision in revisions if revision.draft]
        canonical = merge(schemas, rules, of_vocabulary, drafts, unsettled)
        of_names = Problems()
        check_rule_names(schemas, rules, removed, drafts, of_names)
        if of_names.found:
            # What was meant by a name that nothing has is not done, which is no second mistake.
            of_vocabulary.found.clear()
            rules_misnamed = True
        of_vocabulary.found += of_names.found
        of_vocabulary.remarks += of_names.remarks
        complain_about_renames(schemas, rules, canonical["$defs"], of_vocabulary)
        if not of_words.found:
            words = words.following(rules.moves)
            complain_about_words(words, canonical["$defs"], rules.moves, of_both)
    environment = make_environment(root)
    members: frozenset[str] = frozenset()
    try:
        members = adapter_members(root)
    except SpecificationError as error:
        of_templates.found += error.problems
    if inventory.whole and not of_templates.found:
        names = read_names(root, members | {concern.name for area in areas for concern in area.concerns})
        check_names(areas, members, names, of_templates)
        check_templates(root, areas, environment, names, of_templates)
    check_model_templates(root, environment, of_templates)
    if inventory.whole and not (of_selection.found or of_schemas.found):
        check_selection(root, selection, areas, schemas, environment, removed, of_both)
    if rules is not None and canonical is not None:
        checked = None if of_templates.found or not inventory.whole else environment
        check_agreement(inventory, schemas, rules, members, checked, removed, of_both)
    projections: dict[str, Projection] = {}
    if rules is not None and canonical is not None and inventory.whole and not rules_misnamed:
        projections = project(
            areas, revisions, schemas, rules, canonical, unsettled, removed, taken_twice(areas), of_both
        )
    # What is wrong by itself is not held against anything.
    wrong = {problem.place for some in (of_inventory, of_templates) for problem in some.found}
    of_both.found = [problem for problem in of_both.found if problem.place not in wrong]
    for some in (
        of_schemas,
        of_inventory,
        of_selection,
        of_rules,
        of_words,
        of_vocabulary,
        of_templates,
        of_both,
    ):
        problems.found += some.found
        problems.remarks += some.remarks
    # Where something is wrong, or waits, it is of no interest that nothing uses it.
    said = {problem.place for problem in (*problems.found, *problems.remarks) if problem.degree != "remark"}
    problems.remarks = [one for one in problems.remarks if one.degree == "mark" or one.place not in said]
    problems.stop_if_any()
    assert rules is not None and canonical is not None
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
