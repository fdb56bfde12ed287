"""Workers on a backend, as the tests of every backend have them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

from mcp_anyrev.storage.backends import Backend, backend
from mcp_anyrev.storage.bounds import HubBounds, StoreBounds
from mcp_anyrev.storage.keys import key, new_name
from mcp_contract import Unavailable


class Shared(NamedTuple):
    """A system that workers share: its package in `mcp_anyrev.storage`, and where it is."""

    package: str
    url: str


@asynccontextmanager
async def worker(url: str, application: str = "", hub: HubBounds | None = None) -> AsyncIterator[Backend]:
    """One worker of an application, which is a new one if it is not named."""
    made = backend(url, application or new_name(), StoreBounds(), hub or HubBounds())
    await made.open()
    try:
        yield made
    finally:
        await made.close()


@asynccontextmanager
async def two_workers(
    url: str, store: StoreBounds | None = None, hub: HubBounds | None = None, application: str = ""
) -> AsyncIterator[tuple[Backend, Backend]]:
    """Two workers of one application, which is a new one if it is not named."""
    name = application or new_name()
    one, other = (backend(url, name, store or StoreBounds(), hub or HubBounds()) for _ in range(2))
    await one.open()
    await other.open()
    try:
        yield one, other
    finally:
        await one.close()
        await other.close()


async def until(true: Callable[[], Awaitable[object]], seconds: float = 10) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(seconds):
        while not await true():  # noqa: ASYNC110  # what is waited for says nothing
            await asyncio.sleep(0.02)


async def reachable(made: Backend) -> bool:
    """Can it be written?"""
    with contextlib.suppress(Unavailable):
        await made.store.delete(key("value", new_name()))
        return True
    return False


async def crash_under_load(url: str, crash: Callable[[], None], start: Callable[[], None]) -> None:
    """Have the server crash and come back, however long that takes, while a worker writes and another reads."""
    name, topic, last = new_name(), key("topic", new_name()), b"last"
    back = asyncio.Event()
    async with two_workers(url, application=name) as (writing, reading):
        position = await writing.hub.open(topic, owner="a")
        heard: list[bytes] = []
        said: list[bytes] = []
        before = asyncio.Semaphore(0)

        async def write() -> None:
            number, after = 0, 0
            while after < 50:
                number += 1
                with contextlib.suppress(Unavailable):  # then it may have been kept, or not
                    await writing.hub.publish(topic, b"%d" % number)
                    said.append(b"%d" % number)
                    before.release()
                    after += back.is_set()
                await asyncio.sleep(0.002)
            assert await writing.hub.publish(topic, last) is not None

        async def read() -> None:
            at = position
            while not heard or heard[-1] != last:
                try:
                    found = await reading.hub.read(topic, at, 5)
                except Unavailable:
                    await asyncio.sleep(0.05)
                    continue
                assert found is not None and not found.missed
                heard.extend(message.body for message in found.messages)
                at = found.position

        async with asyncio.timeout(90), asyncio.TaskGroup() as group:
            group.create_task(write())
            group.create_task(read())
            for _ in range(50):
                await before.acquire()
            await asyncio.to_thread(crash)
            await asyncio.to_thread(start)
            back.set()
        assert len(set(heard)) == len(heard), "nothing comes twice"
        assert [message for message in heard if message in set(said)] == said, (
            "what was acknowledged is there, in order"
        )
