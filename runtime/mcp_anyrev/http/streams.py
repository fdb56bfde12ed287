"""Streams that any worker can write on, and any worker can read out: each is a topic of the hub.

Rule: the position of a message on the topic is in the id of its event, and an id names a stream of one session: in another session the
same id leads nowhere. One reads at a time; who comes last is it. Whoever writes waits for whoever reads, so nothing is dropped that
must arrive: a stream whose messages cannot be kept ends, with a line in the log.
Specification: basic/transports#resumability-and-redelivery
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import sys
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from mcp_contract import Busy, Unavailable

from mcp_anyrev.conversation.amounts import Amount
from mcp_anyrev.events import KEEP_ALIVE, event, opening_event
from mcp_anyrev.storage.keys import Key, key, name_of
from mcp_anyrev.storage.protocols import Message

if TYPE_CHECKING:
    from mcp_anyrev.conversation.bus import Bus
    from mcp_anyrev.conversation.outbox import Lost
    from mcp_anyrev.conversation.sessions import Session
    from mcp_anyrev.http.request import HttpRequest
    from mcp_anyrev.http.resumption import Streams
    from mcp_anyrev.settings import Limits
    from mcp_anyrev.storage.protocols import Hub

log = logging.getLogger("mcp_anyrev.server")

_END = b"end"
_OPENING = b"opening "
"""What stands on a topic beside messages, which are JSON: that nothing more comes, and after how long to come back."""

READING, LEFT, RELEASE, WRITING = "reading", "left", "release", "writing"
"""What workers say to each other of a topic: who reads it and how far, that they do no longer, that its reader is to go, and that a
reply is being written on it."""

_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 5.0

_OF_SESSION, _OF_REPLY = "s", "r"
"""What the name of a stream begins with, by what it is."""


class Named(NamedTuple):
    """A stream of a session.

    Attributes:
        name: names it within its session; event ids begin with it.
        topic: what carries it.
        of_session: is it one of the session as a whole, and not that of a reply?
    """

    name: str
    topic: Key
    of_session: bool

    def numbered(self, message: Message) -> bytes:
        """The event that carries a message of the topic, with its id."""
        identifier = f"{self.name}.{message.position}"
        if message.body.startswith(_OPENING):
            return opening_event(identifier, int(message.body.removeprefix(_OPENING)))
        return event(message.body, identifier)


def opening(retry: int) -> bytes:
    """What stands on a topic for the event that opens a stream, and says after how many milliseconds to take it up again."""
    return _OPENING + b"%d" % retry


def unnumbered(message: Message) -> bytes:
    """The event that carries a message of a topic, for a revision whose events have no ids."""
    return event(message.body)


def named(session: Session, name: str = "", *, of_session: bool = False) -> Named:
    """A stream of a session: the one that has a name, or a new one.

    Args:
        session: whose it is.
        name: its name, from anywhere; empty for a new one.
        of_session: is a new one that of the session as a whole?
    """
    name = name or (_OF_SESSION if of_session else _OF_REPLY) + secrets.token_urlsafe(9)
    return Named(name, key("stream", name_of(f"{session.name}/{name}")), name.startswith(_OF_SESSION))


class Stream:
    """A stream as who writes on it has it; see `Ending`.

    Args:
        hub: what carries it.
        bus: reaches who reads it on another worker.
        topic: which it is.
        limits: how much may have been published and not read, and how much may wait for that beside it.
        unread: what waits for all readers of this worker.
        patience: for how many seconds it goes on while nobody reads and there is no room.
    """

    __slots__ = (
        "__weakref__",
        "_attended",
        "_bus",
        "_ended",
        "_hub",
        "_losing",
        "_moved",
        "_patience",
        "_same",
        "_unread",
        "_unread_amount",
        "_waiting",
        "_waiting_amount",
        "_writing",
        "closed",
        "topic",
    )

    def __init__(self, hub: Hub, bus: Bus, topic: Key, limits: Limits, unread: Amount, patience: float) -> None:
        self.topic = topic
        self.closed = False
        self._hub = hub
        self._bus = bus
        self._losing: set[Lost] = set()
        self._patience = patience
        self._waiting: deque[tuple[bytes, str | None]] = deque()
        self._same: set[str] = set()
        self._waiting_amount = Amount(limits.queue_bytes, limits.queue, unread)
        self._unread: dict[str, int] = {}
        self._unread_amount = Amount(limits.queue_bytes, limits.queue)
        self._attended = True
        self._ended = False
        self._moved: asyncio.Future[None] | None = None
        self._writing: asyncio.Task[None] | None = None

    @property
    def ended(self) -> bool:
        """Has its last message been put on its way?"""
        return self._ended or self.closed

    def is_attended(self) -> bool:
        """Does somebody read, as far as is known here?"""
        return self._attended

    def attend(self, attended: bool) -> None:
        """Note that somebody reads, or nobody does."""
        self._attended = attended
        self._move()

    def send(self, message: bytes, same: str | None = None) -> None:
        """See `Outbox.send`."""
        if self._ended or (same is not None and same in self._same):
            return
        self._put(message, same)

    def end(self, message: bytes | None) -> None:
        """See `Ending.end`."""
        if message is not None:
            self.send(message)
        if not self._ended:
            self._ended = True
            self._put(_END, None)
            self._move()

    async def room(self) -> bool:
        """See `Outbox.room`."""
        while not self.closed:
            if not self._attended:
                return not (self._waiting_amount.full or self._unread_amount.full)
            if not self._waiting_amount.full:
                return True
            await self._movement()
        return False

    def release(self, retry: int) -> None:
        """See `Outbox.release`."""
        self._bus.say_soon({RELEASE: [self.topic, retry]})

    def was_read(self, position: str) -> bool:
        """Note how far a reader has got; False where that was not written from here."""
        if position not in self._unread:
            return False
        while position in self._unread:
            self._unread_amount.remove(self._unread.pop(next(iter(self._unread))))
        self._move()
        return True

    def abandon(self) -> None:
        """Nothing more goes anywhere."""
        self.closed = True
        self._waiting.clear()
        self._waiting_amount.clear()
        self._same.clear()
        self._move()
        losing, self._losing = self._losing, set()
        for lost in losing:
            lost()

    def watch(self, lost: Lost) -> None:
        """See `Outbox.watch`."""
        if self.closed:
            lost()
        else:
            self._losing.add(lost)

    def unwatch(self, lost: Lost) -> None:
        """See `Outbox.unwatch`."""
        self._losing.discard(lost)

    def _put(self, body: bytes, same: str | None) -> None:
        if self.closed:
            return
        if same is not None:
            self._same.add(same)
        if self._waiting_amount.overflowing:
            self._overflow()
            return
        self._waiting.append((body, same))
        self._waiting_amount.add(len(body))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.ensure_future(self._write())

    def _overflow(self) -> None:
        log.error("a stream was ended, since %d bytes wait to be read", self._waiting_amount.bytes)
        self.abandon()
        self._writing = asyncio.ensure_future(self._close(self._writing))

    async def _close(self, writing: asyncio.Task[None] | None) -> None:
        """Have the hub forget the stream, so that whoever reads it sees its end."""
        if writing is not None:
            writing.cancel()
        loop, pause = asyncio.get_running_loop(), _FIRST_PAUSE_SECONDS
        end = loop.time() + self._patience
        while True:
            try:
                return await self._hub.close(self.topic)
            except Unavailable:  # whoever reads it waits for ever, should the hub come back and nobody tell it
                if loop.time() > end:
                    return
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    async def _write(self) -> None:
        try:
            while self._waiting:
                if not await self._read_in_time(self._waiting[0][1] is not None):
                    raise TimeoutError("nobody read it for too long")
                if not self._waiting:
                    return
                body, same = self._waiting.popleft()
                self._waiting_amount.remove(len(body))
                self._same.discard(same or "")
                position = await self._hub.publish(self.topic, body)
                if position is None:  # whoever reads it has gone for good
                    self.abandon()
                elif body is not _END:
                    self._unread[position] = len(body)
                    self._unread_amount.add(len(body))
                self._move()
        except Exception as reason:
            log.error("a stream was ended, since its messages cannot be kept: %s", reason)
            self.abandon()
            await self._close(None)

    async def _read_in_time(self, coalesces: bool) -> bool:
        """Wait until there is room for another message; False where nothing moved for too long.

        Where nobody reads, nobody is waited for, unless what waits may become less: the hub keeps it then, and counts it.
        """
        while self._unread_amount.full and not self.closed and (self._attended or (coalesces and not self._ended)):
            try:
                async with asyncio.timeout(self._patience):
                    await self._movement()
            except TimeoutError:
                return False
        return True

    async def _movement(self) -> None:
        if self._moved is None or self._moved.done():
            self._moved = asyncio.get_running_loop().create_future()
        await asyncio.wait((self._moved,))

    def _move(self) -> None:
        if self._moved is not None and not self._moved.done():
            self._moved.set_result(None)


class Reader:
    """Who reads a stream.

    Args:
        streams: all of them.
        topic: which it is.
        request: where to, once its head has gone out.
        written: from a message of the topic to the event that carries it.
        of_reply: is it the stream of one reply, so that it ends when whoever writes that has been killed?
    """

    __slots__ = (
        "_asked",
        "_held",
        "_leaving",
        "_of_reply",
        "_request",
        "_retry",
        "_streams",
        "_task",
        "_written",
        "elsewhere",
        "gone",
        "token",
        "topic",
        "written_at",
    )

    def __init__(
        self,
        streams: Streams,
        topic: Key,
        request: HttpRequest,
        written: Callable[[Message], bytes],
        of_reply: bool = False,
    ) -> None:
        self.topic = topic
        self.token = secrets.token_urlsafe(9)
        self.elsewhere = False
        """May somebody write on it on another worker?"""
        self.gone = False
        """Is the client there no longer?"""
        self.written_at = asyncio.get_running_loop().time()
        """When the last message was written, by the clock of the event loop."""
        self._held = Amount(sys.maxsize, within=streams.unread)
        self._streams = streams
        self._request = request
        self._written = written
        self._task: asyncio.Task[object] | None = None
        self._leaving = False
        self._retry: int | None = None
        self._of_reply = of_reply
        self._asked = False

    def is_written(self) -> None:
        """Note that somebody still writes on it."""
        self._asked = False

    def leave(self, retry: int | None = None) -> None:
        """Stop reading; with `retry`, tell the client to come back after so many milliseconds."""
        if not self._leaving:
            self._leaving, self._retry = True, retry
            if self._task is not None:
                self._task.cancel()

    async def read_out(self, after: str, silence: float) -> bool:
        """Write events, until the stream ends, the client has gone, or this reader has to leave.

        Args:
            after: the position of the last message that is not needed; empty for none.
            silence: after how many seconds without an event a comment is written.

        Returns:
            Has the stream ended?
        """
        self._task = asyncio.current_task()
        watching = asyncio.ensure_future(self._watch())
        ended = False
        try:
            ended = self._leaving or await self._read(after, silence)
        except ConnectionError:
            self.gone = True
        except (Busy, Unavailable) as reason:
            log.error("a stream was ended, since it cannot be read: %s", reason)
            ended = True
        except asyncio.CancelledError:
            if not self._leaving or self._task is None or self._task.uncancel():
                raise
        finally:
            self._task = None
            self._held.clear()
            watching.cancel()
            await self._streams.left(self)
        if self._retry is not None and not self.gone:
            with contextlib.suppress(ConnectionError):
                await self._request.write(b"retry: %d\n\n" % self._retry)
        return ended and not self._leaving

    async def _read(self, after: str, silence: float) -> bool:
        position, unsaid = after, 0
        while True:
            reading = await self._streams.hub.read(self.topic, position, silence)
            if reading is None:
                return True
            if reading.missed:
                log.error("a stream was ended, since some of its messages were not kept until they were read")
                return True
            position = reading.position
            if not reading.messages:
                if not await self._still_written(position):
                    log.error("a stream was ended, since the worker that wrote the reply is gone")
                    await self._streams.close(self.topic)
                    return True
                await self._request.write(KEEP_ALIVE)
                continue
            messages = deque(reading.messages)
            del reading  # the hub may let go what is still to be written, so it counts as unread while it is held here
            for message in messages:
                self._held.add(len(message.body))
            while messages:
                message = messages.popleft()
                if message.body == _END:
                    return True
                await self._request.write(self._written(message))
                self._held.remove(len(message.body))
                self.written_at = asyncio.get_running_loop().time()
                unsaid += not self._streams.was_read(self.topic, message.position)
            if unsaid >= self._streams.often:
                unsaid = 0
                await self._streams.tell(self, position)

    async def _still_written(self, position: str) -> bool:
        """Ask whether somebody writes; False where nobody has said so since that was asked last."""
        if not self._of_reply or not self.elsewhere:
            return True
        if self._asked:
            return False
        with contextlib.suppress(Unavailable):  # then nobody can answer, either
            await self._streams.ask(self, position)
            self._asked = True
        return True

    async def _watch(self) -> None:
        await self._request.gone()
        self.gone = True
        self.leave()
