"""A server under attack answers a well-behaved client, and stays as large as it was, on both bindings.

SOAK_SECONDS=60 make soak
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import pathlib
import sys
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import attacker
import pytest
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, request_answering

SECONDS = float(os.environ.get("SOAK_SECONDS", "60"))
ANSWER_SECONDS = 2.0
MOST_GROWTH = 200 * 2**20
HERE = pathlib.Path(__file__).parent


def resident(process: int) -> int:
    """The resident memory of a process, in bytes."""
    pages = pathlib.Path(f"/proc/{process}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


@contextlib.asynccontextmanager
async def process(*arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A Python process, killed at the end."""
    child = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdout=asyncio.subprocess.PIPE)
    try:
        yield child
    finally:
        with contextlib.suppress(ProcessLookupError):
            child.kill()
        await child.wait()


class WellBehaved:
    """Calls, reads and answers, in one session for all of the time.

    Args:
        url: where the server is.
        adapter: the revision.
    """

    def __init__(self, url: str, adapter: Adapter) -> None:
        self.client = RawClient(url, adapter)
        self.answered = 0
        self.slowest = 0.0

    async def run(self, until: float) -> None:
        async with self.client as client:
            asking = client.adapter.can_push_ask or client.adapter.can_ask
            own: dict[str, Any] = {"name": "gate", "arguments": {}}
            while time.monotonic() < until:
                before = self.answered
                reply = await self._timed(client.tool("add", {"a": before, "b": 1}))
                assert reply.text == str(before + 1)
                read = await self._timed(client.call("resources/read", {"uri": "test://mine"}))
                assert read.result["contents"][0]["text"] == "mine"
                if asking:
                    answers = {"Go ahead?": {"action": "accept", "content": {}}}
                    asked = await self._timed(request_answering(client, "tools/call", own, answers))
                    assert asked.text == "went ahead"
                await asyncio.sleep(0.05)

    async def _timed(self, asked: Any) -> Any:
        begun = time.monotonic()
        reply = await asked
        self.slowest = max(self.slowest, time.monotonic() - begun)
        self.answered += 1
        return reply


@pytest.mark.parametrize("binding", ["aiohttp", "asgi"])
async def test_a_server_under_attack(binding: str, record_property: Callable[[str, object], None]) -> None:
    async with process(str(HERE / "attacked_server.py"), binding) as server:
        assert server.stdout is not None
        root = (await server.stdout.readline()).decode().strip()
        clients = [WellBehaved(f"{root}/mcp", adapter) for adapter in AdapterSet.default().by_version.values()]
        await asyncio.sleep(1)
        await asyncio.gather(*(client.run(time.monotonic() + 1) for client in clients))
        start, largest = resident(server.pid), 0
        clients = [WellBehaved(f"{root}/mcp", adapter) for adapter in AdapterSet.default().by_version.values()]
        async with process(str(HERE / "attacker.py"), root, str(SECONDS)) as attacking:
            end = time.monotonic() + SECONDS
            running = [asyncio.ensure_future(client.run(end)) for client in clients]
            while not all(each.done() for each in running):
                await asyncio.sleep(0.25)
                largest = max(largest, resident(server.pid))
            await asyncio.gather(*running)
            assert attacking.stdout is not None
            done = json.loads(await attacking.stdout.readline())
    slowest, grown = max(client.slowest for client in clients), largest - start
    record_property(
        "soak",
        f"{binding} under attack for {SECONDS:g} s: {sum(client.answered for client in clients)} calls answered, slowest "
        f"{slowest:.2f} s, grown by {grown / 2**20:.0f} MiB at most; {json.dumps(done)}",
    )
    assert all(done.get(kind.__name__) for kind in attacker.KINDS), done
    assert grown < MOST_GROWTH
    assert slowest < ANSWER_SECONDS
