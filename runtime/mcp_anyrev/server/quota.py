"""How many long-lived streams one principal holds.

Rule: counted where they are opened, whatever opened them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from mcp_contract import Busy


class Quota:
    """Counts streams.

    Args:
        most: of one principal.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: Counter[str | None] = Counter()

    @contextmanager
    def one_more(self, principal: str | None) -> Iterator[None]:
        """Hold a stream for as long as the block runs.

        Raises:
            Busy: there are too many.
        """
        if self._held[principal] >= self._most:
            raise Busy(f"{self._most} streams are open, which is the most; close one first")
        self._held[principal] += 1
        try:
            yield
        finally:
            self._held[principal] -= 1
            if not self._held[principal]:
                del self._held[principal]
