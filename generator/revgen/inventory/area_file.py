"""What a file `specs/variance/<area>.yaml` may hold.

Rule: a model checks what one entry says by itself. What it says of other entries, of the revisions and of their schemas is held against
those by `loading`.
"""

from __future__ import annotations

import ast
from typing import Annotated, Any, Literal, Self, TypeVar

import pydantic

from ..reading.literals import Boolean, NamedType, Written
from ..reading.located import Scalar
from ..reading.models import (
    ByKey,
    Each,
    FileName,
    LocatedText,
    Name,
    Part,
    ShortForm,
    Text,
    by_kind,
    not_allowed,
    wrong,
)
from ..schemas.revisions import Version
from .citations import Citations

_Any = TypeVar("_Any")

Transport = Literal["streamable_http", "http_sse", "stdio"]

NamedByValue = Literal["request", "notification", "header", "checks", "status"]
"""What a value may name that stands elsewhere: a request or a notification of a client, a header or the start of its name, methods of
the adapter that check a message, a status of HTTP."""

NamedByTable = Literal["requests", "request members", "meta keys", "error codes", "error kinds", "concerns", "statuses"]
"""What the rows of a table may name: a request of a client; that, and a member of its params; a key of `_meta`; a kind of error, and its
code; a code, and a kind of error; a concern that the revision answers with something; a status of HTTP."""


Reader = Literal["people"]
"""Who reads an answer that no code does: people, who compare revisions."""


Cited = Annotated[Citations, pydantic.Field(alias="cite", description="Where it is written, or why it is so.")]

Review = Annotated[
    Text | None,
    pydantic.Field(description="Why a person has yet to look at it; taking this away says that somebody has."),
]


def _signature(node: Any) -> str:
    if not isinstance(node, Scalar) or not _is_method_signature(node):
        raise not_allowed("(self, <name>: <type>, ...) -> <type>, every parameter annotated")
    return str(node)


def _is_method_signature(signature: str) -> bool:
    """Whether a method of the class can be defined with it: `self` first, and everything annotated."""
    try:
        statements = ast.parse(f"def method{signature}: ...").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    if len(statements) != 1 or not isinstance(statements[0], ast.FunctionDef):
        return False
    method = statements[0]
    positional = method.args.posonlyargs + method.args.args
    if len(method.body) != 1 or not positional or positional[0].arg != "self":
        return False
    variadic = [argument for argument in (method.args.vararg, method.args.kwarg) if argument]
    annotated = positional[1:] + method.args.kwonlyargs + variadic
    return method.returns is not None and all(argument.annotation is not None for argument in annotated)


Signature = Annotated[
    str,
    pydantic.PlainValidator(_signature),
    pydantic.WithJsonSchema({"type": "string", "pattern": r"^\(self[,)].* -> .+$"}),
]
"""The signature of a method, with its parentheses."""


class Row(Part):
    """One row of a table, which every revision answers."""

    model_config = pydantic.ConfigDict(title="row")

    says: Text
    """What it is, in words."""
    defined: Text = ""
    """The type in the schema that has the row's value, where it has that type."""
    stated: Boolean = True
    """Whether schemas state the row; if not, pages alone do."""


class Choice(Part):
    """One way to do it: a macro of its name gives the code."""

    model_config = pydantic.ConfigDict(title="choice")

    says: Text
    """What it does, in words."""
    reads: tuple[Text, ...] = ()
    """The members (`Type.member`) that its code relies on."""


class ValueAnswer(Part):
    """What one revision answers where a value is asked for."""

    model_config = pydantic.ConfigDict(title="answer")

    is_: Written = pydantic.Field(alias="is")
    """The value, of the type that the concern declares."""
    citations: Cited
    review: Review = None


class TableAnswer(Part):
    """What one revision answers where a table is asked for."""

    model_config = pydantic.ConfigDict(title="answer")

    rows: dict[LocatedText, Written]
    """A value for each row of the concern, of the type that it declares; `none` where the revision has no such thing."""
    citations: Cited
    review: Review = None


class ChoiceAnswer(Part):
    """What one revision answers where a choice is asked for."""

    model_config = pydantic.ConfigDict(title="answer")

    choice: LocatedText
    """One of the choices of the concern."""
    arguments: dict[LocatedText, Written] = pydantic.Field(default_factory=dict, alias="with")
    """A value for each parameter of the concern, of the type that it declares."""
    citations: Cited
    review: Review = None


