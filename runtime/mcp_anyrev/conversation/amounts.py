"""How much there is of something that has to stay within bounds.

Rule: the only place that adds up; who has how much, and what happens where there is too much, others know.
"""

from __future__ import annotations


class Amount:
    """So many things of so many bytes.

    Args:
        most: how many there may be.
        most_bytes: how many bytes they may have.
    """

    __slots__ = ("_most", "_most_bytes", "bytes", "count")

    def __init__(self, *, most: int, most_bytes: int) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self.count = 0
        self.bytes = 0

    @property
    def full(self) -> bool:
        """Is there room for nothing more?"""
        return self.count >= self._most or self.bytes >= self._most_bytes

    @property
    def crowded(self) -> bool:
        """Are there more bytes than there may be?"""
        return self.bytes > self._most_bytes

    @property
    def overflowing(self) -> bool:
        """Are there more than twice as many bytes as there may be?"""
        return self.bytes > 2 * self._most_bytes

    def add(self, size: int) -> None:
        """One more."""
        self.count += 1
        self.bytes += size

    def grow(self, size: int) -> None:
        """One of those that there are has so many more bytes."""
        self.bytes += size

    def remove(self, size: int) -> None:
        """One less."""
        self.count -= 1
        self.bytes -= size

    def clear(self) -> None:
        """None any longer."""
        self.count = self.bytes = 0
