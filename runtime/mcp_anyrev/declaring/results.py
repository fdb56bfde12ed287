"""From what a tool's function returns to the result of the call.

Rule: a structured value is always there as text too, fits the schema that was published for it, and is JSON that any client can
read. In canonical form; what a revision lacks, its adapter leaves out or replaces.
Specification: server/tools#tool-result
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from mcp_contract import JsonObject

from mcp_anyrev.declaring.canonical_values import canonical, dumped
from mcp_anyrev.declaring.media import Media
from mcp_anyrev.declaring.returned import ANYTHING, Returned, UnusableResult, classes_of
from mcp_anyrev.messages import written
from mcp_anyrev.schemas import JsonValidator


def failed(words: str) -> JsonObject:
    """The result of a tool that could not do its work, with words for the client."""
    return {"content": [{"type": "text", "text": words}], "isError": True}


def tool_result(value: Any, returned: Returned, output: JsonValidator | None) -> JsonObject:
    """What a tool returned → a result in canonical form.

    Args:
        value: text, content, a whole result, or anything that is JSON or becomes it.
        returned: what the function says that it returns.
        output: checks structured values, where an output schema is published.

    Raises:
        UnusableResult: the value is not what the function says, is no JSON, or does not fit the schema.
    """
    if output is None:
        if value.__class__ is str and returned.leaves_text_alone:
            return {"content": [{"type": "text", "text": value}]}
        if value is None:
            return {"content": []}
        if isinstance(value, str) or returned.is_text:
            return {"content": [{"type": "text", "text": text_of(value, returned)}]}
    known = canonical()
    if known is not None and isinstance(value, known.CallToolResult):
        return _checked(dumped(value), output)
    if isinstance(value, Iterator):
        value = list(value)
    content = content_of(value, all_text=returned.is_content)
    if content is not None:
        return _checked({"content": content}, output)
    structured = returned.plain(value)
    text = structured if isinstance(value, str) and isinstance(structured, str) else text_of_json(structured)
    return _checked({"content": [{"type": "text", "text": text}], "structuredContent": structured}, output)


def text_of(value: Any, returned: Returned) -> str:
    """A text as it goes out; what is not quite one, such as a constant that stands for it, is made one.

    Raises:
        UnusableResult: it is none.
    """
    if value.__class__ is str and returned.leaves_text_alone:
        return value
    plain = returned.plain(value)
    if not isinstance(plain, str):
        raise UnusableResult(f"the result is no text, as its annotation says, but {type(value).__name__}")
    return plain


def content_of(value: Any, *, all_text: bool) -> list[JsonObject] | None:
    """The content blocks that a value is: one, or several with or without text among them; None where it is none.

    Args:
        value: anything.
        all_text: are several texts content as well, and nothing at all no content, with no block among them?
    """
    known = canonical()
    blocks = (Media,) if known is None else (Media, *_block_types(known))
    if isinstance(value, blocks):
        return [_block(value)]
    if not isinstance(value, list | tuple):
        return None
    classes = set(map(type, value))  # of which there are few, however many items there are
    if not (all_text or any(issubclass(one, blocks) for one in classes)):
        return None
    if not all(issubclass(one, (str, *blocks)) for one in classes):
        return None
    return [{"type": "text", "text": one} if isinstance(one, str) else _block(one) for one in value]


def _block(value: Any) -> JsonObject:
    return value.block() if isinstance(value, Media) else dumped(value)


def json_text(value: Any) -> tuple[Any, str]:
    """A value as plain JSON, and as its text.

    Raises:
        UnusableResult: it is no JSON and does not become it.
    """
    plain = ANYTHING.plain(value)
    return plain, text_of_json(plain)


def text_of_json(plain: Any) -> str:
    """The text of plain JSON.

    Raises:
        UnusableResult: it holds what JSON has not.
    """
    try:
        return written(plain).decode()
    except ValueError as error:
        raise UnusableResult(f"the result is no JSON: {error}") from None


@lru_cache(maxsize=1)
def _block_types(known: types.ModuleType) -> tuple[type, ...]:
    return tuple(classes_of(known.ContentBlock))


def _checked(result: JsonObject, output: JsonValidator | None) -> JsonObject:
    if result.get("isError"):
        return {name: value for name, value in result.items() if name != "structuredContent"}
    if output is not None:
        if "structuredContent" not in result:
            raise UnusableResult("an output schema is published, but the result has no structured content")
        if not output.accepts(result["structuredContent"]):
            raise UnusableResult(f"the result does not fit its schema: {output.faults(result['structuredContent'])}")
    return result
