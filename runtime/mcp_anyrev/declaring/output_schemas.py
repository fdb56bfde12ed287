"""Results that are no object, in an object.

Rule: the wrapped schema says of the wrapped value exactly what the schema said of the value, wherever its references lead.
Specification: server/tools#output-schema
"""

from __future__ import annotations

from typing import Any

from mcp_contract import JsonObject

MEMBER = "result"

_SHARED = ("$schema", "$defs", "definitions")


def is_object_schema(schema: JsonObject) -> bool:
    """Does a schema say that a value is an object?"""
    return schema.get("type") == "object"


def wrapped_schema(schema: JsonObject) -> JsonObject:
    """The schema of `{"result": value}`.

    Args:
        schema: the schema of the value.
    """
    if "$id" in schema:  # its references start from there, wherever it stands
        return {"type": "object", "properties": {MEMBER: schema}, "required": [MEMBER]}
    moved = _moved(schema)
    shared = {keyword: moved[keyword] for keyword in _SHARED if keyword in moved}
    own = {keyword: inner for keyword, inner in moved.items() if keyword not in _SHARED}
    return {**shared, "type": "object", "properties": {MEMBER: own}, "required": [MEMBER]}


def wrapped(result: JsonObject, schema: JsonObject | None) -> JsonObject:
    """A tool's result with its structured value wrapped, if it has to be.

    Args:
        result: in canonical form.
        schema: the declared output schema, if there is one. Where it is of objects, nothing is wrapped; where it is of something
            else, everything is; without one, what is no object is.
    """
    if "structuredContent" not in result:
        return result
    value = result["structuredContent"]
    if isinstance(value, dict) if schema is None else is_object_schema(schema):
        return result
    return {**result, "structuredContent": {MEMBER: value}}


def _moved(node: Any) -> Any:
    """A schema whose references into itself find their way from the new root; those into shared definitions do already."""
    if isinstance(node, list):
        return [_moved(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        keyword: _moved_reference(inner) if keyword == "$ref" and isinstance(inner, str) else _moved(inner)
        for keyword, inner in node.items()
    }


def _moved_reference(reference: str) -> str:
    if reference != "#" and not reference.startswith("#/"):
        return reference
    steps = reference.split("/")
    return reference if len(steps) > 1 and steps[1] in _SHARED else f"#/properties/{MEMBER}{reference[1:]}"
