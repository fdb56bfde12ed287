"""Servers that answer anything: what they say, a script says, message by message.

Rule: what a client sends reaches the script as it was sent; nothing that a server must do is done for it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any

from aiohttp import web
from mcp_anyrev.client.errors import CannotConnect
from mcp_anyrev.client.pipe import PipeTransport
from mcp_anyrev.settings import Limits
from pydantic_core import from_json, to_json

Message = dict[str, Any]
Script = Callable[[Message], "Iterable[Any] | Awaitable[Iterable[Any]]"]
"""From a message to what the server sends then: JSON values, or bytes as they are. What raises `CannotConnect` ends the connection."""


def result(message: Message, value: Any) -> Message:
    """A response with a result."""
    return {"jsonrpc": "2.0", "id": message["id"], "result": value}


def error(message: Message, code: int, data: Any = None) -> Message:
    """A response with an error."""
    said = {"code": code, "message": "no"} if data is None else {"code": code, "message": "no", "data": data}
    return {"jsonrpc": "2.0", "id": message.get("id"), "error": said}


def notification(method: str, **params: Any) -> Message:
    """A notification."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


class Scripted:
    """A scripted server; a client makes a connection to it by calling it.

    Args:
        script: what it sends.
    """

    def __init__(self, script: Script) -> None:
        self.sent: list[Message] = []
        self.script = script
        self.pipes: list[_Pipe] = []

    def __call__(self) -> _Pipe:
        self.pipes.append(_Pipe(self))
        return self.pipes[-1]

    @property
    def methods(self) -> list[str]:
        """The methods of what was sent, in order."""
        return [message.get("method", "response") for message in self.sent]

    def say(self, *values: Any) -> None:
        """Have it send something unasked."""
        self.pipes[-1].say(*values)

    def end(self) -> None:
        """Have it end."""
        self.pipes[-1].coming.put_nowait(None)


class _Pipe(PipeTransport):
    def __init__(self, server: Scripted) -> None:
        super().__init__(Limits())
        self.coming: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._server = server

    def say(self, *values: Any) -> None:
        for value in values:
            self.coming.put_nowait(value if isinstance(value, bytes) else to_json(value))

    async def _connect(self) -> None:
        return

    async def _disconnect(self) -> None:
        self.coming.put_nowait(None)

    async def _write(self, frame: bytes) -> None:
        message = from_json(frame)
        self._server.sent.append(message)
        given = self._server.script(message)
        self.say(*(await given if isinstance(given, Awaitable) else given))

    async def _read(self) -> bytes:
        frame = await self.coming.get()
        if frame is None:
            raise CannotConnect("the scripted server has ended")
        return frame


class Said:
    """What was sent to a scripted server over HTTP: each message, with its headers."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.headers: list[dict[str, str]] = []

    @property
    def methods(self) -> list[str]:
        """The methods of what was sent, in order."""
        return [message.get("method", "response") for message in self.messages]


@contextlib.asynccontextmanager
async def scripted_http(script: Callable[[Message, dict[str, str]], web.Response]) -> AsyncIterator[tuple[str, Said]]:
    """A server over HTTP, on a socket, that answers each POST as a script says, and nothing else; gives its address."""
    said = Said()

    async def answer(request: web.BaseRequest) -> web.Response:
        if request.method != "POST":
            return web.Response(status=405)
        message = from_json(await request.read())
        headers = {name.lower(): value for name, value in request.headers.items()}
        said.messages.append(message)
        said.headers.append(headers)
        return script(message, headers)

    runner = web.ServerRunner(web.Server(answer))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/mcp", said
    finally:
        await runner.cleanup()


def replied(value: Any, status: int = 200, **headers: str) -> web.Response:
    """An answer over HTTP; None for one without a body."""
    if value is None:
        return web.Response(status=status, headers=headers)
    return web.Response(body=to_json(value), status=status, content_type="application/json", headers=headers)
