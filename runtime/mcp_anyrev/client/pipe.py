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
from mcp_anyrev.client.queued import QueuedTransport

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.client.transport import Receiver
    from mcp_anyrev.settings import Limits

_LAST_SECONDS = 1.0


class PipeTransport(QueuedTransport):
    """The client's end of one; see `Transport`.

    Args:
        limits: how much may wait to be sent.
    """

    has_headers = False

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
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

    def answers(self, adapter: Adapter) -> bool:
        """See `Transport.answers`."""
        return adapter.stdio_server_requests

    def reopens(self, adapter: Adapter) -> bool:
        """See `Transport.reopens`."""
        return adapter.stdio_restarts

    def abandon(self, identifier: Json) -> None:
        """See `Transport.abandon`: no request has a stream of its own."""

    async def close(self) -> None:
        """See `Transport.close`."""
        if self._tasks:
            tasks, self._tasks = self._tasks, []
            self._queue.end(None)
            try:
                await asyncio.wait(tasks[:1], timeout=_LAST_SECONDS)  # what was sent before is to arrive
            finally:
                await self._disconnect()
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        self._fail(CannotConnect("the connection was closed on this side"))

    async def _connect(self) -> None:
        """Have somebody at the other end.

        Raises:
            CannotConnect: there is nobody.
        """
        raise NotImplementedError

    async def _disconnect(self) -> None:
        """Let the other end go, in good order."""
        raise NotImplementedError

    async def _read(self) -> bytes:
        """The next frame.

        Raises:
            CannotConnect: no other one comes.
        """
        raise NotImplementedError

    async def _receiving(self, receiver: Receiver) -> None:
        try:
            while True:
                await receiver.take_frame(await self._read())
        except CannotConnect as reason:
            self._fail(reason)
