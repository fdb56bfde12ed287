"""What one tool call costs on standard streams in CPU time, client and server each, beside the official SDK's.

Rule: everything in one run, in turns, so that a busy machine slows all alike. Each client speaks with the server of its own project, a process
of its own. Calls go one after the other, each after the answer to the one before.

    python benchmarks/stdio_cpu.py [--rounds 5] [--calls 200]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib.util
import logging
import os
import pathlib
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from mcp_anyrev import Client
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter

ROOT = pathlib.Path(__file__).resolve().parents[1]
OURS = [
    sys.executable,
    "-c",
    "from mcp_anyrev import Registry, stdio\nr = Registry('b', '1')\n@r.tool\nasync def plain(word: str) -> str: return word\nstdio(r)",
]
OFFICIAL = [
    sys.executable,
    "-c",
    "from mcp.server.mcpserver import MCPServer\ns = MCPServer('b', version='1', log_level='ERROR')\n@s.tool()\nasync def plain(word: str) -> str: return word\ns.run('stdio')",
]
TOOL, ARGUMENTS = "plain", {"word": "hello"}
WARM_UP = 50
_TICKS = os.sysconf("SC_CLK_TCK")

Call = Callable[[], Awaitable[Any]]


@contextlib.asynccontextmanager
async def ours(adapter: Adapter) -> AsyncIterator[Call]:
    """This project's client and server."""
    async with Client(OURS, adapter) as client:
        await client.list_tools()
        yield lambda: client.call_tool(TOOL, ARGUMENTS)


@contextlib.asynccontextmanager
async def official(adapter: Adapter) -> AsyncIterator[Call]:
    """The official SDK's client and server."""
    import mcp

    parameters = mcp.StdioServerParameters(command=OFFICIAL[0], args=OFFICIAL[1:])
    async with mcp.Client(parameters, mode="legacy" if adapter.has_handshake else adapter.version) as client:
        await client.list_tools()
        yield lambda: client.call_tool(TOOL, ARGUMENTS)


PAIRS = {"mcp-anyrev": ours, "mcp": official}


def children() -> set[int]:
    """The processes that this one has started."""
    return {
        int(one)
        for task in pathlib.Path("/proc/self/task").iterdir()
        for one in (task / "children").read_text().split()
    }


def seconds_of(process: int) -> float:
    """The CPU time that a process has used."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


async def measure(adapter: Adapter, rounds: int, calls: int) -> dict[str, list[tuple[float, float]]]:
    """Microseconds a call, of client and server, one figure a round, by pair."""
    costs: dict[str, list[tuple[float, float]]] = {}
    async with contextlib.AsyncExitStack() as stack:
        contenders: dict[str, tuple[Call, int]] = {}
        for name, connected in PAIRS.items():
            if name != "mcp" or importlib.util.find_spec("mcp") is not None:
                before = children()
                call = await stack.enter_async_context(connected(adapter))
                contenders[name] = call, min(children() - before)
        for turn in range(rounds + 1):
            for name, (call, server) in contenders.items():
                number = calls if turn else WARM_UP
                client_before, server_before = time.process_time(), seconds_of(server)
                for _ in range(number):
                    await call()
                if turn:
                    spent = time.process_time() - client_before, seconds_of(server) - server_before
                    costs.setdefault(name, []).append((spent[0] / number * 1e6, spent[1] / number * 1e6))
    return costs


def main(rounds: int = 5, calls: int = 400) -> None:
    """Measure and print the table, for the newest revision of either kind."""
    logging.disable(logging.CRITICAL)
    adapters = AdapterSet.default()
    measured = {adapters.versions[0], adapters.newest_with_handshake.version}
    print(
        f"CPU per tools/call on standard streams, microseconds, client + server (and times the dearest): median of {rounds} rounds of {calls} calls"
    )
    for version in sorted(measured, reverse=True):
        costs = asyncio.run(measure(adapters.by_version[version], rounds, calls))
        most = max(sum(map(statistics.median, zip(*figures, strict=True))) for figures in costs.values())
        for name, figures in costs.items():
            client, server = (statistics.median(side) for side in zip(*figures, strict=True))
            both = client + server
            print(f"  {version}  {name:<12} {client:7.0f} + {server:7.0f} = {both:7.0f} ({both / most:.2f})")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=400)
    arguments = parser.parse_args()
    main(arguments.rounds, arguments.calls)
