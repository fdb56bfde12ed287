"""How many long-lived streams one client holds.

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
        most: of one client.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: Counter[str] = Counter()

    @contextmanager
    def one_more(self, owner: str) -> Iterator[None]:
        """Hold a stream for as long as the block runs.

        Args:
            owner: whose it is; see `owner_of`.

        Raises:
            Busy: there are too many.
        """
        if self._held[owner] >= self._most:
            raise Busy(f"{self._most} streams are open, which is the most; close one first")
        self._held[owner] += 1
        try:
            yield
        finally:
            self._held[owner] -= 1
            if not self._held[owner]:
                del self._held[owner]
