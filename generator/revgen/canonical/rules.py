"""`specs/canonical.yaml` as data: what of all schemas the one vocabulary leaves out, keeps plain, or finds under another name.

Rule: reading only; every complaint has a place, and what a rule means is `canonical`'s business.
"""

from __future__ import annotations

import dataclasses
import fnmatch
from collections import abc
from typing import Annotated, Any

import pydantic

from ..reading.located import Mapping, Place, Problems, Scalar
from ..reading.models import Part, Text, not_allowed, read, wrong


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
class Distinct:
    """A type that a schema publishes as `published` is another one than `canonical`, however alike they are."""

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
        distinct: types that look like one under two names, and are two.
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
    distinct: tuple[Distinct, ...] = ()
    places: abc.Mapping[str, Place] = dataclasses.field(default_factory=dict)


def _type_pattern(node: Any) -> Pattern:
    if not isinstance(node, Scalar) or not node or "." in node:
        raise not_allowed("Type, with * for any characters")
    return Pattern(str(node), node.place)


def _member_pattern(node: Any) -> Pattern:
    if not isinstance(node, Scalar) or "." not in node:
        raise not_allowed("Type.member, with * for any characters")
    return Pattern(str(node), node.place)


def _each_once(patterns: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
    first: dict[str, Pattern] = {}
    for pattern in patterns:
        if first.setdefault(pattern.text, pattern) is not pattern:
            line = first[pattern.text].place.line
            raise wrong(f"'{pattern.text}' stands twice here; first at line {line}", place=pattern.place)
    return patterns


TypePatterns = Annotated[
    tuple[
        Annotated[
            Pattern,
            pydantic.PlainValidator(_type_pattern),
            pydantic.WithJsonSchema({"type": "string", "pattern": r"^[^.]+$"}),
        ],
        ...,
    ],
    pydantic.AfterValidator(_each_once),
]
MemberPatterns = Annotated[
    tuple[
        Annotated[
            Pattern,
            pydantic.PlainValidator(_member_pattern),
            pydantic.WithJsonSchema({"type": "string", "pattern": r"\."}),
        ],
        ...,
    ],
    pydantic.AfterValidator(_each_once),
]


class MoveFacts(Part):
    """What a move says."""

    model_config = pydantic.ConfigDict(title="move")

    name: Text
    """What changed, in words."""
    published: Text = pydantic.Field(alias="from")
    """What a schema calls the type."""
    canonical: Text = pydantic.Field(alias="to")
    """What it is called in the canonical vocabulary."""


class DistinctFacts(Part):
    """Two types that are not one."""

    model_config = pydantic.ConfigDict(title="pair")

    published: Text = pydantic.Field(alias="from")
    """What an older schema has."""
    canonical: Text = pydantic.Field(alias="to")
    """What the newest one has, and looks like that."""


class Types(Part):
    """Types by name."""

    model_config = pydantic.ConfigDict(title="section")

    types: TypePatterns = ()
    """Names as published, each once; `*` stands for any characters."""


class Members(Part):
    """Members by name."""

    model_config = pydantic.ConfigDict(title="section")

    members: MemberPatterns = ()
    """`Type.member`, each once; `*` stands for any characters."""


class TypesAndMembers(Members, Types):
    """Types and members by name."""

    model_config = pydantic.ConfigDict(title="section")


class CanonicalFile(Part):
    """How the canonical vocabulary is made: what no comparison of schemas can know."""

    model_config = pydantic.ConfigDict(title="file")

    plain: TypesAndMembers = TypesAndMembers()
    """What becomes plain JSON, wherever it stands, or there."""
    open: Types = Types()
    """Types that pass as they are, with the members of another one."""
    left_out: TypesAndMembers = TypesAndMembers()
    """Types of the wire, and types that only help to write a schema down; members that only the wire needs."""
    kept: Types = Types()
    """Exceptions from the types that are left out."""
    refused: TypesAndMembers = TypesAndMembers()
    """Members of unions, and members whose value is not sent where a revision lacks it or does not take it; it is an error to try."""
    hints: Members = Members()
    """Members whose value only hints, and is left out where a revision does not take it."""
    supplied: Members = Members()
    """Members that whoever sends a value puts in beforehand, where a revision requires them."""
    moves: tuple[MoveFacts, ...] = ()
    """Types that no comparison of names can find."""
    distinct: tuple[DistinctFacts, ...] = ()
    """Types that look like one under two names, and are two."""


def read_rules(top: Mapping, problems: Problems) -> Rules | None:
    """The rules that a loaded file states; None after complaints.

    Args:
        top: the top mapping of `canonical.yaml`, from `located.load`.
        problems: receives everything that is wrong with the file itself.
    """
    file = read(CanonicalFile, top, problems)
    if file is None:
        return None
    return Rules(
        place=file.place,
        plain_types=file.plain.types,
        plain_members=file.plain.members,
        left_out_types=file.left_out.types,
        left_out_members=file.left_out.members,
        open_types=file.open.types,
        kept_types=file.kept.types,
        refused=file.refused.types,
        refused_values=file.refused.members,
        hints=file.hints.members,
        supplied=file.supplied.members,
        moves=tuple(Move(move.name, move.published, move.canonical, move.place) for move in file.moves),
        distinct=tuple(Distinct(pair.published, pair.canonical, pair.place) for pair in file.distinct),
        places={section: file.key_place(section) for section in top},
    )
