"""What passes between a transport and what speaks HTTP without a socket.

Rule: plain data, and one small interface. The head is there from the beginning; the body is asked for, by whoever has let the request
in.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, Protocol

from mcp_contract import ProtocolError

from mcp_anyrev.head import Head

NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class HttpResponse(NamedTuple):
    """A complete answer.

    Attributes:
        status: the HTTP status.
        body: JSON; empty where nothing wanted an answer.
        headers: the header fields, names in lower case.
    """

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = NO_HEADERS


class HttpRequest(Protocol):
    """A request as a transport has it, and the way back to who sent it, for an answer that comes bit by bit.

    Attributes:
        head: its head.
        more: header fields that go out with whatever answers it.
        fault: what is wrong with its head, where that is to be told with the id of the message that it brings.
        opened: has the head of an answer been sent that comes bit by bit?
    """

    head: Head
    more: Mapping[str, str]
    fault: ProtocolError | None

    @property
    def opened(self) -> bool: ...

    async def body(self) -> bytes:
        """The body, which has been neither read nor waited for before.

        Raises:
            TooLarge: it is larger than `Limits.body_bytes`; no more of it is read.
            Busy: too much is arriving already, from this address or at all.
            Late: it did not come in time.
            UnknownCoding: it is compressed in a way that is not read.
            InvalidRequest: it is not compressed as it says.
            ConnectionError: nobody is there.
        """
        ...

    async def open(self, status: int, headers: Mapping[str, str]) -> None:
        """Send the head of an answer.

        Raises:
            ConnectionError: nobody is there.
        """
        ...

    async def write(self, piece: bytes) -> None:
        """Send a piece of its body, at once.

        Raises:
            ConnectionError: nobody is there.
        """
        ...

    async def gone(self) -> None:
        """Return once nobody is there any longer."""
        ...

    async def close(self) -> None:
        """End the answer now, although the request is still being worked on."""
        ...
