"""A server as an ASGI application.

Rule: nothing is decided here but which address a request is for, and when the server begins and ends.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from mcp_anyrev.transports.asgi import Receive, Request, Scope, Send, answer, own_path
from mcp_anyrev.transports.signals import AskAgain, before_the_end

if TYPE_CHECKING:
    from mcp_anyrev.declaring.registry import Registry
    from mcp_anyrev.http.wire import Handle
    from mcp_anyrev.serving.server import Server
    from mcp_anyrev.settings import Settings

log = logging.getLogger("mcp_anyrev.server")

_LAST_SECONDS = 2.0
"""How long requests may take to end beside what calls may take."""


def asgi(registry: Registry, settings: Settings | None = None) -> Application:
    """A registry as an ASGI application, to be run alone or mounted; the same as `Server(registry, settings).asgi()`.

    Args:
        registry: what is offered.
        settings: how it is run.

    Returns:
        The application; it answers on every path that reaches it.

    Specification: basic/transports/streamable-http
    """
    from mcp_anyrev.serving.server import Server

    return Server(registry, settings).asgi()


class Application:
    """A server as an ASGI application; made by `Server.asgi` and `asgi`.

    Args:
        server: the server behind it.
        addresses: what answers requests, by path.
        otherwise: what answers requests to any other path.
    """

    def __init__(self, server: Server, addresses: Mapping[str, Handle], otherwise: Handle) -> None:
        self._server = server
        self._addresses = addresses
        self._otherwise = otherwise
        self._answering = 0
        self._ending: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        """Where it has had itself told of the end of the process."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or live through a lifespan.

        Raises:
            ValueError: it is asked for something else.
        """
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        if scope["type"] != "http":
            raise ValueError(f"this application answers http, not {scope['type']}")
        if self._server.fresh:
            await self._server.start_for_request()
        if self._loop is not asyncio.get_running_loop():
            self._hear_of_the_end()
        handle = self._addresses.get(own_path(scope), self._otherwise) if self._addresses else self._otherwise
        self._answering += 1
        try:
            await answer(Request(scope, receive, send, self._server.bodies, self._server.answers), handle)
        finally:
            self._answering -= 1

    async def close(self) -> None:
        """End every stream in good order. A server waits for open streams, often without an end, before it says that it ends."""
        await self._server.close()

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                self._hear_of_the_end()
                try:
                    await self._server.start()
                except Exception as error:
                    log.exception("the server cannot start")
                    await send({"type": "lifespan.startup.failed", "message": type(error).__name__})
                    return
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                try:
                    await self._server.close()
                except Exception as error:
                    log.exception("the server was closed, but not in good order")
                    await send({"type": "lifespan.shutdown.failed", "message": type(error).__name__})
                    return
                await send({"type": "lifespan.shutdown.complete"})
                return

    def _hear_of_the_end(self) -> None:
        self._loop = asyncio.get_running_loop()
        before_the_end(self._begin_to_end)

    def _begin_to_end(self, ask_again: AskAgain) -> None:
        if self._ending is None or self._ending.done():
            self._ending = asyncio.ensure_future(self.close())
            seconds = self._server.settings.shutdown_seconds + _LAST_SECONDS
            asyncio.get_running_loop().call_later(seconds, self._end_at_last, ask_again)

    def _end_at_last(self, ask_again: AskAgain) -> None:
        """A host waits without end for clients that neither read nor go, and for handlers that do not let themselves be cancelled."""
        if self._answering:
            log.error("the server does not wait any longer for %d requests that do not end", self._answering)
            ask_again()
