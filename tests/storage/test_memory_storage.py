"""Store and hub in memory do what every store and every hub has to do, and give back what they took."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp_anyrev.storage.keys import key, name_of, new_name
from mcp_anyrev.storage.memory import MemoryHub, MemoryStore
from mcp_anyrev.storage.protocols import Hub, SessionStore
from mcp_anyrev.testing.storage import HubContract, SessionStoreContract


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


class TestMemoryStore(SessionStoreContract):
    clock = Clock()
    in_use_seconds = 5.0

    async def pass_time(self, seconds: float) -> None:
        self.clock.now += seconds

    @asynccontextmanager
    async def stores(self, total_bytes: int, owner_bytes: int) -> AsyncIterator[tuple[SessionStore, SessionStore]]:
        store = MemoryStore(
            total_bytes=total_bytes, owner_bytes=owner_bytes, in_use_seconds=self.in_use_seconds, clock=self.clock
        )
        yield store, store
        self.clock.now += 1_000
        await store.touch(key("value", new_name()), 1)
        assert not store._values and not store._owners and not store._size


class TestMemoryHub(HubContract):
    clock = Clock()

    async def pass_time(self, seconds: float) -> None:
        self.clock.now += seconds

    @asynccontextmanager
    async def hubs(self, **options: Any) -> AsyncIterator[tuple[Hub, Hub]]:
        hub = MemoryHub(**options, clock=self.clock)
        yield hub, hub
        await asyncio.sleep(0)
        self.clock.now += 1_000
        await hub.publish(key("topic", new_name()), b"")
        assert not hub._topics and not hub._owners and not hub._all.size and not hub._all.order


@pytest.mark.parametrize(
    "name", ["", "../../etc", "a/b", "a b", "a\n", "é", "x" * 129, "session*", "a\0b"], ids=range(9)
)
def test_a_name_of_another_shape_is_no_key(name: str) -> None:
    with pytest.raises(ValueError, match="a name is"):
        key("session", name)


def test_names_that_are_given_out_are_keys() -> None:
    assert key("session", new_name()) != key("session", new_name())
    assert key("server", name_of("any é text " * 100)) == key("server", name_of("any é text " * 100))


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110  # what is waited for says nothing
            await asyncio.sleep(0.02)


def test_what_has_expired_goes_although_nobody_asks_for_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcp_anyrev.storage.sweeping._PERIOD_SECONDS", 0.05)

    async def test() -> None:
        store, hub = MemoryStore(), MemoryHub(seconds=0.1)
        for _ in range(2):  # and again, once nothing was left
            await store.put_if(key("value", new_name()), None, bytes(1_000), 0.1, owner="a", in_flight=True)
            at = key("topic", new_name())
            await hub.open(at, owner="a")
            await hub.publish(at, bytes(1_000))
            assert store._values and hub._topics
            await _until(lambda: not store._values and not hub._topics)
            assert not store._owners and not hub._owners

    asyncio.run(test())


def test_nobody_is_kept_by_having_kept_something() -> None:
    async def test() -> None:
        store = MemoryStore()
        await store.put_if(key("value", new_name()), None, b"", 60, owner="a")
        gone = weakref.ref(store)
        del store
        gc.collect()
        assert gone() is None

    asyncio.run(test())
