"""Messages on their way to a peer that are no responses, or come before one.

Rule: what must arrive is never dropped: it waits, and of changes that say the same only one does. Only reports may be left out, by who
makes them, so they ask for room first. Where more must wait than may, nothing arrives any longer, and whoever waits for an answer to what
was sent is told so.
Specification: basic/transports#sending-messages-to-the-server
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from mcp_anyrev.conversation.amounts import Amount

if TYPE_CHECKING:
    from mcp_anyrev.settings import Limits


log = logging.getLogger("mcp_anyrev.server")

Lost = Callable[[], None]
"""Is told that nothing that was sent arrives any longer."""


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

    def watch(self, lost: Lost) -> None:
        """Have it told when nothing that was sent arrives any longer; at once, if that is so already."""
        ...

    def unwatch(self, lost: Lost) -> None:
        """Have it told no longer."""
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
        limits: how much may wait, so that there is room for another report.
        unread: what waits for all readers of this worker.
        resumable: may its stream be closed early, and be taken up again?
    """

    __slots__ = (
        "_amount",
        "_limits",
        "_losing",
        "_messages",
        "_same",
        "_space",
        "_stream",
        "_unread",
        "_waiter",
        "closed",
        "ended",
        "resumable",
        "retry",
        "used",
    )

    def __init__(self, limits: Limits, unread: Amount, resumable: bool = False) -> None:
        self.resumable = resumable
        self.retry: int | None = None
        """What `release` was told, before there was a stream to close."""
        self.closed = False
        self.ended = False
        self.used = False
        """Has anything been sent?"""
        self._limits = limits
        self._unread = unread
        self._losing: set[Lost] | None = None
        self._messages: deque[tuple[bytes, str | None]] | None = None
        self._amount: Amount | None = None
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
            self._amount = Amount(self._limits.queue_bytes, self._limits.queue, self._unread)
        if same is not None and self._same is not None:
            if same in self._same:
                return
            self._same.add(same)
        if self._amount is not None:
            if self._amount.overflowing:
                log.error("a stream was ended, since %d bytes wait to be read", self._amount.bytes)
                self.close()
            else:
                self._messages.append((message, same))
                self._amount.add(len(message))
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
        for message, same in self._drop():
            stream.send(message, same)
        self._stream = stream
        for lost in self._losing or ():
            stream.watch(lost)
        if self.ended:
            stream.end(None)
        self._make_space()

    async def room(self) -> bool:
        """See `Outbox.room`."""
        while self._messages is not None and self._amount is not None and self._amount.full:
            if self._space is None or self._space.done():
                self._space = asyncio.get_running_loop().create_future()
            await asyncio.wait((self._space,))
        return not self.closed if self._stream is None else await self._stream.room()

    def watch(self, lost: Lost) -> None:
        """See `Outbox.watch`."""
        if self._stream is not None:
            self._stream.watch(lost)
        elif self.closed:
            lost()
        else:
            self._losing = {lost} if self._losing is None else self._losing | {lost}

    def unwatch(self, lost: Lost) -> None:
        """See `Outbox.unwatch`."""
        if self._losing is not None:
            self._losing.discard(lost)
        if self._stream is not None:
            self._stream.unwatch(lost)

    def take(self) -> bytes:
        """The next message.

        Raises:
            IndexError: there is none.
        """
        message, same = (self._messages or deque()).popleft()
        if self._amount is not None:
            self._amount.remove(len(message))
        if same is not None and self._same is not None:
            self._same.discard(same)
        self._make_space()
        return message

    def close(self) -> None:
        """Nobody reads any longer."""
        self.closed = True
        self._drop()
        self._make_space()
        losing, self._losing = self._losing, None
        for lost in losing or ():
            lost()

    def wake(self) -> None:
        """End a wait."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def wait(self, seconds: float) -> bool:
        """Wait for a message, the end, a release or `wake`; False where none came in time."""
        if self._messages or self.ended or self.closed or self.retry is not None:
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

    def _drop(self) -> Iterable[tuple[bytes, str | None]]:
        """Keep no messages any longer; returns those that there were."""
        messages, self._messages = self._messages, None
        if self._amount is not None:
            self._amount.clear()
        return messages or ()

    def _make_space(self) -> None:
        if self._space is not None and not self._space.done():
            self._space.set_result(None)
