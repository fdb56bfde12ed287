"""Who waits in this process for messages that other processes publish.

Rule: a reader looks once when it comes, and then only when it was woken. It waits before it looks, so that nothing that is published
in between is slept through. For hubs that are elsewhere; how such a hub hears whom to wake is its own affair.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_anyrev.storage.keys import Key
    from mcp_anyrev.storage.protocols import Reading

Look = Callable[[], Awaitable["Reading | None"]]
"""Reads a topic as it is, without waiting; None where it is not open."""


class Readers:
    """The readers that wait in this process, by topic."""

    def __init__(self) -> None:
        self._waiting: dict[Key, set[asyncio.Event]] = {}

    @property
    def topics(self) -> Collection[Key]:
        """On which topics somebody waits."""
        return self._waiting.keys()

    def wake(self, topic: Key) -> None:
        """Have those who wait on a topic look again; nothing happens where nobody does."""
        for woken in self._waiting.get(topic, ()):
            woken.set()

    def wake_all(self) -> None:
        """Have everybody look again, since it is not known what has happened."""
        for topic in self._waiting:
            self.wake(topic)

    async def read(self, topic: Key, seconds: float, look: Look) -> Reading | None:
        """What there is to read, as soon as there is something, or nothing is to be waited for.

        Args:
            topic: which topic.
            seconds: for how long to wait.
            look: reads it.

        Raises:
            Exception: what `look` raises.
        """
        end = asyncio.get_running_loop().time() + seconds
        woken = asyncio.Event()
        waiting = self._waiting.setdefault(topic, set())
        waiting.add(woken)
        try:
            while True:
                woken.clear()
                reading = await look()
                if reading is None or reading.messages or reading.missed:
                    return reading
                try:
                    async with asyncio.timeout_at(end):
                        await woken.wait()
                except TimeoutError:
                    return reading
        finally:
            waiting.discard(woken)
            if not waiting and self._waiting.get(topic) is waiting:
                del self._waiting[topic]
