"""Streamable HTTP as an ASGI application, without a dependency.

Rule: a shell. It reads a body up to the limit, sends what comes back, and says when the client has gone.
Specification: basic/transports/streamable-http#sending-messages
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from mcp_anyrev.server.core import Core
from mcp_anyrev.server.endpoint import Endpoint
from mcp_anyrev.server.registry import Registry
from mcp_anyrev.server.wire import Head
from mcp_anyrev.settings import Settings

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


def asgi(registry: Registry, settings: Settings | None = None) -> Application:
    """A registry as an ASGI application, to be run alone or mounted.

    Args:
        registry: what is offered.
        settings: how it is run.

    Returns:
        The application; it answers on every path that reaches it.

    Raises:
        ValueError: the settings name a revision that does not exist, or a key that is too short.

    Specification: basic/transports/streamable-http
    """
    core = Core(registry, settings or Settings())
    endpoint = Endpoint(core)

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(core, receive, send)
        elif scope["type"] == "http":
            await _request(endpoint, scope, receive, send)
        else:
            raise ValueError(f"this application answers http, not {scope['type']}")

    return application


async def _lifespan(core: Core, receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            core.build()
            await send({"type": "lifespan.startup.complete"})
        elif message["type"] == "lifespan.shutdown":
            await send({"type": "lifespan.shutdown.complete"})
            return


async def _request(endpoint: Endpoint, scope: Scope, receive: Receive, send: Send) -> None:
    head = Head(scope["method"], _headers(scope["headers"]), scope.get("path", "/"))
    body, complete = await _body(receive, endpoint.body_limit)
    if not complete:
        return
    line = _Line(receive, send)
    answer = await endpoint.handle(head, body, line)
    if answer is not None:
        headers = [*_field_lines(answer.headers), (b"content-length", b"%d" % len(answer.body))]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": answer.body})
    elif line.opened:
        await send({"type": "http.response.body", "body": b""})


class _Line:
    """See `Line`. A server that has lost its client takes what is sent and drops it."""

    __slots__ = ("_receive", "_send", "opened")

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self.opened = False

    async def open(self, status: int, headers: Mapping[str, str]) -> None:
        self.opened = True
        await self._send({"type": "http.response.start", "status": status, "headers": _field_lines(headers)})

    async def write(self, piece: bytes) -> None:
        await self._send({"type": "http.response.body", "body": piece, "more_body": True})

    async def gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass


async def _body(receive: Receive, limit: int) -> tuple[bytes | None, bool]:
    """The body, None where it is over the limit; and whether the client is still there."""
    pieces, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None, False
        piece = message.get("body", b"")
        size += len(piece)
        if size > limit:
            return None, True
        pieces.append(piece)
        if not message.get("more_body", False):
            return (pieces[0] if len(pieces) == 1 else b"".join(pieces)), True


def _headers(lines: list[tuple[bytes, bytes]]) -> Mapping[str, str]:
    """Header fields by name; of a repeated field the values stand one after the other, as HTTP joins them."""
    headers: dict[str, str] = {}
    for name, value in lines:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


def _field_lines(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
