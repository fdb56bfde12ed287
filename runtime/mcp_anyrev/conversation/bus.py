"""What workers of a server say to each other: changes, cancellations, answers, sessions that ended.

Rule: one topic of the hub for a server and one for each worker, however many streams are open. A worker hears what it says to all
itself, too, and all of them hear that in the same order. Nobody looks whether something has come; the hub wakes whoever waits. A
message has one member, whose name says whom on a worker it is for.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from mcp_contract import JsonObject, Unavailable
from pydantic_core import from_json, to_json

from mcp_anyrev.storage.keys import Key, key, name_of, new_name

if TYPE_CHECKING:
    from mcp_anyrev.storage.protocols import Hub

log = logging.getLogger("mcp_anyrev.server")

Hear = Callable[[Any], Awaitable[None]]
"""Takes what stands under the member of a message."""

MISSED = "missed"
"""What is heard where it is not known what all the others have heard."""

OWNER = "server"
"""Whose budget of the hub a server's own topics count against."""

_ANYTHING = to_json({MISSED: None})

_WAIT_SECONDS = 60.0
_READY_SECONDS = 5.0
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 10.0
_MOST_PENDING = 10_000
"""How many messages wait to be told at once; where there are more, all others are told that anything may have changed."""


class Bus:
    """One worker's end of it.

    Args:
        hub: carries it.
        server: the server's name.

    Attributes:
        worker: the name of this worker, which nobody can guess.
    """

    def __init__(self, hub: Hub, server: str) -> None:
        self.worker = new_name()
        self._hub = hub
        self._topics = (key("server", name_of(server)), _topic_of(self.worker))
        self._hearing: dict[str, list[Hear]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._listening: list[asyncio.Task[None]] = []
        self._ready: list[asyncio.Event] = []
        self._pending: dict[bytes, None] = {}
        self._sending: asyncio.Task[None] | None = None

    def hear(self, member: str, hear: Hear) -> None:
        """Have the messages with a member brought to somebody, one after the other."""
        self._hearing.setdefault(member, []).append(hear)

    @property
    def started(self) -> bool:
        """Does this worker listen?"""
        return bool(self._listening)

    def start(self) -> None:
        """Begin to listen, in the running event loop; nothing happens where that has been done."""
        if self._listening and self._loop is asyncio.get_running_loop():
            return
        self._loop = loop = asyncio.get_running_loop()
        self._ready = [asyncio.Event() for _ in self._topics]
        self._listening = [
            loop.create_task(self._listen(topic, ready)) for topic, ready in zip(self._topics, self._ready, strict=True)
        ]

    async def ready(self) -> None:
        """Return once nothing that is said from then on is missed.

        Raises:
            Unavailable: the hub cannot be reached.
        """
        self.start()
        try:
            async with asyncio.timeout(_READY_SECONDS):
                for ready in self._ready:
                    await ready.wait()
        except TimeoutError:
            raise Unavailable("changes cannot be listened for now") from None

    async def say(self, message: JsonObject) -> None:
        """Tell all workers."""
        await self._hub.publish(self._topics[0], to_json(message))

    async def say_to(self, worker: str, message: JsonObject) -> None:
        """Tell one worker; nothing happens where there is none of this name, which may come from anywhere."""
        with contextlib.suppress(ValueError):
            await self._hub.publish(_topic_of(worker), to_json(message))

    def say_soon(self, message: JsonObject) -> None:
        """Tell all workers, from any thread. What is said several times at once is told once; it waits until it can be told.

        Where this worker has not begun to listen, it has told nobody about anything yet, and nothing happens.
        """
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._collect, to_json(message))

    async def stop(self) -> None:
        """Listen no longer."""
        tasks = [*self._listening, *(() if self._sending is None else (self._sending,))]
        self._listening, self._sending = [], None
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        try:
            await self._hub.close(self._topics[1])
        except Unavailable as reason:
            log.error("the hub keeps the messages to this worker for a while: %s", reason)

    def _collect(self, message: bytes) -> None:
        if len(self._pending) >= _MOST_PENDING:
            log.warning("more than %d changes at once are told as one: anything may have changed", _MOST_PENDING)
            self._pending = {_ANYTHING: None}
        if _ANYTHING not in self._pending:
            self._pending[message] = None
        if self._sending is None or self._sending.done():
            self._sending = asyncio.ensure_future(self._send())

    async def _send(self) -> None:
        pause = 0.0
        while self._pending:
            message = next(iter(self._pending))
            del self._pending[message]  # said again from now on, it is told again
            try:
                await self._hub.publish(self._topics[0], message)
                pause = 0.0
            except Exception:
                pause = min(max(2 * pause, _FIRST_PAUSE_SECONDS), _LONGEST_PAUSE_SECONDS)
                log.exception("a change cannot be told to all workers; trying again in %g s", pause)
                self._collect(message)
            await asyncio.sleep(pause)  # so that whoever hears it can keep up

    async def _listen(self, topic: Key, ready: asyncio.Event) -> None:
        position, pause, lost = "", 0.0, False
        while True:
            try:
                if not position:
                    position = await self._hub.open(topic, owner=OWNER)
                ready.set()
                if lost:
                    log.error("messages of other workers were lost, since they were not kept until this one read them")
                    await self._tell(MISSED, None)
                    lost = False
                reading = await self._hub.read(topic, position, _WAIT_SECONDS)
                pause = 0.0
                lost = reading is None or reading.missed
                position = "" if reading is None else reading.position
                for message in () if reading is None else reading.messages:
                    await self._heard(message.body)
            except Exception:
                log.exception("the hub cannot be listened to; trying again in %g s", pause)
                await asyncio.sleep(pause)
                pause = min(max(2 * pause, _FIRST_PAUSE_SECONDS), _LONGEST_PAUSE_SECONDS)

    async def _heard(self, body: bytes) -> None:
        try:
            for member, said in from_json(body).items():
                await self._tell(member, said)
        except Exception:
            log.exception("a message to all workers was not understood")

    async def _tell(self, member: str, said: Any) -> None:
        for hear in self._hearing.get(member, ()):
            await hear(said)


def _topic_of(worker: str) -> Key:
    return key("worker", worker)
