"""Bodies that are still arriving, bounded each and all together, for every transport.

Rule: the only place that puts a body together. What is there at once needs no place among those that are waited for. Nobody knows yet
who sends one, or what it will be for, so it counts against the network address that it comes from. What has come is kept as bytes in
one piece, so that a body that comes byte by byte takes no more room than another.
Specification: basic/transports/streamable-http#sending-messages
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from mcp_contract import Busy, Late, TooLarge

from mcp_anyrev.conversation.amounts import Budget
from mcp_anyrev.principal import owner_of
from mcp_anyrev.settings import Limits


class Bodies:
    """The bodies that are arriving at one server.

    Args:
        limits: how large one is, how long it may take, and how much there may be of them.

    Attributes:
        most_bytes: how large one may be.
    """

    def __init__(self, limits: Limits) -> None:
        self.most_bytes = limits.body_bytes
        self._limits = limits
        self._arriving = Budget(
            most=limits.bodies_of_address,
            most_bytes=limits.arriving_bytes_of_address,
            most_bytes_of_all=limits.arriving_bytes,
        )

    @property
    def arriving(self) -> int:
        """How many are arriving."""
        return self._arriving.count

    def too_large(self) -> TooLarge:
        """What a larger one is refused with."""
        return TooLarge(f"the body is larger than {self.most_bytes} bytes")

    async def arrived(self, pieces: AsyncIterator[bytes], peer: str | None) -> bytes:
        """A whole body.

        Args:
            pieces: gives what comes of it.
            peer: the network address that it comes from; see `Head.peer`.

        Raises:
            Busy: too many, or too large ones, are arriving from the address, or at all.
            TooLarge: it is larger than `Limits.body_bytes`; no more of it is read.
            Late: it did not come in time.
        """
        owner, body, seconds = owner_of(None, peer), bytearray(), self._limits.body_seconds
        if not self._arriving.has_room(owner, 0):
            raise _busy()
        self._arriving.add(owner, 0)
        try:
            async with asyncio.timeout(seconds):
                async for piece in pieces:
                    body += piece
                    self._arriving.grow(owner, len(piece))
                    if len(body) > self.most_bytes:
                        raise self.too_large()
                    if not self._arriving.has_bytes(owner, len(body)):
                        raise _busy()
        except TimeoutError:
            raise Late(f"the body did not arrive within {seconds:g} s") from None
        finally:
            self._arriving.remove(owner, len(body))
        return bytes(body)


def _busy() -> Busy:
    return Busy("too much is arriving at once already; send it again once that has come")
