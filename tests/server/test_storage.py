"""Store and hub in memory: what their interfaces promise, and bounds."""

from __future__ import annotations

import asyncio

from mcp_anyrev.storage.memory import MemoryHub, MemoryStore


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_a_value_is_kept_for_its_time() -> None:
    clock = Clock()
    store = MemoryStore(clock=clock)
    await store.put("a", {"n": 1}, 10)
    clock.now = 9.9
    assert await store.get("a") == {"n": 1}
    clock.now = 10
    assert await store.get("a") is None and await store.consume("a") is None


async def test_of_many_who_consume_one_gets_it() -> None:
    store = MemoryStore()
    await store.put("a", {"n": 1}, 10)
    taken = await asyncio.gather(*(store.consume("a") for _ in range(5)))
    assert taken.count({"n": 1}) == 1 and taken.count(None) == 4


async def test_the_longest_unused_goes_first() -> None:
    store = MemoryStore(capacity=2)
    await store.put("a", {}, 10)
    await store.put("b", {}, 10)
    await store.put("a", {}, 10)
    await store.put("c", {}, 10)
    assert [await store.get(key) for key in "abc"] == [{}, None, {}]


async def test_what_is_deleted_is_gone() -> None:
    store = MemoryStore()
    await store.put("a", {}, 10)
    await store.delete("a")
    await store.delete("a")
    assert await store.get("a") is None


async def test_nothing_published_after_taking_a_position_is_missed() -> None:
    hub = MemoryHub()
    async with hub.listen("a") as listener:
        await hub.publish("a", 1)
        await hub.publish("b", 2)
        await hub.publish("a", 3)
        assert [await listener.next(1), await listener.next(1), await listener.next(0.01)] == [1, 3, None]


async def test_every_listener_gets_every_message() -> None:
    hub = MemoryHub()
    async with hub.listen("a") as one, hub.listen("a") as two:
        waiting = asyncio.ensure_future(one.next(1))
        await asyncio.sleep(0)
        await hub.publish("a", 1)
        assert (await waiting, await two.next(1)) == (1, 1)


async def test_a_topic_nobody_listens_to_keeps_nothing() -> None:
    hub = MemoryHub()
    for number in range(100):
        await hub.publish(f"topic {number}", number)
    async with hub.listen("topic 1") as listener:
        assert await listener.next(0.01) is None
    assert not hub._topics


async def test_a_slow_listener_loses_the_oldest() -> None:
    hub = MemoryHub(backlog=2)
    async with hub.listen("a") as listener:
        for number in range(4):
            await hub.publish("a", number)
        assert [await listener.next(0.01) for _ in range(3)] == [2, 3, None]
