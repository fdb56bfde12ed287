"""Store and hub within this process, for the tasks of one event loop.

Rule: exact. What goes, and when, is what the protocols say; a size is what is kept and a flat amount for keeping it.
"""

from __future__ import annotations

import asyncio
import itertools
import math
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import NamedTuple

from cachetools import TLRUCache
from mcp_contract import Busy, Unavailable

from mcp_anyrev.storage.bounds import HubBounds, StoreBounds
from mcp_anyrev.storage.keys import Key
from mcp_anyrev.storage.protocols import Message, Reading, Stored
from mcp_anyrev.storage.sweeping import Sweeper
from mcp_anyrev.storage.urls import StorageUrl

_VALUE_BYTES = 512
_TOPIC_BYTES = 1_024
_MESSAGE_BYTES = 256
"""What a value, a topic and a message take up beside their own bytes, roughly."""

_MOST_DIGITS = 15


class MemoryStore:
    """A session store; see `SessionStore`.

    Args:
        total_bytes: the most that is kept of all owners.
        owner_bytes: the most that is kept of one.
        in_use_seconds: for how long after its last use a value does not go to make room.
        clock: seconds that only go up.
    """

    def __init__(
        self,
        *,
        total_bytes: int = StoreBounds.total_bytes,
        owner_bytes: int = StoreBounds.owner_bytes,
        in_use_seconds: float = StoreBounds.in_use_seconds,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._total_bytes = total_bytes
        self._owner_bytes = owner_bytes
        self._in_use_seconds = in_use_seconds
        self._clock = clock
        self._values: dict[Key, _Value] = {}
        self._ends = _Ends(clock, self._leave)
        self._size = 0
        self._owners: dict[str, _Share] = {}
        self._versions = itertools.count(1)
        self._sweeper = Sweeper(self)

    async def get(self, key: Key) -> Stored | None:
        """See `SessionStore.get`."""
        held = self._values.get(key)
        if held is None:
            return None
        seconds = held.end - self._clock()
        return Stored(held.value, held.version, seconds) if seconds > 0 else None

    async def put_if(
        self, key: Key, version: str | None, value: bytes, seconds: float, *, owner: str, in_flight: bool = False
    ) -> str | None:
        """See `SessionStore.put_if`."""
        with self._ends.timer as now:  # it stands still in here, so that nothing goes behind the back of the sizes
            self._ends.expire(now)
            held = self._values.get(key)
            if version != (None if held is None else held.version):
                return None
            used = None if held is None else now
            put = _Value(value, str(next(self._versions)), now + seconds, owner, in_flight, used)
            for gone in self._to_make_room(key, put, now):
                self._forget(gone)
            if held is not None:
                self._forget(key)
            if put.end > now:
                self._keep(key, put)
            return put.version

    async def touch(self, key: Key, seconds: float) -> bool:
        """See `SessionStore.touch`."""
        with self._ends.timer as now:
            self._ends.expire(now)
            if key not in self._values:
                return False
            held = self._forget(key)
            held.end, held.used = now + seconds, now
            if held.end > now:
                self._keep(key, held)
            return True

    async def consume(self, key: Key) -> bytes | None:
        """See `SessionStore.consume`."""
        with self._ends.timer as now:
            self._ends.expire(now)
            return self._forget(key).value if key in self._values else None

    async def delete(self, key: Key) -> None:
        """See `SessionStore.delete`."""
        await self.consume(key)

    def sweep(self) -> bool:
        """See `Keeping.sweep`."""
        with self._ends.timer as now:
            self._ends.expire(now)
        return bool(self._values)

    def _to_make_room(self, key: Key, put: _Value, now: float) -> list[Key]:
        """What has to go, so that a value can be kept in place of what is there.

        Raises:
            Busy, Unavailable: not enough may go.
        """
        held = self._values.get(key)
        freed = 0 if held is None else held.size
        own = self._owners.get(put.owner, _NOBODY)
        stale = now - self._in_use_seconds
        going, excess = own.going(own.size - freed + put.size - self._owner_bytes, key, stale)
        if excess > 0:
            raise Busy(f"at most {self._owner_bytes} bytes are kept for one client")
        excess = self._size - freed - sum(self._values[gone].size for gone in going) + put.size - self._total_bytes
        if excess > 0:  # then whoever has most of all gives up
            for share in sorted(self._owners.values(), key=_Share.weight, reverse=True):
                more, excess = share.going(excess, key, stale, going)
                going += more
                if excess <= 0:
                    break
            else:
                raise Unavailable("nothing more can be kept now")
        return going

    def _keep(self, key: Key, value: _Value) -> None:
        self._owners.setdefault(value.owner, _Share()).add(key, value)
        self._size += value.size
        self._values[key] = value
        self._ends[key] = value
        self._sweeper.start()

    def _forget(self, key: Key) -> _Value:
        value = self._ends.pop(key)
        self._leave(key, value)
        return value

    def _leave(self, key: Key, value: _Value) -> None:
        del self._values[key]
        self._size -= value.size
        own = self._owners[value.owner]
        own.remove(key, value)
        if not own.size:
            del self._owners[value.owner]


@dataclass(slots=True, eq=False)
class _Value:
    """A value with what is known of it."""

    value: bytes
    version: str
    end: float
    owner: str
    in_flight: bool
    used: float | None

    @property
    def size(self) -> int:
        return len(self.value) + _VALUE_BYTES


class _Ends(TLRUCache[Key, _Value, float]):
    """When the time of values is over; it tells somebody so."""

    def __init__(self, clock: Callable[[], float], gone: Callable[[Key, _Value], None]) -> None:
        super().__init__(math.inf, lambda key, value, now: value.end, clock)
        self._gone = gone

    def expire(self, time: float | None = None) -> list[tuple[Key, _Value]]:
        expired = super().expire(time)
        for key, value in expired:
            self._gone(key, value)
        return expired


class _Share:
    """How much is kept of one owner, and in which order it goes."""

    __slots__ = ("_new", "_used", "size")

    def __init__(self) -> None:
        self.size = 0
        self._new: OrderedDict[Key, _Value] = OrderedDict()
        self._used: OrderedDict[Key, _Value] = OrderedDict()

    def weight(self) -> int:
        """How much is kept."""
        return self.size

    def add(self, key: Key, value: _Value) -> None:
        self.size += value.size
        if not value.in_flight:
            (self._new if value.used is None else self._used)[key] = value

    def remove(self, key: Key, value: _Value) -> None:
        self.size -= value.size
        self._new.pop(key, None)
        self._used.pop(key, None)

    def going(self, excess: int, besides: Key, stale: float, gone: Collection[Key] = ()) -> tuple[list[Key], int]:
        """What goes first, to be rid of so many bytes, and how many too many there are even then.

        Args:
            excess: how many bytes too many there are.
            besides: what does not go for it.
            stale: what has been used since then does not go.
            gone: what goes anyway.
        """
        going: list[Key] = []
        for key, value in itertools.chain(self._new.items(), self._used.items()):
            if excess <= 0 or (value.used is not None and value.used > stale):
                break
            if key != besides and key not in gone:
                going.append(key)
                excess -= value.size
        return going, excess


_NOBODY = _Share()


class MemoryHub:
    """A hub; see `Hub`.

    Args:
        topic_messages: the most messages that are kept of a topic.
        topic_bytes: the most bytes of them.
        seconds: for how long they are kept, and an unused topic is.
        total_bytes: the most that is kept of all owners.
        owner_bytes: the most that is kept of one.
        clock: seconds that only go up.
    """

    def __init__(
        self,
        *,
        topic_messages: int = HubBounds.topic_messages,
        topic_bytes: int = HubBounds.topic_bytes,
        seconds: float = HubBounds.seconds,
        total_bytes: int = HubBounds.total_bytes,
        owner_bytes: int = HubBounds.owner_bytes,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._topic_messages = topic_messages
        self._topic_bytes = topic_bytes
        self._seconds = seconds
        self._total_bytes = total_bytes
        self._owner_bytes = owner_bytes
        self._clock = clock
        self._topics: dict[Key, _Topic] = {}
        self._all = _Topics()
        self._owners: dict[str, _Topics] = {}
        self._sweeper = Sweeper(self)

    async def open(self, topic: Key, *, owner: str) -> str:
        """See `Hub.open`."""
        found = self._in_use(topic)
        if found is None:
            found = _Topic(topic, owner, self._clock())
            self._make_room(found, _TOPIC_BYTES)
            self._topics[topic] = found
            for share in (self._owners.setdefault(owner, _Topics()), self._all):
                share.order[found] = None
            self._grow(found, _TOPIC_BYTES)
            self._sweeper.start()
        return found.position

    async def publish(self, topic: Key, message: bytes) -> str | None:
        """See `Hub.publish`."""
        found = self._in_use(topic)
        if found is None:
            return None
        size = len(message) + _MESSAGE_BYTES
        if size > self._topic_bytes:
            raise Busy(f"at most {self._topic_bytes} bytes of a stream are kept")
        while len(found.messages) >= self._topic_messages or found.size - _TOPIC_BYTES + size > self._topic_bytes:
            self._drop_oldest(found)
        self._make_room(found, size)
        self._grow(found, size)
        return found.add(message, self._clock() + self._seconds)

    async def read(self, topic: Key, after: str, seconds: float) -> Reading | None:
        """See `Hub.read`."""
        found = self._in_use(topic)
        if found is None:
            return None
        reading = found.read(after)
        if reading.messages or reading.missed or seconds <= 0 or not await found.wait(seconds):
            return reading
        return found.read(after) if self._topics.get(topic) is found else None

    async def close(self, topic: Key) -> None:
        """See `Hub.close`."""
        found = self._topics.get(topic)
        if found is not None:
            self._forget(found)

    def _in_use(self, topic: Key) -> _Topic | None:
        """A topic, which is in use now; what has been there for too long goes."""
        now = self._clock()
        self._expire(now)
        found = self._topics.get(topic)
        if found is not None:
            self._use(found, now)
            self._drop_expired(found, now)
        return found

    def sweep(self) -> bool:
        """See `Keeping.sweep`."""
        now = self._clock()
        self._expire(now)
        for topic in self._topics.values():
            self._drop_expired(topic, now)
        return bool(self._topics)

    def _expire(self, now: float) -> None:
        while (oldest := next(iter(self._all.order), None)) is not None and oldest.used + self._seconds <= now:
            if oldest.waiting:
                self._use(oldest, now)
            else:
                self._forget(oldest)

    def _drop_expired(self, topic: _Topic, now: float) -> None:
        while topic.messages and topic.messages[0].end <= now:
            self._drop_oldest(topic)

    def _use(self, topic: _Topic, now: float) -> None:
        topic.used = now
        for share in (self._owners[topic.owner], self._all):
            share.order.move_to_end(topic)

    def _make_room(self, topic: _Topic, size: int) -> None:
        """Let go what has to go for so many bytes more of a topic."""
        own = self._owners.get(topic.owner) or _Topics()
        while own.size + size > self._owner_bytes:
            if (unused := own.unused(topic)) is not None:
                self._forget(unused)
            elif topic.messages:
                self._drop_oldest(topic)
            else:
                raise Busy(f"at most {self._owner_bytes} bytes of streams are kept for one client")
        while self._all.size + size > self._total_bytes:
            if (unused := self._unused_of_the_largest(topic)) is not None:
                self._forget(unused)
            elif topic.messages:
                self._drop_oldest(topic)
            else:
                raise Unavailable("nothing more can be kept now")

    def _unused_of_the_largest(self, besides: _Topic) -> _Topic | None:
        """What goes when all have too much: whoever has most gives up."""
        for share in sorted(self._owners.values(), key=_Topics.weight, reverse=True):
            if (unused := share.unused(besides)) is not None:
                return unused
        return None

    def _grow(self, topic: _Topic, size: int) -> None:
        topic.size += size
        for share in (self._owners[topic.owner], self._all):
            share.size += size

    def _drop_oldest(self, topic: _Topic) -> None:
        self._grow(topic, -len(topic.messages.popleft().body) - _MESSAGE_BYTES)

    def _forget(self, topic: _Topic) -> None:
        self._grow(topic, -topic.size)
        own = self._owners[topic.owner]
        for share in (own, self._all):
            del share.order[topic]
        if not own.order:
            del self._owners[topic.owner]
        del self._topics[topic.key]
        topic.wake()


class _Kept(NamedTuple):
    """A message of a topic, and until when it is kept."""

    body: bytes
    end: float


class _Topic:
    """A topic. Its messages are numbered; the part before the number is another one each time it begins."""

    __slots__ = ("_begun", "_last", "_waiters", "key", "messages", "owner", "size", "used")

    def __init__(self, key: Key, owner: str, now: float) -> None:
        self.key = key
        self.owner = owner
        self.used = now
        self.size = 0
        self.messages: deque[_Kept] = deque()
        self._begun = secrets.token_hex(4)
        self._last = 0
        self._waiters: set[asyncio.Future[None]] = set()

    @property
    def position(self) -> str:
        """That of the newest message."""
        return self._position(self._last)

    @property
    def waiting(self) -> bool:
        """Does a reader wait?"""
        return bool(self._waiters)

    def add(self, message: bytes, end: float) -> str:
        """Put a message on it; gives its position."""
        self._last += 1
        self.messages.append(_Kept(message, end))
        self.wake()
        return self.position

    def read(self, after: str) -> Reading:
        """What is kept after a position."""
        before = self._last - len(self.messages)
        number = self._number(after)
        missed = number is None or number < before
        number = before if number is None else max(number, before)
        newer = list(itertools.islice(reversed(self.messages), self._last - number))
        messages = [Message(self._position(at), kept.body) for at, kept in enumerate(reversed(newer), number + 1)]
        return Reading(messages, self.position, missed)

    async def wait(self, seconds: float) -> bool:
        """Wait for a message; False where none came in time."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        try:
            async with asyncio.timeout(seconds):
                await waiter
        except TimeoutError:
            return False
        finally:
            self._waiters.discard(waiter)
        return True

    def wake(self) -> None:
        """Wake whoever waits."""
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    def _position(self, number: int) -> str:
        return f"{self._begun}-{number}"

    def _number(self, position: str) -> int | None:
        """The number in a position; None where it was never given out here."""
        if not position:
            return 0
        begun, _, digits = position.rpartition("-")
        if begun != self._begun or not digits.isascii() or not digits.isdecimal() or len(digits) > _MOST_DIGITS:
            return None
        return int(digits) if int(digits) <= self._last else None


class _Topics:
    """How much topics take up, of one owner or of all; the longest unused comes first."""

    __slots__ = ("order", "size")

    def __init__(self) -> None:
        self.size = 0
        self.order: OrderedDict[_Topic, None] = OrderedDict()

    def weight(self) -> int:
        """How much they take up."""
        return self.size

    def unused(self, besides: _Topic) -> _Topic | None:
        """The longest unused, on which nobody waits; None where there is none."""
        return next((topic for topic in self.order if topic is not besides and not topic.waiting), None)


class MemoryBackend:
    """Both within this process, for `memory:`; see `Backend`."""

    def __init__(self, url: StorageUrl, namespace: str, store: StoreBounds, hub: HubBounds) -> None:
        self.fault: str | None = None
        self.store = MemoryStore(
            total_bytes=store.total_bytes, owner_bytes=store.owner_bytes, in_use_seconds=store.in_use_seconds
        )
        self.hub = MemoryHub(
            topic_messages=hub.topic_messages,
            topic_bytes=hub.topic_bytes,
            seconds=hub.seconds,
            total_bytes=hub.total_bytes,
            owner_bytes=hub.owner_bytes,
        )

    async def open(self) -> None:
        """See `Backend.open`."""

    async def close(self) -> None:
        """See `Backend.close`: there is nobody else, so what is kept stays for as long as the process does."""
