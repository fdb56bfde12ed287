"""Branches of a union that another branch contains: they add nothing, so what is left may be no union.

Rule: dropped only where every value that fits the branch certainly fits the other one. Where `format` only annotates, it keeps no value
out; a format that does not hold for everything that is left goes with the branch that lacks it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mcp_contract.messages import JsonObject
from mcp_contract.simplification.keywords import (
    ASSERTS,
    KIND_OF_KEYWORD,
    KIND_OF_TYPE,
    Schema,
    constants_of,
    equality_key,
    has_type,
    kind_of_value,
    types_of,
)

_LOWER = frozenset(("exclusiveMinimum", "minItems", "minLength", "minProperties", "minimum"))
_UPPER = frozenset(("exclusiveMaximum", "maxItems", "maxLength", "maxProperties", "maximum"))
_OF_EACH = ("additionalProperties", "items")
"""What says something about each member or item, where nothing else does."""

_SAY_NOTHING: dict[str, tuple[Any, ...]] = {
    "additionalProperties": (True, {}),
    "items": (True, {}),
    "minItems": (0,),
    "minLength": (0,),
    "minProperties": (0,),
    "properties": ({},),
    "propertyNames": (True, {}),
    "required": ([],),
    "uniqueItems": (False,),
}


def without_contained(branches: Sequence[Schema], *, format_asserts: bool) -> list[Schema]:
    """The branches of an `anyOf` that no other one contains.

    Args:
        branches: plain schemas, free of references and composition.
        format_asserts: does `format` keep values out?

    Returns:
        Those that are left, in order, without a format that does not hold for what they have taken in.
    """
    left: list[Schema] = []
    for branch in branches:
        if not _says_something(branch):
            left.append(branch)
            continue
        within = next((place for place, one in enumerate(left) if _contains(one, branch, format_asserts)), None)
        if within is not None:
            left[within] = _taking_in(left[within], branch, format_asserts)
            continue
        for one in [one for one in left if _contains(branch, one, format_asserts)]:
            left = [other for other in left if other is not one]
            branch = _taking_in(branch, one, format_asserts)
        left.append(branch)
    return left


def _says_something(schema: Schema) -> bool:
    return isinstance(schema, dict) and not ASSERTS.isdisjoint(schema)


def _contains(wider: Schema, narrower: Schema, format_asserts: bool) -> bool:
    """Does whatever fits the narrower schema certainly fit the wider one?"""
    if not (isinstance(wider, dict) and isinstance(narrower, dict)):
        return wider is True
    if constants_of(wider) is not None:
        return False  # constants are united by themselves
    types, constants = types_of(narrower), constants_of(narrower)
    if constants is not None:
        fitting = [one for one in constants if types is None or any(has_type(one, named) for named in types)]
        return all(_takes(wider, one, format_asserts) for one in fitting)
    allowed = types_of(wider)
    if allowed is not None and not all(
        named in allowed or (named == "integer" and "number" in allowed) for named in types or ("any",)
    ):
        return False
    kinds = {KIND_OF_TYPE[named] for named in types or KIND_OF_TYPE}
    return all(
        _goes_beyond(_says(wider, kind, format_asserts), _says(narrower, kind, format_asserts), kind, format_asserts)
        for kind in kinds
    )


def _takes(schema: JsonObject, value: Any, format_asserts: bool) -> bool:
    """Does a value certainly fit?"""
    types = types_of(schema)
    return (types is None or any(has_type(value, named) for named in types)) and not _says(
        schema, kind_of_value(value), format_asserts
    )


def _says(schema: JsonObject, kind: str, format_asserts: bool) -> JsonObject:
    """What keeps values of one kind out, beside their type."""
    return {
        keyword: value
        for keyword, value in schema.items()
        if KIND_OF_KEYWORD.get(keyword) == kind
        and value not in _SAY_NOTHING.get(keyword, ())
        and (keyword != "format" or format_asserts)
    }


def _goes_beyond(wider: JsonObject, narrower: JsonObject, kind: str, format_asserts: bool) -> bool:
    if not wider or equality_key(wider) == equality_key(narrower):
        return True
    if kind in ("array", "object"):  # keywords that only mean something together
        (keyword, *more) = wider
        if more or keyword not in _OF_EACH or list(narrower) != [keyword]:
            return False
        return _contains(wider[keyword], narrower[keyword], format_asserts)
    return all(keyword in narrower and _as_wide(keyword, value, narrower[keyword]) for keyword, value in wider.items())


def _as_wide(keyword: str, wider: Any, narrower: Any) -> bool:
    if keyword in _LOWER:
        return bool(wider <= narrower)
    if keyword in _UPPER:
        return bool(wider >= narrower)
    return equality_key(wider) == equality_key(narrower)


def _taking_in(wider: Schema, narrower: Schema, format_asserts: bool) -> Schema:
    """The wider schema without formats that do not hold for the narrower one."""
    if format_asserts or not isinstance(wider, dict) or not isinstance(narrower, dict):
        return wider
    taken = dict(wider)
    if "format" in taken and taken["format"] != narrower.get("format"):
        del taken["format"]
    for keyword in _OF_EACH:
        if keyword in wider and keyword in narrower:
            taken[keyword] = _taking_in(wider[keyword], narrower[keyword], format_asserts)
    return taken if taken != wider else wider
