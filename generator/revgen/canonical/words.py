"""`specs/words.yaml`: a line of words for each type and member of the canonical vocabulary.

Rule: reading only. Words decide nothing, so what is missing or names nothing is a remark; what no docstring can hold is a fault.
"""

from __future__ import annotations

import dataclasses
import pathlib

from ..reading.located import Mapping, Node, Place, Problems, Scalar, kind, load
from ..schemas.shapes import Definitions

PATH = "specs/words.yaml"

_SECTIONS = ("members", "types")
_KEYS = ("is", "members")
_NOT_ALLOWED = ("\\", '"', "\n")


@dataclasses.dataclass(frozen=True)
class Line:
    """A line of words, and where it stands."""

    text: str
    place: Place


@dataclasses.dataclass(frozen=True)
class TypeWords:
    """What is said of one type: a line for itself, if there is one, and for members, by wire name."""

    line: Line | None
    members: dict[str, Line]
    place: Place


@dataclasses.dataclass(frozen=True)
class Words:
    """Everything that the file says.

    Attributes:
        place: its top; None where there is no such file.
        members: by wire name what a member means wherever its type says nothing else.
        types: by canonical name.
    """

    place: Place | None = None
    members: dict[str, Line] = dataclasses.field(default_factory=dict)
    types: dict[str, TypeWords] = dataclasses.field(default_factory=dict)

    def of_type(self, name: str) -> str:
        """The words of a type; empty where it has none."""
        known = self.types.get(name)
        return known.line.text if known is not None and known.line is not None else ""

    def of_member(self, name: str, member: str) -> str:
        """The words of a member of a type; empty where it has none."""
        own = self.types[name].members if name in self.types else {}
        line = own.get(member) or self.members.get(member)
        return line.text if line is not None else ""


def load_words(root: pathlib.Path, problems: Problems) -> Words:
    """Read the words; none where there is no such file.

    Args:
        root: the folder that holds `specs/`.
        problems: receives unknown keys (with the allowed ones), wrong kinds of nodes and lines that no docstring can hold.
    """
    if not (root / PATH).is_file():
        return Words()
    top = load(root, PATH, problems)
    if top is None:
        return Words()
    _only(top, _SECTIONS, "the file", problems)
    types = _mapping(top, "types", problems)
    return Words(
        top.place,
        members=_lines(_mapping(top, "members", problems), problems),
        types={} if types is None else {name: _type(name, types, problems) for name in types},
    )


def complain_about_words(words: Words, canonical: Definitions, problems: Problems) -> None:
    """Remark what has no words, and words that nothing has.

    Args:
        words: what the file says.
        canonical: the definitions of the canonical vocabulary.
        problems: receives the remarks, at their places.
    """
    if words.place is None:
        problems.remark(Place(PATH, 1, 1), "there is no such file, so types and members have no words")
        return
    used: set[str] = set()
    for name, node in canonical.items():
        own = words.types.get(name)
        members = node.get("properties", {})
        if not words.of_type(name):
            problems.remark(own.place if own else words.place, f"'{name}' has no words; allowed: a line, as its 'is'")
        for member in members:
            if own is None or member not in own.members:
                used.add(member)
            if not words.of_member(name, member):
                place = own.place if own else words.place
                problems.remark(
                    place, f"'{name}.{member}' has no words; allowed: a line among the 'members' of '{name}'"
                )
        for member, line in own.members.items() if own else ():
            if member not in members:
                problems.remark(
                    line.place, f"'{name}' has no member '{member}'; members: {', '.join(members) or 'none'}"
                )
    for name, unknown in words.types.items():
        if name not in canonical:
            problems.remark(unknown.place, f"'{name}' is no type of the canonical vocabulary")
    for member, line in words.members.items():
        if member not in used:
            problems.remark(line.place, f"no type has a member '{member}' without words of its own")


def _type(name: str, types: Mapping, problems: Problems) -> TypeWords:
    node, place = types[name], types.place_of(name)
    if not isinstance(node, Mapping):
        problems.add(node.place, f"'{name}' is a {kind(node)}; allowed: a mapping with {', '.join(_KEYS)}")
        return TypeWords(None, {}, place)
    _only(node, _KEYS, f"'{name}'", problems)
    return TypeWords(
        _line(node["is"], problems) if "is" in node else None,
        _lines(_mapping(node, "members", problems), problems),
        place,
    )


def _lines(node: Mapping | None, problems: Problems) -> dict[str, Line]:
    read = {member: _line(node[member], problems) for member in node or ()} if node is not None else {}
    return {member: line for member, line in read.items() if line is not None}


def _line(node: Node, problems: Problems) -> Line | None:
    if not isinstance(node, Scalar) or not node.text.strip():
        problems.add(
            node.place,
            f"a line of words is {'empty' if isinstance(node, Scalar) else 'a ' + kind(node)}; allowed: text",
        )
        return None
    if any(sign in node.text for sign in _NOT_ALLOWED):
        problems.add(
            node.place,
            "a line of words has a backslash, a double quote or a second line; allowed: one line without these",
        )
        return None
    return Line(node.text.strip(), node.place)


def _mapping(top: Mapping, key: str, problems: Problems) -> Mapping | None:
    node = top.get(key)
    if node is None or isinstance(node, Mapping):
        return node
    problems.add(node.place, f"'{key}' is a {kind(node)}; allowed: a mapping from names to words")
    return None


def _only(node: Mapping, allowed: tuple[str, ...], where: str, problems: Problems) -> None:
    for key in node:
        if key not in allowed:
            problems.add(node.place_of(key), f"'{key}' is not a key of {where}; allowed: {', '.join(allowed)}")
