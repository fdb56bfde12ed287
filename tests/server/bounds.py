"""How long a test may take. What servers need to start does not count: that depends on what else the machine does."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections.abc import AsyncIterator, Iterator

TEST_SECONDS = 20
START_SECONDS = 60

_bound: contextvars.ContextVar[asyncio.Timeout] = contextvars.ContextVar("bound")


@contextlib.asynccontextmanager
async def bounded() -> AsyncIterator[None]:
    """Fail what takes longer than a test may."""
    async with asyncio.timeout(TEST_SECONDS) as bound:
        token = _bound.set(bound)
        try:
            yield
        finally:
            _bound.reset(token)


@contextlib.contextmanager
def starting() -> Iterator[None]:
    """Have the time that something takes to start not count, as long as it is within another bound."""
    bound = _bound.get(None)
    until = bound.when() if bound is not None else None
    if bound is None or until is None:
        yield
        return
    loop = asyncio.get_running_loop()
    begun = loop.time()
    bound.reschedule(begun + START_SECONDS)
    try:
        yield
    finally:
        if not bound.expired():
            bound.reschedule(until + loop.time() - begun)
