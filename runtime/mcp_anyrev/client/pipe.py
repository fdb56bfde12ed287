"""A connection that one client has to itself from beginning to end, as frames of bytes: stdin and stdout, or two queues.

Rule: every frame shares it, so whatever breaks it fails all that waits for an answer. What is sent waits in order, within bounds.
Specification: basic/transports#stdio
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from mcp_contract import Json, JsonObject

from mcp_anyrev.client.errors import CannotConnect
from mcp_anyrev.conversation.amounts import Amount
from mcp_anyrev.conversation.outbox import Queue

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.client.transport import Receiver
    from mcp_anyrev.conversation.outbox import Lost
    from mcp_anyrev.settings import Limits

_LOOK_SECONDS = 60.0
_LAST_SECONDS = 1.0


class PipeTransport:
    """The client's end of one; see `Transport`.

    Args:
        limits: how much may wait to be sent.
    """

    has_headers = False

    def __init__(self, limits: Limits) -> None:
        self.failure: Exception | None = None
        self._limits = limits
        self._queue = Queue(limits, Amount(limits.queue_bytes_of_all))
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self, receiver: Receiver) -> None:
        """See `Transport.open`."""
        await self._connect()
        self._tasks = [asyncio.create_task(self._sending()), asyncio.create_task(self._receiving(receiver))]

    def speak(self, adapter: Adapter, beside: Callable[[JsonObject], Mapping[str, str]]) -> None:
        """See `Transport.speak`: nothing can be said beside a message."""

    def carries(self, adapter: Adapter) -> bool:
        """See `Transport.carries`."""
        return True

    def cancels(self, adapter: Adapter) -> bool:
        """See `Transport.cancels`."""
        return adapter.stdio_cancels_by_notification

    def abandon(self, identifier: Json) -> None:
        """See `Transport.abandon`: no request has a stream of its own."""

    async def close(self) -> None:
        """See `Transport.close`."""
        if self._tasks:
            tasks, self._tasks = self._tasks, []
            self._queue.end(None)
            await asyncio.wait(tasks[:1], timeout=_LAST_SECONDS)  # what was sent before is to arrive
            await self._disconnect()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        self._fail(CannotConnect("the connection was closed on this side"))

    def send(self, message: bytes, same: str | None = None) -> None:
        """See `Outbox.send`."""
        self._queue.send(message, same)

    async def room(self) -> bool:
        """See `Outbox.room`."""
        return await self._queue.room()

    def watch(self, lost: Lost) -> None:
        """See `Outbox.watch`."""
        self._queue.watch(lost)

    def unwatch(self, lost: Lost) -> None:
        """See `Outbox.unwatch`."""
        self._queue.unwatch(lost)

    def release(self, retry: int) -> None:
        """See `Outbox.release`: there is no stream to take up again."""

    async def _connect(self) -> None:
        """Have somebody at the other end.

        Raises:
            CannotConnect: there is nobody.
        """
        raise NotImplementedError

    async def _disconnect(self) -> None:
        """Let the other end go, in good order."""
        raise NotImplementedError

    async def _write(self, frame: bytes) -> None:
        """Bring a frame to the other end, once that has room.

        Raises:
            CannotConnect: there is nobody any longer.
        """
        raise NotImplementedError

    async def _read(self) -> bytes:
        """The next frame.

        Raises:
            CannotConnect: no other one comes.
        """
        raise NotImplementedError

    async def _sending(self) -> None:
        try:
            while self._queue or not (self._queue.closed or self._queue.ended):
                await self._queue.wait(_LOOK_SECONDS)
                while self._queue:
                    await self._write(self._queue.take())
        except CannotConnect as reason:
            self._fail(reason)

    async def _receiving(self, receiver: Receiver) -> None:
        try:
            while True:
                await receiver.take_frame(await self._read())
        except CannotConnect as reason:
            self._fail(reason)

    def _fail(self, reason: Exception) -> None:
        if self.failure is None:
            self.failure = reason
        if not self._queue.closed:
            self._queue.close()
