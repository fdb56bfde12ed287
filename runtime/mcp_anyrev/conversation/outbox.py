"""Messages on their way to a peer that are no responses, or come before one.

Rule: what must arrive is never dropped: it waits, and of changes that say the same only one does. Only reports may be left out, by who
makes them, so they ask for room first.
Specification: basic/transports#sending-messages-to-the-server
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Protocol


class Outbox(Protocol):
    """Where a conversation puts messages."""

    def send(self, message: bytes, same: str | None = None) -> None:
        """Put a message on its way; to nowhere, if nobody will read it.

        Args:
            message: the message as JSON.
            same: what it says; while one that says the same still waits, it is not put there a second time.
        """
        ...

    async def room(self) -> bool:
        """Wait until a report has room; False where it is to be left out, since nobody reads."""
        ...

    def release(self, retry: int) -> None:
        """Have the stream closed before its end, for the peer to take it up again after so many milliseconds, if it can."""
        ...


class Ending(Outbox, Protocol):
    """One that has an end."""

    def end(self, message: bytes | None) -> None:
        """Put the last message on its way, or none; whatever comes after it goes nowhere."""
        ...


class Queue:
    """Messages of one reply, until there is a stream that they go to.

    Args:
        limit: the most that wait, so that there is room for another report.
        resumable: may its stream be closed early, and be taken up again?
    """

    __slots__ = (
        "_limit",
        "_messages",
        "_same",
        "_space",
        "_stream",
        "_waiter",
        "closed",
        "ended",
        "resumable",
        "retry",
        "used",
    )

    def __init__(self, limit: int, resumable: bool = False) -> None:
        self.resumable = resumable
        self.retry: int | None = None
        """What `release` was told, before there was a stream to close."""
        self.closed = False
        self.ended = False
        self.used = False
        """Has anything been sent?"""
        self._limit = limit
        self._messages: deque[tuple[bytes, str | None]] | None = None
        self._same: set[str] | None = None
        self._stream: Ending | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._space: asyncio.Future[None] | None = None

    def __bool__(self) -> bool:
        return bool(self._messages)

    def send(self, message: bytes, same: str | None = None) -> None:
        """See `Outbox.send`."""
        if self.closed or self.ended:
            return
        self.used = True
        if self._stream is not None:
            self._stream.send(message, same)
            return
        if self._messages is None:
            self._messages, self._same = deque(), set()
        if same is not None and self._same is not None:
            if same in self._same:
                return
            self._same.add(same)
        self._messages.append((message, same))
        self.wake()

    def end(self, message: bytes | None) -> None:
        """See `Ending.end`."""
        if self._stream is not None:
            self._stream.end(message)
        elif message is not None:
            self.send(message)
        self.ended = True
        self._make_space()
        self.wake()

    def release(self, retry: int) -> None:
        """See `Outbox.release`."""
        if self._stream is not None:
            self._stream.release(retry)
        elif self.resumable:
            self.retry = retry
            self.wake()

    def forward(self, stream: Ending) -> None:
        """From now on messages go to a stream, and so do those that have not been taken."""
        for message, same in self._messages or ():
            stream.send(message, same)
        self._messages = None
        self._stream = stream
        if self.ended:
            stream.end(None)
        self._make_space()

    async def room(self) -> bool:
        """See `Outbox.room`."""
        while self._messages is not None and len(self._messages) >= self._limit:
            if self._space is None or self._space.done():
                self._space = asyncio.get_running_loop().create_future()
            await asyncio.wait((self._space,))
        return not self.closed if self._stream is None else await self._stream.room()

    def take(self) -> bytes:
        """The next message.

        Raises:
            IndexError: there is none.
        """
        message, same = (self._messages or deque()).popleft()
        if same is not None and self._same is not None:
            self._same.discard(same)
        self._make_space()
        return message

    def close(self) -> None:
        """Nobody reads any longer."""
        self.closed = True
        self._messages = None
        self._make_space()

    def wake(self) -> None:
        """End a wait."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def wait(self, seconds: float) -> bool:
        """Wait for a message, the end, a release or `wake`; False where none came in time."""
        if self._messages or self.ended or self.retry is not None:
            return True
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(seconds):
                await self._waiter
        except TimeoutError:
            return False
        finally:
            self._waiter = None
        return True

    def _make_space(self) -> None:
        if self._space is not None and not self._space.done():
            self._space.set_result(None)
