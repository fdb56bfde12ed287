"""Asking a system that may go and come back.

Rule: what failed because a connection was lost is tried again for a short time, where it makes no difference whether it had been done.
A system that has been away for longer than that is asked once, so that nobody waits for it in vain.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from mcp_anyrev.storage.reachability import Reachability

Given = TypeVar("Given")

_PAUSES_SECONDS = (0.0, 0.05, 0.1, 0.2, 0.4, 0.75)
"""Before each further attempt; together with these, what is asked for is answered, or refused, before whoever asked gives up."""

_PATIENCE_SECONDS = 2.0


class Attempts:
    """What one process asks of a system.

    Args:
        reachability: what is known of it.
        lost: what is raised where the connection was lost, or there was none.
        failed: what is raised where the system cannot be used.
    """

    def __init__(
        self,
        reachability: Reachability,
        lost: tuple[type[Exception], ...],
        failed: tuple[type[Exception], ...],
    ) -> None:
        self._reachability = reachability
        self._lost = lost
        self._failed = failed
        self._asked: set[asyncio.Task[Any]] = set()

    async def make(self, ask: Callable[[int], Awaitable[Given]], *, again: bool) -> Given:
        """What the system answers. Whoever is cancelled meanwhile does not hear it; a client library may swallow that, so it never sees it.

        Args:
            ask: asks it, given how often that has been tried before.
            again: may it be asked again where it may have done it, and only the answer was lost?

        Raises:
            Unavailable: the system cannot be reached, or does not do it.
        """
        asked = asyncio.ensure_future(self._make(ask, again))
        self._asked.add(asked)
        asked.add_done_callback(self._answered)
        return await asyncio.shield(asked)

    async def finish(self) -> None:
        """Return once nothing is asked any more."""
        await asyncio.gather(*self._asked, return_exceptions=True)

    def _answered(self, asked: asyncio.Task[Any]) -> None:
        self._asked.discard(asked)
        if not asked.cancelled():
            asked.exception()  # whoever wanted to know it may have been cancelled

    async def _make(self, ask: Callable[[int], Awaitable[Given]], again: bool) -> Given:
        attempt = 0
        while True:
            try:
                answer = await ask(attempt)
            except self._lost as error:
                lost = self._reachability.lost(error)
                patient = again and attempt < len(_PAUSES_SECONDS)
                if not patient or self._reachability.lost_seconds > _PATIENCE_SECONDS:
                    raise lost from error
            except self._failed as error:
                raise self._reachability.lost(error) from error
            else:
                self._reachability.found()
                return answer
            await asyncio.sleep(_PAUSES_SECONDS[attempt])
            attempt += 1
