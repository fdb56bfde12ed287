"""What a client sends, on its way to whatever carries it.

Rule: it waits in order, within bounds, and goes out one after the other. Why nothing arrives any longer is said once.
Specification: basic/transports
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_anyrev.client.errors import CannotConnect
from mcp_anyrev.conversation.amounts import Amount
from mcp_anyrev.conversation.outbox import Queue

if TYPE_CHECKING:
    from mcp_anyrev.conversation.outbox import Lost
    from mcp_anyrev.settings import Limits

_LOOK_SECONDS = 60.0


class QueuedTransport:
    """The sending half of a `Transport`.

    Args:
        limits: how much may wait to be sent.

    Attributes:
        failure: see `Transport.failure`.
    """

    def __init__(self, limits: Limits) -> None:
        self.failure: Exception | None = None
        self._limits = limits
        self._queue = Queue(limits, Amount(limits.queue_bytes_of_all))

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

    async def _write(self, frame: bytes) -> None:
        """Bring a message to the other end, or as far as the next one may follow.

        Raises:
            CannotConnect: nothing arrives any longer.
        """
        raise NotImplementedError

    async def _sending(self) -> None:
        """Send what there is, to the end."""
        queue = self._queue
        try:
            while queue or not (queue.closed or queue.ended):
                await queue.wait(_LOOK_SECONDS)
                while queue:
                    await self._write(queue.take())
        except CannotConnect as reason:
            self._fail(reason)

    def _fail(self, reason: Exception) -> None:
        if self.failure is None:
            self.failure = reason
        if not self._queue.closed:
            self._queue.close()
