"""The canonical vocabulary, and what of it each revision can carry, given what the inventory answers.

Rule: this joins the comparison of schemas with the inventory and computes nothing itself. An answer that the comparison misses is a
fault; one that it never asks for is a remark.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import pathlib
import re
from typing import Any

from ..canonical.merge import published_aliases
from ..canonical.rules import Rules, read_rules
from ..inventory.concerns import Area, Concern
from ..projection.compare import Answers, Projection, compare, complain, complain_about_unused
from ..reading import located
from ..reading.located import Problems
from ..reading.models import near
from ..schemas.methods import sendable
from ..schemas.revisions import Revision
from ..schemas.shapes import Definitions, references, resolved

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
    complain(projections, rules, problems, [revision.version for revision in revisions if revision.draft])
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
        for part, target in (("fills", concern.fills), ("replaces", concern.replaces), ("adjusts", concern.adjusts)):
            if target and not _names_something(target, canonical["$defs"], is_member=part == "fills"):
                (problems.mark if removed else problems.add)(
                    concern.place_of(part), f"'{target}' is not in the canonical vocabulary{_near(target, canonical)}"
                )
            elif part == "adjusts" and target and not _is_object(target, canonical["$defs"]):
                problems.add(
                    concern.place_of(part),
                    f"'{target}' is no type of objects; allowed: a type of the vocabulary that has members",
                )
            elif (
                target
                and (forms := _FORMS[part, _is_object(target.rpartition(".")[2], canonical["$defs"])])
                and (_form(concern.signature) not in forms)
            ):
                problems.add(
                    concern.place_of("signature"),
                    f"'{concern.name}' {part} '{target}'; allowed for that, with any name: {' or '.join(f'(self, name: {form}' for form in forms)}",
                )
            elif target and part != "adjusts" and target not in used:
                problems.remark(
                    concern.place_of(part), f"'{concern.name}' {part} '{target}', which no revision asks for"
                )
    return projections


def _names_something(target: str, definitions: Definitions, *, is_member: bool) -> bool:
    """Whether there is such a member, type, or union with such a branch."""
    owner, _, last = target.rpartition(".")
    if is_member and not owner:
        return any(last in node.get("properties", {}) for node in definitions.values())
    if not owner:
        return last in definitions
    node = definitions.get(owner, {})
    return last in resolved(node, definitions).get("properties", {}) or last in set(references(node))


_ONE = "JsonObject) -> JsonObject"
_VALUE = ("Json) -> Json", "list[JsonObject]) -> Json")
_FORMS: dict[tuple[str, bool], tuple[str, ...]] = {
    ("adjusts", True): (_ONE,),
    ("replaces", True): ("JsonObject) -> list[JsonObject]",),
    ("replaces", False): _VALUE,
    ("fills", True): (),
    ("fills", False): (),
}
"""What a method may take and give that says what is sent: by what it does, and whether that is done with objects."""


def _form(signature: str) -> str:
    """What a method takes and gives, without the name of what it takes."""
    return re.sub(r"^\(self, \w+: ", "", signature)


def _is_object(target: str, definitions: Definitions) -> bool:
    return "properties" in definitions.get(target, {})


def _near(target: str, canonical: dict[str, Any]) -> str:
    known = {
        *canonical["$defs"],
        *(name for node in canonical["$defs"].values() for name in node.get("properties", {})),
    }
    return near(target.rpartition(".")[2], known)


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
