"""HTTP as an ASGI application, without a dependency.

Rule: a shell. It reads a body, up to the limit, when it is asked to, sends what comes back, and says when the client has gone.
Specification: basic/transports/streamable-http#sending-messages
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from http import HTTPStatus
from typing import Any

from mcp_contract import ProtocolError
from multidict import CIMultiDict

from mcp_anyrev.conversation.at_once import Resumed
from mcp_anyrev.head import Head
from mcp_anyrev.http.request import NO_HEADERS, HttpRequest, HttpResponse
from mcp_anyrev.http.responses import JSON_HEADERS
from mcp_anyrev.transports.answers import PIECE_BYTES, Answers
from mcp_anyrev.transports.bodies import Bodies, coding_of

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Handle = Callable[[HttpRequest], Awaitable[HttpResponse | None]]

_MOST_DIGITS = 15  # of a length; more are too large whatever they are


def own_path(scope: Scope) -> str:
    """The path of a request within the application, wherever that is mounted."""
    path, root = str(scope.get("path", "/")), str(scope.get("root_path", ""))
    return path[len(root) :] if root and path.startswith(root) else path


async def answer(request: Request, handle: Handle) -> None:
    """Answer a request with what `handle` makes of it."""
    try:
        response = await handle(request)
    except ConnectionError:  # nobody is there any longer
        return
    if response is None:
        await request.close()
        return
    headers = {**response.headers, **request.more} if request.more else response.headers
    lines = list(_JSON_LINES) if headers is JSON_HEADERS else _field_lines(headers)  # nearly every answer is JSON alone
    if response.status != HTTPStatus.NO_CONTENT:  # which has no length either
        lines.append((b"content-length", b"%d" % len(response.body)))
    await request.send({"type": "http.response.start", "status": response.status, "headers": lines})
    if len(response.body) > PIECE_BYTES:
        with contextlib.suppress(ConnectionError):
            await request.write(response.body)
            await request.send({"type": "http.response.body"})
    else:
        await request.send({"type": "http.response.body", "body": response.body})


class Request:
    """See `HttpRequest`. A server that has lost its client takes what is sent and drops it.

    Args:
        scope: the head of the request, as ASGI has it.
        receive: gives the body piece by piece, and says that the client has gone.
        send: takes the answer.
        bodies: those that are arriving, of the server.
        answers: those that are going out, of the server.
    """

    __slots__ = ("_answers", "_bodies", "_open", "_receive", "fault", "head", "more", "opened", "send")

    def __init__(self, scope: Scope, receive: Receive, send: Send, bodies: Bodies, answers: Answers) -> None:
        fields: CIMultiDict[str] = CIMultiDict()
        for name, value in scope["headers"]:
            # Some servers leave the spaces around a value that are none of it.
            fields.add(name.decode("latin-1"), value.strip(b" \t").decode(errors="surrogateescape"))
        path, root = scope.get("path", "/"), scope.get("root_path", "")
        if root and not path.startswith(root):  # some servers leave out of the path where the application is mounted
            path = root + path
        query: bytes = scope.get("query_string", b"")
        client = scope.get("client")
        peer = None if client is None else client[0]
        self.head = Head(scope["method"], path, query.decode("latin-1"), fields, peer, root.rstrip("/"))
        self.more = NO_HEADERS
        self.fault: ProtocolError | None = None
        self.send = send
        self._receive = receive
        self._answers = answers
        self._bodies = bodies
        self._open = False
        self.opened = False

    async def body(self) -> bytes:
        """See `HttpRequest.body`."""
        bodies, length = self._bodies, self.head.headers.get("content-length", "")
        if length.isdecimal() and int(length[:_MOST_DIGITS]) > bodies.most_bytes:
            raise bodies.too_large()
        if "content-encoding" in self.head.headers:
            coding = coding_of(self.head.headers)
            return bodies.decoded(await bodies.arrived(self._pieces(await self._receive()), self.head.peer), coding)
        first = self._received()
        try:
            waited_for = first.send(None)
        except StopIteration as finished:
            message: Message = finished.value
            body: bytes = message.get("body", b"")
            if len(body) <= bodies.most_bytes and not message.get("more_body") and message["type"] == "http.request":
                return body
            return await bodies.arrived(self._pieces(message), self.head.peer)
        return await bodies.arrived(self._pieces(Resumed(first, waited_for)), self.head.peer)

    async def open(self, status: int, headers: Mapping[str, str]) -> None:
        """See `HttpRequest.open`."""
        self._open = self.opened = True
        lines = _field_lines({**headers, **self.more})
        await self.send({"type": "http.response.start", "status": status, "headers": lines})

    async def write(self, piece: bytes) -> None:
        """See `HttpRequest.write`."""
        try:
            await self._answers.write(piece, self._send)
        except ConnectionError:  # without its end, a server closes the connection
            self._open = False
            raise

    async def gone(self) -> None:
        """See `HttpRequest.gone`."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def close(self) -> None:
        """See `HttpRequest.close`."""
        if self._open:
            self._open = False
            await self.send({"type": "http.response.body", "body": b""})

    async def _send(self, piece: bytes) -> None:
        await self.send({"type": "http.response.body", "body": piece, "more_body": True})

    async def _received(self) -> Message:
        return await self._receive()

    async def _pieces(self, first: Message | Resumed[Message]) -> AsyncIterator[bytes]:
        message = await first if isinstance(first, Resumed) else first
        while message["type"] != "http.disconnect":
            yield message.get("body", b"")
            if not message.get("more_body", False):
                return
            message = await self._receive()
        raise ConnectionResetError


def _field_lines(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    lines = []
    for name, value in headers.items():
        lines.append((name.lower().encode("latin-1"), value.encode("latin-1")))
    return lines


_JSON_LINES = _field_lines(JSON_HEADERS)
