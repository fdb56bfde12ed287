"""Applications on a web server of their own, in this process.

Rule: the only place that starts one and waits for it; what the application is, the test says.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from typing import Any

import uvicorn
from aiohttp import web

_TURNS = 50
"""How often it is seen whether connections have closed, before uvicorn itself waits for them."""


@contextlib.asynccontextmanager
async def on_aiohttp(application: web.Application, **options: Any) -> AsyncIterator[str]:
    """An application of aiohttp, its runner with `options`; gives its address, without a path."""
    runner = web.AppRunner(application, **options)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@contextlib.asynccontextmanager
async def on_uvicorn(application: Any, **options: Any) -> AsyncIterator[str]:
    """An ASGI application on uvicorn, configured with `options`; gives its address, without a path."""
    listening = socket.create_server(("127.0.0.1", 0))
    # As every server sets it that makes its own socket; without it, an answer in two parts takes 40 ms.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    server = _Uvicorn(uvicorn.Config(application, log_level="warning", **options))
    serving = asyncio.ensure_future(server.serve(sockets=[listening]))
    try:
        while not server.started:  # noqa: ASYNC110  # it has no event to wait for
            await asyncio.sleep(0.001)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.ending.set()
        await serving


class _Uvicorn(uvicorn.Server):
    """It looks only ten times a second whether it is to end, and then waits as long again: for most tests, longer than for all else."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ending = asyncio.Event()

    async def main_loop(self) -> None:
        await self.on_tick(0)  # which makes the headers that every answer has
        await self.ending.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        state = self.server_state
        for server in self.servers:
            server.close()
        for connection in list(state.connections):
            connection.shutdown()
        for _ in range(_TURNS):
            if not state.connections and not state.tasks:
                await self.lifespan.shutdown()
                return
            await asyncio.sleep(0.001)
        await super().shutdown(sockets)
