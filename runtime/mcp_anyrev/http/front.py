"""What every request passes, whatever address it is for: who may come in, from where, and who it is.

Rule: first the names in `Host` and `Origin`, then who it is; nothing else is looked at before. A page of an origin that is let in
can read every answer, also a refusal.
Specification: basic/transports/streamable-http#security-endpoint
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from mcp_contract import MethodNotAllowed, ProtocolError
from pydantic_core import to_json

from mcp_anyrev.head import Head
from mcp_anyrev.http.cross_origin import CrossOrigin, SharedLine
from mcp_anyrev.http.hosts_and_origins import Gate
from mcp_anyrev.http.principals import recognised
from mcp_anyrev.http.wire import JSON_HEADERS, OK, Line, Response
from mcp_anyrev.principal import Principal

if TYPE_CHECKING:
    from mcp_anyrev.server.core import Core

Answering = Callable[[Principal | None, Line], Awaitable[Response | None]]
"""From who it is, and the way back, to the answer; it refuses what it was too early to know more of with a `ProtocolError`."""


class Front:
    """Lets requests in.

    Args:
        core: the server behind it.
    """

    def __init__(self, core: Core) -> None:
        settings = core.settings
        self._core = core
        self._gate = Gate(settings.allowed_hosts, settings.allowed_origins)
        self._recognise = settings.principal
        headers = (adapter.session_header for adapter in core.adapters.by_version.values())
        self._cross_origin = CrossOrigin(header for header in headers if header is not None)

    async def handle(self, head: Head, line: Line, answer: Answering, *, to_all: bool = False) -> Response | None:
        """Answer a request, if it is let in.

        Args:
            head: its head.
            line: the way back, for an answer that comes bit by bit.
            answer: answers those that are let in.
            to_all: does it not matter who it is?

        Returns:
            The answer; None where it has gone out on the line.
        """
        headers = head.headers
        try:
            self._gate.check(headers)
            origin = headers.get("origin")
            if origin is None:  # nearly everybody, so without another call
                principal = None if to_all or self._recognise is None else await recognised(self._recognise, head)
                return await answer(principal, line)
        except ProtocolError as error:  # too early to know more than the head
            return self._refused(head, error)
        if head.method == "OPTIONS" and "access-control-request-method" in headers:
            return self._cross_origin.preflight(headers)
        shared = self._cross_origin.headers(origin)
        try:
            principal = None if to_all or self._recognise is None else await recognised(self._recognise, head)
            response = await answer(principal, SharedLine(line, shared))
        except ProtocolError as error:
            response = self._refused(head, error)
        return None if response is None else response._replace(headers={**response.headers, **shared})

    async def metadata(self, head: Head, line: Line) -> Response | None:
        """Answer a request for the metadata of the protected resource, which anybody may read."""

        async def answer(principal: Principal | None, line: Line) -> Response:
            resource = self._core.settings.protected_resource
            if head.method != "GET" or resource is None:
                raise MethodNotAllowed(f"{head.method} is not answered at this address")
            return Response(OK, to_json(resource.document()), JSON_HEADERS)

        return await self.handle(head, line, answer, to_all=True)

    def _refused(self, head: Head, error: ProtocolError) -> Response:
        return self._core.refusal(self._core.adapters.select({}, head.headers, None).adapter, {}, error)
