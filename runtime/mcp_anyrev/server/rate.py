"""How often one client may call.

Rule: counted where requests are answered, whatever transport brought them. A client that has not called for a while may call in a burst
what it may call in a minute; what is known of one is a single moment, and of so many clients at most.
Specification: server/tools#security-considerations, server/utilities/completion#security
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import ceil

from mcp_contract import Busy

_BURST_SECONDS = 60.0
_MOST_CLIENTS = 10_000
"""The one that has not called for longest is forgotten for one more: then it is as if it had never called."""


class Rate:
    """A token bucket a client, each kept as the moment at which it would be full again.

    Args:
        per_minute: how many calls in a minute.
        clock: seconds of a clock that only goes forward.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._seconds = _BURST_SECONDS / per_minute
        self._clock = clock
        self._full: dict[str, float] = {}

    def count(self, owner: str) -> None:
        """Count a call.

        Args:
            owner: whose it is; see `owner_of`.

        Raises:
            Busy: there were too many; this one does not count.
        """
        now, full = self._clock(), self._full
        at = max(full.pop(owner, now), now)
        allowed = at + self._seconds <= now + _BURST_SECONDS
        full[owner] = at + self._seconds if allowed else at
        if len(full) > _MOST_CLIENTS:
            del full[next(iter(full))]
        if not allowed:
            wait = at + self._seconds - now - _BURST_SECONDS
            raise Busy(f"at most {self._per_minute} calls a minute; call again later", ceil(wait))
