"""Streamable HTTP on aiohttp's server.

Rule: a shell. It reads a body up to the limit, sends what comes back, and says when the client has gone. The server must not run
with `handler_cancellation=True`: what it means that a client has gone, the revision says.
Specification: basic/transports/streamable-http#sending-messages
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web

from mcp_anyrev.server.core import Core
from mcp_anyrev.server.endpoint import Endpoint
from mcp_anyrev.server.registry import Registry
from mcp_anyrev.server.wire import Head
from mcp_anyrev.settings import Settings

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]

_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 2.0


def routes(registry: Registry, path: str = "/mcp", settings: Settings | None = None) -> list[web.RouteDef]:
    """A registry as routes for `Application.add_routes`.

    Args:
        registry: what is offered.
        path: the address that speaks Streamable HTTP.
        settings: how it is run.

    Raises:
        ValueError: the settings name a revision that does not exist, or a key that is too short.

    Specification: basic/transports/streamable-http
    """
    return [web.route("*", path, endpoint_handler(Core(registry, settings or Settings())))]


def endpoint_handler(core: Core) -> Handler:
    """What answers requests to the address of a server that was made elsewhere."""
    endpoint = Endpoint(core)

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        body = await _body(request, endpoint.body_limit)
        line = _Line(request)
        answered = await endpoint.handle(Head(request.method, request.headers, request.path), body, line)
        if answered is not None:
            return web.Response(body=answered.body, status=answered.status, headers=answered.headers)
        if line.response is None:  # nobody is there; what is returned goes nowhere
            return web.Response()
        return line.response

    return answer


class _Line:
    """See `Line`. aiohttp ends the stream when the handler returns it."""

    __slots__ = ("_request", "response")

    def __init__(self, request: web.BaseRequest) -> None:
        self._request = request
        self.response: web.StreamResponse | None = None

    async def open(self, status: int, headers: Mapping[str, str]) -> None:
        self.response = web.StreamResponse(status=status, headers=headers)
        await self.response.prepare(self._request)

    async def write(self, piece: bytes) -> None:
        if self.response is not None:
            await self.response.write(piece)

    async def gone(self) -> None:
        # aiohttp tells nobody but by cancelling the handler, which is not for us to let happen in every revision. So this looks,
        # often at first, since most calls are short.
        pause = _FIRST_PAUSE_SECONDS
        while (transport := self._request.transport) is not None and not transport.is_closing():
            await asyncio.sleep(pause)
            pause = min(pause * 1.2, _LONGEST_PAUSE_SECONDS)


async def _body(request: web.BaseRequest, limit: int) -> bytes | None:
    """The body; None where it is over the limit, of which no more is read."""
    length = request.content_length
    if length is not None and "content-encoding" not in request.headers:
        return await request.content.read() if length <= limit else None
    pieces, size = [], 0
    async for piece in request.content.iter_any():
        size += len(piece)
        if size > limit:
            return None
        pieces.append(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
