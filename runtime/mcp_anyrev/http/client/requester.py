"""Requests to one server: authorised, and sent on where the server has moved.

Rule: what says who the client is goes to the server's own origin and to no other: the headers that were given, what authorises requests,
the session. A redirect is followed where the request stays what it is; never from https to http.
Specification: basic/authorization/index#access-token-usage; https://www.rfc-editor.org/rfc/rfc9110#name-redirection-3xx
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from http import HTTPStatus
from typing import Any

from multidict import CIMultiDict
from yarl import URL

from mcp_anyrev.client.errors import CannotConnect, WrongAnswer
from mcp_anyrev.client.wire import WireHead
from mcp_anyrev.http.client.auth import flow_of
from mcp_anyrev.http.client.exchange import Answer, Connector, Request
from mcp_anyrev.http.client.options import HttpOptions
from mcp_anyrev.http.request import NO_HEADERS

_MOST_REDIRECTS = 5
_MOST_STEPS = 32
"""How many requests may be sent to have one authorised."""

_KEEPS_METHOD = (HTTPStatus.TEMPORARY_REDIRECT, HTTPStatus.PERMANENT_REDIRECT)
_KEEPS_GET = (HTTPStatus.MOVED_PERMANENTLY, HTTPStatus.FOUND, HTTPStatus.SEE_OTHER)
_SCHEMES = ("http", "https")
_MADE_ANEW = ("host", "content-length", "transfer-encoding")
"""Headers that are those of a request as it is sent."""


class Requester:
    """Sends requests to one server.

    Args:
        url: its address.
        connector: has the sockets.
        options: how HTTP is spoken.
        most_bytes: how many bytes an answer may have that is no stream.

    Attributes:
        url: see above.

    Raises:
        ValueError: the address is none of http or https, or has a password in it.
    """

    def __init__(self, url: str, connector: Connector, options: HttpOptions, most_bytes: int) -> None:
        self.url = address(url)
        self._connector = connector
        self._options = options
        self._most_bytes = most_bytes

    @asynccontextmanager
    async def send(
        self,
        method: str,
        public: Mapping[str, str],
        secret: Mapping[str, str] = NO_HEADERS,
        content: bytes = b"",
        url: URL | None = None,
    ) -> AsyncIterator[Answer]:
        """Send a request; what answers it is there until it is left.

        Args:
            method: the HTTP method.
            public: the headers that may go to any origin.
            secret: those that only the server's own origin may see.
            content: the body.
            url: where to, if that is not the server's address.

        Raises:
            CannotConnect: there is nobody.
            WrongAnswer: what answers does not speak HTTP, or sends the request from one place to the next.
            Exception: what authorises requests has failed.
        """
        to = self.url if url is None else url
        request = Request(method, to, CIMultiDict(), content, public)
        at_home = same_origin(to, self.url)
        for headers in (self._options.headers, secret) if at_home else ():
            request.headers.update(headers)
        request.headers.update(public)
        async with aclosing(flow_of(self._options.auth if at_home else None, request)) as flow:
            sent: Any = await anext(flow, request)
            for _ in range(_MOST_STEPS):
                async with self._followed(_as_request(sent)) as answer:
                    try:
                        if sent is request and not same_origin(answer.url, request.url):
                            await flow.aclose()  # what another origin says is nothing to authorise by
                        sent = await flow.asend(answer)
                    except StopAsyncIteration:
                        yield answer
                        return
        raise CannotConnect(f"{_MOST_STEPS} requests were sent to have one authorised, and it still is not")

    async def close(self) -> None:
        """Close all connections."""
        await self._connector.close()

    @asynccontextmanager
    async def _followed(self, request: Request) -> AsyncIterator[Answer]:
        on_wire = self._options.on_wire
        for _ in range(_MOST_REDIRECTS + 1):
            if on_wire is not None:
                on_wire(WireHead(True, f"{request.method} {request.url}", request.headers))
            async with self._connector.send(request, self._most_bytes) as answer:
                if on_wire is not None:
                    on_wire(WireHead(False, str(answer.status_code), answer.headers))
                again = _redirected(request, answer)
                if again is None:
                    yield answer
                    return
            request = again
        raise WrongAnswer(f"the server sent a request on more than {_MOST_REDIRECTS} times")


def address(url: str) -> URL:
    """The address that a text is.

    Raises:
        ValueError: it is none of http or https, or has a password in it.
    """
    try:
        found = URL(url)
    except ValueError as error:
        raise ValueError(f"{url!r} is no address: {error}") from None
    if found.scheme not in _SCHEMES or not found.host:
        raise ValueError(f"{url!r} is no address of http or https")
    if found.raw_user is not None or found.raw_password is not None:
        raise ValueError("the address has a name or a password in it; give them as `auth`, or in `headers`")
    return found.with_fragment(None)


def same_origin(one: URL, other: URL) -> bool:
    """Are two addresses of the same scheme, host and port, whether that is said or not?"""
    return (one.scheme, one.raw_host, one.port) == (other.scheme, other.raw_host, other.port)


def _redirected(request: Request, answer: Answer) -> Request | None:
    """The request as it is to be sent again; None where the answer is one."""
    status = answer.status_code
    if status not in _KEEPS_METHOD and (request.method != "GET" or status not in _KEEPS_GET):
        return None
    try:
        to = address(str(request.url.join(URL(answer.headers.get("location", "")))))
    except ValueError:
        return None
    if request.url.scheme == "https" and to.scheme != "https":
        return None
    if same_origin(to, request.url):
        return Request(request.method, to, request.headers, request.content, request.public)
    if request.public is None:
        return None
    return Request(request.method, to, CIMultiDict(request.public), request.content, request.public)


def _as_request(sent: Any) -> Request:
    """A request that may be one of another library: one that belongs to how requests are authorised."""
    if isinstance(sent, Request):
        return sent
    headers = CIMultiDict({name: value for name, value in sent.headers.items() if name.lower() not in _MADE_ANEW})
    return Request(sent.method, address(str(sent.url)), headers, bytes(sent.content))
