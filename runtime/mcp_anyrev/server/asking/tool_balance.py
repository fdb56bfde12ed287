"""The balance of tool uses and their results in messages to sample from.

Rule: whatever a message of the assistant uses, the very next message answers, all of it and nothing else. Providers of models refuse
anything else, so it is refused where the question is made.
Specification: client/sampling#tool-use-and-result-balance, client/sampling#tool-result-messages
"""

from __future__ import annotations

from collections.abc import Sequence

from mcp_contract import JsonObject

_USE, _RESULT = "tool_use", "tool_result"


def uses_tools(messages: Sequence[JsonObject]) -> bool:
    """Is anything in messages a use of a tool, or its result?"""
    return any(block["type"] in (_USE, _RESULT) for message in messages for block in _blocks(message))


def imbalance(messages: Sequence[JsonObject]) -> str | None:
    """What is out of balance in messages.

    Args:
        messages: canonical `SamplingMessage` objects, in order.

    Returns:
        Which message and why, counted from 1, in words for who wrote them; None where all is in balance.
    """
    open_uses: set[str] = set()
    for number, message in enumerate(messages, 1):
        blocks = _blocks(message)
        results = [block["toolUseId"] for block in blocks if block["type"] == _RESULT]
        uses = [block["id"] for block in blocks if block["type"] == _USE]
        reason = _fault(message["role"], len(blocks), uses, results, open_uses)
        if reason is not None:
            return f"message {number} {reason}"
        open_uses = set(uses)
    if open_uses:
        return f"message {len(messages)} {_unanswered(open_uses)}, and no message follows"
    return None


def _fault(role: str, blocks: int, uses: list[str], results: list[str], open_uses: set[str]) -> str | None:
    if results and role != "user":
        return "has results of tools, which only a message of the user has"
    if uses and role != "assistant":
        return "uses tools, which only a message of the assistant does"
    if results and len(results) < blocks:
        return "mixes results of tools with other content; results stand in a message of their own"
    foreign = [name for name in results if name not in open_uses]
    if foreign:
        return f"has the result of {foreign[0]!r}, which the message before it does not use"
    if open_uses - set(results):
        return f"follows a message that {_unanswered(open_uses - set(results))}, and has no result of it"
    for names in (uses, results):
        if len(set(names)) < len(names):
            return "has two uses, or two results, of the same id"
    return None


def _unanswered(uses: set[str]) -> str:
    return f"uses the tool call {min(uses)!r}"


def _blocks(message: JsonObject) -> list[JsonObject]:
    content = message["content"]
    return content if isinstance(content, list) else [content]
