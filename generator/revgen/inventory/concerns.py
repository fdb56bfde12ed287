"""The inventory: what varies between revisions and no schema says.

Rule: a concern is one question, and every revision answers it itself. There is no default, no inheritance and no "since".
"""

from __future__ import annotations

import dataclasses
from typing import Literal

from ..reading.literals import Type, Value
from ..reading.located import Place
from .area_file import Row
from .citations import Citation

FOLDER = "specs/variance"

Kind = Literal["value", "table", "choice"]


@dataclasses.dataclass(frozen=True)
class Answer:
    """What one revision answers. Of `value`, `rows` and `choice` with `arguments`, those of the concern's kind are set.

    `rows` are those that the revision has, in the order of the concern; what it answers with none is left out. `review` is not empty where a
    person has yet to look at the answer: it says why. `places` says where `is`, `choice` or each row stands.
    """

    citations: tuple[Citation, ...]
    place: Place
    value: Value = None
    rows: dict[str, Value] = dataclasses.field(default_factory=dict)
    choice: str = ""
    arguments: dict[str, Value] = dataclasses.field(default_factory=dict)
    review: str = ""
    places: dict[str, Place] = dataclasses.field(default_factory=dict, compare=False)


@dataclasses.dataclass(frozen=True)
class Concern:
    """One question, which becomes one attribute or method of every adapter.

    `type` is that of a value or of every entry of a table; a value may be a `flag`; a table has `rows`. `names` says what the answers name
    (empty for nothing), `needs` which other concern a revision must answer with something where it does so here, `orders` the type whose values a list puts in order, `among` the member whose values a list takes some of, `excludes`
    other concerns that a revision must not answer with something where it does so here. `signature`, `parameters` (name to type) and `choices` (name to meaning) belong to a choice; `choice_places`
    says where each choice stands, and `reads` which members (`Type.member`) the code of a choice relies on. `read_by` says who reads the
    answers where the server does not. `answers` has one entry
    a revision, oldest first.

    At most one of three says how it takes part in leaving out what a revision lacks: a choice `adjusts` objects of a type, or
    `replaces` one member of unions; a value `fills` a member that a revision requires and a sender may leave out.
    """

    name: str
    area: str
    question: str
    kind: Kind
    answers: dict[str, Answer]
    place: Place
    type: Type | None = None
    flag: bool = False
    names: str = ""
    needs: str = ""
    orders: str = ""
    among: str = ""
    excludes: tuple[str, ...] = ()
    rows: dict[str, Row] = dataclasses.field(default_factory=dict)
    fills: str = ""
    adjusts: str = ""
    replaces: str = ""
    signature: str = ""
    parameters: dict[str, Type] = dataclasses.field(default_factory=dict)
    choices: dict[str, str] = dataclasses.field(default_factory=dict)
    choice_places: dict[str, Place] = dataclasses.field(default_factory=dict)
    reads: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    read_by: str = ""
    key_places: dict[str, Place] = dataclasses.field(default_factory=dict, compare=False)

    def place_of(self, key: str) -> Place:
        """Where the value of one of its keys stands; the concern itself where it has no such key."""
        return self.key_places.get(key, self.place)

    @property
    def annotation(self) -> str:
        """The Python type of the attribute; empty for a choice, whose signature says it."""
        if self.type is None:
            return ""
        # A row that a revision answers with none is not in the table.
        return f"Mapping[str, {self.type.given}]" if self.kind == "table" else self.type.annotation


@dataclasses.dataclass(frozen=True)
class Area:
    """Concerns that belong together, in the order of the file. `transport` is set where they are answered for one transport."""

    name: str
    title: str
    transport: str | None
    concerns: tuple[Concern, ...]
    path: str
