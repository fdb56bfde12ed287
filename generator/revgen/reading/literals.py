"""The types that a spec may name, what may stand for each, and how a value of it reads in Python.

Rule: scalars are text until a declared type says otherwise. A value, an entry of a table and a parameter share these types, so
that there is one grammar to know.
"""

from __future__ import annotations

import dataclasses
import re

from .located import Node, Problems, Scalar, Sequence, kind

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
_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")


def read_type(node: Node, where: str, problems: Problems) -> Type | None:
    """The type that a node names.

    Args:
        node: what was written for the type.
        where: what the type is for, as it is to read in a complaint.
        problems: receives a complaint when the node names no type.
    """
    if isinstance(node, Scalar) and node.text in TYPES:
        return TYPES[node.text]
    problems.add(node.place, f"{found(node)} is not a type for {where}; types: {', '.join(TYPES)}")
    return None


def read_boolean(node: Node, where: str, problems: Problems) -> bool:
    """A node as yes or no; no where it is neither, after a complaint."""
    return read_value(node, TYPES["boolean"], where, problems) is True


def read_text(node: Node, where: str, problems: Problems) -> str:
    """A node as text that is not empty; empty where it is none, after a complaint."""
    if isinstance(node, Scalar) and node.text.strip():
        return node.text
    problems.add(node.place, f"{where} is {found(node)}; allowed: text")
    return ""


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
            return tuple(item.text for item in node if isinstance(item, Scalar))
    elif isinstance(node, Scalar):
        plain = None if node.quoted else node.text
        if plain == "none" and type_.name.endswith(" or none"):
            return None
        base = type_.name.removesuffix(" or none")
        if base == "boolean" and plain in _BOOLEANS:
            return _BOOLEANS[plain]
        if base == "integer" and plain is not None and _INTEGER.fullmatch(plain):
            return int(plain)
        if base == "text" and _is_text(node):
            return node.text
    problems.add(node.place, f"{where} is {found(node)}; allowed: {type_.allowed}")
    return None


def found(node: Node) -> str:
    """What was found, as it is to read in a complaint: the text itself, or what kind of node stands there."""
    if not isinstance(node, Scalar):
        return f"a {kind(node)}"
    if not node.text.strip():
        return "empty"
    return f'"{node.text}"' if node.quoted else f"'{node.text}'"


def python_literal(value: Value) -> str:
    """A value as a Python expression; the formatter settles the quotes."""
    return repr(value)


def _is_text(node: Node) -> bool:
    # An empty scalar without quotes is a forgotten one.
    return isinstance(node, Scalar) and bool(node.text or node.quoted)
