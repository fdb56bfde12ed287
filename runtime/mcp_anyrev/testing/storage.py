"""What every session store and every hub has to do, as tests that one runs on itself.

Rule: they see a store from outside only, through the protocols of `mcp_anyrev.storage`, and fail where it does something else. They need
no test framework: methods named `test_…` that pytest finds in a class of yours.

    class TestMyStore(SessionStoreContract):
        @asynccontextmanager
        async def stores(self, total_bytes: int, owner_bytes: int) -> AsyncIterator[tuple[SessionStore, SessionStore]]:
            async with MyStore(...) as one, MyStore(...) as other:
                yield one, other
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any

from mcp_contract import Busy, Unavailable

from mcp_anyrev.storage.keys import Key, key, new_name
from mcp_anyrev.storage.protocols import IN_USE_SECONDS, Hub, Message, Reading, SessionStore

_AMPLE = 64 * 1024 * 1024
_TEST_SECONDS = 30
_LONG = 600.0


class _Contract:
    """What both kinds of tests share."""

    soon_seconds: float = 0.25
    """Within which time a message reaches a reader on another worker; one that a backend needs longer for sets it."""

    async def pass_time(self, seconds: float) -> None:
        """Let so much time pass; whoever hands in a clock turns it instead."""
        await asyncio.sleep(seconds)

    def run(self, test: Coroutine[Any, Any, None]) -> None:
        """Run one test in an event loop of its own, for a bounded time."""

        async def bounded() -> None:
            async with asyncio.timeout(_TEST_SECONDS):
                await test

        asyncio.run(bounded())


class SessionStoreContract(_Contract, ABC):
    """The tests of a session store."""

    in_use_seconds: float = IN_USE_SECONDS
    """For how long after its last use a value is in use; a store that can be given another time sets it here, and takes less."""

    @abstractmethod
    def stores(
        self, total_bytes: int, owner_bytes: int
    ) -> AbstractAsyncContextManager[tuple[SessionStore, SessionStore]]:
        """A store without anything in it, as two workers have it; the same twice for one that only one worker can have.

        Args:
            total_bytes: the budget of all owners.
            owner_bytes: the budget of each.
        """

    def test_what_one_worker_puts_another_gets(self) -> None:
        async def test() -> None:
            async with self.stores(_AMPLE, _AMPLE) as (one, other):
                at = _fresh()
                assert await other.get(at) is None
                version = await one.put_if(at, None, b"\x00 any bytes \xff", 60, owner="a")
                found = await other.get(at)
                assert found is not None and version is not None
                assert (found.value, found.version) == (b"\x00 any bytes \xff", version)
                assert 0 < len(version) <= 64 and version.isascii() and version.isprintable()
                assert 30 < found.seconds <= 60

        self.run(test())

    def test_a_value_takes_the_place_of_the_version_that_was_read_and_of_no_other(self) -> None:
        async def test() -> None:
            async with self.stores(_AMPLE, _AMPLE) as (one, other):
                at = _fresh()
                assert await one.put_if(at, "1", b"0", 60, owner="a") is None and await one.get(at) is None
                first = await one.put_if(at, None, b"1", 60, owner="a")
                assert await other.put_if(at, None, b"2", 60, owner="a") is None
                second = await other.put_if(at, first, b"1", 60, owner="a")
                assert second not in (None, first), "the same value again is another version"
                assert await one.put_if(at, first, b"3", 60, owner="a") is None
                await one.delete(at)
                again = await one.put_if(at, None, b"1", 60, owner="a")
                assert again not in (None, first, second), "no version comes back"

        self.run(test())

    def test_of_changes_at_the_same_time_none_is_lost(self) -> None:
        async def test() -> None:
            async with self.stores(_AMPLE, _AMPLE) as (one, other):
                at = _fresh()
                await one.put_if(at, None, b"0", 60, owner="a")

                async def count(store: SessionStore) -> None:
                    for _ in range(10):
                        while True:
                            found = await store.get(at)
                            assert found is not None
                            await asyncio.sleep(0)
                            more = b"%d" % (int(found.value) + 1)
                            if await store.put_if(at, found.version, more, 60, owner="a") is not None:
                                break

                await asyncio.gather(*(count(store) for store in (one, other) * 3))
                found = await one.get(at)
                assert found is not None and found.value == b"60"

        self.run(test())

    def test_of_many_who_consume_exactly_one_gets_it(self) -> None:
        async def test() -> None:
            async with self.stores(_AMPLE, _AMPLE) as (one, other):
                at = _fresh()
                await one.put_if(at, None, b"", 60, owner="a")
                taken = await asyncio.gather(*(store.consume(at) for store in (one, other) * 5))
                assert taken.count(b"") == 1 and taken.count(None) == 9 and await one.get(at) is None

        self.run(test())

    def test_what_is_deleted_is_gone(self) -> None:
        async def test() -> None:
            async with self.stores(_AMPLE, _AMPLE) as (one, other):
                at = _fresh()
                await one.put_if(at, None, b"1", 60, owner="a")
                await other.delete(at)
                await other.delete(at)
                assert await one.get(at) is None and not await one.touch(at, 60) and await one.consume(at) is None

        self.run(test())

    def test_a_value_is_kept_for_its_time_and_for_more_if_it_is_touched(self) -> None:
        async def test() -> None:
            async with self.stores(_AMPLE, _AMPLE) as (one, other):
                short, touched, changed = _fresh(), _fresh(), _fresh()
                for at in (short, touched, changed):
                    await one.put_if(at, None, b"1", 1, owner="a")
                found = await one.get(touched)
                assert await other.touch(touched, _LONG) and found is not None
                await other.put_if(changed, (await one.get(changed) or found).version, b"2", _LONG, owner="a")
                await self.pass_time(1.2)
                assert await other.consume(short) is None, "before anything else could have noticed"
                assert await other.get(short) is None and not await one.touch(short, 60)
                kept = await one.get(touched)
                assert kept is not None and kept.version == found.version, "touching changes no version"
                assert (await one.get(changed) or found).value == b"2"
                assert await one.put_if(short, None, b"new", 60, owner="a") is not None

        self.run(test())

    def test_the_budget_of_an_owner_is_kept_and_only_the_owner_pays(self) -> None:
        async def test() -> None:
            async with self.stores(_AMPLE, 256 * 1024) as (one, other):
                strange = _fresh()
                await one.put_if(strange, None, bytes(16 * 1024), 60, owner="b")
                keys = [_fresh() for _ in range(64)]
                for at in keys:
                    await one.put_if(at, None, bytes(16 * 1024), 60, owner="a")
                kept = [await other.get(at) is not None for at in keys]
                assert 8 <= sum(kept) <= 16, "as much as the budget holds, give or take what keeping it costs"
                assert kept == sorted(kept), "the oldest went first"
                assert await other.get(strange) is not None

        self.run(test())

    def test_the_budget_of_all_is_kept(self) -> None:
        async def test() -> None:
            async with self.stores(256 * 1024, _AMPLE) as (one, other):
                keys = [_fresh() for _ in range(64)]
                for number, at in enumerate(keys):
                    await one.put_if(at, None, bytes(16 * 1024), 60, owner=f"owner {number}")
                assert 8 <= sum([await other.get(at) is not None for at in keys]) <= 16

        self.run(test())

    def test_who_is_cancelled_is_and_the_store_goes_on(self) -> None:
        async def test() -> None:
            async with self.stores(_AMPLE, _AMPLE) as (one, _):
                at = _fresh()
                await one.put_if(at, None, b"1", 60, owner="a")
                for steps in range(10):
                    for asked in (one.get(_fresh()), one.touch(_fresh(), 60), one.consume(_fresh())):
                        asking = asyncio.ensure_future(asked)
                        for _ in range(steps):
                            await asyncio.sleep(0)
                        done = asking.done()
                        asking.cancel()
                        await asyncio.wait((asking,), timeout=self.soon_seconds)
                        assert asking.cancelled() or done
                        found = await one.get(at)
                        assert found is not None and found.value == b"1", "and no answer goes to somebody else"

        self.run(test())

    def test_many_small_values_count_as_well(self) -> None:
        async def test() -> None:
            async with self.stores(_AMPLE, 4 * 1024) as (one, _):
                keys = [_fresh() for _ in range(125)]
                for at in keys:
                    await one.put_if(at, None, b"", 60, owner="a")
                assert sum([await one.get(at) is not None for at in keys]) < 75, "an empty value takes room, too"

        self.run(test())

    def test_what_was_used_goes_after_what_was_not_and_the_longest_unused_first(self) -> None:
        async def test() -> None:
            async with self.stores(_AMPLE, 256 * 1024) as (one, other):
                old, replaced, touched = _fresh(), _fresh(), _fresh()
                long, version = 4 * self.in_use_seconds + 60, None
                for at in (old, replaced, touched):
                    version = await one.put_if(at, None, bytes(64 * 1024), long, owner="a")
                    if at == replaced:
                        await self.pass_time(0.01)
                        assert await one.put_if(at, version, bytes(64 * 1024), long, owner="a")
                await self.pass_time(0.01)
                assert await other.touch(touched, long)
                for _ in range(8):
                    await one.put_if(_fresh(), None, bytes(64 * 1024), long, owner="a")
                assert await one.get(old) is None, "put before all others and never used since"
                assert await one.get(replaced) is not None and await one.get(touched) is not None
                for _ in range(3):  # once everything has been used, the longest unused goes
                    await self.pass_time(self.in_use_seconds)
                    at = _fresh()
                    await one.put_if(at, None, bytes(64 * 1024), long, owner="a")
                    await one.touch(at, long)
                    await one.touch(touched, long)
                assert await one.get(replaced) is None and await one.get(touched) is not None

        self.run(test())

    def test_what_is_in_use_does_not_go_for_what_is_new(self) -> None:
        async def test() -> None:
            async with self.stores(_AMPLE, 256 * 1024) as (one, other):
                long, used = 2 * self.in_use_seconds + 60, []
                for _ in range(8):
                    at = _fresh()
                    try:
                        await one.put_if(at, None, bytes(64 * 1024), long, owner="a")
                    except Busy:
                        break
                    assert await other.touch(at, long)
                    used.append(at)
                assert 2 <= len(used) <= 4, "then nothing more fits"
                assert all([await one.get(at) is not None for at in used]), "and nothing goes for it"
                await self.pass_time(self.in_use_seconds + 0.1)
                assert await one.put_if(_fresh(), None, bytes(64 * 1024), long, owner="a")
                assert [await one.get(at) is not None for at in used] == [False] + [True] * (len(used) - 1)

        self.run(test())

    def test_where_the_budget_of_all_is_used_up_whoever_has_most_gives_up(self) -> None:
        async def test() -> None:
            async with self.stores(256 * 1024, _AMPLE) as (one, other):
                small = [_fresh() for _ in range(2)]
                for at in small:
                    await one.put_if(at, None, bytes(16 * 1024), 60, owner="a")
                many = [_fresh() for _ in range(32)]
                for at in many:
                    await self.pass_time(0.01)
                    await other.put_if(at, None, bytes(16 * 1024), 60, owner="b")
                assert all([await one.get(at) is not None for at in small]), "they came first, and were never used"
                kept = [await one.get(at) is not None for at in many]
                assert 4 <= sum(kept) <= 14 and kept == sorted(kept), "the oldest went first"

        self.run(test())

    def test_what_is_in_flight_does_not_go_and_what_does_not_fit_is_refused(self) -> None:
        async def test() -> None:
            async with self.stores(_AMPLE, 256 * 1024) as (one, other):
                waited_for = [_fresh() for _ in range(8)]
                for at in waited_for:
                    await one.put_if(at, None, bytes(16 * 1024), 60, owner="a", in_flight=True)
                for _ in range(32):
                    await one.put_if(_fresh(), None, bytes(16 * 1024), 60, owner="a")
                assert all([await other.get(at) is not None for at in waited_for])
                refused = 0
                for _ in range(16):
                    try:
                        await other.put_if(_fresh(), None, bytes(16 * 1024), 60, owner="a", in_flight=True)
                    except Busy:
                        refused += 1
                assert 8 <= refused < 16 and all([await other.get(at) is not None for at in waited_for])
                assert await one.put_if(_fresh(), None, bytes(16 * 1024), 60, owner="b"), "another has room"
                await one.consume(waited_for[0])
                await one.delete(waited_for[1])
                assert await one.put_if(_fresh(), None, bytes(16 * 1024), 60, owner="a", in_flight=True)

        self.run(test())

    def test_where_all_is_in_flight_nobody_is_let_in(self) -> None:
        async def test() -> None:
            async with self.stores(256 * 1024, _AMPLE) as (one, _):
                refused = 0
                for number in range(32):
                    try:
                        await one.put_if(_fresh(), None, bytes(16 * 1024), 60, owner=f"{number}", in_flight=True)
                    except Unavailable:
                        refused += 1
                assert 16 <= refused < 32

        self.run(test())

    def test_a_value_that_is_larger_than_the_budget_is_refused_and_nothing_goes_for_it(self) -> None:
        async def test() -> None:
            async with self.stores(_AMPLE, 64 * 1024) as (one, _):
                at = _fresh()
                version = await one.put_if(at, None, b"small", 60, owner="a")
                for where, held in ((_fresh(), None), (at, version)):
                    try:
                        await one.put_if(where, held, bytes(128 * 1024), 60, owner="a")
                    except Busy:
                        continue
                    raise AssertionError("it is larger than the budget")
                found = await one.get(at)
                assert found is not None and found.value == b"small"

        self.run(test())

    def test_what_has_expired_takes_no_room(self) -> None:
        async def test() -> None:
            async with self.stores(_AMPLE, 256 * 1024) as (one, other):
                for _ in range(8):
                    await one.put_if(_fresh(), None, bytes(24 * 1024), 1, owner="a", in_flight=True)
                await self.pass_time(1.2)
                keys = [_fresh() for _ in range(8)]
                for at in keys:
                    await other.put_if(at, None, bytes(24 * 1024), 60, owner="a", in_flight=True)
                assert all([await one.get(at) is not None for at in keys])

        self.run(test())

    def test_what_is_kept_for_no_time_is_not_there(self) -> None:
        async def test() -> None:
            async with self.stores(_AMPLE, 64 * 1024) as (one, other):
                for _ in range(64):
                    at = _fresh()
                    await one.put_if(at, None, bytes(32 * 1024), 0, owner="a", in_flight=True)
                    assert await other.get(at) is None and await other.consume(at) is None
                    await one.put_if(at, None, bytes(32 * 1024), 60, owner="a", in_flight=True)
                    await one.touch(at, 0)
                    assert await other.get(at) is None

        self.run(test())

    def test_sizes_stay_right_whatever_happens(self) -> None:
        async def test() -> None:
            async with self.stores(_AMPLE, 256 * 1024) as (one, other):
                at = _fresh()
                for number in range(100):
                    version = await one.put_if(at, None, bytes(100 * 1024), 60, owner="a", in_flight=number % 2 == 0)
                    await other.touch(at, 60)
                    version = await other.put_if(at, version, bytes(200 * 1024), 60, owner="a", in_flight=True)
                    assert version is not None
                    await (one.delete(at) if number % 3 else one.consume(at))
                assert await one.put_if(at, None, bytes(200 * 1024), 60, owner="a") is not None

        self.run(test())


class HubContract(_Contract, ABC):
    """The tests of a hub."""

    @abstractmethod
    def hubs(
        self,
        *,
        topic_messages: int = 4_096,
        topic_bytes: int = _AMPLE,
        seconds: float = 60,
        total_bytes: int = _AMPLE,
        owner_bytes: int = _AMPLE,
    ) -> AbstractAsyncContextManager[tuple[Hub, Hub]]:
        """A hub without anything on it, as two workers have it; the same twice for one that only one worker can have.

        Args:
            topic_messages: the most messages that are kept of a topic.
            topic_bytes: the most bytes of them.
            seconds: for how long they are kept, and an unused topic is.
            total_bytes: the budget of all owners.
            owner_bytes: the budget of each.
        """

    def test_everything_published_after_opening_is_read_once_and_in_order(self) -> None:
        async def test() -> None:
            async with self.hubs() as (one, other):
                topic = _fresh("topic")
                start = await one.open(topic, owner="a")
                positions = [await other.publish(topic, b"%d" % number) for number in range(3)]
                assert await other.open(topic, owner="a") == positions[-1], "joining begins after what is there"
                read = await _read_all(one, topic, start, 3)
                assert [message.body for message in read] == [b"0", b"1", b"2"]
                assert [message.position for message in read] == positions and len({start, *positions}) == 4
                for position in (start, *positions):
                    assert position and len(position) <= 64
                    assert all(letter.isascii() and (letter.isalnum() or letter in "-_") for letter in position)
                rest = await one.read(topic, read[0].position, 0)
                assert rest is not None and [message.body for message in rest.messages] == [b"1", b"2"]
                assert not rest.missed and rest.position == positions[-1]
                again = await other.read(topic, "", 0)
                assert again is not None and len(again.messages) == 3 and not again.missed

        self.run(test())

    def test_a_reader_waits_and_is_woken(self) -> None:
        async def test() -> None:
            async with self.hubs() as (one, other):
                topic = _fresh("topic")
                start = await one.open(topic, owner="a")
                begun = time.monotonic()
                nothing = await one.read(topic, start, 0.1)
                assert nothing is not None and time.monotonic() - begun > 0.09
                assert not nothing.messages and not nothing.missed and nothing.position == start
                readers = [asyncio.create_task(hub.read(topic, start, 10)) for hub in (one, other, one)]
                await asyncio.sleep(0.1)
                assert not any(reader.done() for reader in readers)
                begun = time.monotonic()
                await other.publish(topic, b"now")
                for reading in await asyncio.gather(*readers):
                    assert reading is not None and [message.body for message in reading.messages] == [b"now"]
                assert time.monotonic() - begun < self.soon_seconds

        self.run(test())

    def test_a_read_that_is_given_up_loses_nothing(self) -> None:
        async def test() -> None:
            async with self.hubs() as (one, other):
                topic = _fresh("topic")
                start = await one.open(topic, owner="a")
                for _ in range(20):
                    reader = asyncio.create_task(one.read(topic, start, 10))
                    await asyncio.sleep(0)
                    reader.cancel()
                    await asyncio.wait((reader,), timeout=self.soon_seconds)
                    assert reader.cancelled(), "and ends at once"
                await other.publish(topic, b"1")
                assert [message.body for message in await _read_all(one, topic, start, 1)] == [b"1"]

        self.run(test())

    def test_a_topic_that_is_not_open_keeps_nothing_and_says_so(self) -> None:
        async def test() -> None:
            async with self.hubs() as (one, other):
                topic = _fresh("topic")
                assert await one.publish(topic, b"1") is None and await one.read(topic, "", 10) is None
                start = await one.open(topic, owner="a")
                assert start and not (await _reading(one, topic, "", 0)).messages
                position = await other.publish(topic, b"2")
                reader = asyncio.create_task(one.read(topic, position or "", 10))
                await asyncio.sleep(0.05)
                await other.close(topic)
                await other.close(topic)
                assert await asyncio.wait_for(reader, self.soon_seconds) is None
                assert await one.publish(topic, b"3") is None and await other.read(topic, start, 10) is None

        self.run(test())

    def test_a_position_never_names_another_message(self) -> None:
        async def test() -> None:
            async with self.hubs() as (one, other):
                topic = _fresh("topic")
                old = await one.open(topic, owner="a")
                for number in range(3):
                    old = await one.publish(topic, b"%d" % number) or old
                await one.close(topic)
                await other.open(topic, owner="a")
                newest = ""
                for number in range(5):
                    newest = await other.publish(topic, b"new %d" % number) or newest
                for strange in (old, "0", "-1", "nonsense", "x" * 64, "9" * 64, "\U0001f600", f"{newest}0"):
                    reading = await _reading(one, topic, strange, 10)
                    assert reading.missed and len(reading.messages) == 5, strange

        self.run(test())

    def test_what_is_no_longer_kept_is_told_as_missed_once(self) -> None:
        async def test() -> None:
            async with self.hubs(topic_messages=10) as (one, other):
                topic = _fresh("topic")
                start = await one.open(topic, owner="a")
                for number in range(25):
                    await other.publish(topic, b"%d" % number)
                reading = await _reading(one, topic, start, 0)
                assert reading.missed and [message.body for message in reading.messages] == [
                    b"%d" % number for number in range(15, 25)
                ]
                after = await _reading(one, topic, reading.position, 0)
                assert not after.missed and not after.messages
                assert (await _reading(one, topic, "", 0)).missed, "not everything is there"

        self.run(test())

    def test_a_topic_keeps_so_many_bytes_and_no_message_larger_than_that(self) -> None:
        async def test() -> None:
            async with self.hubs(topic_bytes=64 * 1024) as (one, _):
                topic = _fresh("topic")
                start = await one.open(topic, owner="a")
                for _ in range(32):
                    await one.publish(topic, bytes(8 * 1024))
                reading = await _reading(one, topic, start, 0)
                assert reading.missed and 4 <= len(reading.messages) <= 8
                try:
                    await one.publish(topic, bytes(128 * 1024))
                except Busy:
                    pass
                else:
                    raise AssertionError("it does not fit")
                assert not (await _reading(one, topic, reading.position, 0)).missed

        self.run(test())

    def test_a_topic_that_has_the_budget_for_itself_drops_its_oldest_messages(self) -> None:
        async def test() -> None:
            async with self.hubs(owner_bytes=64 * 1024) as (one, other):
                topic = _fresh("topic")
                start = await one.open(topic, owner="a")
                for _ in range(32):
                    assert await other.publish(topic, bytes(8 * 1024)) is not None
                reading = await _reading(one, topic, start, 0)
                assert reading.missed and 4 <= len(reading.messages) <= 8

        self.run(test())

    def test_messages_and_unused_topics_go_after_their_time(self) -> None:
        async def test() -> None:
            async with self.hubs(seconds=1) as (one, other):
                used, unused = _fresh("topic"), _fresh("topic")
                start = await one.open(used, owner="a")
                await one.open(unused, owner="a")
                await one.publish(unused, b"0")
                await other.publish(used, b"0")
                for _ in range(3):
                    await self.pass_time(0.5)
                    await other.publish(used, b"more")
                reading = await _reading(one, used, start, 0)
                assert reading.missed and 1 <= len(reading.messages) <= 2
                assert await one.read(unused, "", 0) is None and await other.publish(unused, b"1") is None

        self.run(test())

    def test_a_topic_on_which_a_reader_waits_is_not_forgotten(self) -> None:
        async def test() -> None:
            async with self.hubs(seconds=1) as (one, other):
                topic = _fresh("topic")
                start = await one.open(topic, owner="a")
                reader = asyncio.create_task(one.read(topic, start, 20))
                for _ in range(4):
                    await asyncio.sleep(0)
                    await self.pass_time(0.6)
                    await other.open(_fresh("topic"), owner="a")
                assert await other.publish(topic, b"1") is not None
                reading = await reader
                assert reading is not None and len(reading.messages) == 1 and not reading.missed

        self.run(test())

    def test_the_budget_of_an_owner_is_kept_and_only_the_owner_pays(self) -> None:
        async def test() -> None:
            async with self.hubs(owner_bytes=256 * 1024) as (one, other):
                strange, waited_for = _fresh("topic"), _fresh("topic")
                await one.open(strange, owner="b")
                await one.publish(strange, b"unread")
                start = await one.open(waited_for, owner="a")
                waiting = asyncio.create_task(one.read(waited_for, start, 10))
                await asyncio.sleep(0.05)
                topics = [_fresh("topic") for _ in range(32)]
                for topic in topics:
                    await self.pass_time(0.01)
                    await other.open(topic, owner="a")
                    await other.publish(topic, bytes(16 * 1024))
                kept = [await one.read(topic, "", 0) is not None for topic in topics]
                assert 4 <= sum(kept) <= 16 and kept == sorted(kept), "the longest unused went first"
                assert (await _reading(one, strange, "", 0)).messages[0].body == b"unread"
                assert await other.publish(waited_for, b"1") is not None and await waiting is not None

        self.run(test())

    def test_the_budget_of_all_is_kept(self) -> None:
        async def test() -> None:
            async with self.hubs(total_bytes=256 * 1024) as (one, _):
                topics = [_fresh("topic") for _ in range(32)]
                for number, topic in enumerate(topics):
                    await self.pass_time(0.01)
                    await one.open(topic, owner=f"{number}")
                    await one.publish(topic, bytes(16 * 1024))
                assert 4 <= sum([await one.read(topic, "", 0) is not None for topic in topics]) <= 16

        self.run(test())

    def test_where_the_budget_of_all_is_used_up_whoever_has_most_gives_up(self) -> None:
        async def test() -> None:
            async with self.hubs(total_bytes=256 * 1024) as (one, other):
                unread = _fresh("topic")
                await one.open(unread, owner="a")
                await one.publish(unread, b"unread" + bytes(16 * 1024))
                topics = [_fresh("topic") for _ in range(32)]
                for topic in topics:
                    await self.pass_time(0.01)
                    await other.open(topic, owner="b")
                    await other.publish(topic, bytes(16 * 1024))
                assert (await _reading(one, unread, "", 0)).messages[0].body.startswith(b"unread")
                kept = [await one.read(topic, "", 0) is not None for topic in topics]
                assert 4 <= sum(kept) <= 15 and kept == sorted(kept), "the longest unused went first"

        self.run(test())

    def test_where_a_reader_waits_on_everything_nobody_is_let_in(self) -> None:
        async def test() -> None:
            async with self.hubs(owner_bytes=64 * 1024) as (one, other):
                readers = []

                async def refused() -> bool:
                    topic = _fresh("topic")
                    try:
                        start = await one.open(topic, owner="a")
                    except Busy:
                        return True
                    readers.append(asyncio.create_task(one.read(topic, start, 20)))
                    await asyncio.sleep(0)
                    return False

                while not await refused():  # one that has not begun to wait may still lose its topic
                    assert len(readers) < 1_000
                await asyncio.sleep(0.1)
                waiting = [reader for reader in readers if not reader.done()]
                assert all([await refused() for _ in range(20)])
                assert waiting and not any(reader.done() for reader in waiting)
                await other.open(_fresh("topic"), owner="b")
                for reader in waiting:
                    reader.cancel()

        self.run(test())

    def test_nothing_is_lost_and_nothing_comes_twice_with_many_who_publish_and_read(self) -> None:
        async def test() -> None:
            async with self.hubs() as (one, other):
                topic = _fresh("topic")
                start = await one.open(topic, owner="a")

                async def say(hub: Hub, name: int) -> None:
                    for number in range(50):
                        await hub.publish(topic, b"%d %d" % (name, number))
                        await asyncio.sleep(0)

                readers = [asyncio.create_task(_read_all(hub, topic, start, 300)) for hub in (one, other)]
                await asyncio.gather(*(say(hub, name) for name, hub in enumerate((one, other) * 3)))
                heard = await asyncio.gather(*readers)
                assert heard[0] == heard[1] and len({message.body for message in heard[0]}) == 300
                for name in range(6):
                    own = [message.body for message in heard[0] if message.body.startswith(b"%d " % name)]
                    assert own == [b"%d %d" % (name, number) for number in range(50)], "in the order of who published"

        self.run(test())

    def test_many_idle_readers_are_neither_woken_nor_in_the_way(self) -> None:
        async def test() -> None:
            async with self.hubs() as (one, other):
                idle = []
                for _ in range(250):
                    topic = _fresh("topic")
                    idle.append(asyncio.create_task(one.read(topic, await one.open(topic, owner="a"), 60)))
                topic = _fresh("topic")
                start = await one.open(topic, owner="a")
                await asyncio.sleep(0.1)
                used = time.process_time()
                await asyncio.sleep(0.5)
                assert time.process_time() - used < 0.05, "waiting costs nothing"
                for number in range(20):
                    reader = asyncio.create_task(one.read(topic, start, 10))
                    await asyncio.sleep(0)
                    begun = time.monotonic()
                    await other.publish(topic, b"%d" % number)
                    reading = await reader
                    assert reading is not None and time.monotonic() - begun < self.soon_seconds
                    start = reading.position
                assert not any(reader.done() for reader in idle)
                for reader in idle:
                    reader.cancel()
                await asyncio.gather(*idle, return_exceptions=True)

        self.run(test())


def _fresh(kind: str = "value") -> Key:
    return key(kind, new_name())


async def _reading(hub: Hub, topic: Key, after: str, seconds: float) -> Reading:
    reading = await hub.read(topic, after, seconds)
    assert reading is not None, "the topic is open"
    return reading


async def _read_all(hub: Hub, topic: Key, after: str, messages: int) -> list[Message]:
    """So many messages after a position, in however many reads they come."""
    found: list[Message] = []
    while len(found) < messages:
        reading = await _reading(hub, topic, after, 10)
        assert not reading.missed
        found += reading.messages
        after = reading.position
    return found
