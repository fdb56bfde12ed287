"""What generated adapters use to send nothing that a revision does not define.

Rule: the hot path of every message that leaves; standard library only, one pass over an object, a new object out, the given
one untouched.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from typing import Any

from mcp_contract.errors import HandlerFault
from mcp_contract.messages import JsonObject

_NONE: frozenset[str] = frozenset()


class NotSendable(HandlerFault):
    """A value is none of the alternatives that its type has.

    Args:
        type_name: the union, or the member as `Type.member`, under its name in the canonical vocabulary.
        value: what was to be sent; only what kind of value it is gets into the message.
    """

    def __init__(self, type_name: str, value: Any) -> None:
        mark = value.get("type") if isinstance(value, dict) else None
        described = f"of type {mark!r}" if isinstance(mark, str) else f"that is a {type(value).__name__}"
        super().__init__(f"a value {described} is no {type_name}")


def keep(value: JsonObject, names: AbstractSet[str], nullable: AbstractSet[str] = _NONE) -> JsonObject:
    """An object with only some of its members.

    Args:
        value: the object, not changed.
        names: the members that stay. A member that is None stands for an absent one and goes.
        nullable: the members for which null is a value and stays.
    """
    if value.keys() <= names and None not in value.values():  # nearly every object, and cheaper than choosing
        return value.copy()
    return {name: item for name, item in value.items() if name in names and (item is not None or name in nullable)}


def keeping(*names: str, nullable: Iterable[str] = ()) -> Callable[[object, JsonObject], JsonObject]:
    """A method that keeps some members of an object and looks into none of them.

    Args:
        names: the members that stay.
        nullable: those for which null is a value and stays.
    """
    kept, with_null = frozenset(names), frozenset(nullable)

    def method(self: object, value: JsonObject) -> JsonObject:
        return keep(value, kept, with_null)

    return method


def leaving_out(*names: str) -> Callable[[object, JsonObject], JsonObject]:
    """A method that leaves some members out of an object of free form, and looks into none of the others.

    Args:
        names: the members that go.
    """
    gone = frozenset(names)

    def method(self: object, value: JsonObject) -> JsonObject:
        return leave_out(value, gone)

    return method


def leave_out(value: JsonObject, names: AbstractSet[str]) -> JsonObject:
    """An object of free form without some members; null is a value there and stays.

    Args:
        value: the object, not changed.
        names: the members that go.
    """
    return {name: item for name, item in value.items() if name not in names}


def one_or_all(given: Any, sent: list[JsonObject]) -> Any:
    """What is sent where a revision takes one value or a list of values.

    Args:
        given: the value that was to be sent, or the list of them.
        sent: what stands for it, or for all of them.

    Returns:
        The only value where one was given and one stands for it; the list otherwise.
    """
    return sent[0] if len(sent) == 1 and not isinstance(given, list) else sent


def is_integer(value: Any) -> bool:
    """Whether a JSON value is a number without a fraction; true and false are none."""
    return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and value.is_integer())


def is_number(value: Any) -> bool:
    """Whether a JSON value is a number; true and false are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_one_of(value: Any, constants: tuple[Any, ...]) -> bool:
    """Whether a JSON value is one of some constants: true is not 1, and 1.0 is.

    Args:
        value: any JSON value.
        constants: JSON values.
    """
    return any(_is_same(value, constant) for constant in constants)


def _is_same(one: Any, other: Any) -> bool:
    # To Python true is 1, so what is in lists and objects has to be looked at one by one.
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_same(item, other[name]) for name, item in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    return bool(one == other)


def matches(value: str, pattern: str) -> bool:
    """Whether a pattern is found in a text.

    Args:
        value: the text.
        pattern: a regular expression, as a schema has it.
    """
    return _compiled(pattern).search(value) is not None


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
