"""Types of the newest revision that seem to be older ones under another name.

Rule: a comparison can only guess, so this is a remark, with both answers: a move, or that they are two. One that is in the vocabulary under
both names makes handlers choose between them, and each revision gets only what has its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..canonical.rules import Rules
from ..reading.located import Problems
from ..schemas.outlines import Outlines
from ..schemas.renaming import likely_names
from ..schemas.shapes import published_names


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
    known = {name for one in older for name in schemas[one]["$defs"]}
    for old, version in _gone(schemas, older, newest):
        if old not in canonical or old in moved:
            continue
        named = published_names(schemas[version]) | published_names(schemas[newest])
        before, after = Outlines(schemas[version], named), Outlines(schemas[newest], named)
        came = published_names(schemas[newest]) - known
        near = [new for new in likely_names(before, after, old, sorted(came)) if new in canonical]
        near = [new for new in near if not distinct.pop((old, new), None)]
        if near:
            new = near[0]
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
