"""What one tool call costs a server in CPU time, beside a bare handler on the same server.

Rule: everything in one run, in turns, so that a busy machine slows all alike. All servers get the same requests, headers and all, since
reading them is part of the cost. A process is measured by the kernel, from outside; how fast the client is does not matter.
Loopback only, bounded in requests and in time. The figure of record is that of the defaults: servers are run on uvloop, by many clients
at once, and a server is started anew for each of the runs, whose median counts.

    python benchmarks/server_cpu.py [--runs 5] [--rounds 5] [--requests 160] [--connections 16] [--loop uvloop|asyncio]
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import socket
import statistics
import time
import urllib.parse
from collections.abc import Sequence
from typing import Any

from mcp_contract import Declaration
from mcp_revisions import AdapterSet
from pydantic_core import to_json

try:
    from benchmarks.servers import OTHERS, SERVERS, installed, process
except ImportError:  # run as a script
    from servers import OTHERS, SERVERS, installed, process

LIMIT_SECONDS = 120
WARM_UP = 160
DECLARATION = Declaration({}, {"name": "benchmark", "version": "1.0"})
PARAMS = {"name": "plain", "arguments": {"word": "hello"}}


class Client:
    """One connection to a server, with a session of its own where the revision has sessions."""

    def __init__(self, url: str, identifier: int) -> None:
        parts = urllib.parse.urlsplit(url)
        self._address = (parts.hostname or "", parts.port or 0)
        self._path = parts.path
        self._identifier = identifier
        self._connection = socket.create_connection(self._address, timeout=10)
        self._request = b""

    def speak(self, version: str, bare: bool) -> bool:
        """Do what the revision wants before a call, and make its request; False where the server does not speak it.

        Args:
            version: the revision.
            bare: is it a handler that speaks none, so that only the request has to be like one?
        """
        adapter = AdapterSet.default().by_version[version]
        session = "x" * 43 if bare and adapter.has_handshake else None
        if adapter.has_handshake and not bare:
            hello = self._message(adapter.description_method, adapter.description_params(DECLARATION))
            head, body = self._exchanged(hello, adapter.request_headers(hello, None))
            if f'"protocolVersion":"{version}"' not in body.replace(" ", ""):
                return False
            found = [line.split(": ")[1] for line in head.split("\r\n") if line.lower().startswith("mcp-session-id")]
            session = found[0] if found else None
            ready = {"jsonrpc": "2.0", "method": adapter.ready_notification}
            self._exchanged(ready, adapter.request_headers(hello, session))
        call = self._message("tools/call", adapter.declared_params(PARAMS, DECLARATION))
        self._request = self._written(call, adapter.request_headers(call, session))
        return True

    def move(self, url: str) -> None:
        """Call at another worker from now on."""
        parts = urllib.parse.urlsplit(url)
        self._connection.close()
        self._connection = socket.create_connection((parts.hostname or "", parts.port or 0), timeout=10)

    def send(self) -> None:
        """Send the call."""
        self._connection.sendall(self._request)

    def receive(self) -> None:
        """Read its answer."""
        head, body = _read(self._connection)
        assert head.startswith("HTTP/1.1 200 ") and '"fine"' in body, (head, body)

    def _message(self, method: str, params: object) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": self._identifier, "method": method, "params": params}

    def _exchanged(self, message: dict[str, Any], headers: dict[str, str]) -> tuple[str, str]:
        self._connection.sendall(self._written(message, headers))
        return _read(self._connection)

    def _written(self, message: dict[str, Any], more: dict[str, str]) -> bytes:
        body = to_json(message)
        headers = {
            "Host": f"{self._address[0]}:{self._address[1]}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            **more,
        }
        lines = [f"POST {self._path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
        return "\r\n".join(lines).encode() + body


class Contender:
    """One server process on one revision, and its clients."""

    def __init__(self, url: str, pid: int, connections: int) -> None:
        self._pid = pid
        self._clients = [Client(url, identifier) for identifier in range(1, connections + 1)]
        self.costs: list[float] = []

    def speak(self, version: str, bare: bool) -> bool:
        """See `Client.speak`."""
        if not all(client.speak(version, bare) for client in self._clients):
            return False
        self.measure(WARM_UP)
        return True

    def measure(self, requests: int) -> float:
        """CPU time of the process, in microseconds a request; as many requests are under way as there are clients."""
        before = cpu_nanoseconds(self._pid)
        rounds = max(1, requests // len(self._clients))
        for _ in range(rounds):
            for client in self._clients:
                client.send()
            for client in self._clients:
                client.receive()
        return (cpu_nanoseconds(self._pid) - before) / (rounds * len(self._clients)) / 1000


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


Costs = dict[tuple[str, str], list[float]]
"""Server and revision → microseconds a request, one figure a round."""


def run(names: Sequence[str], rounds: int, requests: int, connections: int, loop: str) -> Costs:
    """Measure servers that are started for it, in turns. A revision that a server does not speak is left out."""
    end = time.monotonic() + LIMIT_SECONDS
    contenders: dict[tuple[str, str], Contender] = {}
    with contextlib.ExitStack() as processes:
        running = {name: processes.enter_context(process(name, loop)) for name in names}
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
    return {place: contender.costs for place, contender in contenders.items()}


def compared(costs: Costs) -> dict[tuple[str, str], tuple[float, float | None]]:
    """Costs → microseconds a request, and how many times as much as the bare handler on the same server that is, round by round."""
    found: dict[tuple[str, str], tuple[float, float | None]] = {}
    for (name, version), own in costs.items():
        bare = SERVERS[name][2]
        pairs = [] if bare is None else list(zip(own, costs[bare, version], strict=True))
        ratio = statistics.median(cost / least for cost, least in pairs) if pairs else None
        found[name, version] = statistics.median(own), ratio
    return found


def main(runs: int = 5, rounds: int = 5, requests: int = 160, connections: int = 16, loop: str = "uvloop") -> None:
    """Measure and print the table. Servers of others are measured in the first run only: they are slow."""
    if importlib.util.find_spec(loop) is None:
        raise SystemExit(f"{loop} is not installed")
    print(
        f"server CPU per tools/call on {loop}, microseconds (and times the bare handler on the same server): median of {runs} runs "
        f"of {rounds} rounds of {requests} requests, {connections} clients at once"
    )
    versions, names = AdapterSet.default().versions, installed()
    own = [name for name in names if name not in OTHERS]
    found = [compared(run(names if turn == 0 else own, rounds, requests, connections, loop)) for turn in range(runs)]
    print(f"  {'':<26}" + "".join(f"{version:>18}" for version in versions))
    for name in names:
        print(
            f"  {name:<26}"
            + "".join(f"{_cell([one.get((name, version)) for one in found]):>18}" for version in versions)
        )
    for name in SERVERS.keys() - names:
        print(f"  {name}: not installed")


def _cell(found: Sequence[tuple[float, float | None] | None]) -> str:
    costs = [one for one in found if one is not None]
    if not costs:
        return "refused"
    ratios = [ratio for _, ratio in costs if ratio is not None]
    cost = f"{statistics.median(cost for cost, _ in costs):.1f}"
    return f"{cost} ({statistics.median(ratios):.2f})" if ratios else cost


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=160)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--loop", choices=("uvloop", "asyncio"), default="uvloop")
    options = parser.parse_args()
    main(options.runs, options.rounds, options.requests, options.connections, options.loop)
