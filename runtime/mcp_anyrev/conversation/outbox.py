"""Messages of one call on their way to the stream of its reply.

Rule: bounded. Whoever can wait for room does (`room`); what is sent beyond the bound all the same is dropped.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_anyrev.http.journals import Journal


class Outbox:
    """Messages on their way to a stream.

    Args:
        limit: the most messages that wait.
        resumable: may its stream be closed early, and be taken up again?
    """

    __slots__ = ("_journal", "_limit", "_messages", "_retry", "_space", "_waiter", "closed", "ended", "resumable")

    def __init__(self, limit: int = 1_000, resumable: bool = False) -> None:
        self._limit = limit
        self.resumable = resumable
        self._messages: deque[bytes] | None = None
        self._journal: Journal | None = None
        self._retry: int | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._space: asyncio.Future[None] | None = None
        self.closed = False
        self.ended = False

    def __bool__(self) -> bool:
        return bool(self._messages)

    def send(self, message: bytes) -> None:
        """Put a message on its way; to nowhere, if nobody reads any longer or the last one has been sent."""
        if self.closed or self.ended:
            return
        if self._journal is not None:
            self._journal.add(message)
            return
        if self._messages is None:
            self._messages = deque()
        if len(self._messages) < self._limit:
            self._messages.append(message)
            self.wake()

    def end(self, message: bytes | None) -> None:
        """Put the last message on its way, or none; whatever comes after it goes nowhere."""
        self._limit += 1  # there is always room for an answer
        if message is not None:
            self.send(message)
        self.ended = True
        if self._journal is not None:
            self._journal.end()
        self._make_space()
        self.wake()

    def release(self, retry: int) -> None:
        """Have the stream closed before its end, for the client to take it up again after so many milliseconds, if it can."""
        if self._journal is not None:
            self._journal.release(retry)
        elif self.resumable:
            self._retry = retry
            self.wake()

    def record(self, journal: Journal) -> None:
        """From now on messages go to a journal, and so do those that have not been taken."""
        for message in self._messages or ():
            journal.add(message)
        self._messages = None
        self._journal = journal
        if self.ended:
            journal.end()
        self._make_space()

    @property
    def retry(self) -> int | None:
        """What `release` was told, before there was a stream to close."""
        return self._retry

    async def room(self) -> None:
        """Wait until there is room for another message."""
        while self._messages is not None and len(self._messages) >= self._limit:
            if self._space is None or self._space.done():
                self._space = asyncio.get_running_loop().create_future()
            await asyncio.wait((self._space,))
        if self._journal is not None:
            await self._journal.room()

    def take(self) -> bytes:
        """The next message.

        Raises:
            IndexError: there is none.
        """
        message = (self._messages or deque()).popleft()
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
        if self._messages or self.ended or self._retry is not None:
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
