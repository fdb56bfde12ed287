"""Bodies that are still arriving, bounded each and all together, for every transport.

Rule: the only place that puts a body together. What is there at once needs no place among those that are waited for. Nobody knows yet
who sends one, or what it will be for, so it counts against the network address that it comes from. What has come is kept as bytes in
one piece, so that a body that comes byte by byte takes no more room than another. Compressed or not, what it holds is bounded alike.
Specification: basic/transports/streamable-http#sending-messages
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Mapping

from mcp_contract import Busy, InvalidRequest, Late, TooLarge, UnknownCoding
from mcp_contract.wording import cut

from mcp_anyrev.conversation.amounts import Budget
from mcp_anyrev.principal import owner_of
from mcp_anyrev.settings import Limits

_DEFLATE = "deflate"
_EITHER_HEAD = 32

CODINGS = ("gzip", _DEFLATE)
"""How a body may be compressed: in the ways that every binding reads."""


def coding_of(headers: Mapping[str, str]) -> str | None:
    """How the body of a request is compressed; None for not at all.

    Raises:
        UnknownCoding: in a way that is not read.
    """
    coding = headers.get("content-encoding", "").strip().lower()
    if coding in ("", "identity"):
        return None
    if coding not in CODINGS:
        raise UnknownCoding(f"a body may be compressed by {' or '.join(CODINGS)}, not by {cut(coding)!r}", CODINGS)
    return coding


def wrongly_coded() -> InvalidRequest:
    """What a body is refused with that is not compressed as it says."""
    return InvalidRequest("the body is none of its coding")


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

    def decoded(self, body: bytes, coding: str | None) -> bytes:
        """What a body holds.

        Args:
            body: what has come.
            coding: how it is compressed, one of `CODINGS`; None for not at all.

        Raises:
            InvalidRequest: it is not compressed so, or not to its end.
            TooLarge: it holds more than `Limits.body_bytes`; no more of it is read.
        """
        if coding is None:
            return body
        raw = coding == _DEFLATE and body[:1] and body[0] & 0x0F != zlib.DEFLATED  # some leave the head out
        reading = zlib.decompressobj(-zlib.MAX_WBITS if raw else zlib.MAX_WBITS + _EITHER_HEAD)
        try:
            found = reading.decompress(body, self.most_bytes + 1)
        except zlib.error:
            raise wrongly_coded() from None
        if len(found) > self.most_bytes:
            raise self.too_large()
        if not reading.eof or reading.unused_data:
            raise wrongly_coded()
        return found


def _busy() -> Busy:
    return Busy("too much is arriving at once already; send it again once that has come")
