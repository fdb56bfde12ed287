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
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from cachetools import TLRUCache
from mcp_contract import Busy, Unavailable

from mcp_anyrev.storage.keys import Key
from mcp_anyrev.storage.protocols import Message, Reading, Stored

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
        clock: seconds that only go up.
    """

    def __init__(
        self,
        *,
        total_bytes: int = 64 * 1024 * 1024,
        owner_bytes: int = 16 * 1024 * 1024,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._total_bytes = total_bytes
        self._owner_bytes = owner_bytes
        self._clock = clock
        self._values: dict[Key, _Value] = {}
        self._ends = _Ends(clock, self._leave)
        self._all = _Share()
        self._owners: dict[str, _Share] = {}
        self._versions = itertools.count(1)

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
            put = _Value(value, str(next(self._versions)), now + seconds, owner, in_flight)
            self._check(put, held)
            if held is not None:
                self._forget(key)
            if put.end > now:
                self._make_room(put)
                self._keep(key, put, used=held is not None)
            return put.version

    async def touch(self, key: Key, seconds: float) -> bool:
        """See `SessionStore.touch`."""
        with self._ends.timer as now:
            self._ends.expire(now)
            if key not in self._values:
                return False
            held = self._forget(key)
            held.end = now + seconds
            if held.end > now:
                self._keep(key, held, used=True)
            return True

    async def consume(self, key: Key) -> bytes | None:
        """See `SessionStore.consume`."""
        with self._ends.timer as now:
            self._ends.expire(now)
            return self._forget(key).value if key in self._values else None

    async def delete(self, key: Key) -> None:
        """See `SessionStore.delete`."""
        await self.consume(key)

    def _check(self, put: _Value, held: _Value | None) -> None:
        """See that there would be room for a value in place of another, if everything went that may go."""
        freed = held.size if held is not None and held.in_flight else 0
        own = self._owners.get(put.owner)
        if (0 if own is None else own.in_flight) - freed + put.size > self._owner_bytes:
            raise Busy(f"at most {self._owner_bytes} bytes are kept for one client")
        if self._all.in_flight - freed + put.size > self._total_bytes:
            raise Unavailable("nothing more can be kept now")

    def _make_room(self, put: _Value) -> None:
        own = self._owners.setdefault(put.owner, _Share())
        for share, most in ((own, self._owner_bytes), (self._all, self._total_bytes)):
            while share.size + put.size > most:
                self._forget(share.first())

    def _keep(self, key: Key, value: _Value, used: bool) -> None:
        for share in (self._owners.setdefault(value.owner, _Share()), self._all):
            share.add(key, value, used)
        self._values[key] = value
        self._ends[key] = value

    def _forget(self, key: Key) -> _Value:
        value = self._ends.pop(key)
        self._leave(key, value)
        return value

    def _leave(self, key: Key, value: _Value) -> None:
        del self._values[key]
        own = self._owners[value.owner]
        for share in (own, self._all):
            share.remove(key, value)
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
    """How much is kept, of one owner or of all, and in which order it goes."""

    __slots__ = ("_new", "_used", "in_flight", "size")

    def __init__(self) -> None:
        self.size = 0
        self.in_flight = 0
        self._new: OrderedDict[Key, None] = OrderedDict()
        self._used: OrderedDict[Key, None] = OrderedDict()

    def add(self, key: Key, value: _Value, used: bool) -> None:
        self.size += value.size
        if value.in_flight:
            self.in_flight += value.size
        elif used:
            self._used[key] = None
        else:
            self._new[key] = None

    def remove(self, key: Key, value: _Value) -> None:
        self.size -= value.size
        if value.in_flight:
            self.in_flight -= value.size
        self._new.pop(key, None)
        self._used.pop(key, None)

    def first(self) -> Key:
        """What goes first."""
        return next(itertools.chain(self._new, self._used))


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
        topic_messages: int = 4_096,
        topic_bytes: int = 16 * 1024 * 1024,
        seconds: float = 300,
        total_bytes: int = 128 * 1024 * 1024,
        owner_bytes: int = 32 * 1024 * 1024,
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
        while (oldest := next(iter(self._all.order), None)) is not None and oldest.used + self._seconds <= now:
            if oldest.waiting:
                self._use(oldest, now)
            else:
                self._forget(oldest)
        found = self._topics.get(topic)
        if found is not None:
            self._use(found, now)
            while found.messages and found.messages[0].end <= now:
                self._drop_oldest(found)
        return found

    def _use(self, topic: _Topic, now: float) -> None:
        topic.used = now
        for share in (self._owners[topic.owner], self._all):
            share.order.move_to_end(topic)

    def _make_room(self, topic: _Topic, size: int) -> None:
        """Let go what has to go for so many bytes more of a topic."""
        own = self._owners.get(topic.owner) or _Topics()
        for share, most in ((own, self._owner_bytes), (self._all, self._total_bytes)):
            while share.size + size > most:
                if (unused := share.unused(topic)) is not None:
                    self._forget(unused)
                elif topic.messages:
                    self._drop_oldest(topic)
                elif share is own:
                    raise Busy(f"at most {most} bytes of streams are kept for one client")
                else:
                    raise Unavailable("nothing more can be kept now")

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

    def unused(self, besides: _Topic) -> _Topic | None:
        """The longest unused, on which nobody waits; None where there is none."""
        return next((topic for topic in self.order if topic is not besides and not topic.waiting), None)
