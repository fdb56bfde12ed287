"""Streamable HTTP on aiohttp's server.

Rule: a shell. It reads a body up to the limit, sends what comes back, and says when the client has gone. The server must not run
with `handler_cancellation=True`: what it means that a client has gone, the revision says.
Specification: basic/transports/streamable-http#sending-messages
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping

from aiohttp import web
from aiohttp.http_exceptions import ContentEncodingError

from mcp_anyrev.declaring.registry import Registry
from mcp_anyrev.head import Head
from mcp_anyrev.http.endpoint import Endpoint
from mcp_anyrev.http.wire import Line, Response
from mcp_anyrev.server.core import Core
from mcp_anyrev.settings import Limits, Settings
from mcp_anyrev.transports.departures import Departures

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class Routes(list[web.RouteDef]):
    """Routes for `Application.add_routes`, and how what is behind them starts and ends.

    Args:
        core: the server behind them.
        routes: the routes.
    """

    def __init__(self, core: Core, routes: Iterable[web.RouteDef]) -> None:
        super().__init__(routes)
        self._core = core

    async def start(self, application: web.Application | None = None) -> None:
        """Enter the lifespans of the registry: `application.on_startup.append(routes.start)`. Otherwise the first call does.

        Raises:
            Exception: what a lifespan raised.
        """
        await self._core.start()

    async def close(self, application: web.Application | None = None) -> None:
        """End every stream in good order: `application.on_shutdown.append(routes.close)`."""
        await self._core.close()


def routes(registry: Registry, path: str = "/mcp", settings: Settings | None = None) -> Routes:
    """A registry as routes for `Application.add_routes`.

    Without more, aiohttp waits for open streams when it shuts down; `application.on_shutdown.append(routes.close)` ends them.

    Args:
        registry: what is offered.
        path: the address that speaks Streamable HTTP.
        settings: how it is run.

    Raises:
        ValueError: the settings name a revision that does not exist, or a key that is too short.

    Specification: basic/transports/streamable-http
    """
    core = Core(registry, settings or Settings())
    return Routes(core, [web.route("*", each, handler) for each, handler in handlers(core, path).items()])


def handlers(core: Core, path: str) -> dict[str, Handler]:
    """What answers requests to the addresses of a server that was made elsewhere, by path."""
    endpoint = Endpoint(core)
    resource = core.settings.protected_resource
    metadata = {} if resource is None else dict.fromkeys(resource.paths, _metadata_handler(endpoint))
    return {**metadata, path: _endpoint_handler(endpoint, core.settings.limits)}


def _metadata_handler(endpoint: Endpoint) -> Handler:
    departures = Departures()

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        return await answered(request, departures, endpoint.front.metadata)

    return answer


def _endpoint_handler(endpoint: Endpoint, limits: Limits) -> Handler:
    departures = Departures()

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        body = await read_body(request, limits)
        return await answered(request, departures, lambda head, line: endpoint.handle(head, body, line))

    return answer


async def answered(
    request: web.BaseRequest, departures: Departures, handle: Callable[[Head, Line], Awaitable[Response | None]]
) -> web.StreamResponse:
    """What `handle` makes of the head of a request and the way back, as aiohttp has it."""
    line = _Line(request, departures)
    query = request.raw_path.partition("?")[2]
    response = await handle(Head(request.method, request.path, query, request.headers, request.remote), line)
    if response is not None:
        return web.Response(body=response.body, status=response.status, headers=response.headers)
    if line.response is None:  # nobody is there; what is returned goes nowhere
        return web.Response()
    return line.response


class _Line:
    """See `Line`. aiohttp ends the stream when the handler returns it."""

    __slots__ = ("_departures", "_request", "response")

    def __init__(self, request: web.BaseRequest, departures: Departures) -> None:
        self._request = request
        self._departures = departures
        self.response: web.StreamResponse | None = None

    async def open(self, status: int, headers: Mapping[str, str]) -> None:
        self.response = web.StreamResponse(status=status, headers=headers)
        await self.response.prepare(self._request)

    async def write(self, piece: bytes) -> None:
        if self.response is not None:
            await self.response.write(piece)

    async def gone(self) -> None:
        # aiohttp tells nobody but by cancelling the handler, which is not for us to let happen in every revision.
        await self._departures.of(self._request.transport)

    async def close(self) -> None:
        # The connection goes as well: aiohttp takes no other request from it before this one is done.
        if self.response is not None:
            await self.response.write_eof()
            if self._request.transport is not None:
                self._request.transport.close()


async def read_body(request: web.BaseRequest, limits: Limits) -> bytes | None:
    """The body; None where it is over the limit, of which no more is read, does not arrive in time, or is no body of its coding."""
    length = request.content_length
    if length is not None and "content-encoding" not in request.headers:
        if length > limits.body_bytes:
            return None
        if request.content.is_eof():
            return await request.content.read()
    try:
        async with asyncio.timeout(limits.body_seconds):
            return await _pieces(request, limits.body_bytes)
    except (TimeoutError, ContentEncodingError, web.RequestPayloadError):
        return None


async def _pieces(request: web.BaseRequest, limit: int) -> bytes | None:
    pieces, size = [], 0
    async for piece in request.content.iter_any():
        size += len(piece)
        if size > limit:
            return None
        pieces.append(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
