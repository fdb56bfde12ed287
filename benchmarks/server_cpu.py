"""What one tool call costs a server in CPU time, beside a bare aiohttp handler.

Rule: everything in one run, in turns, so that a busy machine slows all alike. Both servers get the very same request, headers and
all, since reading it is part of the cost. A process is measured by the kernel, from outside; how fast the client is does not matter.
Loopback only, bounded in requests and in time.

    python benchmarks/server_cpu.py [--rounds 15] [--requests 320] [--connections 1]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import socket
import statistics
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Iterator
from typing import Any

from mcp_anyrev import Registry
from mcp_contract import Declaration
from mcp_revisions import AdapterSet
from pydantic_core import from_json, to_json

LIMIT_SECONDS = 120
WARM_UP = 320
DECLARATION = Declaration({}, {"name": "benchmark", "version": "1.0"})
FIXED = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "fine"}]}}
PARAMS = {"name": "plain", "arguments": {"word": "hello"}}


async def serve_bare() -> None:
    """The measure: JSON in, a fixed result out."""
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


async def serve_ours() -> None:
    """This project on the same server."""
    from mcp_anyrev.testing import serve

    registry = Registry("benchmark", "1.0")

    @registry.tool
    async def plain(word: str) -> str:
        """Answers one word."""
        return "fine"

    async with serve(registry) as url:
        print(url, flush=True)
        await asyncio.Event().wait()


class Contender:
    """One server process, some connections to it, and the request that is sent on them."""

    def __init__(self, url: str, pid: int, connections: int) -> None:
        self.pid = pid
        self.costs: list[float] = []
        parts = urllib.parse.urlsplit(url)
        self.address = (parts.hostname or "", parts.port or 0)
        self.path = parts.path
        self.request = b""
        self.connections = [socket.create_connection(self.address, timeout=10) for _ in range(connections)]

    def speak(self, version: str) -> None:
        """Do what the revision wants before a call, and make its request."""
        adapter = AdapterSet.default().by_version[version]
        session = None
        if adapter.has_handshake:
            hello = _message(adapter.description_method, adapter.description_params(DECLARATION))
            connection = self.connections[0]
            connection.sendall(self._written(hello, adapter.request_headers(hello, None)))
            head, _ = _read(connection)
            (session,) = (
                line.split(": ")[1] for line in head.split("\r\n") if line.lower().startswith("mcp-session-id")
            )
        call = _message("tools/call", adapter.declared_params(PARAMS, DECLARATION))
        self.request = self._written(call, adapter.request_headers(call, session))

    def measure(self, requests: int) -> float:
        """CPU time of the process, in microseconds a request; as many requests are under way as there are connections."""
        before = cpu_nanoseconds(self.pid)
        rounds = max(1, requests // len(self.connections))
        for _ in range(rounds):
            for connection in self.connections:
                connection.sendall(self.request)
            for connection in self.connections:
                head, body = _read(connection)
                assert head.startswith("HTTP/1.1 200 ") and '"fine"' in body, (head, body)
        return (cpu_nanoseconds(self.pid) - before) / (rounds * len(self.connections)) / 1000

    def _written(self, message: dict[str, Any], more: dict[str, str]) -> bytes:
        body = to_json(message)
        headers = {
            "Host": f"{self.address[0]}:{self.address[1]}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            **more,
        }
        lines = [f"POST {self.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
        return "\r\n".join(lines).encode() + body


def _read(connection: socket.socket) -> tuple[str, str]:
    """A response, which has a length."""
    received = b""
    while True:
        head, blank, body = received.partition(b"\r\n\r\n")
        if blank:
            (length,) = (line[15:] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            if len(body) >= int(length):
                return head.decode(), body.decode()
        received += connection.recv(65_536)


def cpu_nanoseconds(pid: int) -> int:
    """CPU time of a process so far, by the kernel's clock for it."""
    return time.clock_gettime_ns(~pid << 3 | 2)


@contextlib.contextmanager
def process(kind: str) -> Iterator[tuple[str, int]]:
    """A server process; gives its URL and its id."""
    child = subprocess.Popen([sys.executable, __file__, "--serve", kind], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        yield child.stdout.readline().strip(), child.pid
    finally:
        child.terminate()
        child.wait(10)


def _message(method: str, params: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def run(rounds: int, requests: int, connections: int) -> dict[str, tuple[float, float, float]]:
    """Measure all.

    Returns:
        Revision → microseconds a request of the bare handler, the same of this project, and how many times as much that is:
        medians, the last of what each round gave.
    """
    end = time.monotonic() + LIMIT_SECONDS
    with contextlib.ExitStack() as processes:
        bare = processes.enter_context(process("bare"))
        pairs = {}
        for version in AdapterSet.default().versions:
            ours = Contender(*processes.enter_context(process("ours")), connections)
            ours.speak(version)
            measure = Contender(*bare, connections)
            measure.request = ours.request
            pairs[version] = (measure, ours)
        contenders = [contender for pair in pairs.values() for contender in pair]  # those of a pair in a row
        for contender in contenders:
            contender.measure(WARM_UP)
        for _ in range(rounds):
            for contender in contenders:
                contender.costs.append(contender.measure(requests))
            if time.monotonic() > end:
                break
    return {version: _medians(measure.costs, ours.costs) for version, (measure, ours) in pairs.items()}


def _medians(bare: list[float], ours: list[float]) -> tuple[float, float, float]:
    ratios = [own / measure for measure, own in zip(bare, ours, strict=True)]
    return statistics.median(bare), statistics.median(ours), statistics.median(ratios)


def main(rounds: int = 15, requests: int = 320, connections: int = 1) -> None:
    """Measure and print the table."""
    print(
        f"server CPU per tools/call, microseconds: median of {rounds} rounds of {requests} requests, {connections} at a time"
    )
    print(f"  {'revision':<12}{'bare aiohttp':>14}{'mcp-anyrev':>14}{'ratio':>8}")
    for version, (bare, ours, ratio) in run(rounds, requests, connections).items():
        print(f"  {version:<12}{bare:>14.1f}{ours:>14.1f}{ratio:>8.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--serve", choices=("bare", "ours"), help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--requests", type=int, default=320)
    parser.add_argument("--connections", type=int, default=1)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve_bare() if options.serve == "bare" else serve_ours())
    else:
        main(options.rounds, options.requests, options.connections)
