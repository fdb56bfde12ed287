"""From what the function of a resource, a prompt or a completion returns to a result in canonical form.

Rule: text stays text, bytes become base64, canonical values go through, and anything else becomes JSON text.
Specification: server/resources#reading-resources, server/prompts#getting-a-prompt, server/utilities/completion#completion-results
"""

from __future__ import annotations

import base64
import enum
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from mcp_contract import JsonObject, ResourceNotFound

from mcp_anyrev.declaring.canonical_values import canonical, dumped
from mcp_anyrev.declaring.media import Media
from mcp_anyrev.declaring.results import content_of, text_of, text_of_json
from mcp_anyrev.declaring.returned import UnusableResult
from mcp_anyrev.declaring.uri_templates import normalized

if TYPE_CHECKING:
    from mcp_anyrev.declaring.prompts import Prompt
    from mcp_anyrev.declaring.resources import Resource

MOST_COMPLETIONS = 100
_BYTES = (bytes, bytearray, memoryview)


def resource_result(resource: Resource, uri: str, value: Any, *, answered: bool = False) -> JsonObject:
    """What the function of a resource returned → the result of reading it.

    Args:
        resource: the resource.
        uri: the address, as sent.
        value: text, bytes, an `Image`, `Audio` or `File`, canonical contents, a list of these, a whole result, or anything that
            becomes JSON.
        answered: does it depend on answers, so that what is declared of keeping it does not hold?

    Raises:
        ResourceNotFound: it returned None.
        UnusableResult: it returned what is no JSON.
    """
    if value is None:
        raise ResourceNotFound(uri)
    known, uri, hints = canonical(), normalized(uri), {} if answered else resource.hints
    if known is not None and isinstance(value, known.ReadResourceResult):
        return {**hints, **dumped(value)}
    parts = _parts(resource, value)
    return {**hints, "contents": [_contents(resource, uri, one) for one in ([value] if parts is None else parts)]}


def _parts(resource: Resource, value: Any) -> list[Any] | tuple[Any, ...] | None:
    """What each is contents of its own: several of which some are no text, or where that is what the function says it returns."""
    if not isinstance(value, list | tuple):
        return None
    contents = _contents_types()
    classes = set(map(type, value))  # of which there are few, however many items there are
    if not all(issubclass(one, (str, *contents)) for one in classes):
        return None
    has_contents = any(issubclass(one, contents) for one in classes)
    return value if resource.returned.is_content or has_contents else None


def _contents_types() -> tuple[type, ...]:
    known = canonical()
    return (Media, *_BYTES, *(() if known is None else (known.TextResourceContents, known.BlobResourceContents)))


def prompt_result(prompt: Prompt, value: Any) -> JsonObject:
    """What the function of a prompt returned → the result of getting it.

    Args:
        prompt: the prompt.
        value: text, canonical content or a message, a list of any of these, None for no message, or a whole result.

    Raises:
        UnusableResult: it returned something else.
    """
    described = {"description": prompt.description["description"]} if "description" in prompt.description else {}
    known = canonical()
    if known is not None and isinstance(value, known.GetPromptResult):
        result = {**described, **dumped(value)}
        return {**result, "messages": [_typed(message) for message in result["messages"]]}
    if isinstance(value, Iterator):
        value = list(value)
    if value is None:
        values: Sequence[Any] = []
    elif prompt.returned.is_text:
        values = [text_of(value, prompt.returned)]
    else:
        values = value if isinstance(value, list | tuple) else [value]
    return {**described, "messages": [_typed(_message(one)) for one in values]}


def completion_result(value: Any) -> JsonObject:
    """What completes an argument → the result.

    Args:
        value: the texts to choose from, or a whole result.

    Raises:
        UnusableResult: it is something else.
    """
    known = canonical()
    if known is not None and isinstance(value, known.CompleteResult):
        result = dumped(value)
        values = result["completion"]["values"]
        if len(values) <= MOST_COMPLETIONS:
            return result
        told = {"total": len(values), **result["completion"], "values": values[:MOST_COMPLETIONS], "hasMore": True}
        return {**result, "completion": told}
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise UnusableResult("values to choose from are a list of texts")
    value = [_opened(one) for one in value]
    if not all(isinstance(one, str) for one in value):
        raise UnusableResult("values to choose from are a list of texts")
    more = len(value) > MOST_COMPLETIONS
    return {"completion": {"values": list(value[:MOST_COMPLETIONS]), "total": len(value), "hasMore": more}}


def _contents(resource: Resource, uri: str, value: Any) -> JsonObject:
    mime_type = resource.mime_type
    told: JsonObject
    if isinstance(value, Media):
        return {**value.contents(uri), **({} if mime_type is None else {"mimeType": mime_type})}
    if isinstance(value, str):
        told = {"text": text_of(value, resource.returned)}
    elif isinstance(value, _BYTES):
        told = {"blob": base64.b64encode(value).decode()}
    elif isinstance(value, _contents_types()):
        return dumped(value)
    else:
        told = {"text": text_of_json(resource.returned.plain(value))}
        mime_type = mime_type or "application/json"
    return {"uri": uri, **({} if mime_type is None else {"mimeType": mime_type}), **told}


def _typed(message: JsonObject) -> JsonObject:
    """A message of a prompt, in which an embedded resource says of which type it is.

    Specification: server/prompts#embedded-resources
    """
    content = message["content"]
    resource = content.get("resource")
    if resource is None or "mimeType" in resource:
        return message
    mime_type = "text/plain" if "text" in resource else "application/octet-stream"
    return {**message, "content": {**content, "resource": {**resource, "mimeType": mime_type}}}


def _message(value: Any) -> JsonObject:
    known = canonical()
    value = _opened(value)
    if isinstance(value, str):
        return {"role": "user", "content": {"type": "text", "text": value}}
    if known is not None and isinstance(value, known.PromptMessage):
        return dumped(value)
    content = content_of(value, all_text=False)
    if content is None:
        raise UnusableResult("a prompt returns text, content, messages, or a whole result")
    return {"role": "user", "content": content[0]}


def _opened(value: Any) -> Any:
    """The text that a constant stands for."""
    return value.value if isinstance(value, enum.Enum) else value
