"""A store or a hub of somebody else that fails in any way, or hangs, cannot be reached, and nothing else."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp_anyrev.server.guarded_storage import GuardedHub, GuardedStore
from mcp_anyrev.storage.keys import key, new_name
from mcp_anyrev.storage.memory import MemoryHub, MemoryStore
from mcp_anyrev.storage.protocols import Hub, SessionStore
from mcp_anyrev.testing.storage import HubContract, SessionStoreContract
from mcp_contract import Busy, Unavailable

AT = key("value", new_name())


class TestGuardedStore(SessionStoreContract):
    in_use_seconds = 0.05

    @asynccontextmanager
    async def stores(self, total_bytes: int, owner_bytes: int) -> AsyncIterator[tuple[SessionStore, SessionStore]]:
        kept = MemoryStore(total_bytes=total_bytes, owner_bytes=owner_bytes, in_use_seconds=self.in_use_seconds)
        store = GuardedStore(kept)
        yield store, store


class TestGuardedHub(HubContract):
    @asynccontextmanager
    async def hubs(self, **options: Any) -> AsyncIterator[tuple[Hub, Hub]]:
        hub = GuardedHub(MemoryHub(**options))
        yield hub, hub


class Failing:
    """Has every method, and none of them works."""

    def __init__(self, fault: BaseException | None, *, at_once: bool = False) -> None:
        self._fault = fault
        self._at_once = at_once

    def __getattr__(self, name: str) -> Any:
        if self._at_once and self._fault is not None:
            raise self._fault

        async def fail(*_: Any, **__: Any) -> None:
            if self._fault is not None:
                raise self._fault
            await asyncio.sleep(60)

        return fail


class Ending(BaseException):
    """Ends whatever does not hold it."""


FAULTS = [
    OSError("refused"),
    KeyError("x"),
    TimeoutError(),
    asyncio.CancelledError(),
    ConnectionResetError(),
    SystemExit(2),
    KeyboardInterrupt(),
    GeneratorExit(),
    Ending("refused"),
    BaseExceptionGroup("refused", [SystemExit(1)]),
    None,
]


@pytest.mark.parametrize("fault", FAULTS, ids=repr)
def test_whatever_it_raises_it_cannot_be_reached(fault: BaseException | None) -> None:
    store = GuardedStore(Failing(fault), 0.1)
    hub = GuardedHub(Failing(fault), 0.1)

    async def test() -> None:
        for asked in (
            store.get(AT),
            store.put_if(AT, None, b"", 1, owner="a"),
            store.touch(AT, 1),
            store.consume(AT),
            store.delete(AT),
            hub.open(AT, owner="a"),
            hub.publish(AT, b""),
            hub.read(AT, "", 0),
            hub.close(AT),
        ):
            begun = time.monotonic()
            with pytest.raises(Unavailable) as told:
                await asked
            assert time.monotonic() - begun < 2 and "refused" not in told.value.message

    asyncio.run(test())


def test_what_the_protocols_know_passes_and_so_does_a_cancellation_that_was_asked_for() -> None:
    async def test() -> None:
        for known in (Busy("full"), Unavailable("full")):
            with pytest.raises(type(known), match="full"):
                await GuardedStore(Failing(known)).get(AT)
        waiting = asyncio.ensure_future(GuardedStore(Failing(None)).get(AT))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(test())


def test_a_read_may_take_as_long_as_it_was_told_to_wait() -> None:
    async def test() -> None:
        hub = GuardedHub(MemoryHub(), 0.1)
        start = await hub.open(AT, owner="a")
        reading = await hub.read(AT, start, 0.3)
        assert reading is not None and not reading.messages

    asyncio.run(test())
