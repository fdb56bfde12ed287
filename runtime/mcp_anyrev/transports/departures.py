"""Noticing that clients have gone, where a server tells nobody.

Rule: one look at all connections at once, a few times a second while somebody waits, however many they are.
"""

from __future__ import annotations

import asyncio

_PAUSE_SECONDS = 0.25


class Departures:
    """Looks after the connections of one event loop."""

    def __init__(self) -> None:
        self._waiting: dict[asyncio.Future[None], asyncio.Transport] = {}
        self._looking = False

    async def of(self, transport: asyncio.Transport | None) -> None:
        """Return once a connection is closing; None has been closed."""
        if transport is None or transport.is_closing():
            return
        loop = asyncio.get_running_loop()
        waiter = loop.create_future()
        self._waiting[waiter] = transport
        if not self._looking:
            self._looking = True
            loop.call_later(_PAUSE_SECONDS, self._look, loop)
        try:
            await waiter
        finally:
            self._waiting.pop(waiter, None)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        for waiter, transport in self._waiting.items():
            if transport.is_closing() and not waiter.done():
                waiter.set_result(None)
        self._looking = bool(self._waiting)
        if self._looking:
            loop.call_later(_PAUSE_SECONDS, self._look, loop)
