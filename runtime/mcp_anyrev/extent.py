"""How much one message may hold beside its bytes: how many values, and how many levels of them.

Rule: what a library would need long for is counted in the bytes, before they are read. What is short is not counted at all.
Specification: basic/index#messages
"""

from __future__ import annotations

from typing import Any

from mcp_contract import Json
from mcp_contract.wording import pointer

_BLANKS = b" \t\r\n"

_MOST_QUOTES = 4
"""So many a value has, in an object: two around its name, and two around it where it is text."""


def holds_at_most(body: bytes, most: int) -> bool:
    """Does a JSON text hold no more values than these: members and items, at any depth?

    Args:
        body: what may be a JSON text.
        most: how many.
    """
    if _beginnings(body) <= most:  # no more than that even if nothing of it stands within text
        return True
    unescaped = body.replace(rb"\\", b"").replace(rb"\"", b"")
    if unescaped.count(b'"') > _MOST_QUOTES * most:  # taking the text out of it would take long
        return False
    bare = b"".join(unescaped.split(b'"')[::2]).translate(None, _BLANKS)
    return _beginnings(bare) - bare.count(b"[]") - bare.count(b"{}") <= most


def deeper_than(value: Json, most: int) -> str | None:
    """The JSON pointer to what is nested too deeply; None where nothing is.

    Args:
        value: a JSON value.
        most: how many objects and arrays may be within each other.
    """
    level: list[Any] = [value]
    for _ in range(most):
        # What is JSON is of these classes themselves, and nothing here is done for less: a message may hold a hundred thousand values.
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer if type(outer) is list else ())
            if type(inner) is dict or type(inner) is list
        ]
        if not level:
            return None
    return pointer(_path(value, most) or ())


def _beginnings(text: bytes) -> int:
    """How many values begin at a comma, or as the first one of an object or array."""
    return text.count(b",") + text.count(b"[") + text.count(b"{")


def _path(value: Json, depth: int) -> list[str | int] | None:
    """The way to an object or array so many levels below."""
    if depth == 0:
        return []
    for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(inner, dict | list):
            rest = _path(inner, depth - 1)
            if rest is not None:
                return [step, *rest]
    return None
