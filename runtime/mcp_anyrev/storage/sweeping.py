"""Letting go of what has expired, also when nobody asks for anything again.

Rule: one timer for all that somebody keeps, and none while nothing is kept. It keeps nobody alive.
"""

from __future__ import annotations

import asyncio
import weakref
from typing import Protocol

_PERIOD_SECONDS = 2.0


class Keeping(Protocol):
    """Who keeps something for a time."""

    def sweep(self) -> bool:
        """Let go of what has expired; is anything left?"""
        ...


class Sweeper:
    """Has somebody sweep while they keep anything.

    Args:
        keeping: who.
    """

    def __init__(self, keeping: Keeping) -> None:
        self._keeping = weakref.ref(keeping)
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Something is kept now, in the running event loop."""
        if self._loop is None or self._loop.is_closed():
            self._loop = asyncio.get_running_loop()
            self._loop.call_later(_PERIOD_SECONDS, self._sweep)

    def _sweep(self) -> None:
        loop, self._loop = self._loop, None
        keeping = self._keeping()
        if loop is not None and keeping is not None and keeping.sweep():
            self._loop = loop
            loop.call_later(_PERIOD_SECONDS, self._sweep)
