"""Store and hub in memory do what every store and every hub has to do, and give back what they took."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
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

    async def pass_time(self, seconds: float) -> None:
        self.clock.now += seconds

    @asynccontextmanager
    async def stores(self, total_bytes: int, owner_bytes: int) -> AsyncIterator[tuple[SessionStore, SessionStore]]:
        store = MemoryStore(total_bytes=total_bytes, owner_bytes=owner_bytes, clock=self.clock)
        yield store, store
        self.clock.now += 1_000
        await store.touch(key("value", new_name()), 1)
        assert not store._values and not store._owners and not store._all.size and not store._all.in_flight


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
