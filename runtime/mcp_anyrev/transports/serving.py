"""A server for as long as a test, or a program, needs it.

Rule: on the loopback interface only, on a port that is free, unless it is told otherwise.
"""

from __future__ import annotations

import weakref
from collections.abc import Generator
from types import TracebackType
from typing import TYPE_CHECKING

from mcp_anyrev.settings import Settings

if TYPE_CHECKING:
    from aiohttp import web

    from mcp_anyrev.server.registry import Registry

# Servers that were awaited live as long as their event loop does.
_kept: weakref.WeakKeyDictionary[object, list[Serving]] = weakref.WeakKeyDictionary()


def serve(
    registry: Registry,
    settings: Settings | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    path: str = "/mcp",
) -> Serving:
    """Serve a registry over Streamable HTTP.

    `url = await serve(registry)` serves until the event loop ends; `async with serve(registry) as url:` until the block ends.

    Args:
        registry: what is offered.
        settings: how it is run.
        host: the interface to listen on.
        port: the port; 0 for any that is free.
        path: the path of the address.

    Returns:
        Something to await or to enter; either gives the URL. Both raise OSError where the port is taken.

    Specification: basic/transports/streamable-http
    """
    return Serving(registry, settings or Settings(), host, port, path)


class Serving:
    """A server that is to run; made by `serve`."""

    def __init__(self, registry: Registry, settings: Settings, host: str, port: int, path: str) -> None:
        self._registry = registry
        self._settings = settings
        self._host = host
        self._port = port
        self._path = path
        self._runner: web.ServerRunner | None = None

    def __await__(self) -> Generator[object, None, str]:
        return self._start_and_stay().__await__()

    async def __aenter__(self) -> str:
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> str:
        """Listen; gives the URL."""
        from aiohttp import web

        from mcp_anyrev.server.core import Core
        from mcp_anyrev.transports.aiohttp import endpoint_handler

        core = Core(self._registry, self._settings)
        core.build()
        handlers = {self._path: endpoint_handler(core)}

        async def answer(request: web.BaseRequest) -> web.StreamResponse:
            # A table in place of an application: its router and hooks cost a tenth of a request, and nothing here needs them.
            handler = handlers.get(request.path)
            return web.HTTPNotFound() if handler is None else await handler(request)

        self._runner = web.ServerRunner(web.Server(answer, access_log=None), shutdown_timeout=1)
        await self._runner.setup()
        await web.TCPSite(self._runner, self._host, self._port).start()
        host, port = self._runner.addresses[0][:2]
        return f"http://{f'[{host}]' if ':' in host else host}:{port}{self._path}"

    async def stop(self) -> None:
        """Stop listening, and end what is running."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _start_and_stay(self) -> str:
        import asyncio

        url = await self.start()
        _kept.setdefault(asyncio.get_running_loop(), []).append(self)
        return url
