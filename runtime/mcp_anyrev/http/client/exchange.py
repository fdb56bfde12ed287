"""One request over HTTP and what answers it, as they pass between what speaks the protocol and what has the sockets.

Rule: an answer is read bit by bit or all at once, never beyond a bound, also where it is compressed. The names are those of httpx, since
what authorises requests is written against those.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from mcp_contract.wording import cut
from multidict import CIMultiDict
from pydantic_core import from_json
from yarl import URL

from mcp_anyrev.client.errors import CannotConnect, WrongAnswer

JSON = "application/json"
EVENTS = "text/event-stream"
"""The two kinds of bodies that there are."""

_PIECE = 65_536
_EITHER_HEAD = 32
_CODINGS = ("gzip", "x-gzip", "deflate")


@dataclass(slots=True, eq=False)
class Request:
    """A request.

    Attributes:
        method: the HTTP method, in capitals.
        url: where it goes.
        headers: its headers, whose names are looked up without regard to case.
        content: its body.
        public: the headers that may go to any origin; None where the request may not go to another one at all.
    """

    method: str
    url: URL
    headers: CIMultiDict[str]
    content: bytes = b""
    public: Mapping[str, str] | None = field(default=None, repr=False)

    def read(self) -> bytes:
        """The body."""
        return self.content

    async def aread(self) -> bytes:
        """The body."""
        return self.content


class Answer:
    """What answers a request.

    Args:
        request: the request that was sent in the end.
        status_code: the status.
        headers: the headers, whose names are looked up without regard to case.
        pieces: the body as it comes. Raises `CannotConnect` where it breaks off.
        most_bytes: how many bytes the body may have, if it is read all at once.

    Attributes:
        request, status_code, headers: see above.
    """

    def __init__(
        self,
        request: Request,
        status_code: int,
        headers: Mapping[str, str],
        pieces: AsyncIterator[bytes],
        most_bytes: int,
    ) -> None:
        self.request = request
        self.status_code = status_code
        self.headers = headers
        self._pieces = pieces
        self._most_bytes = most_bytes
        self._content: bytes | None = None

    @property
    def url(self) -> URL:
        """Where it comes from."""
        return self.request.url

    @property
    def kind(self) -> str:
        """The media type of the body, in lower case and without parameters; empty where none is said."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def content(self) -> bytes:
        """The body, once it has been read.

        Raises:
            ValueError: it has not.
        """
        if self._content is None:
            raise ValueError("the body has not been read; see `aread`")
        return self._content

    @property
    def text(self) -> str:
        """The body as text, once it has been read."""
        return self.content.decode(errors="replace")

    def json(self) -> Any:
        """The body as JSON, once it has been read.

        Raises:
            ValueError: it is none.
        """
        return from_json(self.content)

    def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes, not compressed any longer.

        Raises:
            CannotConnect: it breaks off.
            WrongAnswer: it is not compressed as it says, or in a way that is not read.
        """
        if self._content is not None:
            return _again(self._content)
        coding = self.headers.get("content-encoding", "").strip().lower()
        if coding in ("", "identity"):
            return self._pieces
        if coding not in _CODINGS:
            raise WrongAnswer(f"the server sent a body that is compressed by {cut(coding)!r}, which was not asked for")
        return _decoded(self._pieces)

    async def aread(self) -> bytes:
        """The whole body; nothing of a stream of events, which may have no end.

        Raises:
            CannotConnect: it breaks off.
            WrongAnswer: it is too large, or not compressed as it says.
        """
        if self.kind == EVENTS:
            return b""
        if self._content is None:
            body = bytearray()
            async for piece in self.pieces():
                body += piece
                if len(body) > self._most_bytes:
                    raise WrongAnswer(f"the server sent a body of more than {self._most_bytes} bytes")
            self._content = bytes(body)
        return self._content


class Connector(Protocol):
    """Has the sockets of one client."""

    def send(self, request: Request, most_bytes: int) -> AbstractAsyncContextManager[Answer]:
        """Send a request as it is; the answer is there until it is left.

        Args:
            request: the request.
            most_bytes: how many bytes of its answer are read at once, at most.

        Raises:
            CannotConnect: there is nobody.
            WrongAnswer: who is there does not speak HTTP.
        """
        ...

    async def close(self) -> None:
        """Close all sockets; nothing happens where that has been done."""
        ...


async def _again(content: bytes) -> AsyncIterator[bytes]:
    yield content


async def _decoded(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """What compressed pieces hold, in pieces that are never large, however well they are compressed."""
    reading = zlib.decompressobj(zlib.MAX_WBITS + _EITHER_HEAD)
    try:
        async for piece in pieces:
            full = True
            while (piece or full) and not reading.eof:
                decoded = reading.decompress(piece, _PIECE)
                piece, full = reading.unconsumed_tail, len(decoded) == _PIECE
                yield decoded
                await asyncio.sleep(0)  # there may be a thousand times as much as has come
            if reading.eof and (piece or reading.unused_data):
                break
    except zlib.error:
        raise WrongAnswer("the server sent a body that is none of its coding") from None
    if not reading.eof:
        raise CannotConnect("the server's answer broke off")
