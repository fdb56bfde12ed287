"""The canonical vocabulary, and what of it each revision can carry, given what the inventory answers.

Rule: this joins the comparison of schemas with the inventory and computes nothing itself. An answer that the comparison misses is a
fault; one that it never asks for is a remark.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import pathlib
from typing import Any

from ..canonical.merge import published_aliases
from ..canonical.rules import Rules, read_rules
from ..inventory.concerns import Area, Concern
from ..projection.compare import Answers, Projection, compare, complain, complain_about_unused
from ..reading import located
from ..reading.located import Problems
from ..schemas.methods import sendable
from ..schemas.revisions import Revision
from .parts import check_parts, parts_of

PATH = "specs/canonical.yaml"

Schemas = collections.abc.Mapping[str, dict[str, Any]]


def load_rules(root: pathlib.Path, problems: Problems) -> Rules | None:
    """Read how the vocabulary is made; None when the file cannot be used at all.

    Args:
        root: the folder that holds `specs/`.
        problems: receives everything that is wrong with the file itself.
    """
    top = located.load(root, PATH, problems)
    return read_rules(top, problems) if top is not None else None


def project(
    areas: collections.abc.Sequence[Area],
    revisions: collections.abc.Sequence[Revision],
    schemas: Schemas,
    rules: Rules,
    canonical: dict[str, Any],
    unsettled: collections.abc.Collection[str],
    removed: collections.abc.Sequence[str],
    taken_twice: collections.abc.Mapping[str, str],
    problems: Problems,
) -> dict[str, Projection]:
    """What each revision can carry of the vocabulary, by version.

    Args:
        areas: the inventory, whose concerns say what is sent instead of what is lacking.
        revisions: the revisions, oldest first.
        schemas: the corrected schema of each revision, oldest first.
        rules: the rules of the vocabulary.
        canonical: the vocabulary as a schema.
        unsettled: what of it conflicts, from `merge`.
        removed: revisions that may come back. Where there are any, what nothing knows is a mark, since it may be theirs.
        taken_twice: what two concerns fill or replace, with that part; one of them is meant for something else.
        problems: receives answers that are missing, and concerns that name what nothing has; concerns that fill or replace what is never asked for are remarks.
    """
    concerns = [concern for area in areas for concern in area.concerns]
    projections = {
        revision.version: compare(
            canonical,
            schemas[revision.version],
            sendable(schemas, revision.version),
            dataclasses.replace(
                _answers(concerns, rules, revision.version, schemas[revision.version]), unsettled=frozenset(unsettled)
            ),
        )
        for revision in revisions
    }
    wrong = check_parts(concerns, canonical["$defs"], bool(removed), problems)
    drafts = [revision.version for revision in revisions if revision.draft]
    complain(projections, rules, problems, drafts, {} if removed else {**wrong, **taken_twice})
    complain_about_unused(projections.values(), rules, problems)
    places = [f"{name}.{member}" for name, node in canonical["$defs"].items() for member in node.get("properties", {})]
    for pattern in rules.hints:
        if not any(map(pattern.matches, places)):
            owner = pattern.text.partition(".")[0]
            called = next((move.canonical for move in rules.moves if move.published == owner), "")
            instead = f"; '{owner}' is called '{called}' there since a move" if called else ""
            problems.remark(pattern.place, f"'{pattern.text}' hints, and is no member of the vocabulary{instead}")
    used = {key for projection in projections.values() for key in projection.used}
    for concern in concerns:
        for part, target in parts_of(concern):
            if part != "adjusts" and target not in used and target not in wrong:
                problems.remark(
                    concern.place_of(part), f"'{concern.name}' {part} '{target}', which no revision asks for"
                )
    return projections


def _answers(
    concerns: collections.abc.Sequence[Concern], rules: Rules, version: str, schema: dict[str, Any]
) -> Answers:
    return Answers(
        replaced={concern.replaces: concern.name for concern in concerns if concern.replaces},
        # Where the answer is none, there is nothing to fill with; one that could not be read is something.
        filled={
            concern.fills: f"self.{concern.name}"
            for concern in concerns
            if concern.fills and (version not in concern.answers or concern.answers[version].value is not None)
        },
        refused=tuple(pattern.text for pattern in rules.refused),
        refused_values=tuple(pattern.text for pattern in rules.refused_values),
        hints=tuple(pattern.text for pattern in rules.hints),
        plain=tuple(pattern.text for pattern in rules.plain_types),
        open=tuple(pattern.text for pattern in rules.open_types),
        plain_members=tuple(pattern.text for pattern in rules.plain_members),
        supplied=tuple(pattern.text for pattern in rules.supplied),
        aliases=published_aliases(schema, rules),
    )
