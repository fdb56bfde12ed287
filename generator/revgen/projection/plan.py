"""What a projection is made of: functions as data, which a template words.

Rule: data alone. Every choice has been made when one of these exists; a template that needs more than a name or a loop to word it
means that something is missing here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from ..schemas.methods import Root
from .telling_apart import Test
from .values import Check


@dataclasses.dataclass(frozen=True)
class Answers:
    """What the inventory says for one revision.

    Attributes:
        replaced: a member of a union (its canonical type) → the adapter's method that says what is sent for it:
            `(self, value: JsonObject) -> list[JsonObject]`, canonical values that the union has in the revision. It is asked in
            every revision, also where nothing has to be replaced. `Union.Type` counts for one union alone, and before `Type`.
            Also `Type.member`, for a place that takes one value where such a method may give several:
            `(self, values: list[JsonObject]) -> Json` makes one of what is sent for each of them. Also `Type.member`, or the name of a
            type that is no object, for values that some revision does not take: `(self, value: Json) -> Json` gives what is sent
            for one, and None where the member is left out.
        refused: members of unions for which nothing can stand; sending one where the revision lacks it is an error.
        refused_values: patterns of `Type.member`; a value there that the revision does not take is an error.
        hints: patterns of `Type.member`; a value there that the revision does not take is left out.
        plain: patterns of types that pass as they are.
        open: patterns of types that pass with all of their members.
        plain_members: patterns of `Type.member` for what does.
        filled: `member` or `Type.member` → the Python expression that fills a member which the revision requires; `self` and
            `value`, the canonical object, are at hand.
        supplied: patterns of `Type.member` that the revision requires and whoever calls puts in beforehand.
        unsettled: types, and members as `Type.member`, of which it was said that no rule settles what they are; they are passed over.
        aliases: a name that the schema publishes → the canonical one, as `canonical.published_aliases` gives it.
    """

    replaced: Mapping[str, str] = dataclasses.field(default_factory=dict)
    filled: Mapping[str, str] = dataclasses.field(default_factory=dict)
    refused: tuple[str, ...] = ()
    refused_values: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    plain_members: tuple[str, ...] = ()
    supplied: tuple[str, ...] = ()
    unsettled: frozenset[str] = frozenset()
    aliases: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Call:
    """How the value at one place becomes what is sent.

    Attributes:
        form: "one" calls a function, "each" does so for every item of a list, "values" for every value of a map.
        function: the name of the function, for "one".
        inner: what is done with an item or a value, for the other forms.
        many: the function gives a list of values for one.
    """

    form: str
    function: str = ""
    inner: Call | None = None
    many: bool = False

    def renamed(self, names: Mapping[str, str]) -> Call:
        """The same with other function names."""
        inner = None if self.inner is None else self.inner.renamed(names)
        return dataclasses.replace(self, function=names.get(self.function, self.function), inner=inner)


@dataclasses.dataclass(frozen=True)
class Step:
    """A member that is handed on. With `gathered`, that method makes one value of several; with `listed`, several are a list."""

    member: str
    call: Call
    gathered: str = ""
    listed: bool = False


@dataclasses.dataclass(frozen=True)
class Fit:
    """What makes the value of a member one that the revision takes, before anything inside of it is looked at.

    Attributes:
        member: its name.
        place: `Type.member`.
        method: the adapter's method that is asked first; empty where there is none.
        asked_for: what the method is asked for: "value", "items" of a list, or "either" where the value is one or a list of them.
        wrapped: a single value becomes a list.
        check: what the revision takes; None where it takes anything.
        otherwise: what becomes of a value that it does not take: it is "refused" or "left out", or of a list "items" are left out.
        required: the revision has no place for this type without the member.
    """

    member: str
    place: str
    method: str
    asked_for: str
    wrapped: bool
    check: Check | None
    otherwise: str
    required: bool


@dataclasses.dataclass(frozen=True)
class Fill:
    """A member that is put in where it is missing, and the Python expression for it."""

    member: str
    expression: str


@dataclasses.dataclass(frozen=True)
class ObjectFunction:
    """The function for one type of object.

    Attributes:
        name: of the function.
        type_name: the canonical type.
        kept: the members that the revision defines; None where it says nothing about them.
        nullable: those of `kept` for which null is a value.
        lacks: the canonical members that the revision does not define.
        fits: the members whose values the revision does not all take.
        steps: the members that are handed on.
        fills: the members that are put in.
        spread: a member for which several values may be sent, each in an object of its own; None where there is none.
    """

    name: str
    type_name: str
    kept: tuple[str, ...] | None
    nullable: tuple[str, ...]
    lacks: tuple[str, ...]
    fits: tuple[Fit, ...]
    steps: tuple[Step, ...]
    fills: tuple[Fill, ...]
    spread: Step | None = None

    @property
    def constant(self) -> str:
        """The name of the constant that holds the names of the members."""
        return self.name.upper()

    @property
    def is_leaf(self) -> bool:
        """Whether leaving out is all there is to do."""
        return not (self.fits or self.steps or self.fills or self.spread)


@dataclasses.dataclass(frozen=True)
class Replacement:
    """A branch for which the inventory says what is sent."""

    type_name: str
    test: Test
    method: str


@dataclasses.dataclass(frozen=True)
class Case:
    """A branch that the revision has."""

    type_name: str
    test: Test
    call: Call


@dataclasses.dataclass(frozen=True)
class UnionFunction:
    """The function, or the two, for one union.

    Attributes:
        name: of the function that gives one value for one.
        type_name: the canonical union.
        lacks: the canonical branches that the revision does not have.
        cases: the branches that it has.
        replacements: the branches that the inventory is asked about.
        takes_list: the value may be a list of such values.
        takes_others: the value may be something else than an object, which stays as it is.
    """

    name: str
    type_name: str
    lacks: tuple[str, ...]
    cases: tuple[Case, ...]
    replacements: tuple[Replacement, ...]
    takes_list: bool
    takes_others: bool = False

    @property
    def parts(self) -> str:
        """The name of the function that gives a list of values for one; there is one where `many` says so."""
        return f"{self.name}_parts"

    @property
    def many(self) -> bool:
        """Whether several values may be sent for one."""
        return self.takes_list or bool(self.replacements) or any(case.call.many for case in self.cases)


@dataclasses.dataclass(frozen=True, order=True)
class Complaint:
    """An answer that is missing: what is the matter, where it is so, and what can be done about it.

    Attributes:
        what: the matter, in words.
        section: that of `canonical.yaml` which has to do with it.
        remedy: what can be done.
        member: the member (`Type.member`) whose values are meant; `what` begins with it, and other types may have one just like it.
        reading: it is the revision that has more values than the vocabulary, which ends nothing while the revision is a draft.
    """

    what: str
    section: str
    remedy: str = ""
    member: str = ""
    reading: bool = False


@dataclasses.dataclass(frozen=True)
class Projection:
    """All functions of one revision, ordered by name.

    Attributes:
        objects: one for each type of object that can be sent.
        unions: one for each union of them.
        calls: what is called for each root; None for a root that stays as it is.
        used: what of the answers was asked for.
        complaints: every answer that is missing.
    """

    objects: tuple[ObjectFunction, ...]
    unions: tuple[UnionFunction, ...]
    calls: Mapping[Root, str | None]
    used: frozenset[str]
    complaints: tuple[Complaint, ...] = ()

    @property
    def held_against(self) -> tuple[str, ...]:
        """The definitions that values are held against, ordered."""
        checks = [fit.check for function in self.objects for fit in function.fits if fit.check is not None]
        return tuple(sorted(frozenset[str]().union(*(check.definitions for check in checks))))
