"""The streams of HTTP+SSE: each is a session, and carries everything that the server says in it.

Rule: any worker may have something to say on a stream; the one that holds it hears of it from the hub. Messages keep their order. A
stream that is to end lets the calls of its session finish first.
Specification: basic/transports#http-with-sse
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mcp_contract import Declaration, InvalidRequest

from mcp_anyrev.conversation.outbox import Outbox
from mcp_anyrev.events import KEEP_ALIVE, named_event
from mcp_anyrev.http.wire import OK, STREAM_HEADERS

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.http.wire import Line
    from mcp_anyrev.server.core import Core
    from mcp_anyrev.storage import Listener

NOT_AGREED = ""
"""The revision of a session that has had no handshake yet."""

_WAIT_SECONDS = 3600.0
_AGREED = {"agreed": True}


class _Connection:
    """One stream on this worker."""

    __slots__ = ("_ending", "calls", "leave", "outbox")

    def __init__(self, outbox: Outbox) -> None:
        self._ending = False
        self.calls = 0
        self.leave: Callable[[], None] = lambda: None
        self.outbox = outbox

    def end(self) -> None:
        """End the stream, once no call of its session goes on here."""
        self._ending = True
        if not self.calls:
            self.outbox.end(None)

    def finished(self) -> None:
        """A call of its session is over."""
        self.calls -= 1
        if self._ending:
            self.end()


class Connections:
    """The streams of one server.

    Args:
        core: the server.
        voice: the revision in which a connection begins.
    """

    def __init__(self, core: Core, voice: Adapter) -> None:
        self._core = core
        self._voice = voice
        self._held: dict[str, _Connection] = {}
        self._calls: dict[str, int] = {}

    async def serve(self, principal: str | None, address: str, line: Line) -> None:
        """Serve one stream until it ends or nobody is there.

        Args:
            principal: who opens it.
            address: what its client posts to, up to where the name of the session goes.
            line: the way back to the client.

        Raises:
            InvalidRequest: the principal holds too many streams.
        """
        core = self._core
        with core.live.quota.one_more(principal):
            name = await core.sessions.open(NOT_AGREED, principal, Declaration({}, None), connection=True)
            session = await core.sessions.find(name, principal)
            connection = self._held[name] = _Connection(Outbox(core.settings.limits.queue))
            tasks: list[asyncio.Future[Any]] = []
            try:
                async with core.hub.listen(_topic(name)) as listener:
                    await self._join(connection, name, principal)
                    await line.open(OK, {**STREAM_HEADERS, **self._voice.stream_headers})
                    await line.write(named_event(self._voice.http_sse_endpoint_event, f"{address}{name}".encode()))
                    tasks.append(asyncio.ensure_future(self._hear(connection, name, principal, listener)))
                    tasks.append(asyncio.ensure_future(_watch(line, connection.outbox)))
                    await self._write(connection.outbox, line)
            except ConnectionError:
                pass
            finally:
                for task in tasks:
                    task.cancel()
                connection.outbox.close()
                connection.leave()
                del self._held[name]
                if session is not None:
                    await core.sessions.end(session)

    async def deliver(self, name: str, message: bytes) -> None:
        """Say something on the stream of a session, wherever it is; to nowhere, if it is closed."""
        connection = self._held.get(name)
        if connection is None:
            await self._core.hub.publish(_topic(name), message.decode())
        else:
            await connection.outbox.room()
            connection.outbox.send(message)

    async def agreed(self, name: str) -> None:
        """A session has had its handshake; its stream is to tell it of changes in the agreed revision."""
        await self._core.hub.publish(_topic(name), _AGREED)

    @contextmanager
    def call(self, name: str) -> Iterator[None]:
        """A call of a session goes on for as long as the block runs."""
        connection = self._held.get(name)
        if connection is not None:
            connection.calls += 1
        self._calls[name] = self._calls.get(name, 0) + 1
        try:
            yield
        finally:
            self._calls[name] -= 1
            if not self._calls[name]:
                del self._calls[name]
            if connection is not None:
                connection.finished()

    def check_room(self, name: str, calls: int) -> None:
        """See that so many more calls of a session may go on here.

        Raises:
            InvalidRequest: they may not.
        """
        most = self._core.settings.limits.calls_of_connection
        if self._calls.get(name, 0) + calls > most:
            raise InvalidRequest(f"{most} calls of this connection are going on, which is the most; wait for an answer")

    async def _write(self, outbox: Outbox, line: Line) -> None:
        event, silence = self._voice.http_sse_message_event, self._core.settings.keep_alive_seconds
        while not outbox.closed:
            while outbox:
                await line.write(named_event(event, outbox.take()))
            if outbox.ended:
                return
            if not await outbox.wait(silence):
                await line.write(KEEP_ALIVE)

    async def _hear(self, connection: _Connection, name: str, principal: str | None, listener: Listener) -> None:
        """Put on the stream what other workers have to say on it."""
        while True:
            message = await listener.next(_WAIT_SECONDS)
            if isinstance(message, str):
                await connection.outbox.room()
                connection.outbox.send(message.encode())
            elif message is not None:
                await self._join(connection, name, principal)

    async def _join(self, connection: _Connection, name: str, principal: str | None) -> None:
        """Have the connection told of changes, in the revision that it has agreed on by now."""
        session = await self._core.sessions.find(name, principal)
        if session is None:
            connection.end()
            return
        adapter = self._core.adapters.by_version.get(session.version, self._voice)
        leave = await self._core.live.streams.join(adapter, session, connection.outbox.send, connection.end)
        connection.leave()
        connection.leave = leave


async def _watch(line: Line, outbox: Outbox) -> None:
    await line.gone()
    outbox.close()
    outbox.wake()


def _topic(name: str) -> str:
    return f"connection/{name}"
