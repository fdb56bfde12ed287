"""Results of a server that hold content.

Rule: content of a kind that nobody knows yet is kept as plain JSON and is never an error; what is of a known kind has its form.
Specification: server/tools#tool-result, server/prompts#data-types
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated, Any, TypeAlias, get_args

from mcp_contract import JsonObject
from mcp_revisions import canonical
from pydantic import SerializeAsAny, WrapValidator
from pydantic_core import to_json


def _read_block(block: Any, known: Callable[[Any], Any]) -> Any:
    if isinstance(block, dict) and isinstance(block.get("type"), str) and block["type"] not in _known_types():
        return block
    return known(block)


@functools.cache
def _known_types() -> frozenset[str]:
    (blocks, *_) = get_args(canonical.ContentBlock.__value__)
    return frozenset(kind for block in get_args(blocks) for kind in get_args(block.model_fields["type"].annotation))


Block: TypeAlias = canonical.ContentBlock | JsonObject
"""One piece of content; a plain object where its kind is not known."""

_Block: TypeAlias = Annotated[canonical.ContentBlock, WrapValidator(_read_block), SerializeAsAny()]


class CallToolResult(canonical.CallToolResult):
    """What a tool gave; see `canonical.CallToolResult`. A block of an unknown kind is a plain object.

    Specification: server/tools#tool-result
    """

    content: list[_Block]
    """The outcome as blocks; it may be empty."""

    @property
    def text(self) -> str:
        """All its text; where it has no content, its structured value as JSON."""
        if not self.content and "structured_content" in self.model_fields_set:
            return to_json(self.structured_content).decode()
        return "\n".join(block.text for block in self.content if isinstance(block, canonical.TextContent))


class PromptMessage(canonical.PromptMessage):
    """One message of a prompt; see `canonical.PromptMessage`. Content of an unknown kind is a plain object."""

    content: _Block
    """What is said."""


class GetPromptResult(canonical.GetPromptResult):
    """A prompt filled in; see `canonical.GetPromptResult`.

    Specification: server/prompts#getting-a-prompt
    """

    messages: list[PromptMessage]  # type: ignore[assignment]  # a list cannot be narrowed, and nobody writes to this one
    """The messages, in order."""
