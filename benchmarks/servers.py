"""The servers that `server_cpu.py` measures, each in a process of its own.

Rule: all answer the same call with the same word. A library that is not installed is left out, which the table shows.

    python benchmarks/servers.py KIND uvloop|asyncio
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.util
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from pydantic_core import from_json, to_json

FIXED = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "fine"}]}}


def _registry() -> Any:
    from mcp_anyrev import Registry

    registry = Registry("benchmark", "1.0")

    @registry.tool
    async def plain(word: str) -> str:
        """Answers one word."""
        return "fine"

    return registry


async def bare_aiohttp() -> None:
    """The measure on aiohttp: JSON in, a fixed result out."""
    from aiohttp import web

    async def answer(request: web.Request) -> web.Response:
        from_json(await request.read())
        return web.Response(body=to_json(FIXED), content_type="application/json")

    application = web.Application()
    application.router.add_post("/mcp", answer)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}/mcp", flush=True)
    await asyncio.Event().wait()


async def ours_aiohttp() -> None:
    """This project on aiohttp."""
    from mcp_anyrev import Limits, Settings
    from mcp_anyrev.testing import serve

    async with serve(_registry(), Settings(limits=Limits(calls_per_minute=None))) as url:
        print(url, flush=True)
        await asyncio.Event().wait()


async def bare_uvicorn() -> None:
    """The measure on uvicorn: the same as an ASGI application."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        from_json((await receive())["body"])
        body = to_json(FIXED)
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    await _on_uvicorn(answer, lifespan="off")


async def ours_uvicorn() -> None:
    """This project on uvicorn."""
    from mcp_anyrev import Limits, Settings, asgi

    await _on_uvicorn(asgi(_registry(), Settings(limits=Limits(calls_per_minute=None))))


async def official_uvicorn() -> None:
    """The official SDK on uvicorn, answering with JSON."""
    from mcp.server import MCPServer

    server = MCPServer("benchmark")

    @server.tool()
    async def plain(word: str) -> str:
        """Answers one word."""
        return "fine"

    await _on_uvicorn(server.streamable_http_app(json_response=True))


async def fastmcp_uvicorn() -> None:
    """FastMCP on uvicorn, answering with JSON."""
    from fastmcp import FastMCP

    server = FastMCP("benchmark")

    @server.tool
    async def plain(word: str) -> str:
        """Answers one word."""
        return "fine"

    await _on_uvicorn(server.http_app(path="/mcp", json_response=True))


async def _on_uvicorn(application: Any, lifespan: Any = "on") -> None:
    import logging

    import uvicorn

    logging.disable(logging.CRITICAL)  # a line for each request would be measured, too
    listening = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
    options = uvicorn.Config(
        application, log_level="error", access_log=False, lifespan=lifespan, timeout_keep_alive=600
    )
    await uvicorn.Server(options).serve(sockets=[listening])


SERVERS: dict[str, tuple[Callable[[], Awaitable[None]], str, str | None]] = {
    "bare handler on aiohttp": (bare_aiohttp, "aiohttp", None),
    "mcp-anyrev on aiohttp": (ours_aiohttp, "aiohttp", "bare handler on aiohttp"),
    "bare ASGI on uvicorn": (bare_uvicorn, "uvicorn", None),
    "mcp-anyrev on uvicorn": (ours_uvicorn, "uvicorn", "bare ASGI on uvicorn"),
    "mcp on uvicorn": (official_uvicorn, "mcp", "bare ASGI on uvicorn"),
    "fastmcp on uvicorn": (fastmcp_uvicorn, "fastmcp", "bare ASGI on uvicorn"),
}
"""What is measured: what serves it, the module that it needs, and what it is compared with."""

OTHERS = ("mcp on uvicorn", "fastmcp on uvicorn")
"""Those that are here for comparison only."""


def installed() -> list[str]:
    """The servers that can run here."""
    return [name for name, (_, module, _) in SERVERS.items() if importlib.util.find_spec(module) is not None]


@contextlib.contextmanager
def process(name: str, loop: str) -> Iterator[tuple[str, int]]:
    """A server process, on an event loop; gives its URL and its id."""
    child = subprocess.Popen([sys.executable, __file__, name, loop], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        yield child.stdout.readline().strip(), child.pid
    finally:
        child.kill()
        child.wait(10)


def main(name: str, loop: str) -> None:
    """Run one of them until the process is ended."""
    factory = importlib.import_module(loop).new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(SERVERS[name][0]())  # type: ignore[arg-type]  # each of them is a coroutine function


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
