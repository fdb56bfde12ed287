"""Requests over HTTP as the log of what passes shows them.

Rule: nothing is changed of what passes, nor when.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from mcp_anyrev.http.request import HttpRequest, HttpResponse
from mcp_anyrev.wire_log import Passed, numbers, tell

if TYPE_CHECKING:
    from mcp_contract import ProtocolError

    from mcp_anyrev.head import Head

Handle = Callable[[HttpRequest], Awaitable[HttpResponse | None]]


class Watched:
    """What answers requests, with everything that passes put in the log.

    Args:
        handle: what answers them.
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    async def handle(self, request: HttpRequest) -> HttpResponse | None:
        """Answer a request."""
        head, number = request.head, next(numbers)
        address = f"{head.root}{head.path}{'?' if head.query else ''}{head.query}"
        tell(Passed(False, number, f"{head.method} {address}", head.headers))
        response = await self._handle(_WatchedRequest(request, number))
        if response is not None:
            tell(Passed(True, number, str(response.status), response.headers))
            if response.body:
                tell(Passed(True, number, content=response.body))
        return response


class _WatchedRequest:
    """A request; see `HttpRequest`."""

    def __init__(self, request: HttpRequest, number: int) -> None:
        self._request = request
        self._number = number
        self.head: Head = request.head

    @property
    def more(self) -> Mapping[str, str]:
        return self._request.more

    @more.setter
    def more(self, headers: Mapping[str, str]) -> None:
        self._request.more = headers

    @property
    def fault(self) -> ProtocolError | None:
        return self._request.fault

    @fault.setter
    def fault(self, fault: ProtocolError | None) -> None:
        self._request.fault = fault

    @property
    def opened(self) -> bool:
        return self._request.opened

    async def body(self) -> bytes:
        body = await self._request.body()
        tell(Passed(False, self._number, content=body))
        return body

    async def open(self, status: int, headers: Mapping[str, str]) -> None:
        tell(Passed(True, self._number, str(status), headers))
        await self._request.open(status, headers)

    async def write(self, piece: bytes) -> None:
        tell(Passed(True, self._number, content=piece))
        await self._request.write(piece)

    async def gone(self) -> None:
        await self._request.gone()

    async def close(self) -> None:
        await self._request.close()
