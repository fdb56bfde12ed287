"""Applications on a web server of their own, in this process.

Rule: the only place that starts one and waits for it; what the application is, the test says.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from typing import Any

from aiohttp import web


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
    import uvicorn

    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(application, log_level="warning", **options))
    serving = asyncio.ensure_future(server.serve(sockets=[listening]))
    try:
        while not server.started:  # noqa: ASYNC110  # it has no event to wait for
            await asyncio.sleep(0.01)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving
