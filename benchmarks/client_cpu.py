"""What one tool call costs a client over HTTP in CPU time, beside a bare POST and the official SDK's client.

Rule: everything in one run, in turns, so that a busy machine slows all alike; the server is another process, the same for all. Calls go
one after the other, each after the answer to the one before. Loopback only, bounded in calls.

    python benchmarks/client_cpu.py [--rounds 5] [--calls 200]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib.util
import logging
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from mcp_anyrev import Client
from mcp_contract import Declaration
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from pydantic_core import from_json, to_json

try:
    from benchmarks.servers import process
except ImportError:  # run as a script
    from servers import process

SERVER, LOOP = "mcp-anyrev on aiohttp", "asyncio"
TOOL, ARGUMENTS = "plain", {"word": "hello"}
WARM_UP = 50

Call = Callable[[], Awaitable[Any]]


@contextlib.asynccontextmanager
async def bare(url: str, adapter: Adapter) -> AsyncIterator[Call]:
    """The measure: the same request every time, and JSON of what comes."""
    import aiohttp

    declaration = Declaration({}, {"name": "benchmark", "version": "1.0"})
    async with aiohttp.ClientSession() as http:
        session: str | None = None

        async def post(method: str, params: Any, identifier: int | None = 1) -> Any:
            nonlocal session
            message = {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}
            if identifier is None:
                del message["id"]
            headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
            headers |= adapter.request_headers(message, session)
            async with http.post(url, data=to_json(message), headers=headers) as answer:
                if adapter.session_header is not None and session is None:
                    session = answer.headers.get(adapter.session_header)
                body = await answer.read()
                return from_json(body) if body else None

        if adapter.has_handshake:
            await post(adapter.description_method, adapter.description_params(declaration))
            assert adapter.ready_notification is not None
            await post(adapter.ready_notification, {}, None)
        params = adapter.declared_params({"name": TOOL, "arguments": ARGUMENTS}, declaration)
        yield lambda: post("tools/call", params)


@contextlib.asynccontextmanager
async def ours(url: str, adapter: Adapter) -> AsyncIterator[Call]:
    """This project's client."""
    async with Client(url, adapter) as client:
        await client.list_tools()
        yield lambda: client.call_tool(TOOL, ARGUMENTS)


@contextlib.asynccontextmanager
async def official(url: str, adapter: Adapter) -> AsyncIterator[Call]:
    """The official SDK's client."""
    import mcp

    async with mcp.Client(url, mode="legacy" if adapter.has_handshake else adapter.version) as client:
        await client.list_tools()
        yield lambda: client.call_tool(TOOL, ARGUMENTS)


CLIENTS = {"bare POST on aiohttp": bare, "mcp-anyrev": ours, "mcp": official}
"""What is measured; the first is what the others are compared with."""


async def measure(url: str, adapter: Adapter, rounds: int, calls: int) -> dict[str, list[float]]:
    """Microseconds a call, one figure a round, by client."""
    costs: dict[str, list[float]] = {}
    async with contextlib.AsyncExitStack() as stack:
        contenders: dict[str, Call] = {}
        for name, connected in CLIENTS.items():
            if name != "mcp" or importlib.util.find_spec("mcp") is not None:
                contenders[name] = await stack.enter_async_context(connected(url, adapter))
        for turn in range(rounds + 1):
            for name, call in contenders.items():
                number = calls if turn else WARM_UP
                before = time.process_time_ns()
                for _ in range(number):
                    await call()
                if turn:
                    costs.setdefault(name, []).append((time.process_time_ns() - before) / number / 1000)
    return costs


def main(rounds: int = 5, calls: int = 200) -> None:
    """Measure and print the table, for the newest revision of either kind: the SDK's client asks for no other one."""
    logging.disable(logging.CRITICAL)
    adapters = AdapterSet.default()
    measured = {adapters.versions[0], adapters.newest_with_handshake.version}
    print(
        f"client CPU per tools/call over HTTP on {LOOP}, microseconds (and times the bare POST): median of {rounds} rounds of {calls} calls"
    )
    with process(SERVER, LOOP) as (url, _):
        for version in sorted(measured, reverse=True):
            costs = asyncio.run(measure(url, adapters.by_version[version], rounds, calls))
            least = costs[next(iter(CLIENTS))]
            for name, own in costs.items():
                ratio = statistics.median(cost / bare for cost, bare in zip(own, least, strict=True))
                print(f"  {version:<14}{name:<26}{statistics.median(own):10.1f} ({ratio:.2f})")
    logging.disable(logging.NOTSET)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=200)
    options = parser.parse_args()
    main(options.rounds, options.calls)
