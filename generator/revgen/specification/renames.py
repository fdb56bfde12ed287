"""Types of the newest revision that seem to be older ones under another name.

Rule: a comparison can only guess, so this is a remark, with both answers: a move, or that they are two. One that is in the vocabulary under
both names makes handlers choose between them, and each revision gets only what has its own.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from ..canonical.rules import Rules
from ..reading.located import Problems
from ..schemas.outlines import ALIKE, Outlines, likeness, sound_alike
from ..schemas.shapes import published_names

_FEW = 2
"""So many members, or branches, at least make that two types are alike no chance, whatever their names."""


def complain_about_renames(
    schemas: Mapping[str, Mapping[str, Any]], rules: Rules, canonical: Mapping[str, Any], problems: Problems
) -> None:
    """Remark types that went when one of the same structure came, and that no move joins.

    Args:
        schemas: the corrected schema of each revision, oldest first.
        rules: what `canonical.yaml` says: moves, and what are two.
        canonical: the definitions of the canonical vocabulary; what is not in it nobody chooses between.
        problems: receives the remarks, at the section of moves; and what are called two and nobody would take for one.
    """
    *older, newest = schemas
    distinct = {(pair.published, pair.canonical): pair for pair in rules.distinct}
    moved = {move.published for move in rules.moves}
    place = rules.places.get("moves", rules.place)
    for old, version in _gone(schemas, older, newest):
        if old not in canonical or old in moved:
            continue
        near = dict(
            _near(schemas[version], schemas[newest], old, {name for one in older for name in schemas[one]["$defs"]})
        )
        near = {new: score for new, score in near.items() if new in canonical and not distinct.pop((old, new), None)}
        if near:
            new = max(near, key=lambda new: (near[new], difflib.SequenceMatcher(None, old, new).ratio(), new))
            both = f"from: {old}, to: {new}"
            problems.remark(
                place,
                f"'{new}' of {newest} seems to be '{old}' of {version} under another name; if it is, list "
                f"{{name: what changed, {both}}} under 'moves', else {{{both}}} under 'distinct'",
            )
    for unused in distinct.values():
        problems.remark(unused.place, f"nobody would take '{unused.canonical}' for '{unused.published}'")


def _gone(schemas: Mapping[str, Mapping[str, Any]], older: list[str], newest: str) -> Iterator[tuple[str, str]]:
    """The types that the newest revision has no longer, each with the last one that had it."""
    last = {name: version for version in older for name in sorted(published_names(schemas[version]))}
    return ((name, version) for name, version in last.items() if name not in schemas[newest]["$defs"])


def _near(
    before: Mapping[str, Any], after: Mapping[str, Any], old: str, known: set[str]
) -> Iterator[tuple[str, float]]:
    """The types that came since, and that have the structure of one; how much of it."""
    named = published_names(before) | published_names(after)
    ours, theirs = Outlines(before, named), Outlines(after, named)
    members, parts = ours.own_members(old), _parts(ours, old)
    for new in sorted(published_names(after) - known):
        others = theirs.own_members(new)
        if members and others:
            score = likeness(members, others)
            many = len(members.keys() & others.keys()) >= _FEW
        else:
            common, both = parts & _parts(theirs, new), parts | _parts(theirs, new)
            score = len(common) / len(both) if both else 0.0
            many = len(common) >= _FEW
        if score >= ALIKE and (many or sound_alike(old, new)):
            yield new, score


def _parts(outlines: Outlines, name: str) -> set[str]:
    """The branches of a union, or the values of an enumeration; nothing of what has members."""
    node = outlines.definitions[name]
    return set(outlines.branches(name)) or set(map(str, node.get("enum", ())))
