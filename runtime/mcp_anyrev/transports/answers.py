"""Answers that are going out, of all clients together, for every binding of HTTP.

Rule: the only place that waits until a client takes what it is sent. An answer goes out piece by piece, so that a host keeps no more than
a piece of what nobody takes. Where more waits for all readers than may, whoever has taken nothing for longest loses its connection, and
so does the stream that it had; one that takes a piece now and then, however slowly, never does.
Specification: basic/transports/streamable-http#sending-messages
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from mcp_anyrev.conversation.amounts import Amount

PIECE_BYTES = 64 * 1024

_STUCK_SECONDS = 2.0
"""After how long without taking a piece a client may lose its connection to make room."""


class Answers:
    """The answers that are going out from one server.

    Args:
        unread: what waits for all readers of this worker; what is going out counts, too.
    """

    def __init__(self, unread: Amount) -> None:
        self._unread = unread
        self._waiting: dict[asyncio.Timeout, float] = {}
        """Each piece that is not taken yet and since when; the one that has waited longest is the first."""

    async def write(self, part: bytes, send: Callable[[bytes], Awaitable[None]]) -> None:
        """Send a part of an answer.

        Args:
            part: what to send.
            send: sends a piece, and waits until there is room for another.

        Raises:
            ConnectionError: nobody is there, or nobody has taken anything for too long.
        """
        self._unread.add(len(part))
        try:
            self._make_room()
            for start in range(0, len(part), PIECE_BYTES):
                await self._send(part[start : start + PIECE_BYTES], send)
        except TimeoutError:
            raise ConnectionResetError("nobody took it, and there was no room") from None
        finally:
            self._unread.remove(len(part))

    async def _send(self, piece: bytes, send: Callable[[bytes], Awaitable[None]]) -> None:
        async with asyncio.timeout(None) as waiting:
            self._waiting[waiting] = asyncio.get_running_loop().time()
            try:
                await send(piece)
            finally:
                self._waiting.pop(waiting, None)

    def _make_room(self) -> None:
        """Have one give up, at most: how much that frees is known only once it has."""
        longest = next(iter(self._waiting), None)
        if longest is None or not self._unread.full:
            return
        now = asyncio.get_running_loop().time()
        if self._waiting[longest] + _STUCK_SECONDS <= now:
            del self._waiting[longest]
            longest.reschedule(now)
