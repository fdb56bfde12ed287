"""What the input schema of a tool must be, checked when the tool is declared.

Rule: the shapes that everything here relies on, and nothing that a validator of JSON Schema says better; an error names the place,
what was found there and what is allowed.
Specification: server/tools#tool
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mcp_contract.messages import Json, JsonObject
from mcp_contract.simplification.facts import Facts
from mcp_contract.simplification.keywords import (
    HOLDS_LIST,
    HOLDS_NAMED,
    HOLDS_ONE,
    KIND_OF_TYPE,
    Schema,
    at,
    subschemas,
    words,
)
from mcp_contract.simplification.limits import MAX_DEPTH, MAX_SIZE, NotSimplifiable, check_limits
from mcp_contract.simplification.references import Document

_COUNTS = words("maxContains maxItems maxLength maxProperties minContains minItems minLength minProperties")
_NUMBERS = words("exclusiveMaximum exclusiveMinimum maximum minimum multipleOf")
_TEXTS = words("$anchor $dynamicAnchor $dynamicRef $id $ref $schema description format pattern title")


class InvalidSchema(ValueError):
    """Something that is no input schema of a tool.

    Args:
        pointer: JSON pointer to the place.
        found: what stands there.
        allowed: what may stand there.
    """

    def __init__(self, pointer: str, found: str, allowed: str) -> None:
        super().__init__(f"{pointer or '/'}: found {found}; allowed: {allowed}")
        self.pointer = pointer
        self.found = found
        self.allowed = allowed


def check_input_schema(schema: Json) -> None:
    """See that a value is an input schema: a JSON object, of type object, with every keyword in its shape, within limits.

    Args:
        schema: the declared schema.

    Raises:
        InvalidSchema: it is none.
    """
    if not isinstance(schema, dict):
        raise InvalidSchema("", _named(schema), "an object schema")
    _check_json(schema)
    try:
        check_limits(schema)
    except NotSimplifiable as error:
        raise InvalidSchema(error.pointer, f"a schema too large: {error.reason}", "a smaller one") from None
    if schema.get("type") != "object":
        found = _named(schema["type"]) if "type" in schema else "no type"
        raise InvalidSchema(at("", "type"), found, "'object': the arguments of a call are an object")
    waiting: list[tuple[str, Schema]] = [("", schema)]
    while waiting:
        pointer, node = waiting.pop()
        if isinstance(node, dict):
            _check_keywords(pointer, node)
            waiting += ((at(pointer, *steps), inner) for steps, inner in subschemas(node))
    _check_references(schema)


def _check_json(schema: JsonObject) -> None:
    """See that it is JSON, without recursion: nothing is known yet of its depth, and it might even contain itself."""
    waiting: list[tuple[str, Any, int]] = [("", schema, 0)]
    count = 0
    while waiting:
        pointer, value, depth = waiting.pop()
        count += 1
        if count > MAX_SIZE:
            raise InvalidSchema(pointer, f"more than {MAX_SIZE} values", "fewer")
        if depth > MAX_DEPTH:
            raise InvalidSchema(pointer, f"more than {MAX_DEPTH} objects and arrays inside each other", "fewer")
        if isinstance(value, dict):
            for name, inner in value.items():
                if not isinstance(name, str):
                    raise InvalidSchema(pointer, f"the member name {name!r}", "text")
                waiting.append((at(pointer, name), inner, depth + 1))
        elif isinstance(value, list):
            waiting += ((at(pointer, index), inner, depth + 1) for index, inner in enumerate(value))
        elif isinstance(value, float):
            if not math.isfinite(value):
                raise InvalidSchema(pointer, repr(value), "a finite number")
        elif not (value is None or isinstance(value, str | bool | int)):
            raise InvalidSchema(pointer, f"a Python {type(value).__name__}", "a JSON value")


def _check_keywords(pointer: str, node: JsonObject) -> None:
    for keyword, value in node.items():
        place = at(pointer, keyword)
        for keywords, fits, allowed in _SHAPES:
            if keyword in keywords and not fits(value):
                raise InvalidSchema(place, _named(value), allowed)
        if keyword in HOLDS_NAMED or keyword in HOLDS_ONE or keyword in HOLDS_LIST:
            _check_held(place, keyword, value)


def _check_held(place: str, keyword: str, value: Json) -> None:
    """See that a keyword holds schemas in the way that it must."""
    if keyword in HOLDS_NAMED:
        if not isinstance(value, dict):
            raise InvalidSchema(place, _named(value), "an object of schemas")
        for name, inner in value.items():
            names_only = keyword == "dependencies" and _is_names(inner)
            if not isinstance(inner, dict | bool) and not names_only:
                raise InvalidSchema(at(place, name), _named(inner), "a schema: an object, true or false")
    elif isinstance(value, list) and keyword in HOLDS_LIST:
        if not value and keyword != "items":
            raise InvalidSchema(place, "an empty list", "at least one schema")
        for index, inner in enumerate(value):
            if not isinstance(inner, dict | bool):
                raise InvalidSchema(at(place, index), _named(inner), "a schema: an object, true or false")
    elif keyword not in HOLDS_ONE:
        raise InvalidSchema(place, _named(value), "a list of schemas")
    elif not isinstance(value, dict | bool):
        raise InvalidSchema(place, _named(value), "a schema: an object, true or false")


def _check_references(schema: JsonObject) -> None:
    document = Document(schema)
    if document.unresolved is not None:
        pointer, reason = document.unresolved.pointer, document.unresolved.reason
        raise InvalidSchema(pointer, reason, "a reference to a place in the same schema, such as '#/$defs/Name'")
    if document.obstacle is None:
        facts = Facts(document)
        try:
            for target in sorted(document.targets):
                facts.kinds(document.target("", "#" + target)[1])
        except NotSimplifiable as error:
            raise InvalidSchema(error.pointer, error.reason, "references that go into a member or an item") from None


def _is_type(value: Json) -> bool:
    names = value if isinstance(value, list) else [value]
    return bool(names) and all(isinstance(name, str) and name in KIND_OF_TYPE for name in names) and _different(names)


def _is_names(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value) and _different(value)


def _different(names: list[str]) -> bool:
    return len(names) == len(set(names))


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Json) -> bool:
    return _is_number(value) and value >= 0 and int(value) == value


_SHAPES: tuple[tuple[frozenset[str], Callable[[Json], bool], str], ...] = (
    (frozenset(("type",)), _is_type, f"one of {', '.join(KIND_OF_TYPE)}, or a list of different ones"),
    (frozenset(("required",)), _is_names, "a list of different names"),
    (frozenset(("enum",)), lambda value: isinstance(value, list) and bool(value), "a list of at least one value"),
    (frozenset(("uniqueItems",)), lambda value: isinstance(value, bool), "true or false"),
    (
        frozenset(("dependentRequired",)),
        lambda value: isinstance(value, dict) and all(_is_names(names) for names in value.values()),
        "an object of lists of different names",
    ),
    (_COUNTS, _is_count, "a whole number from 0 on"),
    (_NUMBERS, _is_number, "a number"),
    (_TEXTS, lambda value: isinstance(value, str), "text"),
)


def _named(value: Json) -> str:
    """A value as an error shows it: short, and by its kind where it is long."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list) and len(repr(value)) > 40:
        return "a list"
    return (
        {None: "null", True: "true", False: "false"}.get(value, repr(value))
        if not isinstance(value, list)
        else repr(value)
    )
