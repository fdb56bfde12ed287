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

    from mcp_anyrev.declaring.registry import Registry
    from mcp_anyrev.server.core import Core
    from mcp_anyrev.transports.aiohttp import Handler

# Servers that were awaited live as long as their event loop does.
_kept: weakref.WeakKeyDictionary[object, list[Serving]] = weakref.WeakKeyDictionary()


def serve(
    registry: Registry,
    settings: Settings | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    path: str | None = "/mcp",
    sse_path: str | None = None,
    message_path: str = "/messages",
) -> Serving:
    """Serve a registry over Streamable HTTP, over HTTP+SSE, or both.

    `url = await serve(registry)` serves until the event loop ends; `async with serve(registry) as url:` until the block ends.

    Args:
        registry: what is offered.
        settings: how it is run.
        host: the interface to listen on.
        port: the port; 0 for any that is free.
        path: the path of the address that speaks Streamable HTTP; None for none.
        sse_path: the path of the address that opens a stream of HTTP+SSE; None for none.
        message_path: the path that clients of HTTP+SSE post to.

    Returns:
        Something to await or to enter; either gives the URL, of Streamable HTTP if that is served. Both raise OSError where the
        port is taken.

    Raises:
        ValueError: there is nothing to serve.

    Specification: basic/transports/streamable-http
    """
    if path is None and sse_path is None:
        raise ValueError("there is no path to serve anything at")
    return Serving(registry, settings or Settings(), host, port, path, sse_path, message_path)


class Serving:
    """A server that is to run; made by `serve`."""

    def __init__(
        self,
        registry: Registry,
        settings: Settings,
        host: str,
        port: int,
        path: str | None,
        sse_path: str | None,
        message_path: str,
    ) -> None:
        self._registry = registry
        self._settings = settings
        self._host = host
        self._port = port
        self._path = path
        self._sse_path = sse_path
        self._message_path = message_path
        self._core: Core | None = None
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

        self._core = core = Core(self._registry, self._settings)
        await core.start()
        handlers = self._handlers(core)

        async def answer(request: web.BaseRequest) -> web.StreamResponse:
            # A table in place of an application: its router and hooks cost a tenth of a request, and nothing here needs them.
            handler = handlers.get(request.path)
            return web.HTTPNotFound() if handler is None else await handler(request)

        self._runner = web.ServerRunner(web.Server(answer, access_log=None), shutdown_timeout=1)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self._host, self._port).start()
        except OSError:
            await self.stop()
            raise
        host, port = self._runner.addresses[0][:2]
        return f"http://{f'[{host}]' if ':' in host else host}:{port}{self._path or self._sse_path}"

    async def stop(self) -> None:
        """End every stream in good order and every call, after `Settings.shutdown_seconds` at most, and stop listening."""
        for site in () if self._runner is None else self._runner.sites:
            await site.stop()
        if self._core is not None:
            await self._core.close()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def _handlers(self, core: Core) -> dict[str, Handler]:
        from mcp_anyrev.transports.aiohttp import handlers
        from mcp_anyrev.transports.http_sse import SseEndpoint

        made = {} if self._path is None else handlers(core, self._path)
        if self._sse_path is not None:
            sse = SseEndpoint(self._registry, path=self._sse_path, message_path=self._message_path, core=core)
            made |= sse.handlers()
        return made

    async def _start_and_stay(self) -> str:
        import asyncio

        url = await self.start()
        _kept.setdefault(asyncio.get_running_loop(), []).append(self)
        return url
