"""A process that is told to end does so in time, whatever goes on in it, and six slow calls do not hold up the seventh.

Citations: basic/patterns/subscriptions#graceful-closure.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Annotated

import pytest
from event_streams import listening
from mcp_anyrev import Depends, Registry, Server, Settings
from mcp_anyrev.head import Head
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from pydantic_core import to_json
from raw_client import RawClient, serving

SHUTDOWN_SECONDS = 0.2
MOST_SECONDS = SHUTDOWN_SECONDS + 3 + 8
"""With what a busy machine may add; whatever hangs here hangs for a minute."""
MODERN = AdapterSet.default().by_version[AdapterSet.default().versions[0]]
SESSIONS = AdapterSet.default().newest_with_handshake

_REGISTRY = f"""
import asyncio, contextlib, signal, socket, sys, time
from mcp_anyrev import Exchange, Registry, Settings, asgi, run

@contextlib.asynccontextmanager
async def lifespan(registry):
    yield
    if "lifespan" in sys.argv:
        await asyncio.sleep(60)

registry = Registry("ending", "1.0", lifespan=lifespan)
settings = Settings(shutdown_seconds={SHUTDOWN_SECONDS})

@registry.tool
async def fine() -> str:
    return "fine"

@registry.tool
def sync() -> str:
    time.sleep(60)
    return "slept"

@registry.tool
async def in_executor() -> str:
    await asyncio.to_thread(time.sleep, 60)
    return "slept"

@registry.tool
async def holding_the_loop() -> str:
    time.sleep(60)
    return "slept"

@registry.tool
async def stubborn() -> str:
    while True:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(60)

@registry.tool
async def unread(ex: Exchange) -> str:
    while True:
        await ex.progress(time.monotonic(), None, "x" * 10_000)
"""

_ALONE = _REGISTRY + "\nrun(registry, settings, port=0, told=lambda url: print(url, flush=True))\n"

_GUEST = (
    _REGISTRY
    + """
import uvicorn
application = asgi(registry, settings)
if sys.argv[1] != "1":  # uvicorn has the process ended by the signal once it has ended itself
    signal.signal(signal.SIGTERM, lambda *_: None)
for _ in range(int(sys.argv[1])):
    listening = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
    uvicorn.Server(uvicorn.Config(application, log_level="error", lifespan=sys.argv[2])).run(sockets=[listening])
"""
)


@contextlib.contextmanager
def running(program: str, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process, and the URL that it says first."""
    child = subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert child.stdout is not None
        yield child, child.stdout.readline().strip()
    finally:
        if child.poll() is None:
            child.kill()
        child.wait()
        assert child.stdout is not None
        child.stdout.close()


def calling(url: str, name: str, *, cut: int = 0) -> socket.socket:
    """A connection on which a tool has been called, from which nothing is read; without the last bytes of the body, if wanted."""
    params = MODERN.declared_params({"name": name, "arguments": {}, "_meta": {"progressToken": 1}}, _declared())
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    body = to_json(request)
    host, port = url.removeprefix("http://").removesuffix("/mcp").split(":")
    headers = {
        "Host": host,
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Content-Length": str(len(body)),
        **MODERN.request_headers(request, None),
    }
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    for _ in range(500):  # it has said where it will listen
        try:
            connection.connect((host, int(port)))
            break
        except ConnectionRefusedError:
            time.sleep(0.01)
    head = "".join(f"{header}: {value}\r\n" for header, value in headers.items())
    connection.sendall(f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + body[: len(body) - cut])
    time.sleep(0.5)  # until the handler is at work
    return connection


def _declared() -> object:
    from mcp_contract import Declaration

    return Declaration({}, {"name": "raw", "version": "1.0"})


def took(child: subprocess.Popen[str], *signals: signal.Signals) -> float:
    """How long a process takes to end."""
    started = time.monotonic()
    for number in signals:
        child.send_signal(number)
        time.sleep(0.1)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(MOST_SECONDS + 1)
    return time.monotonic() - started


@pytest.mark.parametrize("name", ["sync", "in_executor", "holding_the_loop", "stubborn", "unread"])
def test_a_server_alone_ends_in_time(name: str) -> None:
    with running(_ALONE) as (child, url), calling(url, name):
        assert took(child, signal.SIGTERM) < MOST_SECONDS


def test_a_server_alone_ends_in_time_although_a_lifespan_does_not() -> None:
    with running(_ALONE, "lifespan") as (child, url), calling(url, "fine"):
        assert took(child, signal.SIGTERM) < MOST_SECONDS
        assert child.returncode != 0


