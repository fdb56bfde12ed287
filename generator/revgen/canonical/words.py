"""`specs/words.yaml`: a line of words for each type and member of the canonical vocabulary.

Rule: reading only. Words decide nothing, so what is missing or names nothing is a remark; what no docstring can hold is a fault.
"""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Iterable
from typing import Annotated, Any

import pydantic

from ..reading.located import Place, Problems, Scalar, load
from ..reading.models import Part, Text, not_allowed, read
from ..schemas.shapes import Definitions
from .rules import Move

PATH = "specs/words.yaml"

_NOT_ALLOWED = ("\\", '"', "\n")


@dataclasses.dataclass(frozen=True)
class Line:
    """A line of words, and where it stands."""

    text: str
    place: Place


def _line(node: Any) -> Line:
    if not isinstance(node, Scalar) or not node.strip() or any(sign in node for sign in _NOT_ALLOWED):
        raise not_allowed("one line of text, without backslashes and double quotes")
    return Line(node.strip(), node.place)


LineOfWords = Annotated[
    Line,
    pydantic.PlainValidator(_line),
    pydantic.WithJsonSchema({"type": "string", "pattern": r'^[^\\"\n]*\S[^\\"\n]*$'}),
]
Lines = dict[Text, LineOfWords]


class TypeWords(Part):
    """What is said of one type."""

    model_config = pydantic.ConfigDict(title="type")

    line: LineOfWords | None = pydantic.Field(None, alias="is")
    """What the type is for."""
    members: Lines = pydantic.Field(default_factory=dict)
    """What each of its members means, by the name that it has on the wire."""


class Words(Part):
    """A line of words for each type and member of the canonical vocabulary: what it is for, its form or unit, what absence means."""

    model_config = pydantic.ConfigDict(title="file")

    members: Lines = pydantic.Field(default_factory=dict)
    """What a member means wherever its type says nothing else, by the name that it has on the wire."""
    types: dict[Text, TypeWords] = pydantic.Field(default_factory=dict)
    """What is said of each type, by its canonical name."""

    @property
    def is_there(self) -> bool:
        """Whether there is such a file."""
        return self._place is not None

    def following(self, moves: Iterable[Move]) -> Words:
        """These words, also under the name that a type got by a move, as long as it has none of its own."""
        moved = {
            move.canonical: self.types[move.published]
            for move in moves
            if move.canonical not in self.types and move.published in self.types
        }
        return self.model_copy(update={"types": {**self.types, **moved}}) if moved else self

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
    return read(Words, load(root, PATH, problems), problems) or Words()


def complain_about_words(words: Words, canonical: Definitions, moves: Iterable[Move], problems: Problems) -> None:
    """Remark what has no words, and words that nothing has.

    Args:
        words: what the file says.
        canonical: the definitions of the canonical vocabulary.
        moves: types under other names; words that stand under the old one follow, and are to be renamed.
        problems: receives the remarks, at their places.
    """
    if not words.is_there:
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
            called = next((move.canonical for move in moves if move.published == name), "")
            instead = (
                f"; it is called '{called}' there since a move, so call this entry so" if called in canonical else ""
            )
            problems.remark(unknown.place, f"'{name}' is no type of the canonical vocabulary{instead}")
    for member, line in words.members.items():
        if member not in used:
            problems.remark(line.place, f"no type has a member '{member}' without words of its own")
