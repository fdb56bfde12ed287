"""Store and hub within one process.

Rule: bounded. The store forgets the longest unused first; the hub holds only what somebody listens for, and a publish wakes only
those.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from mcp_contract import Json, JsonObject


class MemoryStore:
    """A session store in a dictionary.

    Args:
        capacity: the most values that are kept.
        clock: seconds that only go up.
    """

    def __init__(self, capacity: int = 10_000, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity = capacity
        self._clock = clock
        self._kept: OrderedDict[str, tuple[float, JsonObject]] = OrderedDict()

    async def get(self, key: str) -> JsonObject | None:
        """See `SessionStore.get`."""
        found = self._kept.get(key)
        if found is None:
            return None
        end, value = found
        if end <= self._clock():
            del self._kept[key]
            return None
        return value

    async def put(self, key: str, value: JsonObject, ttl: float) -> None:
        """See `SessionStore.put`."""
        self._kept.pop(key, None)
        while len(self._kept) >= self._capacity:
            self._kept.popitem(last=False)
        self._kept[key] = (self._clock() + ttl, value)

    async def replace(self, key: str, held: JsonObject, value: JsonObject, ttl: float) -> bool:
        """See `SessionStore.replace`."""
        if await self.get(key) != held:
            return False
        await self.put(key, value, ttl)
        return True

    async def delete(self, key: str) -> None:
        """See `SessionStore.delete`."""
        self._kept.pop(key, None)

    async def consume(self, key: str) -> JsonObject | None:
        """See `SessionStore.consume`."""
        end, value = self._kept.pop(key, (0.0, None))
        return value if end > self._clock() else None


class MemoryHub:
    """A hub for the tasks of one event loop.

    Args:
        backlog: the most unread messages of one listener; beyond that the oldest are lost.
    """

    def __init__(self, backlog: int = 1_000) -> None:
        self._backlog = backlog
        self._topics: dict[str, set[_Place]] = {}

    async def publish(self, topic: str, message: Json) -> None:
        """See `Hub.publish`."""
        for place in self._topics.get(topic, ()):
            place.put(message)

    @asynccontextmanager
    async def listen(self, topic: str) -> AsyncIterator[_Place]:
        """See `Hub.listen`."""
        place = _Place(self._backlog)
        self._topics.setdefault(topic, set()).add(place)
        try:
            yield place
        finally:
            places = self._topics[topic]
            places.discard(place)
            if not places:
                del self._topics[topic]


class _Place:
    """Where one listener is, as what it has not read yet."""

    def __init__(self, backlog: int) -> None:
        self._unread: deque[Json] = deque(maxlen=backlog)
        self._arrived = asyncio.Event()

    def put(self, message: Json) -> None:
        self._unread.append(message)
        self._arrived.set()

    async def next(self, seconds: float) -> Json | None:
        if not self._unread:
            try:
                async with asyncio.timeout(seconds):
                    await self._arrived.wait()
            except TimeoutError:
                return None
        message = self._unread.popleft()
        if not self._unread:
            self._arrived.clear()
        return message
