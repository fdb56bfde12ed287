"""What every worker of a server hears: changes, cancellations, sessions that ended.

Rule: one topic of the hub for a server and one listener for a worker, however many streams are open. A worker hears what it says
itself, too. Nobody looks whether something has come; the hub wakes whoever waits.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from mcp_contract import Json, JsonObject

if TYPE_CHECKING:
    from mcp_anyrev.storage import Hub

log = logging.getLogger("mcp_anyrev.server")

_WAIT_SECONDS = 3600.0
_LONGEST_PAUSE_SECONDS = 10.0
_MOST_PENDING = 1_000


class Bus:
    """One worker's end of it.

    Args:
        hub: carries it.
        topic: the server's topic.
        hear: takes each message, one after the other.
    """

    def __init__(self, hub: Hub, topic: str, hear: Callable[[JsonObject], Awaitable[None]]) -> None:
        self._hub = hub
        self._topic = topic
        self._hear = hear
        self._loop: asyncio.AbstractEventLoop | None = None
        self._listening: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self._pending: list[Json] = []
        self._sending: asyncio.Task[None] | None = None

    @property
    def started(self) -> bool:
        """Does this worker listen?"""
        return self._listening is not None

    def start(self) -> None:
        """Begin to listen, in the running event loop; nothing happens where that has been done."""
        loop = asyncio.get_running_loop()
        if self._listening is None or self._loop is not loop:
            self._loop = loop
            self._ready = asyncio.Event()
            self._listening = loop.create_task(self._listen())

    async def ready(self) -> None:
        """Return once nothing that is said from then on is missed."""
        self.start()
        await self._ready.wait()

    async def say(self, message: JsonObject) -> None:
        """Tell all workers."""
        await self._hub.publish(self._topic, message)

    def say_soon(self, message: JsonObject) -> None:
        """Tell all workers, from any thread. What is said several times at once is told once.

        Where this worker has not begun to listen, it has told nobody about anything yet, and nothing happens.
        """
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._collect, message)

    async def stop(self) -> None:
        """Listen no longer."""
        tasks = [task for task in (self._listening, self._sending) if task is not None]
        self._listening = self._sending = None
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _collect(self, message: JsonObject) -> None:
        if message in self._pending or len(self._pending) >= _MOST_PENDING:
            return
        self._pending.append(message)
        if self._sending is None or self._sending.done():
            self._sending = asyncio.ensure_future(self._send())

    async def _send(self) -> None:
        while self._pending:
            pending, self._pending = self._pending, []
            for message in pending:
                try:
                    await self._hub.publish(self._topic, message)
                except Exception:
                    log.exception("a message to all workers was lost")

    async def _listen(self) -> None:
        pause = 0.0
        while True:
            try:
                async with self._hub.listen(self._topic) as listener:
                    self._ready.set()
                    while True:
                        message = await listener.next(_WAIT_SECONDS)
                        pause = 0.0
                        if isinstance(message, dict):
                            await self._heard(message)
            except Exception:
                log.exception("the hub cannot be listened to; trying again in %g s", pause)
            await asyncio.sleep(pause)
            pause = min(max(2 * pause, 0.1), _LONGEST_PAUSE_SECONDS)

    async def _heard(self, message: JsonObject) -> None:
        try:
            await self._hear(message)
        except Exception:
            log.exception("a message to all workers was not understood")
