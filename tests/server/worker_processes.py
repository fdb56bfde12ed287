"""Several processes that are one server, on a store that they share, and a balancer in front that never pins.

Rule: a request goes to the next worker, whatever session or connection it came on; where one cannot be connected to, to the one after it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
from aiohttp import web
from bounds import starting
from mcp_anyrev.storage.keys import new_name

WIRE = Path(__file__).parents[1] / "fixtures" / "wire.py"
OF_THE_CONNECTION = {"connection", "keep-alive", "transfer-encoding", "content-length", "host"}


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port: int = bound.getsockname()[1]
        return port


class Workers:
    """Workers of one application.

    Args:
        store: what they share.
        environment: more of their environment.

    Attributes:
        urls: where those are that run.
    """

    def __init__(self, store: str, **environment: str) -> None:
        self.urls: list[str] = []
        self._store = store
        self._environment = {**os.environ, "WIRE_APP": f"wire {new_name()}", **environment}
        self._processes: dict[str, asyncio.subprocess.Process] = {}
        self._turn = 0

    async def start(self, count: int) -> None:
        """Start so many more."""
        processes = [
            await asyncio.create_subprocess_exec(
                *(sys.executable, str(WIRE), "worker", f"{free_port()}", self._store),
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env=self._environment,
            )
            for _ in range(count)
        ]
        with starting():
            for process in processes:
                assert process.stdout is not None
                url = (await process.stdout.readline()).decode().strip()
                self._processes[url] = process
                self.urls.append(url)

    async def kill(self, url: str, how: signal.Signals = signal.SIGKILL) -> None:
        """End one; by default as `kill -9` does. Otherwise the balancer knows of it before."""
        self.urls.remove(url)
        process = self._processes.pop(url)
        if how is not signal.SIGKILL:
            await asyncio.sleep(0.1)  # until what has been given to it has arrived
        process.send_signal(how)
        await process.wait()

    async def end(self) -> None:
        """End them all, in good order."""
        await asyncio.gather(*(self.kill(url, signal.SIGTERM) for url in list(self.urls)))

    def next(self) -> str:
        """Whose turn it is."""
        self._turn += 1
        return self.urls[self._turn % len(self.urls)]


@contextlib.asynccontextmanager
async def workers(store: str, count: int = 3, **environment: str) -> AsyncIterator[Workers]:
    """So many workers of an application of their own."""
    made = Workers(store, **environment)
    try:
        await made.start(count)
        yield made
    finally:
        await made.end()


@contextlib.asynccontextmanager
async def balanced(among: Workers) -> AsyncIterator[str]:
    """A balancer that never pins; gives where it is."""

    async def asked(request: web.Request, body: bytes) -> aiohttp.ClientResponse:
        headers = {name: value for name, value in request.headers.items() if name.lower() not in OF_THE_CONNECTION}
        for _ in range(len(among.urls)):
            with contextlib.suppress(aiohttp.ClientConnectorError):  # it has just gone, and has seen nothing of this
                return await passing.request(request.method, among.next(), headers=headers, data=body)
        raise web.HTTPBadGateway

    async def relay(request: web.Request) -> web.StreamResponse:
        async with await asked(request, await request.read()) as answer:
            response = web.StreamResponse(status=answer.status)
            for name, value in answer.headers.items():
                if name.lower() not in OF_THE_CONNECTION:
                    response.headers[name] = value
            await response.prepare(request)
            with contextlib.suppress(ConnectionError):  # whoever asked has gone
                async for piece in answer.content.iter_any():
                    await response.write(piece)
                await response.write_eof()
            return response

    application = web.Application()
    application.router.add_route("*", "/mcp", relay)
    runner = web.AppRunner(application, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    connector = aiohttp.TCPConnector(force_close=True)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=None)) as passing:
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port := free_port()).start()
        try:
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            await runner.cleanup()
