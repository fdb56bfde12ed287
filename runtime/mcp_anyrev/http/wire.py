"""What passes back to a transport: a complete answer, or pieces of a stream.

Rule: plain data, and one small interface.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import NamedTuple, Protocol

OK = HTTPStatus.OK.value
"""The status of a request that was answered: HTTP's own meaning, in every revision."""

JSON_HEADERS: Mapping[str, str] = {"content-type": "application/json"}
STREAM_HEADERS: Mapping[str, str] = {"content-type": "text/event-stream", "cache-control": "no-store"}


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
