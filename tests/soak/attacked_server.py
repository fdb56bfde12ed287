"""A server to be attacked, in a process of its own and with its default limits, on one binding and both HTTP transports.

python tests/soak/attacked_server.py aiohttp|asgi
"""

from __future__ import annotations

import asyncio
import logging
import socket
import sys

from aiohttp import web
from mcp_anyrev import Exchange, Registry, Server, elicit

registry = Registry("attacked", "1.0")


@registry.tool
async def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


@registry.tool
async def items(values: list[dict[str, int]]) -> int:
    """Takes a lot."""
    return len(values)


@registry.tool
async def wait(padding: str = "") -> str:
    """Waits."""
    await asyncio.sleep(30)
    return "waited"


@registry.tool
async def say(times: int, ex: Exchange) -> str:
    """Says a lot."""
    for number in range(times):
        await ex.progress(number + 1)
        await ex.log("error", "x" * 1_000_000)
    return "said"


@registry.tool
async def gate(ex: Exchange) -> str:
    """Asks."""
    return "went ahead" if (await ex.ask("go", elicit("Go ahead?"))).accepted else "stopped"


@registry.resource("test://{+path}")
def anything(path: str) -> str:
    """Anything."""
    return path


async def _changing() -> None:
    while True:
        await asyncio.sleep(0.2)
        registry.changed("tools")
        for number in range(100):
            registry.updated(f"test://{number}")


async def main(binding: str) -> None:
    """Serve until the process is ended."""
    server, listening = Server(registry), socket.create_server(("127.0.0.1", 0))
    changing = asyncio.ensure_future(_changing())
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    if binding == "aiohttp":
        application = web.Application()
        application.add_routes(server.routes("/mcp", sse_path="/sse"))
        application.on_startup.append(server.start)
        runner = web.AppRunner(application)
        await runner.setup()
        await web.SockSite(runner, listening, backlog=1_024).start()
        await changing
    else:
        import uvicorn

        config = uvicorn.Config(server.asgi(sse_path="/sse"), log_level="critical", lifespan="on")
        await uvicorn.Server(config).serve(sockets=[listening])


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)  # what an attacker causes is said there over and over
    asyncio.run(main(sys.argv[1]))
