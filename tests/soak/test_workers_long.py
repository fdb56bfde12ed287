"""Three workers on every store and in every revision, behind a balancer that never pins: random runs, and whatever can go wrong under load.

Rule: nothing is lost, nothing comes twice, and whoever is told that something failed is told so by the protocol.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from event_streams import listening, posting
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from raw_client import RawClient
from test_killed_workers import KEEP_ALIVE, kill_in_the_middle
from test_three_workers import PROGRESS, asks, cancels, hears, resumes
from worker_processes import balanced, workers

sys.path.insert(0, str(Path(__file__).parents[1] / "storage"))

from postgres_server import PostgresServer
from test_redis_faults import Restartable

RUNS = int(os.environ.get("SOAK_RUNS", "500"))
AT_ONCE = 8
RUN_SECONDS = 120
ADAPTERS = list(AdapterSet.default().by_version.values())
UPDATES = 20


class Store:
    """A store that the workers share; those that are servers can crash and come back."""

    def __init__(
        self, url: str, crash: Callable[[], None] | None = None, start: Callable[[], None] | None = None
    ) -> None:
        self.url = url
        self.crash = crash
        self.start = start


@pytest.fixture(params=["sqlite", "redis", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Each, as a server of its own that keeps what it acknowledged."""
    if request.param == "sqlite":
        yield Store(f"sqlite://{tmp_path}/shared.db")
    elif request.param == "redis":
        valkey = Restartable(tmp_path, keeps=True)
        valkey.start()
        yield Store(valkey.url, valkey.kill, valkey.start)
        valkey.kill()
    else:
        postgres = PostgresServer(tmp_path.name)
        with postgres as url:
            yield Store(url, postgres.crash, postgres.start)


async def updates(client: RawClient) -> None:
    """Many updates from all workers at once: each is told."""
    adapter, made = client.adapter, random.getrandbits(60)
    uris = [f"mem://n/{made + number}" for number in range(UPDATES)]
    wanted = {"notifications": {"resourceSubscriptions": uris}}
    if not adapter.listens:
        for uri in uris:
            assert (await client.call("resources/subscribe", {"uri": uri})).status == 200
    opened = posting(client, "subscriptions/listen", wanted) if adapter.listens else listening(client)
    async with opened as stream:
        if adapter.listens:
            await stream.message()
        await asyncio.gather(*(client.tool("touch", {"uri": uri}) for uri in uris))
        told = [(await stream.message() or {})["params"]["uri"] for _ in uris]
        assert sorted(told) == uris, "each once"
        stream.response.close()


WAYS: dict[str, Callable[[RawClient], Awaitable[None]]] = {
    way.__name__: way for way in (asks, resumes, hears, cancels, updates)
}


@contextlib.asynccontextmanager
async def never_reading(url: str, adapters: list[Adapter]) -> AsyncIterator[None]:
    """Clients that listen to everything and read nothing."""
    async with contextlib.AsyncExitStack() as stack:
        for adapter in adapters:
            client = await stack.enter_async_context(RawClient(url, adapter))
            if adapter.listens:
                wanted = {"notifications": {"toolsListChanged": True, "resourceSubscriptions": ["mem://a"]}}
                await stack.enter_async_context(posting(client, "subscriptions/listen", wanted))
            else:
                await client.call("resources/subscribe", {"uri": "mem://a"})
                await stack.enter_async_context(listening(client))
        yield


async def test_of_random_runs_nothing_is_lost(store: Store, record_property: Any) -> None:
    seed = int(os.environ.get("SOAK_SEED", "0")) or random.randrange(2**32)
    chance, begun = random.Random(seed), time.monotonic()
    runs = [(chance.choice(ADAPTERS), chance.choice(sorted(WAYS))) for _ in range(RUNS)]
    async with workers(store.url) as three, balanced(three) as url, never_reading(url, ADAPTERS):

        async def run() -> None:
            while runs:
                adapter, way = runs.pop()
                try:
                    async with asyncio.timeout(RUN_SECONDS), RawClient(url, adapter) as client:
                        await WAYS[way](client)
                        await client.tool("touch", {"uri": "mem://a"})
                except BaseException as error:
                    error.add_note(f"seed {seed}: {way} in {adapter.version}")
                    raise

        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(run())
    place = store.url.partition(":")[0]
    record_property("soak", f"{RUNS} random runs on {place}, seed {seed}: {time.monotonic() - begun:.0f} s")


