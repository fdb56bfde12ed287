"""What one tool call costs a server in CPU time, beside a bare handler on the same server.

Rule: everything in one run, in turns, so that a busy machine slows all alike. All servers get the same request, headers and all, since
reading it is part of the cost. A process is measured by the kernel, from outside; how fast the client is does not matter.
Loopback only, bounded in requests and in time.

    python benchmarks/server_cpu.py [--rounds 11] [--requests 160] [--connections 1]
"""

from __future__ import annotations

import argparse
import contextlib
import socket
import statistics
import time
import urllib.parse
from typing import Any

from mcp_contract import Declaration
from mcp_revisions import AdapterSet
from pydantic_core import to_json

try:
    from benchmarks.servers import SERVERS, installed, process
except ImportError:  # run as a script
    from servers import SERVERS, installed, process

LIMIT_SECONDS = 120
WARM_UP = 160
DECLARATION = Declaration({}, {"name": "benchmark", "version": "1.0"})
PARAMS = {"name": "plain", "arguments": {"word": "hello"}}


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

    def speak(self, version: str, bare: bool) -> bool:
        """Do what the revision wants before a call, and make its request; False where the server does not speak it.

        Args:
            version: the revision.
            bare: is it a handler that speaks none, so that only the request has to be like one?
        """
        adapter = AdapterSet.default().by_version[version]
        session = "x" * 43 if bare and adapter.has_handshake else None
        if adapter.has_handshake and not bare:
            hello = _message(adapter.description_method, adapter.description_params(DECLARATION))
            connection = self.connections[0]
            connection.sendall(self._written(hello, adapter.request_headers(hello, None)))
            head, body = _read(connection)
            if f'"protocolVersion":"{version}"' not in body.replace(" ", ""):
                return False
            found = [line.split(": ")[1] for line in head.split("\r\n") if line.lower().startswith("mcp-session-id")]
            session = found[0] if found else None
            ready = {"jsonrpc": "2.0", "method": adapter.ready_notification}
            connection.sendall(self._written(ready, adapter.request_headers(hello, session)))
            _read(connection)
        call = _message("tools/call", adapter.declared_params(PARAMS, DECLARATION))
        self.request = self._written(call, adapter.request_headers(call, session))
        self.measure(WARM_UP)
        return True

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
    # A server that sends head and body apart would otherwise wait for a late acknowledgement in between.
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
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


def _message(method: str, params: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def run(rounds: int, requests: int, connections: int) -> dict[str, dict[str, tuple[float, float | None]]]:
    """Measure all.

    Returns:
        Server → revision → microseconds a request, and how many times as much as the bare handler on the same server that is:
        medians, the last of what each round gave. A revision that a server does not speak is left out.
    """
    end = time.monotonic() + LIMIT_SECONDS
    contenders: dict[tuple[str, str], Contender] = {}
    with contextlib.ExitStack() as processes:
        running = {name: processes.enter_context(process(name)) for name in installed()}
        for version in AdapterSet.default().versions:
            for name, (url, pid) in running.items():  # what is compared stands in a row
                contender = Contender(url, pid, connections)
                if contender.speak(version, bare=SERVERS[name][2] is None):
                    contenders[name, version] = contender
        for _ in range(rounds):
            for contender in contenders.values():
                contender.costs.append(contender.measure(requests))
            if time.monotonic() > end:
                break
    table: dict[str, dict[str, tuple[float, float | None]]] = {name: {} for name in running}
    for (name, version), contender in contenders.items():
        measure = SERVERS[name][2]
        bare = None if measure is None else contenders[measure, version].costs
        table[name][version] = _medians(contender.costs, bare)
    return table


def _medians(costs: list[float], bare: list[float] | None) -> tuple[float, float | None]:
    ratio = None if bare is None else statistics.median(cost / least for least, cost in zip(bare, costs, strict=True))
    return statistics.median(costs), ratio


def main(rounds: int = 11, requests: int = 160, connections: int = 1) -> None:
    """Measure and print the table."""
    print(
        f"server CPU per tools/call, microseconds (and times the bare handler on the same server): "
        f"median of {rounds} rounds of {requests} requests, {connections} at a time"
    )
    versions = AdapterSet.default().versions
    print(f"  {'':<26}" + "".join(f"{version:>18}" for version in versions))
    for name, costs in run(rounds, requests, connections).items():
        print(f"  {name:<26}" + "".join(f"{_cell(costs.get(version)):>18}" for version in versions))
    for name in SERVERS.keys() - installed():
        print(f"  {name}: not installed")


def _cell(cost: tuple[float, float | None] | None) -> str:
    if cost is None:
        return "refused"
    return f"{cost[0]:.1f}" if cost[1] is None else f"{cost[0]:.1f} ({cost[1]:.2f})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--requests", type=int, default=160)
    parser.add_argument("--connections", type=int, default=1)
    options = parser.parse_args()
    main(options.rounds, options.requests, options.connections)
