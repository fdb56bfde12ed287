"""JSON-RPC as bytes: from bytes to JSON, or a reason why not; from results and errors to bytes.

Rule: one reading for everybody: UTF-8, the last of duplicate keys, no infinities, bounded nesting.
Specification: basic/index#messages
"""

from __future__ import annotations

import math

from mcp_contract import Json, JsonObject, ParseError, ProtocolError
from pydantic_core import from_json, to_json

# A number may be too large for a float where it has an exponent of two digits or hundreds of digits. Only then is the value looked
# through. With every digit a 0 two searches for constants tell; a regular expression takes longer than all of the parsing.
_SHAPES = bytes.maketrans(b"123456789E", b"000000000e")
_LONG_EXPONENT, _LONG_NUMBER = b"0e00", b"0" * 300


def parse(body: bytes) -> Json:
    """A body → the JSON value in it.

    Args:
        body: bytes of any kind.

    Raises:
        ParseError: it is no JSON text in UTF-8, is nested too deeply, or holds a number that no float can hold.
    """
    try:
        value = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise ParseError(f"the body is no JSON text: {error}") from None
    shape = body.translate(_SHAPES, b"+")
    # `in` would first try to take the constant for a number, and fail, at the cost of an exception.
    if (shape.find(_LONG_EXPONENT) >= 0 or shape.find(_LONG_NUMBER) >= 0) and _has_infinity(value):
        raise ParseError("the body is no usable JSON text: a number is too large")
    return value


def result_message(identifier: Json, result: bytes) -> bytes:
    """A result that is JSON already → the response that carries it."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (to_json(identifier), result)


def error_message(identifier: JsonObject, error: ProtocolError, code: int) -> bytes:
    """An error → the response that carries it.

    Args:
        identifier: `{"id": …}`, or nothing where the id could not be read and is left out.
        error: what happened.
        code: the adapter's code for it.
    """
    told: JsonObject = {"code": code, "message": error.message}
    if error.data is not None:
        told["data"] = error.data
    return to_json({"jsonrpc": "2.0", **identifier, "error": told})


def _has_infinity(value: Json) -> bool:
    if isinstance(value, float):
        return math.isinf(value)
    if isinstance(value, dict):
        return any(_has_infinity(inner) for inner in value.values())
    return isinstance(value, list) and any(_has_infinity(inner) for inner in value)
