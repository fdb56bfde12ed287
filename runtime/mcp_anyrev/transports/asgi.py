"""Streamable HTTP as an ASGI application, without a dependency.

Rule: a shell. It reads a body up to the limit, sends what comes back, and says when the client has gone.
Specification: basic/transports/streamable-http#sending-messages
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from multidict import CIMultiDict

from mcp_anyrev.conversation.at_once import Bounded
from mcp_anyrev.declaring.registry import Registry
from mcp_anyrev.head import Head
from mcp_anyrev.http.endpoint import Endpoint
from mcp_anyrev.http.wire import Line, Response
from mcp_anyrev.server.core import Core
from mcp_anyrev.settings import Limits, Settings
from mcp_anyrev.transports.signals import before_the_end

log = logging.getLogger("mcp_anyrev.server")

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Handle = Callable[[Head, bytes | None, Line], Awaitable[Response | None]]


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
    return Application(Core(registry, settings or Settings()))


class Application:
    """A server as an ASGI application; made by `asgi`.

    Args:
        core: the server behind it.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        self._endpoint = Endpoint(core)
        self._ending: asyncio.Task[None] | None = None
        self._told = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or live through a lifespan.

        Raises:
            ValueError: it is asked for something else.
        """
        if scope["type"] == "lifespan":
            await _lifespan(self._core, receive, send)
        elif scope["type"] == "http":
            limits = self._core.settings.limits
            await _answer(scope, receive, _Line(receive, send, self._opened), limits, self._handle_for(scope))
        else:
            raise ValueError(f"this application answers http, not {scope['type']}")

    async def close(self) -> None:
        """End every stream in good order. A server waits for open streams, often without an end, before it says that it ends."""
        await self._core.close()

    def _handle_for(self, scope: Scope) -> Handle:
        """What answers a request."""
        resource = self._core.settings.protected_resource
        if resource is not None and own_path(scope) in resource.paths:
            return lambda head, body, line: self._endpoint.front.metadata(head, line)
        return self._endpoint.handle

    def _opened(self) -> None:
        if not self._told:
            self._told = True
            before_the_end(self._begin_to_end)

    def _begin_to_end(self) -> None:
        if self._ending is None:
            self._ending = asyncio.ensure_future(self.close())


async def _lifespan(core: Core, receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            try:
                await core.start()
            except Exception as error:
                log.exception("the server cannot start")
                await send({"type": "lifespan.startup.failed", "message": type(error).__name__})
                return
            await send({"type": "lifespan.startup.complete"})
        elif message["type"] == "lifespan.shutdown":
            await core.close()
            await send({"type": "lifespan.shutdown.complete"})
            return


def own_path(scope: Scope) -> str:
    """The path of a request within the application, wherever that is mounted."""
    path, root = str(scope.get("path", "/")), str(scope.get("root_path", ""))
    return path[len(root) :] if root and path.startswith(root) else path


async def _answer(scope: Scope, receive: Receive, line: _Line, limits: Limits, handle: Handle) -> None:
    fields = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
    client = scope.get("client")
    head = Head(
        scope["method"],
        scope.get("path", "/"),
        scope.get("query_string", b"").decode("latin-1"),
        CIMultiDict(fields),
        None if client is None else client[0],
    )
    try:
        body, complete = await Bounded(_body(receive, limits.body_bytes), limits.body_seconds)
    except TimeoutError:
        body, complete = None, True
    if not complete:
        return
    answer = await handle(head, body, line)
    if answer is not None:
        headers = [*_field_lines(answer.headers), (b"content-length", b"%d" % len(answer.body))]
        await line.send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await line.send({"type": "http.response.body", "body": answer.body})
    else:
        await line.close()


class _Line:
    """See `Line`. A server that has lost its client takes what is sent and drops it."""

    __slots__ = ("_on_open", "_open", "_receive", "send")

    def __init__(self, receive: Receive, send: Send, on_open: Callable[[], None]) -> None:
        self._receive = receive
        self._on_open = on_open
        self._open = False
        self.send = send

    async def open(self, status: int, headers: Mapping[str, str]) -> None:
        self._on_open()
        self._open = True
        await self.send({"type": "http.response.start", "status": status, "headers": _field_lines(headers)})

    async def write(self, piece: bytes) -> None:
        await self.send({"type": "http.response.body", "body": piece, "more_body": True})

    async def gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def close(self) -> None:
        if self._open:
            self._open = False
            await self.send({"type": "http.response.body", "body": b""})


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


def _field_lines(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
