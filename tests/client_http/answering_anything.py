"""A server that answers anything, on a real socket.

Rule: it knows nothing of the protocol. Each request gets what the test writes, byte by byte if need be, on a connection of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

JSON = {"content-type": "application/json"}
EVENTS = {"content-type": "text/event-stream"}


@dataclass
class Received:
    """A request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def message(self) -> Any:
        return json.loads(self.body)


class Reply:
    """The way back."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def raw(self, sent: bytes) -> None:
        """Send bytes as they are."""
        self._writer.write(sent)
        await self._writer.drain()

    async def head(self, status: int, headers: Mapping[str, str]) -> None:
        """Send a head; the body lasts as long as the connection."""
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", "connection: close"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        await self.raw("\r\n".join([*lines, "", ""]).encode())

    async def body(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Send a whole answer."""
        await self.head(status, {**headers, "content-length": str(len(body))})
        await self.raw(body)

    async def json(self, payload: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """Send JSON."""
        await self.body(status, {**JSON, **(headers or {})}, json.dumps(payload).encode())

    async def stream(self, *events: str, headers: Mapping[str, str] | None = None) -> None:
        """Begin a stream, with these events."""
        await self.head(200, {**EVENTS, **(headers or {})})
        for event in events:
            await self.raw(event.encode())

    async def event(self, payload: Any) -> None:
        """Send a message as an event of a stream that has begun."""
        await self.raw(event(payload).encode())

    def cut(self) -> None:
        """Have the connection break."""
        self._writer.transport.abort()


Script = Callable[[Received, Reply], Awaitable[None]]


class Scripted:
    """A running server.

    Attributes:
        url: its address, with a path.
        received: all requests that came.
    """

    def __init__(self, script: Script) -> None:
        self.url = ""
        self.received: list[Received] = []
        self._script = script
        self._connections: set[asyncio.Task[None]] = set()

    def of(self, method: str) -> list[Received]:
        """The requests of a method that came."""
        return [one for one in self.received if one.method == method]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                received = await self._read(reader)
                self.received.append(received)
                await self._script(received, Reply(writer))
        except asyncio.CancelledError:
            pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def end(self) -> None:
        """End what still goes on."""
        connections = list(self._connections)
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    async def _read(self, reader: asyncio.StreamReader) -> Received:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").strip().split("\r\n")
        method, path, _ = first.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        return Received(method, path, headers, body)


@contextlib.asynccontextmanager
async def scripted(script: Script) -> AsyncIterator[Scripted]:
    """A server that answers as the script says."""
    made = Scripted(script)
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    try:
        yield made
    finally:
        server.close()
        await made.end()


def event(payload: Any, identifier: str | None = None) -> str:
    """A message as an event."""
    named = "" if identifier is None else f"id: {identifier}\n"
    return f"{named}data: {json.dumps(payload)}\n\n"


def result(received: Received, value: Any = None) -> dict[str, Any]:
    """What answers a request."""
    return {"jsonrpc": "2.0", "id": received.message["id"], "result": {} if value is None else value}


async def for_ever() -> None:
    """Wait for the end of the test."""
    await asyncio.get_running_loop().create_future()
