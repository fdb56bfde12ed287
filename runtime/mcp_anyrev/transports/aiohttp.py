"""HTTP on aiohttp's server.

Rule: a shell. It reads a body, up to the limit, when it is asked to, sends what comes back, and says when the client has gone. The
server must not run with `handler_cancellation=True`: what it means that a client has gone, the revision says.
Specification: basic/transports/streamable-http#sending-messages
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import HttpVersion11, web
from aiohttp.http_exceptions import ContentEncodingError
from mcp_contract import ProtocolError

from mcp_anyrev.head import Head
from mcp_anyrev.http.request import NO_HEADERS, HttpRequest, HttpResponse
from mcp_anyrev.transports.answers import PIECE_BYTES, Answers
from mcp_anyrev.transports.bodies import Bodies, coding_of, wrongly_coded
from mcp_anyrev.transports.departures import Departures

_MESSAGES = (b"{", b"[")
"""How whatever holds messages begins; a body that does is not compressed, or not any longer."""

_LOOK_BYTES = 64
Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
Handle = Callable[[HttpRequest], Awaitable[HttpResponse | None]]


async def answered(request: Request, handle: Handle) -> web.StreamResponse:
    """What `handle` makes of a request, as aiohttp has it."""
    try:
        response = await handle(request)
    except ConnectionError:
        if not request.is_abandoned:
            raise
        response = None
    if response is not None:
        headers = {**response.headers, **request.more} if request.more else response.headers
        if len(response.body) <= PIECE_BYTES:
            return web.Response(body=response.body, status=response.status, headers=headers)
        with contextlib.suppress(ConnectionError):
            await request.open(response.status, {**headers, "content-length": str(len(response.body))})
            await request.write(response.body)
    if request.response is None:  # nobody is there; what is returned goes nowhere
        return web.Response()
    return request.response


class Request:
    """See `HttpRequest`. aiohttp ends the stream when the handler returns it.

    Args:
        request: the request, as aiohttp has it.
        bodies: those that are arriving, of the server.
        answers: those that are going out, of the server.
        departures: notices that clients have gone.
        path: the path within the application for which it came; None for a server that does nothing else, and leaves compressed bodies
            as they are. An application has them undone already, unless it was made with `auto_decompress` off.
    """

    __slots__ = ("_answers", "_bodies", "_decodes", "_departures", "_request", "fault", "head", "more", "response")

    def __init__(
        self,
        request: web.BaseRequest,
        bodies: Bodies,
        answers: Answers,
        departures: Departures,
        path: str | None = None,
    ) -> None:
        query = request.raw_path.partition("?")[2]
        root = "" if path is None else request.path.removesuffix(path)
        self.head = Head(request.method, request.path, query, request.headers, request.remote, root)
        self.more = NO_HEADERS
        self.fault: ProtocolError | None = None
        self.response: web.StreamResponse | None = None
        self._request = request
        self._answers = answers
        self._bodies = bodies
        self._departures = departures
        self._decodes = path is None

    @property
    def opened(self) -> bool:
        """See `HttpRequest`."""
        return self.response is not None

    @property
    def is_abandoned(self) -> bool:
        """Is nobody there any longer?"""
        transport = self._request.transport
        return transport is None or transport.is_closing()

    async def body(self) -> bytes:
        """See `HttpRequest.body`."""
        request = self._request
        length = request.content_length
        if length is not None and "content-encoding" not in request.headers:
            if length > self._bodies.most_bytes:
                raise self._bodies.too_large()
            if request.content.is_eof():
                return await request.content.read()
        coding = coding_of(self.head.headers)
        await _ask_for_body(request)
        try:
            body = await self._bodies.arrived(request.content.iter_any(), self.head.peer)
            opened = not self._decodes and body[:_LOOK_BYTES].lstrip().startswith(_MESSAGES)
            return self._bodies.decoded(body, None if opened else coding)
        except (ContentEncodingError, web.RequestPayloadError):
            raise wrongly_coded() from None

    async def open(self, status: int, headers: Mapping[str, str]) -> None:
        """See `HttpRequest.open`."""
        self.response = web.StreamResponse(status=status, headers={**headers, **self.more})
        await self.response.prepare(self._request)

    async def write(self, piece: bytes) -> None:
        """See `HttpRequest.write`."""
        if self.response is not None:
            try:
                await self._answers.write(piece, self.response.write)
            except ConnectionError:
                if self._request.transport is not None:  # there may be somebody who takes nothing
                    self._request.transport.abort()
                raise

    async def gone(self) -> None:
        """See `HttpRequest.gone`."""
        # aiohttp tells nobody but by cancelling the handler, which is not for us to let happen in every revision.
        await self._departures.of(self._request.transport)

    async def close(self) -> None:
        """See `HttpRequest.close`."""
        # The connection goes as well: aiohttp takes no other request from it before this one is done.
        if self.response is not None:
            await self.response.write_eof()
            if self._request.transport is not None:
                self._request.transport.close()


async def waits_to_be_asked(request: web.BaseRequest) -> None:
    """In place of what aiohttp does at once with a client that waits to be asked for its body: it is asked once it has been let in."""


async def _ask_for_body(request: web.BaseRequest) -> None:
    if request.version >= HttpVersion11 and request.headers.get("expect", "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0  # no answer has been begun by that
