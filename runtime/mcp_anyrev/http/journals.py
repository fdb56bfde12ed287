"""Streams that can be taken up again: what has been sent on them, numbered, for one reader at a time.

Rule: an event belongs to one stream of one session, and its id says which; an id that was never given out there names nothing.
Bounded in streams, in events and in bytes; the longest untouched goes first.
Specification: basic/transports#resumability-and-redelivery
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from typing import Protocol

from mcp_anyrev.events import KEEP_ALIVE, event

_MOST_DIGITS = 15
_NAME_LENGTH = len(secrets.token_urlsafe(6) + secrets.token_urlsafe(9))


class Writing(Protocol):
    """As much of a line as a journal needs."""

    async def write(self, piece: bytes) -> None:
        """See `Line.write`."""
        ...


class Journal:
    """One stream.

    Args:
        name: names the stream within its session.
        numbered: do its events carry ids?
        limit: the most events that are kept for a reader who comes back.
        queue: the most events that wait for the reader who is there.
        grown: called with the number of bytes that came, or went, and with 0 when the reader leaves.
    """

    __slots__ = (
        "_events",
        "_grown",
        "_last",
        "_limit",
        "_numbered",
        "_queue",
        "_read",
        "_reader",
        "_retry",
        "_space",
        "_waiter",
        "ended",
        "name",
    )

    def __init__(
        self, name: str, numbered: bool, limit: int, queue: int, grown: Callable[[Journal, int], None]
    ) -> None:
        self.name = name
        self.ended = False
        self._numbered = numbered
        self._limit = limit
        self._queue = queue
        self._grown = grown
        self._events: deque[bytes] = deque()
        self._last = 0
        self._read = 0
        self._reader: object | None = None
        self._retry: int | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._space: asyncio.Future[None] | None = None

    @property
    def connected(self) -> bool:
        """Is somebody reading?"""
        return self._reader is not None

    @property
    def size(self) -> int:
        """How many bytes are kept."""
        return sum(map(len, self._events))

    def issued(self, number: int) -> bool:
        """Has an event of this number been given out? 0 is the one that opens a stream."""
        return 0 <= number <= self._last

    def add(self, message: bytes) -> None:
        """Put a message on the stream, unless that has ended."""
        if self.ended:
            return
        self._last += 1
        self._events.append(message)
        growth = len(message)
        while len(self._events) > (2 * self._queue if self._unread_first() else self._limit):  # not all wait for room
            growth -= len(self._events.popleft())
        self._grown(self, growth)
        _wake(self._waiter)

    def _unread_first(self) -> bool:
        """Does somebody read, who has not got to the first of the kept events?"""
        return self._reader is not None and self._read <= self._last - len(self._events)

    def end(self) -> None:
        """Nothing more will come; whoever reads leaves once it has all."""
        self.ended = True
        _wake(self._waiter)
        _wake(self._space)

    def release(self, retry: int) -> None:
        """Send whoever reads away, to come back after so many milliseconds."""
        if self._reader is not None:
            self._retry = retry
            _wake(self._waiter)

    def forget(self) -> None:
        """Keep nothing of what has been sent."""
        self._events.clear()

    async def room(self) -> None:
        """Wait until whoever reads is not too far behind."""
        while self._reader is not None and not self.ended and self._last - self._read >= self._queue:
            if self._space is None or self._space.done():
                self._space = asyncio.get_running_loop().create_future()
            await asyncio.wait((self._space,))

    def attach(self) -> object:
        """Become the reader; whoever was it leaves. Gives what `read_out` and `detach` know it by."""
        self._reader = reader = object()
        self._retry = None
        _wake(self._waiter)
        return reader

    def detach(self, reader: object) -> None:
        """Be the reader no longer; nothing happens where somebody else is."""
        if self._reader is reader:
            self._reader = None
            self._grown(self, 0)
            _wake(self._waiter)
            _wake(self._space)

    async def read_out(self, reader: object, after: int, line: Writing, silence: float) -> None:
        """Write events, until the stream ends or the reader has to leave.

        Args:
            reader: what `attach` gave.
            after: the number of the last event that is not needed.
            line: where to.
            silence: after how many seconds without an event a comment is written.

        Raises:
            ConnectionError: nobody is there.
        """
        self._read = after
        try:
            while self._reader is reader:
                if self._read < self._last:
                    lost = self._last - len(self._events)
                    self._read = max(self._read, lost) + 1
                    message = self._events[self._read - lost - 1]
                    _wake(self._space)
                    await line.write(event(message, f"{self.name}.{self._read}" if self._numbered else None))
                elif self.ended:
                    return
                elif self._retry is not None:
                    await line.write(b"retry: %d\n\n" % self._retry)
                    return
                elif not await self._wait(silence):
                    await line.write(KEEP_ALIVE)
        finally:
            self.detach(reader)

    async def _wait(self, seconds: float) -> bool:
        self._waiter = waiter = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(seconds):
                await waiter
        except TimeoutError:
            return False
        return True


class Journals:
    """The journals of all sessions, as far as they are kept.

    Args:
        streams: the most that are kept.
        streams_of_session: the most of one session.
        events: the most events of one stream that are kept for a reader who comes back.
        queue: the most events of one stream that wait for the reader who is there.
        total_bytes: the most bytes of all.
        ttl: for how many seconds after its last event one is kept.
        clock: seconds that only go up.
    """

    def __init__(
        self,
        streams: int,
        streams_of_session: int,
        events: int,
        queue: int,
        total_bytes: int,
        ttl: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._streams = streams
        self._streams_of_session = streams_of_session
        self._events = events
        self._queue = max(queue, events)
        self._most_bytes = total_bytes
        self._ttl = ttl
        self._clock = clock
        self._worker = secrets.token_urlsafe(6)
        self._bytes = 0
        self._kept: OrderedDict[str, tuple[str, float, Journal]] = OrderedDict()
        self._of_session: dict[str, deque[str]] = {}

    def open(self, session: str, numbered: bool = True) -> Journal:
        """A new journal of a session; with ids, or without."""
        now = self._clock()
        self._expire(now)
        if len(self._kept) >= self._streams:
            self._drop(self._least_needed(self._kept))
        if len(self._of_session.get(session, ())) >= self._streams_of_session:
            self._drop(self._least_needed(self._of_session[session]))
        names = self._of_session.setdefault(session, deque())
        journal = Journal(self._worker + secrets.token_urlsafe(9), numbered, self._events, self._queue, self._grew)
        names.append(journal.name)
        self._kept[journal.name] = (session, now, journal)
        return journal

    def find(self, session: str, identifier: str) -> tuple[Journal, int] | None:
        """The journal, and the number of the event, that an id of this session names."""
        name, _, digits = identifier.rpartition(".")
        kept = self._kept.get(name)
        if kept is None or kept[0] != session or not _is_number(digits):
            return None
        return (kept[2], int(digits)) if kept[2].issued(int(digits)) else None

    def may_be_elsewhere(self, identifier: str) -> bool:
        """Does an id look like one that another worker has given out?"""
        name, _, digits = identifier.rpartition(".")
        return len(name) == _NAME_LENGTH and not name.startswith(self._worker) and _is_number(digits)

    def forget_session(self, session: str) -> None:
        """Keep nothing of a session, and end its streams."""
        for name in list(self._of_session.get(session, ())):
            self._kept[name][2].end()
            self._drop(name)

    def _expire(self, now: float) -> None:
        """Drop what nobody has read or written for long enough."""
        while self._kept:
            name, (session, touched, journal) = next(iter(self._kept.items()))
            if touched + self._ttl >= now:
                return
            if journal.connected:
                self._kept[name] = (session, now, journal)
                self._kept.move_to_end(name)
            else:
                self._drop(name)

    def _least_needed(self, names: Iterable[str]) -> str:
        """The oldest that nobody reads; if all are read, the oldest."""
        oldest = list(names)
        return next((name for name in oldest if not self._kept[name][2].connected), oldest[0])

    def _grew(self, journal: Journal, by: int) -> None:
        kept = self._kept.get(journal.name)
        if kept is None:
            return
        self._bytes += by
        self._kept[journal.name] = (kept[0], self._clock(), journal)
        self._kept.move_to_end(journal.name)
        while self._bytes > self._most_bytes and len(self._kept) > 1:
            self._drop(next(iter(self._kept)))

    def _drop(self, name: str) -> None:
        session, _, journal = self._kept.pop(name)
        self._bytes -= journal.size
        names = self._of_session[session]
        names.remove(name)
        if not names:
            del self._of_session[session]


def _is_number(digits: str) -> bool:
    return digits.isascii() and digits.isdecimal() and len(digits) <= _MOST_DIGITS


def _wake(waiter: asyncio.Future[None] | None) -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)
