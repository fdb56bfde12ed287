"""What is common to every message of every revision: JSON-RPC 2.0.

Rule: only what JSON-RPC itself demands is checked here, and that what names something is short; what a method demands, a validator
checks.
Specification: basic/index#messages, basic/patterns/progress#progress-flow
"""

from __future__ import annotations

from collections.abc import Mapping

from mcp_contract.errors import HeaderMismatch, InvalidRequest
from mcp_contract.header_values import decode_header_value
from mcp_contract.messages import Json, JsonObject

LONGEST_IDENTIFIER = 1_024
"""How many letters an id or a progress token has at most: it is kept while its request waits, and repeated."""

_PROGRESS_TOKEN = "progressToken"


def as_message(payload: Json, null_id: bool) -> JsonObject:
    """See that a JSON value is a request, a notification or a response.

    Args:
        payload: a JSON value.
        null_id: may the answer to a message whose id could not be read have a null id?

    Returns:
        The same value.

    Raises:
        InvalidRequest: it is none; the text says why.
    """
    if not isinstance(payload, dict):
        raise InvalidRequest(f"a message is an object; this is {_named(payload)}")
    if payload.get("jsonrpc") != "2.0":
        raise InvalidRequest('a message has the member "jsonrpc" with the value "2.0"')
    unread = null_id and payload.get("id") is None and "error" in payload
    if "id" in payload and not unread and not is_identifier(payload["id"]):
        sent = payload["id"]
        found = f"text of more than {LONGEST_IDENTIFIER} letters" if isinstance(sent, str) else _named(sent)
        raise InvalidRequest(f"id is text or an integer; this is {found}")
    if "method" in payload:
        if not isinstance(payload["method"], str):
            raise InvalidRequest(f"method is text; this is {_named(payload['method'])}")
        params = payload.get("params", {})
        if not isinstance(params, dict):
            raise InvalidRequest(f"params is an object; this is {_named(params)}")
        meta = params.get("_meta")
        if isinstance(meta, dict) and isinstance(token := meta.get(_PROGRESS_TOKEN), str) and not is_identifier(token):
            raise InvalidRequest(f"{_PROGRESS_TOKEN} is text of at most {LONGEST_IDENTIFIER} letters, or a number")
        return payload
    if "id" not in payload and "error" not in payload:
        raise InvalidRequest("a message has a method, or an id with a result or an error")
    if ("result" in payload) == ("error" in payload):
        raise InvalidRequest("a response has either a result or an error")
    return payload


def is_identifier(value: Json) -> bool:
    """Is a value a request id that is taken: text that is not too long, or an integer (true is none)?"""
    if isinstance(value, str):
        return len(value) <= LONGEST_IDENTIFIER
    return isinstance(value, int) and not isinstance(value, bool)


def check_mirrored(headers: Mapping[str, str], name: str | None, value: Json, *, encoded: bool = False) -> None:
    """See that a header says the same as the body.

    Args:
        headers: the request's headers, names in lower case.
        name: the header, in any case.
        value: what the body says; anything but text is left to the check of the params.
        encoded: may the header have the Base64 form?

    Raises:
        HeaderMismatch: the header is missing, cannot be read, or says something else.
    """
    if not isinstance(value, str):
        return
    if name is None:
        raise LookupError("the revision has no name for this header")
    sent = headers.get(name.lower())
    if sent is None:
        raise HeaderMismatch(f"the header {name} is missing; the body says {value!r}")
    try:
        said = decode_header_value(sent) if encoded else sent.strip(" \t")
    except ValueError as error:
        raise HeaderMismatch(f"the header {name} cannot be read: {error}") from None
    if said != value:
        raise HeaderMismatch(f"the header {name} says {said!r}; the body says {value!r}")


def header(headers: Mapping[str, str], name: str | None) -> str | None:
    """What a header says; None where it is not there.

    Args:
        headers: names in lower case.
        name: the header, in any case.

    Raises:
        LookupError: the revision has no such header, so nothing of it may depend on one.
    """
    if name is None:
        raise LookupError("the revision has no name for this header")
    return headers.get(name.lower())


def named_headers(headers: Mapping[str | None, str | None]) -> dict[str, str]:
    """The headers that have both a name and a value."""
    return {name: value for name, value in headers.items() if name is not None and value is not None}


def _named(value: Json) -> str:
    names = {bool: "a boolean", int: "a number", float: "a number", str: "text", list: "an array", dict: "an object"}
    return "null" if value is None else names[type(value)]


def member(value: Json, *path: str) -> Json:
    """What stands at a path of members, or None where the path leads nowhere."""
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value