async def test_workers_are_killed_again_and_again(store: Store, record_property: Any) -> None:
    async with workers(store.url, 3, WIRE_KEEP_ALIVE=f"{KEEP_ALIVE}") as three, balanced(three) as url:
        for _ in range(5):
            await kill_in_the_middle(three, url, ADAPTERS)
            await three.start(1)
    record_property("soak", f"5 workers killed in the middle, {store.url.partition(':')[0]}")


async def test_workers_are_replaced_one_by_one_under_load(store: Store, record_property: Any) -> None:
    async with workers(store.url) as three, balanced(three) as url:
        stop, calls = asyncio.Event(), 0

        async def use(adapter: Adapter) -> None:
            nonlocal calls
            async with RawClient(url, adapter) as client:
                while not stop.is_set():
                    assert (await client.tool("echo", {"text": "x"})).text == "x"
                    await asks(client)
                    calls += 1

        async with asyncio.TaskGroup() as group:
            for adapter in ADAPTERS:
                group.create_task(use(adapter))
            for old in list(three.urls):
                await three.start(1)
                await asyncio.sleep(0.5)
                await three.kill(old, signal.SIGTERM)
            stop.set()
    assert calls > len(ADAPTERS)
    record_property("soak", f"3 workers replaced during {calls} rounds, {store.url.partition(':')[0]}")


async def counts_through(client: RawClient, crash: Callable[[], Awaitable[None]]) -> int:
    """A stream is told in full while the store crashes and comes back, or ends without a gap, where that took longer than is waited for."""
    call = {"name": "count", "arguments": {"n": 200, "ms": 20}, "_meta": PROGRESS}
    numbers: list[int] = []
    async with posting(client, "tools/call", call, id="counts") as stream:
        while len(numbers) < 20:
            message = await stream.message()
            assert message is not None
            numbers.append(message["params"]["progress"])
        await crash()
        while (message := await stream.message()) is not None and "params" in message:
            numbers.append(message["params"]["progress"])
    assert numbers == list(range(1, len(numbers) + 1)), "nothing is lost and nothing comes twice"
    assert message is None or ("result" in message and len(numbers) == 200)
    return len(numbers)


async def test_the_store_crashes_under_load(store: Store, record_property: Any) -> None:
    if store.crash is None or store.start is None:
        pytest.skip("a file does not crash")
    crash, start, refused, whole = store.crash, store.start, 0, 0
    async with workers(store.url) as three, balanced(three) as url:
        ready = asyncio.Barrier(len(ADAPTERS))

        async def through(adapter: Adapter) -> None:
            nonlocal refused, whole
            async with RawClient(url, adapter) as client:

                async def both() -> None:
                    if await ready.wait() == 0:
                        await asyncio.to_thread(crash)
                        await asyncio.to_thread(start)

                whole += await counts_through(client, both) == 200
                end = time.monotonic() + 30
                while (
                    True
                ):  # sessions are still there; until the workers have found the store, they say that it is away
                    reply = await client.tool("echo", {"text": "x"})
                    if reply.status == 200:
                        break
                    assert reply.status == adapter.error_statuses["unavailable"] and time.monotonic() < end
                    refused += 1
                    await asyncio.sleep(0.1)
                await asks(client)
                await hears(client)

        async with asyncio.TaskGroup() as group:
            for adapter in ADAPTERS:
                group.create_task(through(adapter))
    place = store.url.partition(":")[0]
    told = f"{whole} of {len(ADAPTERS)} streams went on, {refused} calls were refused"
    record_property("soak", f"a crash of {place} under load: {told}")
