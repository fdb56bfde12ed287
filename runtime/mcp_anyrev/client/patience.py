"""How long the requests of a client wait for their answers.

Rule: a server may say nothing for so long, and every sign of life begins that anew. While it is the server that waits for this side, for a
person to answer what it has asked, no time passes.
Specification: basic/lifecycle#timeouts
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from mcp_contract import Json


class Patience:
    """That of one connection."""

    def __init__(self) -> None:
        self._waiting: dict[Json, tuple[asyncio.Timeout, float]] = {}
        self._owed = 0

    @asynccontextmanager
    async def lasting(self, identifier: Json, seconds: float | None) -> AsyncIterator[None]:
        """Wait for the answer to a request within the block.

        Args:
            identifier: its id.
            seconds: for how long the server may say nothing; None for any time.

        Raises:
            TimeoutError: it has said nothing for so long.
        """
        async with asyncio.timeout(None if self._owed else seconds) as bound:
            if seconds is not None:
                self._waiting[identifier] = bound, seconds
            try:
                yield
            finally:
                self._waiting.pop(identifier, None)

    def renew(self, identifier: Json) -> None:
        """The server has said something of a request."""
        if identifier in self._waiting and not self._owed:
            _begin(*self._waiting[identifier])

    @contextmanager
    def owing(self) -> Iterator[None]:
        """The server waits for this side within the block."""
        self._owed += 1
        for bound, _ in self._waiting.values():
            if not bound.expired():
                bound.reschedule(None)
        try:
            yield
        finally:
            self._owed -= 1
            for bound, seconds in () if self._owed else self._waiting.values():
                _begin(bound, seconds)


def _begin(bound: asyncio.Timeout, seconds: float) -> None:
    if not bound.expired():
        bound.reschedule(asyncio.get_running_loop().time() + seconds)
