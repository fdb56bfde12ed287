"""JSON-RPC as bytes: from bytes to JSON, or a reason why not; from results and errors to bytes.

Rule: one reading for everybody: UTF-8, the last of duplicate keys, no infinities, bounded in values, nesting and digits.
Specification: basic/index#messages
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mcp_contract import Json, JsonObject, ParseError, ProtocolError, TooLarge, is_identifier
from mcp_contract.simplification.keywords import at as pointer_at
from pydantic_core import from_json, to_json

from mcp_anyrev.extent import holds_at_most

if TYPE_CHECKING:
    from mcp_anyrev.settings import Limits

LONGEST_INTEGER = 1_000
"""The most digits of an integer. Reading a longer one is quick, but comparing it is not."""

_BEGINNING = 65_536
"""So many bytes of a body with too many values are read: one that is no JSON text is to hear that, and any other is named by its id."""

_MOST_BITS = math.ceil(LONGEST_INTEGER * math.log2(10))

# A number may be too large where it has an exponent of two digits or hundreds of digits. Only then is the value looked through. With every digit a 0 two searches for constants tell; a regular expression takes longer than all of the parsing.
_SHAPES = bytes.maketrans(b"123456789E", b"000000000e")
_LONG_EXPONENT, _LONG_NUMBER = b"0e00", b"0" * 300


def parse(body: bytes, limits: Limits) -> Json:
    """A body → the JSON value in it.

    Args:
        body: bytes of any kind.
        limits: how many values it may hold.

    Raises:
        ParseError: it is no JSON text in UTF-8, is nested too deeply, or holds a number that is too large: for a float, or with
            more digits than `LONGEST_INTEGER`.
        TooLarge: it holds too many values.
    """
    try:
        if len(body) > limits.values and not holds_at_most(body, limits.values):  # a value takes a byte
            raise _too_many(body, limits.values)
        value = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise ParseError(f"the body is no JSON text: {error}") from None
    shape = body.translate(_SHAPES, b"+")
    # `in` would first try to take the constant for a number, and fail, at the cost of an exception.
    if (shape.find(_LONG_EXPONENT) >= 0 or shape.find(_LONG_NUMBER) >= 0) and _holds_too_large(value):
        raise ParseError("the body is no usable JSON text: a number is too large")
    return value


def _too_many(body: bytes, most: int) -> TooLarge:
    """What a body with too many values is refused with; it names the message, whose id mostly stands at the beginning.

    Raises:
        ValueError: the beginning is none of a JSON text.
    """
    beginning = from_json(body[:_BEGINNING].decode(errors="ignore"), allow_partial=True)
    error = TooLarge(f"a message holds at most {most} values: members and items, at any depth")
    if isinstance(beginning, dict) and is_identifier(beginning.get("id")) and [*beginning][-1] != "id":
        error.identifier = {"id": beginning["id"]}
    return error


def written(value: Any) -> bytes:
    """A value of an application → its JSON text.

    Raises:
        ValueError: it is no JSON; the text says why, and where in it a number is that JSON has not.
    """
    text = to_json(value)
    if b"Infinity" in text or b"NaN" in text:
        place = _no_number("", from_json(text))
        if place is not None:
            raise ValueError(f"{place or 'it'} is an infinity or NaN, which JSON has not")
    return text


def _no_number(place: str, value: Json) -> str | None:
    """Where the first number is that JSON has not."""
    if isinstance(value, float):
        return None if math.isfinite(value) else place
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = (_no_number(pointer_at(place, name), inner) for name, inner in members)
    return next((one for one in found if one is not None), None)


def result_message(identifier: Json, result: bytes) -> bytes:
    """A result that is JSON already → the response that carries it."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (to_json(identifier), result)


def error_message(identifier: JsonObject, error: ProtocolError, code: int) -> bytes:
    """An error → the response that carries it.

    Args:
        identifier: `{"id": …}`, or nothing where the id could not be read and is left out.
        error: what happened; its data is left out where it cannot be written.
        code: the adapter's code for it.
    """
    told: JsonObject = {"code": code, "message": error.message}
    if error.data is not None:
        told["data"] = error.data
    response = {"jsonrpc": "2.0", **identifier, "error": told}
    try:
        return written(response)
    except ValueError:  # the data is an application's
        del told["data"]
        return to_json(response)


def _holds_too_large(value: Json) -> bool:
    if isinstance(value, float):
        return math.isinf(value)
    if isinstance(value, dict):
        return any(map(_holds_too_large, value.values()))
    if isinstance(value, list):
        return any(map(_holds_too_large, value))
    return isinstance(value, int) and value.bit_length() > _MOST_BITS
