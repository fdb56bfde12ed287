"""HTTP+SSE, as an ASGI application and as routes for aiohttp.

Rule: a shell, and only for who asks for it: the transport is an old one. It finds out which of the two addresses a request is for, and
what name the second one holds.
Specification: basic/transports#http-with-sse
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from mcp_anyrev.declaring.registry import Registry
from mcp_anyrev.head import Head
from mcp_anyrev.http.http_sse import HttpSse
from mcp_anyrev.http.wire import Line, Response
from mcp_anyrev.server.core import Core
from mcp_anyrev.settings import Settings
from mcp_anyrev.transports.asgi import Application, Handle, Scope, own_path

if TYPE_CHECKING:
    from aiohttp import web

    from mcp_anyrev.transports.aiohttp import Handler, Routes

_QUERY = "session"


class SseEndpoint(Application):
    """A registry served over HTTP+SSE: an ASGI application, and `routes()` for aiohttp.

    Args:
        registry: what is offered.
        settings: how it is run.
        path: the address that opens a stream.
        message_path: the address to post to, which clients learn on the stream.
        core: a server that was made elsewhere, in place of a new one.

    Raises:
        ValueError: the settings name a revision that does not exist, only some that this transport cannot carry, or a key that
            is too short.

    Specification: basic/transports#http-with-sse
    """

    def __init__(
        self,
        registry: Registry,
        settings: Settings | None = None,
        *,
        path: str = "/sse",
        message_path: str = "/messages",
        core: Core | None = None,
    ) -> None:
        core = Core(registry, settings or Settings()) if core is None else core
        super().__init__(core)
        self._http_sse = HttpSse(core)
        self._path = path
        self._message_path = message_path

    def routes(self) -> Routes:
        """The same as routes for aiohttp's `Application.add_routes`."""
        from aiohttp import web

        from mcp_anyrev.transports.aiohttp import Routes

        return Routes(self._core, [web.route("*", path, handler) for path, handler in self.handlers().items()])

    def handlers(self) -> dict[str, Handler]:
        """What answers requests to the two addresses on aiohttp, by path."""
        from mcp_anyrev.transports.aiohttp import answered, read_body
        from mcp_anyrev.transports.departures import Departures

        departures = Departures()
        limits = self._core.settings.limits

        async def listen(request: web.BaseRequest) -> web.StreamResponse:
            root = request.path.removesuffix(self._path)
            address = self._address(root)
            return await answered(request, departures, lambda head, line: self._http_sse.listen(head, address, line))

        async def post(request: web.BaseRequest) -> web.StreamResponse:
            body = await read_body(request, limits)
            name = request.query.get(_QUERY, "")
            return await answered(request, departures, lambda head, line: self._http_sse.post(head, name, body, line))

        return {self._path: listen, self._message_path: post}

    def _handle_for(self, scope: Scope) -> Handle:
        path = own_path(scope)
        if path == self._path:
            address = self._address(str(scope.get("root_path", "")))
            return lambda head, body, line: self._http_sse.listen(head, address, line)
        if path == self._message_path:
            query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
            name = query.get(_QUERY, [""])[0]
            return lambda head, body, line: self._http_sse.post(head, name, body, line)
        return _not_found

    def _address(self, root: str) -> str:
        return f"{root}{self._message_path}?{_QUERY}="


async def _not_found(head: Head, body: bytes | None, line: Line) -> Response:
    return Response(HTTPStatus.NOT_FOUND.value)
