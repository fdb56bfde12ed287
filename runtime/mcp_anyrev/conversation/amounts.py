"""How much there is of something that has to stay within bounds.

Rule: the only place that adds up; who has how much, and what happens where there is too much, others know.
"""

from __future__ import annotations

import sys


class Amount:
    """So many things of so many bytes.

    Args:
        most_bytes: how many bytes they may have.
        most: how many there may be.
        within: what counts these too. While that has no room, this has none either, unless it is empty.
    """

    __slots__ = ("_most", "_most_bytes", "_within", "bytes", "count")

    def __init__(self, most_bytes: int, most: int = sys.maxsize, within: Amount | None = None) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._within = within
        self.count = 0
        self.bytes = 0

    @property
    def full(self) -> bool:
        """Is there room for nothing more?"""
        if self.count >= self._most or self.bytes >= self._most_bytes:
            return True
        return self._within is not None and self.count > 0 and self._within.full

    @property
    def overflowing(self) -> bool:
        """Are there more than twice as many bytes as there may be?"""
        return self.bytes > 2 * self._most_bytes

    def add(self, size: int) -> None:
        """One more."""
        self._change(1, size)

    def grow(self, size: int) -> None:
        """One of those that there are has so many more bytes."""
        self._change(0, size)

    def remove(self, size: int) -> None:
        """One less."""
        self._change(-1, -size)

    def clear(self) -> None:
        """None any longer."""
        self._change(-self.count, -self.bytes)

    def _change(self, count: int, size: int) -> None:
        self.count += count
        self.bytes += size
        if self._within is not None:
            self._within._change(count, size)


class Budget:
    """Things of many owners: so many of each, so many bytes of each, and so many bytes of all together.

    What is no larger than an equal share of its owner's bytes is never refused for bytes. So a few large things do not keep the small
    ones out that come from the same owner, who may be many clients behind one address; there are twice as many bytes then, at most.

    Args:
        most: how many things one owner may have.
        most_bytes: how many bytes these may have.
        most_bytes_of_all: how many bytes the things of all owners may have.
    """

    def __init__(self, *, most: int, most_bytes: int, most_bytes_of_all: int) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._share = most_bytes // most
        self._all = Amount(most_bytes_of_all)
        self._owners: dict[str, Amount] = {}

    @property
    def count(self) -> int:
        """How many things there are."""
        return self._all.count

    def has_room(self, owner: str, size: int) -> bool:
        """Is there room for one more thing of an owner?"""
        own = self._owners.get(owner)
        return (own is None or own.count < self._most) and self.has_bytes(owner, size)

    def has_bytes(self, owner: str, size: int) -> bool:
        """May a thing of an owner have so many bytes?"""
        return size <= self._share or not self._owners.get(owner, self._all).full

    def add(self, owner: str, size: int) -> None:
        """One more thing."""
        own = self._owners.get(owner)
        if own is None:
            own = self._owners[owner] = Amount(self._most_bytes, within=self._all)
        own.add(size)

    def grow(self, owner: str, size: int) -> None:
        """One of the things has so many more bytes."""
        self._owners[owner].grow(size)

    def remove(self, owner: str, size: int) -> None:
        """One thing less."""
        own = self._owners[owner]
        own.remove(size)
        if not own.count:
            del self._owners[owner]