class ValueConcern(Part):
    """A question that is answered with a constant."""

    model_config = pydantic.ConfigDict(title="concern")

    question: Text
    """What is asked, in a sentence."""
    value: NamedType
    """The type of the value."""
    flag: Boolean = False
    """Whether it is a capability flag: something that the runtime branches on."""
    names: NamedByValue | None = None
    """What the answers name that stands elsewhere."""
    needs: Text = ""
    """Another concern, which a revision must answer with something where it does so here."""
    fills: Text = ""
    """The member that it fills where a revision requires it and a sender may leave it out."""
    orders: Text = ""
    """The type whose values it puts in order: each answer has exactly those of its schema."""
    among: Text = ""
    """The member (`Type.member`) whose values it takes some of: each item is one that the schema allows there."""
    excludes: tuple[Text, ...] = ()
    """Other concerns, which a revision may not answer with something where it does so here."""
    read_by: Reader | None = None
    """Who reads the answers, where the server does not."""
    answers: Each[Version, ValueAnswer]
    """The answer of each revision, oldest first."""

    @pydantic.model_validator(mode="after")
    def _is_boolean_if_flag(self) -> Self:
        if self.flag and self.value.name != "boolean":
            raise wrong(
                f"'flag' stands beside 'value: {self.value.name}'; allowed: beside 'value: boolean'", key="flag"
            )
        return self

    @pydantic.model_validator(mode="after")
    def _is_list_if_of_values(self) -> Self:
        for key, given in (("orders", self.orders), ("among", self.among)):
            if given and self.value.name != "list of text":
                message = f"'{key}' stands beside 'value: {self.value.name}'; allowed: beside 'value: list of text'"
                raise wrong(message, key=key)
        return self


class TableConcern(Part):
    """A question that is answered with a table."""

    model_config = pydantic.ConfigDict(title="concern")

    question: Text
    """What is asked, in a sentence."""
    table: NamedType
    """The type of every entry."""
    names: NamedByTable | None = None
    """What the rows name that stands elsewhere."""
    rows: Annotated[
        Annotated[LocatedText, pydantic.Tag("text")]
        | Annotated[dict[LocatedText, Annotated[Row, ShortForm("says")]], pydantic.Tag("mapping")],
        by_kind("a mapping from row to words, or the name of a table that has the same rows"),
    ]
    """Every row, with words; or the name of a table that has the same rows."""
    read_by: Reader | None = None
    """Who reads the answers, where the server does not."""
    answers: Each[Version, TableAnswer]
    """The answer of each revision, oldest first."""


def _some_choice(choices: _Any) -> _Any:
    if not choices:
        raise not_allowed("a mapping from choice to words, with one at least")
    return choices


class ChoiceConcern(Part):
    """A question that is answered with code that differs."""

    model_config = pydantic.ConfigDict(title="concern")

    question: Text
    """What is asked, in a sentence."""
    signature: Signature
    """The signature of the method whose body the macros give."""
    parameters: dict[Name, NamedType] = pydantic.Field(default_factory=dict)
    """What every answer gives to its macro, with the type."""
    choices: Annotated[dict[Name, Annotated[Choice, ShortForm("says")]], pydantic.AfterValidator(_some_choice)]
    """Every choice, with words."""
    adjusts: Text = ""
    """The type whose objects it takes before anything is left out."""
    replaces: Text = ""
    """The member of unions, the type or the member of a type for which it gives what is sent instead."""
    read_by: Reader | None = None
    """Who reads the answers, where the server does not."""
    answers: Each[Version, ChoiceAnswer]
    """The answer of each revision, oldest first."""

    @pydantic.model_validator(mode="after")
    def _has_one_part(self) -> Self:
        if self.adjusts and self.replaces:
            raise wrong("'adjusts' and 'replaces' stand side by side; allowed: one of them", key="replaces")
        return self


AnyConcern = Annotated[
    Annotated[ValueConcern, pydantic.Tag("value")]
    | Annotated[TableConcern, pydantic.Tag("table")]
    | Annotated[ChoiceConcern, pydantic.Tag("choices")],
    ByKey("value", "table", "choices"),
]


def _not_empty(concerns: _Any) -> _Any:
    if not concerns:
        raise not_allowed("a mapping from name to concern, with one at least")
    return concerns


class AreaFile(Part):
    """Concerns that belong together, each a question that every revision answers for itself."""

    model_config = pydantic.ConfigDict(title="area")

    title: Text
    """What the area is about, for headings."""
    transport: Transport | None = None
    """The transport that its concerns are answered for, if it is one."""
    concerns: Annotated[Each[FileName, AnyConcern], pydantic.AfterValidator(_not_empty)]
    """The concerns by name, one at least; each becomes one attribute or one method of every adapter."""
