"""Taking up streams again, on whichever worker: what of all streams is on this one.

Rule: an id resumes the very stream that it was given out on, in its own session. Who writes and who reads know of each other, across
workers, so that one reads at a time and nothing is written too far ahead of it.
Specification: basic/transports#resumability-and-redelivery
"""

from __future__ import annotations

import contextlib
import logging
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING

from mcp_contract import Json, Unavailable

from mcp_anyrev.http.streams import LEFT, READING, RELEASE, WRITING, Named, Reader, Stream, named, opening
from mcp_anyrev.storage.keys import Key
from mcp_anyrev.storage.protocols import Message

if TYPE_CHECKING:
    from mcp_anyrev.conversation.sessions import Session
    from mcp_anyrev.http.request import HttpRequest
    from mcp_anyrev.server.core import Core

log = logging.getLogger("mcp_anyrev.server")

_LONGEST_IDENTIFIER = 256


class Streams:
    """What of all streams is on this worker.

    Args:
        core: the server.

    Attributes:
        hub: what carries them.
        unread: what waits for all readers of this worker.
        often: after how many messages a reader says how far it has got, if somebody writes on another worker.
        retry: after how many milliseconds a client takes a stream up again that ended early, where nothing else is said.
    """

    def __init__(self, core: Core) -> None:
        self.hub = core.hub
        self.unread = core.unread
        self.often = max(1, core.settings.limits.queue // 4)
        self.retry = round(core.settings.retry_seconds * 1000)
        self._bus = core.bus
        self._limits = core.settings.limits
        self._patience = core.settings.kept_seconds
        self._written: weakref.WeakValueDictionary[Key, Stream] = weakref.WeakValueDictionary()
        self._replies: weakref.WeakValueDictionary[Key, Stream] = weakref.WeakValueDictionary()
        self._read: dict[Key, Reader] = {}
        core.bus.hear(READING, self._heard_reading)
        core.bus.hear(LEFT, self._heard_left)
        core.bus.hear(RELEASE, self._heard_release)
        core.bus.hear(WRITING, self._heard_writing)

    async def open(self, topic: Key, owner: str) -> Stream:
        """Begin a topic, or join one that has begun, to write on it.

        Raises:
            Busy: the owner has too many.
            Unavailable: there is no room for any more.
        """
        await self.hub.open(topic, owner=owner)
        return self.joined(topic)

    def joined(self, topic: Key) -> Stream:
        """A stream to write on, which somebody has opened, on whichever worker that was."""
        stream = self._written.get(topic)
        if stream is None or stream.closed:
            stream = self._written[topic] = Stream(
                self.hub, self._bus, topic, self._limits, self.unread, self._patience
            )
        return stream

    async def begin(self, its: Named, owner: str, retry: int | None) -> tuple[Stream, Message | None]:
        """Begin a stream of a session.

        Args:
            its: which.
            owner: whose budget it counts against.
            retry: after how many milliseconds to take it up again, where it begins with an event that says so.

        Returns:
            The stream to write on, and what it begins with.

        Raises:
            Busy: the owner has too many.
            Unavailable: there is no room for any more.
        """
        stream = await self.open(its.topic, owner)
        if not its.of_session:
            self._replies[its.topic] = stream
        if retry is None:
            return stream, None
        body = opening(retry)
        position = await self.hub.publish(its.topic, body)
        return stream, None if position is None else Message(position, body)

    async def found(self, session: Session, identifier: str) -> tuple[Named, str] | None:
        """The stream that an event id names in a session, and the position; None where there is none, or no longer."""
        name, _, position = identifier.rpartition(".")
        if not name or not position or len(identifier) > _LONGEST_IDENTIFIER or not identifier.isascii():
            return None
        stream = named(session, name)
        reading = await self.hub.read(stream.topic, position, 0)
        if reading is not None and reading.missed:
            log.error(
                "a stream is not taken up again, since what followed the event %r is not kept any longer", identifier
            )
            return None
        return None if reading is None else (stream, position)

    def reader(
        self, topic: Key, request: HttpRequest, written: Callable[[Message], bytes], *, of_reply: bool = False
    ) -> Reader:
        """Who reads a stream from now on, see `Reader`; who did so before on this worker leaves."""
        before, self._read[topic] = self._read.get(topic), Reader(self, topic, request, written, of_reply)
        if before is not None:
            before.leave()
        self._attend(topic, True)
        return self._read[topic]

    async def tell(self, reader: Reader, position: str | None) -> None:
        """Say on all workers that this one reads now, and how far it has got."""
        reader.elsewhere = True
        await self._bus.say({READING: [reader.topic, reader.token, position]})

    async def ask(self, reader: Reader, position: str) -> None:
        """Have whoever writes the reply that this one reads say so.

        Raises:
            Unavailable: nobody can be asked, or what they say could not be heard.
        """
        await self._bus.ready()
        await self.tell(reader, position)

    def is_read(self, topic: Key) -> bool:
        """Does somebody read a stream on this worker?"""
        return topic in self._read

    def was_read(self, topic: Key, position: str) -> bool:
        """Note how far a reader has got; False where that was not written from here."""
        stream = self._written.get(topic)
        return stream is not None and stream.was_read(position)

    async def left(self, reader: Reader) -> None:
        """A reader reads no longer."""
        if self._read.get(reader.topic) is reader:
            del self._read[reader.topic]
            self._attend(reader.topic, False)
            if reader.elsewhere:
                with contextlib.suppress(Unavailable):  # it is in the log, and whoever writes has only so much patience
                    await self._bus.say({LEFT: reader.topic})

    async def close(self, topic: Key) -> None:
        """Forget a stream, and whoever reads it leaves."""
        stream = self._written.pop(topic, None)
        if stream is not None:
            stream.abandon()
        with contextlib.suppress(Unavailable):  # the hub forgets it by itself
            await self.hub.close(topic)

    def _attend(self, topic: Key, attended: bool) -> None:
        stream = self._written.get(topic)
        if stream is not None:
            stream.attend(attended)

    async def _heard_reading(self, said: list[Json]) -> None:
        topic, token, position = said
        if topic in self._replies and not self._replies[topic].closed:
            await self._bus.say({WRITING: topic})
        reader = self._read.get(topic)
        if reader is not None and reader.token == token:
            return
        if reader is not None and position is None:
            reader.leave()
        self._attend(topic, True)
        if position is not None:
            self.was_read(topic, position)

    async def _heard_left(self, topic: Key) -> None:
        if topic not in self._read:
            self._attend(topic, False)

    async def _heard_writing(self, topic: Key) -> None:
        reader = self._read.get(topic)
        if reader is not None:
            reader.is_written()

    async def _heard_release(self, said: list[Json]) -> None:
        topic, retry = said
        reader = self._read.get(topic)
        if reader is not None:
            reader.leave(retry)
