"""The words of JSON Schema: which of them hold schemas, which say something about which kind of value, and pointers to them.

Rule: what is not listed here asserts nothing. Everything that goes through a schema goes by these tables, so that the name of a
member, a constant or a default is never taken for a keyword.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from mcp_contract.messages import JsonObject

Schema = Any
"""A JSON Schema: an object, or true or false."""

Step = str | int


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


HOLDS_ONE = words(
    "additionalItems additionalProperties contains contentSchema else if items not propertyNames then unevaluatedItems"
    " unevaluatedProperties"
)
HOLDS_LIST = words("allOf anyOf items oneOf prefixItems")
HOLDS_NAMED = words("$defs definitions dependencies dependentSchemas patternProperties properties")
DEFINITIONS = ("$defs", "definitions")

KIND_OF_TYPE = {
    "null": "null",
    "boolean": "boolean",
    "integer": "number",
    "number": "number",
    "string": "string",
    "array": "array",
    "object": "object",
}
KINDS = frozenset(KIND_OF_TYPE.values())

_WORDS_BY_KIND = {
    "number": "exclusiveMaximum exclusiveMinimum maximum minimum multipleOf",
    "string": "contentEncoding contentMediaType contentSchema format maxLength minLength pattern",
    "array": (
        "additionalItems contains items maxContains maxItems minContains minItems prefixItems unevaluatedItems uniqueItems"
    ),
    "object": (
        "additionalProperties dependencies dependentRequired dependentSchemas maxProperties minProperties patternProperties"
        " properties propertyNames required unevaluatedProperties"
    ),
}
KIND_OF_KEYWORD = {keyword: kind for kind, text in _WORDS_BY_KIND.items() for keyword in text.split()}
"""Keyword → the one kind of value that it says something about; any other value passes it."""

ASSERTS = frozenset(KIND_OF_KEYWORD) | words(
    "$dynamicRef $recursiveRef $ref allOf anyOf const else enum if not oneOf then type"
)
"""Every keyword that can make a value fail."""

LOOKS_INSIDE = frozenset(
    keyword for keyword, kind in KIND_OF_KEYWORD.items() if kind in ("array", "object")
) - frozenset(("maxItems", "minItems"))
"""Keywords for which it matters what members an object has, or what is in the items of an array."""


def subschemas(schema: JsonObject) -> Iterator[tuple[tuple[Step, ...], Schema]]:
    """Every schema that stands directly in a schema.

    Args:
        schema: a schema that is an object.

    Returns:
        The steps that lead to it (`("properties", "name")`) and the schema itself.
    """
    for keyword, value in schema.items():
        if isinstance(value, list):
            if keyword in HOLDS_LIST:
                for index, inner in enumerate(value):
                    if isinstance(inner, dict | bool):
                        yield (keyword, index), inner
        elif keyword in HOLDS_NAMED and isinstance(value, dict):
            for name, inner in value.items():
                if isinstance(inner, dict | bool):
                    yield (keyword, name), inner
        elif keyword in HOLDS_ONE and isinstance(value, dict | bool):
            yield (keyword,), value


def with_subschemas(schema: JsonObject, change: Callable[[tuple[Step, ...], Schema], Schema]) -> JsonObject:
    """A schema whose direct subschemas are replaced.

    Args:
        schema: a schema that is an object; left as it is.
        change: steps and subschema → what stands there instead.

    Returns:
        A new object, or the same one where every subschema came back as the same object.
    """
    changed: JsonObject = {}
    for steps, inner in subschemas(schema):
        replacement = change(steps, inner)
        if replacement is inner:
            continue
        keyword = steps[0]
        if len(steps) == 1:
            changed[str(keyword)] = replacement
        else:
            holder = schema[str(keyword)]
            fresh = changed.setdefault(str(keyword), list(holder) if isinstance(holder, list) else dict(holder))
            fresh[steps[1]] = replacement
    return {**schema, **changed} if changed else schema


def at(pointer: str, *steps: Step) -> str:
    """A JSON pointer that goes on from another one."""
    return pointer + "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def types_of(schema: JsonObject) -> tuple[str, ...] | None:
    """The types that `type` names, or None where it is absent."""
    named = schema.get("type")
    if named is None:
        return None
    return (named,) if isinstance(named, str) else tuple(named)


def constants_of(schema: JsonObject) -> list[Any] | None:
    """The values that `const` and `enum` leave, or None where neither is there."""
    if "const" not in schema:
        return schema.get("enum")
    if "enum" not in schema or equality_key(schema["const"]) in map(equality_key, schema["enum"]):
        return [schema["const"]]
    return []


def kind_of_value(value: Any) -> str:
    """The kind of a JSON value."""
    if value is None:
        return "null"
    kinds = {bool: "boolean", int: "number", float: "number", str: "string", list: "array", dict: "object"}
    return kinds[type(value)]


def has_type(value: Any, named: str) -> bool:
    """Is a JSON value of the type that a schema names? 1.0 is an integer, true is not."""
    if named == "integer":
        return kind_of_value(value) == "number" and (isinstance(value, int) or value.is_integer())
    return kind_of_value(value) == KIND_OF_TYPE.get(named)


def equality_key(value: Any) -> str:
    """A text that two JSON values share exactly if JSON Schema calls them equal: 1 and 1.0 are, 1 and true are not."""
    return json.dumps(_with_whole_numbers(value), sort_keys=True)


def _with_whole_numbers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_with_whole_numbers(item) for item in value]
    if isinstance(value, dict):
        return {name: _with_whole_numbers(item) for name, item in value.items()}
    return value
