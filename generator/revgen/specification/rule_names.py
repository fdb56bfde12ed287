"""The rules of the canonical vocabulary, held against the types and members that the schemas have, and moves against each other.

Rule: a name that stands there by itself is meant to be that of something, and a fault where nothing has it. A pattern that matches nothing,
and a rule that is not needed, are remarks, and said by whoever applies them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from ..canonical.merge import published_aliases
from ..canonical.rules import Pattern, Rules
from ..reading.located import Place, Problems
from ..reading.models import near

Complain = Callable[[Place, str], None]


def check_rule_names(
    schemas: Mapping[str, Mapping[str, Any]],
    rules: Rules,
    removed: Sequence[str],
    drafts: Collection[str],
    problems: Problems,
) -> None:
    """Complain about rules that name what there is not.

    Args:
        schemas: the corrected schema of each revision.
        rules: what `canonical.yaml` says.
        removed: revisions that may come back. Where there are any, a name that nothing has is a mark, since it may be theirs.
        drafts: the revisions that are drafts, which give no type its canonical name.
        problems: receives faults, at the place of the rule; and remarks on moves that find nothing, or go the wrong way.
    """
    complain = problems.mark if removed else problems.add
    types = {name for schema in schemas.values() for name in schema["$defs"]}
    finals = [version for version in schemas if version not in drafts]
    newest = schemas[finals[-1]]["$defs"] if finals else {}
    said: set[Place] = set()
    for number, move in enumerate(rules.moves):
        what = f"the move '{move.name}' is"
        following = [other for other in rules.moves if other.published == move.canonical]
        before = [other for other in rules.moves[:number] if other.published == move.published]
        if move.published == move.canonical:
            problems.add(move.place, f"{what} from '{move.published}' to itself; allowed: to another type")
        elif before:
            line = before[0].place.line
            problems.add(
                move.place, f"{what} from '{move.published}', as is '{before[0].name}' at line {line}; allowed: once"
            )
        elif following and following[0].place in said:
            pass  # a circle, which is one mistake
        elif following:
            said.add(move.place)
            onward = f"from where '{following[0].name}' at line {following[0].place.line} goes on"
            problems.add(move.place, f"{what} to '{move.canonical}', {onward}; allowed: to a type that no move is from")
        elif unknown := _unknown(what, (move.published, move.canonical), types):
            complain(move.place, unknown)
        elif not any(
            published_aliases(schema, rules).get(move.published) == move.canonical for schema in schemas.values()
        ):
            found = f"no revision has '{move.published}' without '{move.canonical}'"
            problems.remark(move.place, f"the move '{move.name}' finds nothing: {found}")
        elif move.published in newest and move.canonical not in newest:
            # As one is written for a draft, whose names are not yet those of the vocabulary.
            turned = f"{{name: {move.name}, from: {move.canonical}, to: {move.published}}}"
            now = f"'{move.published}' is what {finals[-1]} calls it, and the vocabulary keeps the name '{move.canonical}'"
            problems.remark(move.place, f"{now}; to have the newer one, write {turned}")
    moved = {(move.published, move.canonical): move for move in rules.moves}
    for pair in rules.distinct:
        what = "this pair is"
        if pair.published == pair.canonical:
            problems.add(pair.place, f"{what} '{pair.published}' and itself; allowed: two types")
        elif joined := moved.get((pair.published, pair.canonical)):
            problems.add(
                pair.place,
                f"{what} one type by the move '{joined.name}' at line {joined.place.line}; allowed: two types",
            )
        elif unknown := _unknown(what, (pair.published, pair.canonical), types):
            complain(pair.place, unknown)
    members = set(_members(schemas, rules))
    for pattern in _patterns(rules):
        what, known = ("a member", members) if "." in pattern.text else ("a type", types)
        if "*" not in pattern.text and pattern.text not in known:
            complain(pattern.place, f"'{pattern.text}' is {what} of no revision{near(pattern.text, known)}")


def _unknown(what: str, names: tuple[str, str], types: Collection[str]) -> str:
    """That the one or the other end of a pair is no type; empty where both are."""
    for way, name in zip(("from", "to"), names, strict=True):
        if name not in types:
            return f"{what} {way} '{name}', which is a type of no revision{near(name, types)}"
    return ""


def _patterns(rules: Rules) -> Iterator[Pattern]:
    for field in dataclasses.fields(rules):
        section = getattr(rules, field.name)
        if isinstance(section, tuple):
            yield from (pattern for pattern in section if isinstance(pattern, Pattern))


def _members(schemas: Mapping[str, Mapping[str, Any]], rules: Rules) -> Iterator[str]:
    """Each `Type.member`, under every name that the type has."""
    for schema in schemas.values():
        aliases = published_aliases(schema, rules)
        for name, node in schema["$defs"].items():
            for member in node.get("properties", {}):
                yield f"{name}.{member}"
                yield f"{aliases.get(name, name)}.{member}"
