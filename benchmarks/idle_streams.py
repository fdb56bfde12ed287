"""What streams cost on which nothing happens, and how long a change takes to reach all of them.

Rule: the server is a process of its own, measured by the kernel from outside; memory is what it holds more than before the streams
were opened. Loopback only, bounded in streams and in time.

    python benchmarks/idle_streams.py [--streams 1000] [--seconds 10]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import statistics
import subprocess
import sys
import time
import urllib.parse
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

from mcp_anyrev import Registry, asgi
from mcp_contract import Declaration
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from pydantic_core import to_json

DECLARATION = Declaration({}, {"name": "benchmark", "version": "1.0"})
BINDINGS = ("aiohttp", "uvicorn")
TURNS = 5
LIMIT_SECONDS = 30
AT_ONCE = 50


class Cost(NamedTuple):
    """What was measured.

    Attributes:
        core_percent: of a core, while nothing happens.
        megabytes: that all streams together hold.
        slowest_ms: from a change to the last stream that has been told: median of some changes.
    """

    core_percent: float
    megabytes: float
    slowest_ms: float


async def serve(binding: str) -> None:
    """A server with one tool, which announces a change."""
    registry = Registry("idle", "1.0")

    @registry.tool
    async def touch() -> str:
        registry.changed("tools")
        return "touched"

    if binding == "aiohttp":
        from mcp_anyrev.testing import serve

        async with serve(registry) as url:
            print(url, flush=True)
            await asyncio.Event().wait()
    import socket

    import uvicorn

    listening = socket.create_server(("127.0.0.1", 0), backlog=1_000)
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
    await uvicorn.Server(uvicorn.Config(asgi(registry), log_level="error")).serve(sockets=[listening])


class Client:
    """Opens streams by the request that the revision has for that, on bare sockets."""

    def __init__(self, url: str, adapter: Adapter) -> None:
        parts = urllib.parse.urlsplit(url)
        self.host, self.port, self.path = parts.hostname or "", parts.port or 0, parts.path
        self.adapter = adapter
        self.writers: list[asyncio.StreamWriter] = []

    def post(self, identifier: int, method: str, params: object, session: str | None = None) -> bytes:
        declared = self.adapter.declared_params(params, DECLARATION)  # type: ignore[arg-type]
        message = {"jsonrpc": "2.0", "id": identifier, "method": method, "params": declared}
        return self.head("POST", self.adapter.request_headers(message, session), to_json(message))

    def head(self, method: str, headers: dict[str, str], body: bytes = b"") -> bytes:
        all_headers = {
            "Host": f"{self.host}:{self.port}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            **headers,
        }
        lines = [f"{method} {self.path} HTTP/1.1", *(f"{name}: {value}" for name, value in all_headers.items()), "", ""]
        return "\r\n".join(lines).encode() + body

    async def open(self, identifier: int) -> asyncio.StreamReader:
        """Open a stream of changes and read up to its first event, or, where none comes first, its head."""
        reader, writer = await asyncio.open_connection(self.host, self.port)
        self.writers.append(writer)  # a connection closes when nobody holds its writer
        if self.adapter.listens:
            wanted = {"notifications": {"toolsListChanged": True}}
            writer.write(self.post(identifier, "subscriptions/listen", wanted))
            await reader.readuntil(b"acknowledged")
            await reader.readuntil(b"\n\n")
            return reader
        writer.write(
            self.post(identifier, self.adapter.description_method, self.adapter.description_params(DECLARATION))
        )
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in head)}
        await reader.readexactly(int(fields["content-length"]))
        headers = self.adapter.request_headers({"method": "ping"}, fields["mcp-session-id"])
        ready = to_json({"jsonrpc": "2.0", "method": self.adapter.ready_notification})
        writer.write(self.head("POST", headers, ready))
        await reader.readuntil(b"\r\n\r\n")
        writer.write(self.head("GET", headers))
        await reader.readuntil(b"\r\n\r\n")
        if self.adapter.closes_to_be_polled:
            await reader.readuntil(b"data:\n\n")
        return reader

    async def touch(self) -> float:
        """Have a change announced; gives when it was asked for."""
        reader, writer = await asyncio.open_connection(self.host, self.port)
        session = None
        if self.adapter.has_handshake:
            writer.write(self.post(0, self.adapter.description_method, self.adapter.description_params(DECLARATION)))
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in head)}
            await reader.readexactly(int(fields["content-length"]))
            session = fields["mcp-session-id"]
        started = time.perf_counter()
        writer.write(self.post(1, "tools/call", {"name": "touch", "arguments": {}}, session))
        await reader.readuntil(b"touched")
        writer.close()
        return started


async def told(stream: asyncio.StreamReader) -> float:
    """When the stream was told of a change."""
    await stream.readuntil(b"notifications/tools/list_changed")
    return time.perf_counter()


async def measure(binding: str, version: str, streams: int, seconds: float) -> Cost:
    """Measure one binding on one revision."""
    async with asyncio.timeout(LIMIT_SECONDS + seconds), process(binding) as (url, pid):
        client = Client(url, AdapterSet.default().by_version[version])
        await asyncio.gather(*(client.open(0) for _ in range(3)))  # whatever is made once has been made
        before = resident_megabytes(pid)
        opened = []
        for first in range(0, streams, AT_ONCE):
            opened += await asyncio.gather(
                *(client.open(first + each) for each in range(min(AT_ONCE, streams - first)))
            )
        await asyncio.sleep(1)
        held = resident_megabytes(pid) - before
        used, started = cpu_nanoseconds(pid), time.perf_counter()
        await asyncio.sleep(seconds)
        idle = (cpu_nanoseconds(pid) - used) / 1e9 / (time.perf_counter() - started)
        slowest = []
        for _ in range(TURNS):
            hearing = [asyncio.ensure_future(told(stream)) for stream in opened]
            await asyncio.sleep(0)
            started = await client.touch()
            slowest.append(max(await asyncio.gather(*hearing)) - started)
        return Cost(100 * idle, held, 1000 * statistics.median(slowest))


@contextlib.asynccontextmanager
async def process(binding: str) -> AsyncIterator[tuple[str, int]]:
    """A server process; gives its URL and its id."""
    command = [sys.executable, __file__, "--serve", binding]
    child = await asyncio.to_thread(subprocess.Popen, command, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        url = await asyncio.to_thread(child.stdout.readline)
        yield url.strip(), child.pid
    finally:
        child.terminate()
        await asyncio.to_thread(child.wait, 10)


def cpu_nanoseconds(pid: int) -> int:
    """CPU time of a process so far, by the kernel's clock for it."""
    return time.clock_gettime_ns(~pid << 3 | 2)


def resident_megabytes(pid: int) -> float:
    """What a process holds in memory."""
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    (kilobytes,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(kilobytes) / 1024


def main(streams: int = 1_000, seconds: float = 10) -> None:
    """Measure and print the table: the newest revision, and the newest whose streams are opened by GET."""
    adapters = AdapterSet.default().by_version
    by_get = next(version for version in AdapterSet.default().versions if adapters[version].listens_by_get)
    print(f"{streams} idle streams, {seconds:g} s; at most 2 % of a core, 30 MB and 200 ms")
    print(f"  {'revision':<12}{'binding':<10}{'core %':>8}{'MB':>8}{'last told, ms':>15}")
    for version in (AdapterSet.default().versions[0], by_get):
        for binding in BINDINGS:
            cost = asyncio.run(measure(binding, version, streams, seconds))
            print(
                f"  {version:<12}{binding:<10}{cost.core_percent:>8.2f}{cost.megabytes:>8.1f}{cost.slowest_ms:>15.0f}"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--serve", choices=BINDINGS, help=argparse.SUPPRESS)
    parser.add_argument("--streams", type=int, default=1_000)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve(options.serve))
    else:
        main(options.streams, options.seconds)
