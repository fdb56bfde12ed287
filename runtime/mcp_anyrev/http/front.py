"""What every request passes, whatever address it is for: who may come in, from where, and who it is.

Rule: first whether all of it is text, then the names in `Host` and `Origin`, then who it is, all on the head alone; nothing else is looked
at before, and no body is waited for. A page of an origin that is let in can read every answer, also a refusal.
Specification: basic/transports/streamable-http#security-endpoint
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from mcp_contract import HeaderMismatch, InternalError, MethodNotAllowed, ProtocolError, Unauthorized, Unavailable
from mcp_contract.wording import cut
from pydantic_core import to_json

from mcp_anyrev.http.cross_origin import CrossOrigin
from mcp_anyrev.http.hosts_and_origins import HostsAndOrigins
from mcp_anyrev.http.principals import Recognition
from mcp_anyrev.http.request import HttpRequest, HttpResponse
from mcp_anyrev.http.responses import JSON_HEADERS, OK, Responses
from mcp_anyrev.principal import Principal, seconds_left

if TYPE_CHECKING:
    from mcp_anyrev.server.core import Core

log = logging.getLogger("mcp_anyrev.server")

_OWN_HEADERS = "mcp-"
"""What says something of the message begins so; nobody reads it before the message, whose id a refusal has to name."""

Answering = Callable[[HttpRequest, Principal | None], Awaitable[HttpResponse | None]]
"""From a request, and who sent it, to the answer; it refuses what it was too early to know more of with a `ProtocolError`."""


class Front:
    """Lets requests in.

    Args:
        core: the server behind it.
    """

    def __init__(self, core: Core) -> None:
        settings = core.settings
        self._core = core
        self._names = HostsAndOrigins(hosts=settings.allowed_hosts, origins=settings.allowed_origins)
        self._recognise = None if settings.principal is None else Recognition(settings.principal, core.recognising)
        self._resource = settings.protected_resource
        self.responses = Responses(self._resource)
        headers = (adapter.session_header for adapter in core.adapters.by_version.values())
        self._cross_origin = CrossOrigin(header for header in headers if header is not None)

    async def handle(self, request: HttpRequest, answer: Answering, *, to_all: bool = False) -> HttpResponse | None:
        """Answer a request, if it is let in.

        Args:
            request: the request.
            answer: answers those that are let in.
            to_all: does it not matter who it is?

        Returns:
            The answer; None where it has gone out already, bit by bit.
        """
        head, principal = request.head, None
        try:
            if not self._core.running:
                raise Unavailable("this server does not run now")
            for name, value in head.headers.items():
                if not value.isascii() and value != cut(value, len(value)):
                    request.fault = HeaderMismatch(f"the header {cut(name)!r} cannot be read: it is no text in UTF-8")
                    if head.method != "POST" or not name.lower().startswith(_OWN_HEADERS):
                        raise request.fault
            self._names.check(head.headers)
            origin = head.headers.get("origin")
            if origin is not None:
                if head.method == "OPTIONS" and "access-control-request-method" in head.headers:
                    return self._cross_origin.preflight(head.headers)
                request.more = self._cross_origin.headers(origin)
            if self._recognise is not None and not to_all:
                principal = await self._recognise(head)
            if head.method == "GET" and principal is not None and principal.expires_at is not None:
                return await _until_it_expires(answer, request, principal)
            return await answer(request, principal)
        except ConnectionError:
            raise
        except ProtocolError as error:  # too early to know more than the head
            return self._failed(request, error)
        except Exception:
            log.exception("answering %s failed", head.method)
            return self._failed(request, InternalError("the server failed"))

    async def metadata(self, request: HttpRequest) -> HttpResponse | None:
        """Answer a request for the metadata of the protected resource, which anybody may read."""
        return await self.handle(request, self._metadata, to_all=True)

    async def _metadata(self, request: HttpRequest, principal: Principal | None) -> HttpResponse:
        if request.head.method != "GET" or self._resource is None:
            raise MethodNotAllowed(f"{request.head.method} is not answered at this address")
        return HttpResponse(OK, to_json(self._resource.document()), JSON_HEADERS)

    def _failed(self, request: HttpRequest, error: ProtocolError) -> HttpResponse | None:
        if request.opened:
            log.error("a stream was ended: %s", error.message)
            return None
        adapter = self._core.adapters.select({}, request.head.headers, None).adapter
        return self.responses.refusal(adapter, dict(error.identifier), error, request.head)


async def _until_it_expires(answer: Answering, request: HttpRequest, principal: Principal) -> HttpResponse | None:
    """Answer a request with a stream for no longer than who opened it is known."""
    try:
        async with asyncio.timeout(seconds_left(principal)) as bound:
            return await answer(request, principal)
    except TimeoutError:
        if not bound.expired():
            raise
        if not request.opened:
            raise Unauthorized("what this was sent with has expired") from None
        log.info("a stream of %s was ended, since what it was opened with has expired", principal)
        return None
