"""What holds for every system that workers share, beside what the contracts ask: beginning, ending, who sees what, and what is large."""

from __future__ import annotations

import asyncio
import os

import pytest
from backends_under_test import Shared, two_workers, until, worker
from mcp_anyrev.storage.backends import backend
from mcp_anyrev.storage.bounds import HubBounds, StoreBounds
from mcp_anyrev.storage.keys import key, new_name
from mcp_contract import Unavailable


def test_many_workers_that_start_at_once_where_nothing_is_all_begin(shared: Shared) -> None:
    async def test() -> None:
        name = new_name()
        workers = [backend(shared.url, name, StoreBounds(), HubBounds()) for _ in range(12)]
        at, topic = key("value", new_name()), key("topic", new_name())
        try:
            for each in workers:
                await each.open()
            starts = await asyncio.gather(*(each.hub.open(topic, owner="a") for each in workers))
            assert len(set(starts)) == 1
            kept = await asyncio.gather(*(each.store.put_if(at, None, b"1", 60, owner="a") for each in workers))
            assert len([version for version in kept if version is not None]) == 1
            await asyncio.gather(*(each.hub.publish(topic, b"%d" % n) for n, each in enumerate(workers)))
            for each in workers:
                found = await each.hub.read(topic, starts[0], 0)
                assert found is not None and len(found.messages) == 12
        finally:
            for each in workers:
                await each.close()

    asyncio.run(test())


def test_messages_of_any_size_wake_whoever_waits(shared: Shared) -> None:
    async def test() -> None:
        topic = key("topic", "t" * 128)
        async with two_workers(shared.url) as (one, other):
            at = await one.hub.open(topic, owner="a")
            for size in (0, 7_999, 8_001, 3_000_000):
                body = os.urandom(size)
                waiting = asyncio.ensure_future(other.hub.read(topic, at, 10))
                await asyncio.sleep(0.02)
                await one.hub.publish(topic, body)
                found = await waiting
                assert found is not None and [message.body for message in found.messages] == [body]
                at = found.position

    asyncio.run(test())


def test_many_large_messages_come_in_several_reads(shared: Shared) -> None:
    async def test() -> None:
        topic = key("topic", new_name())
        async with two_workers(shared.url) as (one, other):
            at = await one.hub.open(topic, owner="a")
            for number in range(12):
                await one.hub.publish(topic, b"%02d" % number + bytes(300_000))
            sizes, found = [], []
            while len(found) < 12:
                reading = await other.hub.read(topic, at, 0)
                assert reading is not None and reading.messages and not reading.missed
                sizes.append(len(reading.messages))
                found += [message.body[:2] for message in reading.messages]
                at = reading.position
            assert found == [b"%02d" % number for number in range(12)] and max(sizes) <= 5

    asyncio.run(test())


def test_applications_do_not_see_each_other(shared: Shared) -> None:
    async def test() -> None:
        name = new_name()
        at, topic = key("value", "same"), key("topic", "same")
        async with worker(shared.url, f"{name} é shop") as one, worker(shared.url, f"{name} é Shop") as other:
            await one.store.put_if(at, None, b"1", 60, owner="a")
            await one.hub.open(topic, owner="a")
            await one.hub.publish(topic, b"1")
            assert await other.store.get(at) is None and await other.hub.read(topic, "", 0) is None
            assert await other.hub.publish(topic, b"2") is None
            await other.store.put_if(at, None, b"2", 60, owner="a")
            await other.store.delete(at)
            await other.hub.close(topic)
            assert await one.store.get(at) is not None and await one.hub.read(topic, "", 0) is not None

    asyncio.run(test())


def test_what_has_expired_goes_although_nobody_asks_for_it(shared: Shared, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"mcp_anyrev.storage.{shared.package}.backend._RENEW_SECONDS", 0.1)

    async def test() -> None:
        name, bounds = new_name(), HubBounds(seconds=0.3)
        async with worker(shared.url, name, bounds) as made, worker(shared.url, name) as looking:
            at, waited, left = key("value", new_name()), key("topic", new_name()), key("topic", new_name())
            await made.store.put_if(at, None, b"1", 0.2, owner="a", in_flight=True)
            starts = {topic: await made.hub.open(topic, owner="a") for topic in (waited, left)}
            await made.hub.publish(left, b"1")
            reader = asyncio.ensure_future(made.hub.read(waited, starts[waited], 20))

            async def gone() -> bool:  # whoever keeps topics for longer would find it if it was there
                return await looking.hub.read(left, "", 0) is None

            await asyncio.sleep(0.4)
            await until(gone)
            assert await made.hub.publish(waited, b"2") is not None, "a reader waits on it"
            await reader
            assert await made.store.get(at) is None

    asyncio.run(test())


def test_a_worker_that_was_killed_keeps_nothing_for_long(shared: Shared, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"mcp_anyrev.storage.{shared.package}.hub._WAIT_SECONDS", 0.3)

    async def test() -> None:
        name, topic, bounds = new_name(), key("topic", new_name()), HubBounds(seconds=0.2)
        async with worker(shared.url, name, bounds) as stays:
            async with worker(shared.url, name, bounds) as made:
                start = await made.hub.open(topic, owner="a")
                reader = asyncio.ensure_future(made.hub.read(topic, start, 20))
                await asyncio.sleep(0.05)
                reader.cancel()  # it says nothing of it, as one that was killed
            assert await stays.hub.publish(topic, b"1") is not None, "it may wait still"
            await asyncio.sleep(0.6)
            assert await stays.hub.publish(topic, b"1") is None

    asyncio.run(test())


def test_who_waits_again_is_woken_whatever_was_taken_of_it_meanwhile(
    shared: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"mcp_anyrev.storage.{shared.package}.backend._RENEW_SECONDS", 0.01)

    async def test() -> None:
        topic = key("topic", new_name())
        async with two_workers(shared.url) as (one, other):
            at = await one.hub.open(topic, owner="a")
            for number in range(40):  # the worker takes its word back that it waits, and gives it again
                waiting = asyncio.ensure_future(other.hub.read(topic, at, 10))
                await asyncio.sleep(0.002 * (number % 5))
                await one.hub.publish(topic, b"%d" % number)
                found = await asyncio.wait_for(waiting, 1)
                assert found is not None
                at = found.position
                await asyncio.sleep(0.003 * (number % 7))

    asyncio.run(test())


def test_a_backend_is_opened_again_in_another_event_loop(shared: Shared) -> None:
    made = backend(shared.url, new_name(), StoreBounds(), HubBounds())
    at = key("value", new_name())

    async def test() -> None:
        with pytest.raises(Unavailable):
            await made.store.get(at)
        await made.open()
        await made.store.put_if(at, None, b"1", 60, owner="a")
        assert await made.store.get(at) is not None
        await made.close()

    asyncio.run(test())
    asyncio.run(test())
