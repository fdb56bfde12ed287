"""Reading a schema in normal form: references, unions, what a node is. Shared by everything that compares schemas.

Rule: only looks, never changes or decides. A schema is a mapping with `$defs`; a node of it is a plain mapping.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from .normal_form import PUBLISHED
from .references import referred

Node = Mapping[str, Any]
Definitions = Mapping[str, Node]

_NUMBER_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_BOUNDS = {
    "array": ("minItems", "maxItems"),
    "integer": _NUMBER_BOUNDS,
    "number": _NUMBER_BOUNDS,
    "string": ("minLength", "maxLength", "pattern"),
}


def published_names(schema: Mapping[str, Any]) -> frozenset[str]:
    """The definitions that were published under their name; the rest got theirs from where they stand."""
    return frozenset(schema.get(PUBLISHED, schema["$defs"]))


def resolved(node: Node, definitions: Definitions) -> Node:
    """The node at the end of a chain of references; the last reference itself where it leads nowhere."""
    seen = set()
    while (name := referred(node)) is not None and name in definitions and name not in seen:
        seen.add(name)
        node = definitions[name]
    return node


def end_name(name: str, definitions: Definitions) -> str:
    """The last definition of a chain of definitions that are nothing but a reference."""
    while (following := referred(definitions.get(name, {}))) in definitions and following not in (None, name):
        assert following is not None
        name = following
    return name


def alternatives(node: Node, definitions: Definitions) -> list[Node]:
    """The branches of a union, named unions opened; a node that is no union is its only branch."""
    inner = resolved(node, definitions)
    for keyword in ("anyOf", "oneOf"):
        if keyword in inner:
            return [branch for part in inner[keyword] for branch in alternatives(part, definitions)]
    return [node]


def is_union(node: Node, definitions: Definitions) -> bool:
    """Whether a node is a union, by itself or through references."""
    return not {"anyOf", "oneOf"}.isdisjoint(resolved(node, definitions))


def is_object(node: Node, definitions: Definitions) -> bool:
    """Whether only JSON objects can meet a node."""
    return all(
        inner.get("type") == "object" or "properties" in inner
        for inner in (resolved(branch, definitions) for branch in alternatives(node, definitions))
    )


def takes_null(node: Node, definitions: Definitions) -> bool:
    """Whether null meets a node."""
    for branch in alternatives(node, definitions):
        inner = resolved(branch, definitions)
        if "const" in inner or "enum" in inner:
            if None in inner.get("enum", [inner.get("const")]):
                return True
        elif "$ref" not in inner and "null" in json_types(inner):
            return True
    return False


def json_types(node: Node) -> list[str]:
    """The JSON types that a node names; all of them where it names none."""
    kinds = node.get("type", ["array", "boolean", "null", "number", "object", "string"])
    return [kinds] if isinstance(kinds, str) else list(kinds)


def bounds_of(kind: str) -> tuple[str, ...]:
    """The keywords that bound the values of a JSON type, in a fixed order."""
    return _BOUNDS.get(kind, ())


def values(node: Node) -> list[Any] | None:
    """The values that a node lists; None for a node that lists none."""
    return [node["const"]] if "const" in node else list(node["enum"]) if "enum" in node else None


def kind_of(value: Any) -> str:
    """The JSON type of a value; a number without a fraction is an integer."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, float):
        return "integer" if value.is_integer() else "number"
    return {type(None): "null", int: "integer", str: "string", list: "array", dict: "object"}[type(value)]


def constant(node: Node) -> Any:
    """The only value that meets a node; None where there are others."""
    values = node.get("enum", [])
    return node["const"] if "const" in node else values[0] if len(values) == 1 else None


def references(node: Any) -> Iterator[str]:
    """The names of all definitions that a node refers to, directly."""
    if isinstance(node, Mapping):
        for key, value in node.items():
            if key != "$ref" or not isinstance(value, str):
                yield from references(value)
        if (name := referred(node)) is not None:
            yield name
    elif isinstance(node, list):
        for item in node:
            yield from references(item)


def shown(node: Node) -> str:
    """A node in a few words, for a complaint."""
    name = referred(node)
    if name is not None:
        return name
    for keyword in ("anyOf", "oneOf"):
        if keyword in node:
            return " | ".join(map(shown, node[keyword]))
    if "const" in node:
        return f"={node['const']!r}"
    if "enum" in node:
        return f"enum({'|'.join(map(str, node['enum']))})"
    if not node.keys() & {"type", "properties", "items", "additionalProperties"}:
        return "any"
    if node.get("type") == "array" or "items" in node:
        return f"list of {shown(node.get('items', {}))}"
    if "properties" in node:
        return f"object with {', '.join(sorted(node['properties']))}"
    if node.get("type") == "object" or "additionalProperties" in node:
        return f"map of {shown(node.get('additionalProperties', {}))}"
    return "|".join(json_types(node))


def snake_case(name: str) -> str:
    """A definition's name as a Python one: `CallToolResult` → `call_tool_result`, `JSONObject` → `json_object`."""
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name))
    return re.sub(r"\W+", "_", words).lower()
