"""How requests are authorised, by whoever knows how.

Rule: whoever does it sees a request before it goes out, and, if it wants to, what answers it, and may send others in between. It is told
apart by what it has, so that what was written for httpx works here, and httpx is not needed.
Specification: basic/authorization/index#access-token-usage
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any, Protocol

from mcp_anyrev.http.client.exchange import Answer, Request


class AuthFlow(Protocol):
    """Authorises requests; an `Auth` of httpx is one."""

    def auth_flow(self, request: Any) -> Generator[Any, Any, None]:
        """Yield requests to be sent, `request` among them, and take what answers each; what answers the last one counts.

        Args:
            request: the request, see `Request`; its headers can be set.
        """
        ...


class AsyncAuthFlow(Protocol):
    """Likewise, where it takes waiting."""

    def async_auth_flow(self, request: Any) -> AsyncGenerator[Any, Any]:
        """See `AuthFlow.auth_flow`."""
        ...


Auth = str | AuthFlow | AsyncAuthFlow | Callable[[Request], Any]
"""A bearer token; an object with a flow; or a function that sets the headers of a request."""


def check_auth(auth: Auth | None) -> None:
    """See that something can authorise requests.

    Raises:
        ValueError: it is text, and no token.
        TypeError: it cannot.
    """
    if auth is None:
        return
    if isinstance(auth, str):
        if not auth or not auth.isascii() or not auth.isprintable() or " " in auth:
            raise ValueError("a token has at least one letter, and only those of ASCII, without spaces")
    elif not (hasattr(auth, "async_auth_flow") or hasattr(auth, "auth_flow") or callable(auth)):
        raise TypeError(f"auth is a token, a function, or has a flow; this is of {type(auth).__name__}")


def flow_of(auth: Auth | None, request: Request) -> AsyncGenerator[Any, Answer]:
    """The requests to be sent for one, each told what answered it."""
    if auth is None or isinstance(auth, str):
        return _with_token(auth, request)
    if hasattr(auth, "async_auth_flow"):
        return auth.async_auth_flow(request)
    if hasattr(auth, "auth_flow"):
        return _waiting(auth.auth_flow(request))
    return _with_headers(auth, request)


async def _with_token(token: str | None, request: Request) -> AsyncGenerator[Request, Answer]:
    if token is not None:
        request.headers["authorization"] = f"Bearer {token}"
    yield request


async def _with_headers(auth: Callable[[Request], Any], request: Request) -> AsyncGenerator[Request, Answer]:
    set_now = auth(request)
    if inspect.isawaitable(set_now):
        await set_now
    yield request


async def _waiting(flow: Generator[Any, Any, None]) -> AsyncGenerator[Any, Answer]:
    try:
        sent = next(flow)
        while True:
            answer = yield sent
            sent = flow.send(answer)
    except StopIteration:
        return
    finally:
        flow.close()