@pytest.mark.parametrize(("name", "cut"), [("sync", 0), ("stubborn", 0), ("unread", 0), ("fine", 1)])
def test_a_guest_ends_in_time(name: str, cut: int) -> None:
    """The last one waits for the rest of a body, and no stream was opened."""
    with running(_GUEST, "1", "on") as (child, url), calling(url, name, cut=cut):
        assert took(child, signal.SIGTERM) < MOST_SECONDS


@pytest.mark.parametrize("program", [_ALONE, _GUEST])
def test_a_second_interrupt_ends_it_at_once(program: str) -> None:
    long = program.replace(f"shutdown_seconds={SHUTDOWN_SECONDS}", "shutdown_seconds=60")
    with running(long, "1", "on") as (child, url), calling(url, "sync"):
        assert took(child, signal.SIGINT, signal.SIGINT) < MOST_SECONDS


def test_one_interrupt_lets_calls_finish() -> None:
    program = _ALONE.replace(f"shutdown_seconds={SHUTDOWN_SECONDS}", "shutdown_seconds=60").replace("60)", "1)")
    with running(program) as (child, url), calling(url, "sync") as connection:
        assert took(child, signal.SIGINT) < MOST_SECONDS and child.returncode == 0
        assert b"slept" in connection.recv(10_000)


async def test_an_application_hears_signals_in_each_event_loop() -> None:
    with running(_GUEST, "2", "on") as (child, url):
        for _ in range(2):
            with contextlib.closing(await asyncio.to_thread(calling, url, "fine")):
                pass  # it listens
            async with RawClient(url, SESSIONS) as client, listening(client) as stream:
                child.send_signal(signal.SIGTERM)
                assert await stream.messages(MOST_SECONDS) == []
            assert child.stdout is not None
            url = (await asyncio.wait_for(asyncio.to_thread(child.stdout.readline), MOST_SECONDS)).strip()
        await asyncio.wait_for(asyncio.to_thread(child.wait), MOST_SECONDS)


async def test_a_lifespan_that_does_not_end_is_given_up() -> None:
    cancelled = asyncio.Event()

    @contextlib.asynccontextmanager
    async def lifespan(registry: Registry) -> AsyncIterator[None]:
        yield
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()

    server = Server(Registry("ending", "1.0", lifespan=lifespan), Settings(shutdown_seconds=0))
    await server.start()
    with pytest.raises(TimeoutError, match="lifespans"):
        await asyncio.wait_for(server.close(), 3)
    await asyncio.wait_for(cancelled.wait(), 1)


async def test_slow_calls_do_not_hold_up_another(adapter: Adapter, binding: str) -> None:
    """Of handlers, dependencies, and of what finds out who calls."""
    go_on, at_work = threading.Event(), threading.Semaphore(0)

    def wait() -> str:
        at_work.release()
        assert go_on.wait(15)
        return "waited"

    made = Registry("waiting", "1.0")
    made.tool(name="slow")(wait)

    @made.tool
    async def depends(one: Annotated[str, Depends(wait)]) -> str:
        return one

    @made.tool
    def quick() -> str:
        return "quick"

    def recognise(head: Head) -> str:
        return wait() if "x-slow" in head.headers else "ada"

    settings = Settings(principal=recognise)
    async with serving(made, settings, binding) as url, RawClient(url, adapter) as client:
        calls = [asyncio.ensure_future(client.tool(name)) for name in ("slow", "depends") for _ in range(6)]
        calls += [asyncio.ensure_future(client.tool("quick", change={"X-Slow": "yes"})) for _ in range(6)]
        try:
            for _ in calls:
                assert await asyncio.to_thread(at_work.acquire, timeout=5)
            assert (await asyncio.wait_for(client.tool("quick"), 5)).text == "quick"
        finally:
            go_on.set()
            await asyncio.gather(*calls, return_exceptions=True)


async def test_handlers_that_take_all_threads_hold_up_nobody_who_needs_none(binding: str) -> None:
    from mcp_anyrev import Limits

    go_on = threading.Event()
    made = Registry("waiting", "1.0")

    @made.tool
    def slow() -> str:
        assert go_on.wait(15)
        return "waited"

    @made.tool
    async def quick() -> str:
        return "quick"

    settings = Settings(principal=lambda head: "ada", limits=Limits(threads=2))
    async with serving(made, settings, binding) as url, RawClient(url, SESSIONS) as client:
        calls = [asyncio.ensure_future(client.tool("slow")) for _ in range(4)]
        try:
            await asyncio.sleep(0.1)
            assert (await asyncio.wait_for(client.tool("quick"), 5)).text == "quick"
        finally:
            go_on.set()
            await asyncio.gather(*calls)
