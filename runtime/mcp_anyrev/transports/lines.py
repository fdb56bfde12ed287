"""Lines out of bytes that come in pieces.

Rule: a line has any length up to a bound, and no piece is looked through twice. One that is longer is left out, and that is said.
Specification: basic/transports#stdio
"""

from __future__ import annotations

from collections.abc import Iterator


class Lines:
    """Takes pieces, and gives lines.

    Args:
        most: how many bytes a line has at most.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._pieces: list[bytes] = []
        self._size = 0
        self._skipping = False

    def take(self, piece: bytes) -> Iterator[bytes | None]:
        """The lines that a piece ends, without what ends them; None for one that was too long. Empty ones are none."""
        *ended, rest = piece.split(b"\n")
        for part in ended:
            self._add(part)
            line = self._whole()
            if line is None or line.strip():
                yield line
        self._add(rest)

    def last(self) -> Iterator[bytes | None]:
        """What is there where nothing comes any longer: a line that nothing ended."""
        line = self._whole()
        if line is None or line.strip():
            yield line

    def _add(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._most:
            self._skipping = True
            self._pieces.clear()
        if not self._skipping and part:
            self._pieces.append(part)

    def _whole(self) -> bytes | None:
        line = None if self._skipping else b"".join(self._pieces).removesuffix(b"\r")
        self._pieces.clear()
        self._size, self._skipping = 0, False
        return line
