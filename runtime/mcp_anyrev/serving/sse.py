"""HTTP+SSE alone, for who asks for it: the transport is an old one.

Rule: nothing is decided here.
Specification: basic/transports#http-with-sse
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from mcp_anyrev.http.request import HttpRequest, HttpResponse
from mcp_anyrev.serving.asgi import Application
from mcp_anyrev.serving.server import Server

if TYPE_CHECKING:
    from aiohttp import web

    from mcp_anyrev.declaring.registry import Registry
    from mcp_anyrev.settings import Settings


class SseEndpoint(Application):
    """A registry served over HTTP+SSE alone: an ASGI application, and `routes()` for aiohttp. `Server` has it beside Streamable HTTP.

    Args:
        registry: what is offered.
        settings: how it is run.
        path: the address that opens a stream.
        message_path: the address to post to, which clients learn on the stream.

    Raises:
        ValueError: none of the served revisions can be spoken over this transport, or a path is none.

    Specification: basic/transports#http-with-sse
    """

    def __init__(
        self,
        registry: Registry,
        settings: Settings | None = None,
        *,
        path: str = "/sse",
        message_path: str = "/messages",
    ) -> None:
        server = Server(registry, settings)
        super().__init__(server, server.addresses(None, path, message_path), _not_found)

    def routes(self) -> list[web.RouteDef]:
        """The same as routes for aiohttp's `Application.add_routes`."""
        from mcp_anyrev.serving.aiohttp import routes

        return routes(self._server, self._addresses)


async def _not_found(request: HttpRequest) -> HttpResponse:
    return HttpResponse(HTTPStatus.NOT_FOUND.value)
