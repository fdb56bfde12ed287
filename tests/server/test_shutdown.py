"""A server that is told to stop ends its streams in good order, within 5 seconds.

Citations: basic/patterns/subscriptions#graceful-closure.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from event_streams import listening, posting
from mcp_anyrev import Exchange, Registry, Server, Settings
from mcp_anyrev.testing import serve
from mcp_revisions.protocol import Adapter
from raw_client import RawClient

FEW_SECONDS = 5.0

_COMMAND = "from mcp_anyrev.cli.main import main; main()"

_PROGRAM = """
import asyncio
from mcp_anyrev import Exchange, Registry, asgi

registry = Registry("ending", "1.0")

@registry.tool
async def slow(ex: Exchange) -> str:
    await ex.progress(0)
    await asyncio.sleep(60)
    return "slept"

application = asgi(registry)
import socket, uvicorn
listening = socket.create_server(("127.0.0.1", 0))
print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
uvicorn.Server(uvicorn.Config(application, log_level="error")).run(sockets=[listening])
"""


def registry() -> Registry:
    made = Registry("ending", "1.0")

    @made.tool
    async def slow(ex: Exchange, seconds: float = 60) -> str:
        await ex.progress(0)
        await asyncio.sleep(seconds)
        return "slept"

    return made


def slow(**arguments: Any) -> dict[str, Any]:
    return {"name": "slow", "arguments": arguments, "_meta": {"progressToken": 1}}


def open_stream(client: RawClient) -> Any:
    if client.adapter.listens:
        return posting(client, "subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id="last")
    return listening(client)


async def test_streams_end_in_good_order(adapter: Adapter) -> None:
    server = serve(registry(), Settings(shutdown_seconds=0.3))
    url = await server.start()
    async with RawClient(url, adapter) as client, open_stream(client) as stream:
        if adapter.listens:
            await stream.message()
        started = time.monotonic()
        stopping = asyncio.ensure_future(server.stop())
        messages = await stream.messages(FEW_SECONDS)
        await stopping
        assert time.monotonic() - started < FEW_SECONDS
    assert [message.get("id") for message in messages] == (["last"] if adapter.listens else [])


async def test_calls_may_finish_and_are_answered_in_any_case(adapter: Adapter) -> None:
    server = serve(registry(), Settings(shutdown_seconds=0.5))
    url = await server.start()
    async with (
        RawClient(url, adapter) as client,
        posting(client, "tools/call", slow(seconds=0.3), id=1) as short,
        posting(client, "tools/call", slow(), id=2) as long,
    ):
        await short.message()
        await long.message()
        started = time.monotonic()
        stopping = asyncio.ensure_future(server.stop())
        (answer,) = await short.messages(FEW_SECONDS)
        assert answer["result"]["content"][0]["text"] == "slept"
        (answer,) = await long.messages(FEW_SECONDS)
        assert answer["error"]["code"] == adapter.error_codes["internal_error"] and answer["id"] == 2
        await stopping
        assert time.monotonic() - started < FEW_SECONDS


async def test_an_aiohttp_application_ends_its_streams(adapter: Adapter) -> None:
    application = web.Application()
    server = Server(registry(), Settings(shutdown_seconds=0.3))
    application.add_routes(server.routes())
    application.on_shutdown.append(server.close)
    runner = web.AppRunner(application, shutdown_timeout=60)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"
    async with RawClient(url, adapter) as client, open_stream(client) as stream:
        if adapter.listens:
            await stream.message()
        started = time.monotonic()
        stopping = asyncio.ensure_future(runner.cleanup())
        await stream.messages(FEW_SECONDS)
        await stopping
        assert time.monotonic() - started < FEW_SECONDS


@contextlib.contextmanager
def running(*command: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server process and the URL that it says."""
    with subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            yield child, child.stdout.readline().strip()
        finally:
            if child.poll() is None:
                child.kill()


async def test_uvicorn_ends_them_when_it_gets_a_signal(result_adapter: Adapter, tmp_path: Path) -> None:
    program = tmp_path / "ending.py"
    program.write_text(_PROGRAM)
    with running(str(program)) as (child, url):
        async with (
            RawClient(url, result_adapter) as client,
            open_stream(client) as stream,
            posting(client, "tools/call", slow(), id=2) as call,
        ):
            await stream.message()
            await call.message()
            started = time.monotonic()
            child.send_signal(signal.SIGTERM)
            assert [message.get("id") for message in await stream.messages(FEW_SECONDS)] == ["last"]
            assert [message.get("id") for message in await call.messages(FEW_SECONDS)] == [2]
        await asyncio.to_thread(child.wait, FEW_SECONDS)
        assert time.monotonic() - started < FEW_SECONDS


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_the_serve_command_ends_them(result_adapter: Adapter, tmp_path: Path, number: signal.Signals) -> None:
    program = tmp_path / "ending.py"
    program.write_text(_PROGRAM.partition("application =")[0])
    with running("-c", _COMMAND, "serve", f"{program}:registry", "--port", "0") as (child, url):
        async with RawClient(url, result_adapter) as client, open_stream(client) as stream:
            await stream.message()
            child.send_signal(number)
            assert [message.get("id") for message in await stream.messages(FEW_SECONDS)] == ["last"]
        assert await asyncio.to_thread(child.wait, FEW_SECONDS) == 0
