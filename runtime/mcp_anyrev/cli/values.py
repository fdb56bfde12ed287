"""`key=value` → values, as a schema wants them.

Rule: what a schema says is taken at its word: a value that can be none of what it allows is refused, and the words say what is allowed.
Only text that may be anything is taken as it is. `key:=JSON` says it exactly.
Specification: server/tools#tool
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from mcp_contract import Json, JsonObject
from mcp_contract.wording import cut
from pydantic_core import from_json, to_json

from mcp_anyrev.schemas import SchemaFault, validator_for_text

_MOST_REFERENCES = 16
_TYPES = ("integer", "number", "boolean", "null", "array", "object", "string")


class ValueFault(ValueError):
    """A value is none that is allowed. The text says what is."""


def named_values(pairs: Iterable[str], schema: JsonObject) -> JsonObject:
    """Values by name.

    Args:
        pairs: each `key=value` or `key:=JSON`; a key that comes again gives another item of an array.
        schema: the schema of the object.

    Raises:
        ValueFault: one is none of these, names nothing, or does not fit.
    """
    known: Mapping[str, Json] = schema.get("properties") or {}
    found: JsonObject = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        exactly = key.endswith(":")
        key = key.removesuffix(":") if exactly else key
        if not equals or not key:
            raise ValueFault(f"{pair!r} is none of key=value and key:=JSON")
        if key not in known and not exactly and not _is_open(schema):
            raise ValueFault(f"there is no {key!r}{nearest(key, known)}; there is: {described(schema)}")
        member = resolved(known.get(key, {}), schema)
        value = _json(key, text) if exactly else typed(text, member, schema, key)
        if key not in found:
            found[key] = value
        elif isinstance(found[key], list) and "array" in types_of(member, schema):
            found[key] = [*found[key], *(value if isinstance(value, list) else [value])]
        else:
            raise ValueFault(f"{key!r} is given twice, and is no array")
    return found


def check(values: JsonObject, schema: JsonObject) -> None:
    """See that values fit their schema.

    Raises:
        ValueFault: they do not.
    """
    try:
        validator = validator_for_text(to_json(schema))
    except SchemaFault:
        return  # whoever sends it says so
    if not validator.accepts(values):
        raise ValueFault(f"{validator.faults(values)}; wanted: {described(schema)}")


def typed(text: str, member: JsonObject, root: JsonObject, name: str) -> Json:
    """A text as the value that a schema allows.

    Args:
        text: what was typed.
        member: the schema.
        root: the schema that its references are about.
        name: what it is the value of, for words.

    Raises:
        ValueFault: it can be none that is allowed.
    """
    member = resolved(member, root)
    choices = choices_of(member, root)
    if choices is not None:
        return _chosen(text, choices, name)
    allowed = types_of(member, root)
    for one in _TYPES:
        if one in allowed and not (one == "array" and "string" in allowed and not text.startswith("[")):
            value = _as(one, text, member, root, name)
            if value is not _NONE:
                return value
    if not allowed:
        return _json_or_text(text)
    raise ValueFault(f"{name} is {' or '.join(allowed)}; {cut(repr(text))} is not")


def resolved(member: Any, root: JsonObject) -> JsonObject:
    """A schema, where a reference leads to it; an empty one where nothing is said."""
    for _ in range(_MOST_REFERENCES):
        if not isinstance(member, dict) or not isinstance(member.get("$ref"), str):
            break
        found: Any = root
        for step in member["$ref"].removeprefix("#").split("/")[1:]:
            found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
        member = {**(found if isinstance(found, dict) else {}), **{k: v for k, v in member.items() if k != "$ref"}}
    return member if isinstance(member, dict) else {}


def types_of(member: JsonObject, root: JsonObject) -> list[str]:
    """The types that a schema allows; none where it does not say."""
    said = member.get("type")
    if isinstance(said, str):
        return [said]
    if isinstance(said, list):
        return [one for one in said if isinstance(one, str)]
    branches = member.get("anyOf") or member.get("oneOf") or ()
    found = [types_of(resolved(one, root), root) for one in branches]
    if not found and "properties" in member:
        return ["object"]
    return list(dict.fromkeys(one for types in found for one in types)) if all(found) else []


def choices_of(member: JsonObject, root: JsonObject) -> dict[str, Json] | None:
    """What may be chosen, by how it is written; None where anything may be said."""
    if "const" in member:
        return {_written(member["const"]): member["const"]}
    if isinstance(member.get("enum"), list):
        return {_written(one): one for one in member["enum"]}
    branches = [resolved(one, root) for one in member.get("oneOf") or member.get("anyOf") or ()]
    if branches and all("const" in one for one in branches):
        return {_written(one["const"]): one["const"] for one in branches}
    return None


def described(schema: JsonObject) -> str:
    """The members of an object: names, types or choices, and which must be there."""
    required = schema.get("required") or ()
    members = [
        f"{name} ({kind_of(resolved(member, schema), schema)}{', required' if name in required else ''})"
        for name, member in (schema.get("properties") or {}).items()
    ]
    return ", ".join(members) or "nothing"


def kind_of(member: JsonObject, root: JsonObject) -> str:
    """What a value is, in a few words."""
    choices = choices_of(member, root)
    if choices is not None:
        return " | ".join(choices)
    types = types_of(member, root)
    if types == ["array"]:
        return f"{kind_of(resolved(member.get('items'), root), root)}[]"
    return " | ".join(types) or "anything"


_NONE: Any = object()
"""Stands for no value, as null is one."""


def _as(kind: str, text: str, member: JsonObject, root: JsonObject, name: str) -> Json:
    """A text as a value of a type; `_NONE` where it is none."""
    if kind == "string":
        return text
    if kind == "array" and not text.startswith("["):
        return [typed(text, member.get("items") or {}, root, name)]
    try:
        value = from_json(text, allow_inf_nan=False)
    except ValueError:
        return _NONE
    return value if _is(kind, value) else _NONE


def _is(kind: str, value: Json) -> bool:
    if kind == "null":
        return value is None
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, {"boolean": bool, "array": list, "object": dict}[kind])


def _chosen(text: str, choices: Mapping[str, Json], name: str) -> Json:
    if text not in choices:
        raise ValueFault(f"{name} is one of {', '.join(choices)}; {cut(repr(text))} is not")
    return choices[text]


def _json(name: str, text: str) -> Json:
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as fault:
        raise ValueFault(f"{name}:= is followed by JSON: {fault}") from None


def _json_or_text(text: str) -> Json:
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError:
        return text


def _written(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _is_open(schema: JsonObject) -> bool:
    """Does a schema say by itself that it takes members that it does not name?"""
    return bool(schema.get("additionalProperties")) or bool(schema.get("patternProperties"))


def nearest(key: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(key, list(known), 1)
    return f" (is it {near[0]!r}?)" if near else ""
