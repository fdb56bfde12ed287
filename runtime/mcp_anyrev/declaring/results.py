"""From what a tool's function returns to the result of the call.

Rule: a structured value is always there as text too, fits the schema that was published for it, and is JSON that any client can
read. In canonical form; what a revision lacks, its adapter leaves out or replaces.
Specification: server/tools#tool-result
"""

from __future__ import annotations

import inspect
import types
import typing
from functools import lru_cache
from typing import Any

from mcp_contract import JsonObject
from pydantic import PydanticUserError
from pydantic_core import PydanticSerializationError, from_json, to_json, to_jsonable_python

from mcp_anyrev.declaring.canonical_values import CANONICAL, canonical, dumped
from mcp_anyrev.declaring.model_schemas import schema_of
from mcp_anyrev.schemas import JsonValidator


class UnusableResult(Exception):
    """A tool returned what it must not; the text is for the log."""


def failed(words: str) -> JsonObject:
    """The result of a tool that could not do its work, with words for the client."""
    return {"content": [{"type": "text", "text": words}], "isError": True}


def output_schema_of(annotation: Any) -> JsonObject | None:
    """The schema of what a function returns, as far as its annotation says.

    Args:
        annotation: the return annotation.

    Returns:
        The schema; None where the result is text, content, a whole result, or anything at all.

    Raises:
        ValueError: the type has no schema.
    """
    if annotation in (inspect.Signature.empty, str, None, type(None), Any) or _mentions_content(annotation):
        return None
    try:
        return schema_of(annotation, "serialization")
    except PydanticUserError as error:
        raise ValueError(f"what it returns has no JSON Schema: {error.message}") from None


def tool_result(value: Any, output: JsonValidator | None) -> JsonObject:
    """What a tool returned → a result in canonical form.

    Args:
        value: text, content, a whole result, or anything that is JSON or becomes it.
        output: checks structured values, where an output schema is published.

    Raises:
        UnusableResult: the value is no JSON, or does not fit the schema.
    """
    if output is None:
        if isinstance(value, str):
            return {"content": [{"type": "text", "text": value}]}
        if value is None:
            return {"content": []}
    known = canonical()
    if known is not None and isinstance(value, known.CallToolResult):
        return _checked(dumped(value), output)
    content = None if known is None else _blocks_of(known, value)
    if content is not None:
        return _checked({"content": content}, output)
    structured, text = json_text(value)
    return _checked({"content": [{"type": "text", "text": text}], "structuredContent": structured}, output)


def content_of(value: Any) -> list[JsonObject] | None:
    """The content blocks that a value is, one or a list of them; None where it is none."""
    known = canonical()
    return None if known is None else _blocks_of(known, value)


def _blocks_of(known: types.ModuleType, value: Any) -> list[JsonObject] | None:
    blocks = _block_types(known)
    if isinstance(value, blocks):
        return [dumped(value)]
    if isinstance(value, list) and value and all(isinstance(one, blocks) for one in value):
        return [dumped(one) for one in value]
    return None


def json_text(value: Any) -> tuple[Any, str]:
    """A value as plain JSON, and as its text.

    Raises:
        UnusableResult: it is no JSON and does not become it.
    """
    try:
        structured = to_jsonable_python(value, by_alias=True)
        text = to_json(structured, inf_nan_mode="constants")
    except (PydanticSerializationError, ValueError) as error:
        raise UnusableResult(f"the result is no JSON: {error}") from None
    if (b"NaN" in text or b"Infinity" in text) and _holds_infinities(text):
        raise UnusableResult("the result holds an infinity or NaN, which JSON has not")
    return structured, text.decode()


@lru_cache(maxsize=1)
def _block_types(known: types.ModuleType) -> tuple[type, ...]:
    return tuple(_classes(known.ContentBlock))


def _checked(result: JsonObject, output: JsonValidator | None) -> JsonObject:
    if result.get("isError"):
        return {name: value for name, value in result.items() if name != "structuredContent"}
    if output is not None:
        if "structuredContent" not in result:
            raise UnusableResult("an output schema is published, but the result has no structured content")
        if not output.accepts(result["structuredContent"]):
            raise UnusableResult(f"the result does not fit its schema: {output.faults(result['structuredContent'])}")
    return result


def _holds_infinities(text: bytes) -> bool:
    try:
        from_json(text, allow_inf_nan=False)
    except ValueError:
        return True
    return False


def _mentions_content(annotation: Any) -> bool:
    return any(one.__module__ == CANONICAL for one in _classes(annotation))


def _classes(annotation: Any) -> list[type]:
    """All classes within an annotation, aliases and unions opened."""
    annotation = getattr(annotation, "__value__", annotation)
    arguments = typing.get_args(annotation)
    if not arguments:
        return [annotation] if isinstance(annotation, type) else []
    return [one for argument in arguments for one in _classes(argument)]
