"""The types that a spec may name, what may stand for each, and how a value of it reads in Python.

Rule: scalars are text until a declared type says otherwise. A value, an entry of a table and a parameter share these types, so
that there is one grammar to know.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Annotated, Any

import pydantic

from .located import Node, Problems, Scalar, Sequence, found, is_null
from .models import not_allowed

Value = bool | int | str | tuple[str, ...] | None


@dataclasses.dataclass(frozen=True)
class Type:
    """A type by its name in specs, its Python annotation, and a sentence part that says what may stand for it."""

    name: str
    annotation: str
    allowed: str

    @property
    def given(self) -> str:
        """The annotation where none is left out."""
        return self.annotation.removesuffix(" | None")


TYPES = {
    type_.name: type_
    for type_ in (
        Type("boolean", "bool", "yes or no"),
        Type("integer", "int", "a whole number"),
        Type("text", "str", "text"),
        Type("integer or none", "int | None", "a whole number or none"),
        Type("text or none", "str | None", "text or none"),
        Type("boolean or none", "bool | None", "yes, no or none"),
        Type("list of text", "tuple[str, ...]", "a list of text"),
    )
}

_BOOLEANS = {"yes": True, "true": True, "no": False, "false": False}
# No more digits than every reader of JSON keeps.
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,14})")


def _type(node: Any) -> Type:
    if isinstance(node, Scalar) and node in TYPES:
        return TYPES[node]
    raise not_allowed(", ".join(TYPES))


def _boolean(node: Any) -> bool:
    if isinstance(node, Scalar) and not node.quoted and node in _BOOLEANS:
        return _BOOLEANS[node]
    raise not_allowed(TYPES["boolean"].allowed)


def _written(node: Any) -> Any:
    return node


_TEXTS = {"type": "array", "items": {"type": ["string", "number", "boolean"]}}

NamedType = Annotated[Type, pydantic.PlainValidator(_type), pydantic.WithJsonSchema({"enum": list(TYPES)})]
"""The name of a type."""

Boolean = Annotated[
    bool, pydantic.PlainValidator(_boolean), pydantic.WithJsonSchema({"enum": [*_BOOLEANS, True, False]})
]
"""Yes or no."""

Written = Annotated[
    Node,
    pydantic.PlainValidator(_written),
    pydantic.WithJsonSchema({"anyOf": [{"type": ["string", "integer", "boolean"]}, _TEXTS]}),
]
"""A value as it was written; `read_value` makes one of it where its type is known."""


def read_value(node: Node, type_: Type, where: str, problems: Problems) -> Value:
    """A node as a value of a declared type.

    Args:
        node: what was written.
        type_: the declared type.
        where: what the value is for, as it is to read in a complaint.
        problems: receives a complaint when the node is no such value.

    Returns:
        The value; None as well where the node is not of the type.
    """
    if type_.name == "list of text":
        if isinstance(node, Sequence) and all(_is_text(item) for item in node):
            return tuple(str(item) for item in node)
    elif isinstance(node, Scalar):
        plain = None if node.quoted else str(node)
        if plain == "none" and type_.name.endswith(" or none"):
            return None
        base = type_.name.removesuffix(" or none")
        if base == "boolean" and plain in _BOOLEANS:
            return _BOOLEANS[plain]
        if base == "integer" and plain is not None and _INTEGER.fullmatch(plain):
            return int(plain)
        if base == "text" and _is_text(node):
            return str(node)
    problems.add(node.place, f"{where} is {found(node)}; allowed: {type_.allowed}")
    return None


def python_literal(value: Value) -> str:
    """A value as a Python expression; the formatter settles the quotes."""
    return repr(value)


def _is_text(node: Node) -> bool:
    # An empty scalar without quotes is a forgotten one.
    return isinstance(node, Scalar) and bool(node or node.quoted) and not is_null(node)
