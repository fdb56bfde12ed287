"""Workers on a backend, as the tests of every backend have them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from mcp_anyrev.storage.backends import Backend, backend
from mcp_anyrev.storage.bounds import HubBounds, StoreBounds
from mcp_anyrev.storage.keys import key, new_name
from mcp_contract import Unavailable


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
