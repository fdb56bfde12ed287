"""`specs/canonical.yaml` as data: what of all schemas the one vocabulary leaves out, keeps plain, or finds under another name.

Rule: reading only; every complaint has a place, and what a rule means is `canonical`'s business.
"""

from __future__ import annotations

import dataclasses
import fnmatch
from collections import abc

from ..reading.located import Mapping, Node, Place, Problems, Scalar, Sequence, kind


@dataclasses.dataclass(frozen=True)
class Pattern:
    """A name, or a pattern of names with `*`, and where it was written. `Type` or `Type.member`."""

    text: str
    place: Place

    def matches(self, name: str) -> bool:
        """Whether a name, as published, is one of those."""
        return fnmatch.fnmatchcase(name, self.text)


@dataclasses.dataclass(frozen=True)
class Move:
    """A type that a schema publishes as `published` is the canonical one called `canonical`, where it lacks that name."""

    name: str
    published: str
    canonical: str
    place: Place


@dataclasses.dataclass(frozen=True)
class Rules:
    """Everything that `canonical.yaml` says.

    Attributes:
        place: the top of the file, for what no single rule is to blame for.
        plain_types: types that become plain JSON wherever they stand.
        plain_members: members that stay plain JSON.
        left_out_types: types of the wire, and types that only help to write a schema down.
        left_out_members: members that only the wire needs.
        open_types: types that pass as they are, with the members of another one.
        kept_types: exceptions from `left_out_types`.
        refused: members of unions that are not sent where a revision lacks them; it is an error to try.
        refused_values: members whose value is not sent where a revision does not take it; it is an error to try.
        hints: members whose value only hints, and is left out where a revision does not take it.
        supplied: members that whoever sends a value puts in beforehand, where a revision requires them.
        moves: types that no comparison of names can find.
        places: where each section stands.
    """

    place: Place
    plain_types: tuple[Pattern, ...] = ()
    plain_members: tuple[Pattern, ...] = ()
    left_out_types: tuple[Pattern, ...] = ()
    left_out_members: tuple[Pattern, ...] = ()
    open_types: tuple[Pattern, ...] = ()
    kept_types: tuple[Pattern, ...] = ()
    refused: tuple[Pattern, ...] = ()
    refused_values: tuple[Pattern, ...] = ()
    hints: tuple[Pattern, ...] = ()
    supplied: tuple[Pattern, ...] = ()
    moves: tuple[Move, ...] = ()
    places: abc.Mapping[str, Place] = dataclasses.field(default_factory=dict)


_LISTS = {
    "plain": {"types": "plain_types", "members": "plain_members"},
    "open": {"types": "open_types"},
    "left_out": {"types": "left_out_types", "members": "left_out_members"},
    "kept": {"types": "kept_types"},
    "refused": {"types": "refused", "members": "refused_values"},
    "hints": {"members": "hints"},
    "supplied": {"members": "supplied"},
}
_MOVE_KEYS = ("name", "from", "to")


def read_rules(top: Mapping, problems: Problems) -> Rules:
    """The rules that a loaded file states.

    Args:
        top: the top mapping of `canonical.yaml`, from `located.load`.
        problems: receives unknown keys (with the allowed ones), wrong kinds of nodes and names given twice.
    """
    _only(top, (*_LISTS, "moves"), "the file", problems)
    patterns: dict[str, tuple[Pattern, ...]] = {}
    for section, lists in _LISTS.items():
        node = top.get(section)
        if node is None:
            continue
        if not isinstance(node, Mapping):
            problems.add(node.place, f"'{section}' is a {kind(node)}; allowed: a mapping of {', '.join(lists)}")
            continue
        _only(node, tuple(lists), f"'{section}'", problems)
        for key, attribute in lists.items():
            if (listed := node.get(key)) is not None:
                patterns[attribute] = _patterns(listed, f"{section}.{key}", member=key == "members", problems=problems)
    places = {section: top.place_of(section) for section in top}
    return Rules(top.place, moves=_moves(top.get("moves"), problems), places=places, **patterns)


def _only(node: Mapping, allowed: tuple[str, ...], where: str, problems: Problems) -> None:
    for key in node:
        if key not in allowed:
            problems.add(node.place_of(key), f"'{key}' is not a key of {where}; allowed: {', '.join(allowed)}")


def _patterns(node: Node, where: str, *, member: bool, problems: Problems) -> tuple[Pattern, ...]:
    if not isinstance(node, Sequence):
        problems.add(node.place, f"'{where}' is a {kind(node)}; allowed: a list of names")
        return ()
    found: dict[str, Pattern] = {}
    form = "Type.member" if member else "Type"
    for item in node:
        if not isinstance(item, Scalar) or not item.text or member != ("." in item.text):
            what = f"'{item.text}'" if isinstance(item, Scalar) else f"a {kind(item)}"
            problems.add(item.place, f"{what} is not a name in '{where}'; allowed: {form}, with * for any characters")
        elif item.text in found:
            problems.add(
                item.place, f"'{item.text}' stands twice in '{where}'; first at line {found[item.text].place.line}"
            )
        else:
            found[item.text] = Pattern(item.text, item.place)
    return tuple(found.values())


def _moves(node: Node | None, problems: Problems) -> tuple[Move, ...]:
    if node is None:
        return ()
    if not isinstance(node, Sequence):
        problems.add(node.place, f"'moves' is a {kind(node)}; allowed: a list of mappings of {', '.join(_MOVE_KEYS)}")
        return ()
    moves = []
    for item in node:
        if not isinstance(item, Mapping):
            problems.add(item.place, f"a move is a {kind(item)}; allowed: a mapping of {', '.join(_MOVE_KEYS)}")
            continue
        _only(item, _MOVE_KEYS, "a move", problems)
        texts = {}
        for key in _MOVE_KEYS:
            value = item.get(key)
            if isinstance(value, Scalar) and value.text:
                texts[key] = value.text
            else:
                problems.add(item.place if value is None else value.place, f"a move needs text for '{key}'")
        if len(texts) == len(_MOVE_KEYS):
            moves.append(Move(texts["name"], texts["from"], texts["to"], item.place))
    return tuple(moves)
