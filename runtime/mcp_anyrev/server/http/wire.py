"""What passes between a transport and the core.

Rule: plain data, and one small interface. A transport hands in a head and a body; it gets back a response, or pieces of a stream.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import NamedTuple, Protocol

from mcp_contract import Json, JsonObject, ProtocolError
from pydantic_core import to_json

OK = HTTPStatus.OK.value
"""The status of a request that was answered: HTTP's own meaning, in every revision."""

JSON_HEADERS: Mapping[str, str] = {"content-type": "application/json"}
KEEP_ALIVE = b":\n\n"
"""A comment, which keeps a stream from being taken for dead."""
STREAM_HEADERS: Mapping[str, str] = {"content-type": "text/event-stream", "cache-control": "no-store"}


class Head(NamedTuple):
    """The head of a request.

    Attributes:
        method: the HTTP method, in capitals.
        headers: the header fields; looked up by names in lower case.
        path: the path of the endpoint, as the transport routed it.
    """

    method: str
    headers: Mapping[str, str]
    path: str = "/"


class Response(NamedTuple):
    """A complete answer.

    Attributes:
        status: the HTTP status, if the head has not been sent yet.
        body: a JSON-RPC response, or an array of them, as JSON; empty where nothing wanted an answer.
        headers: the header fields, names in lower case.
        failed: is it an error?
    """

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = MappingProxyType({})
    failed: bool = False


class Line(Protocol):
    """The way back to who sent a request, for an answer that comes bit by bit. A transport has one for each request."""

    async def open(self, status: int, headers: Mapping[str, str]) -> None:
        """Send the head.

        Raises:
            ConnectionError: nobody is there.
        """
        ...

    async def write(self, piece: bytes) -> None:
        """Send a piece of the body, at once.

        Raises:
            ConnectionError: nobody is there.
        """
        ...

    async def gone(self) -> None:
        """Return once nobody is there any longer."""
        ...

    async def close(self) -> None:
        """End the body now, although the request is still being worked on."""
        ...


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


def event(message: bytes, identifier: str | None = None) -> bytes:
    """A message → an event of a stream, with an id where there is one. JSON as written here has no line breaks."""
    if identifier is None:
        return b"data: %b\n\n" % message
    return b"id: %b\ndata: %b\n\n" % (identifier.encode(), message)


def named_event(name: str | None, data: bytes) -> bytes:
    """Data without line breaks → an event of a stream, with a name if it has one."""
    return b"data: %b\n\n" % data if name is None else b"event: %b\ndata: %b\n\n" % (name.encode(), data)


def opening_event(identifier: str, retry: int) -> bytes:
    """An event without data, from which a client knows where and after how many milliseconds to take the stream up again."""
    return b"id: %b\nretry: %d\ndata:\n\n" % (identifier.encode(), retry)
