"""A server within an application of aiohttp.

Rule: nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from aiohttp import web

from mcp_anyrev.transports.aiohttp import Handler, Request, answered, waits_to_be_asked
from mcp_anyrev.transports.departures import Departures

if TYPE_CHECKING:
    from mcp_anyrev.http.wire import Handle
    from mcp_anyrev.serving.server import Server


def routes(server: Server, addresses: Mapping[str, Handle]) -> list[web.RouteDef]:
    """What answers requests, as routes for aiohttp's `Application.add_routes`.

    Args:
        server: the server, which starts with its first request if nobody has started it.
        addresses: what answers them, by path.
    """
    departures = Departures()
    return [
        web.route("*", path, _handler(server, handle, departures, path), expect_handler=waits_to_be_asked)
        for path, handle in addresses.items()
    ]


def _handler(server: Server, handle: Handle, departures: Departures, path: str) -> Handler:
    bodies, answers = server.bodies, server.answers

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        if server.fresh:
            await server.start_for_request()
        return await answered(Request(request, bodies, answers, departures, path), handle)

    return answer
