"""HTTP+SSE without a socket: one address that opens a stream, and one to post to.

Rule: each stream is a session, and carries everything that the server says in it, from whichever worker. What is posted is taken at
once, and what answers it goes on the stream, in order; once the stream has ended, so have its calls. The address to post to holds the session's unguessable name. Headers of other
transports mean nothing here. A stream that is to end lets the calls of its session finish first.
Specification: basic/transports#http-with-sse
"""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from mcp_contract import (
    Declaration,
    Json,
    MethodNotAllowed,
    ProtocolError,
    SessionUnknown,
    Unavailable,
)

from mcp_anyrev.events import named_event
from mcp_anyrev.head import Head
from mcp_anyrev.http.front import Front
from mcp_anyrev.http.pings import pinging
from mcp_anyrev.http.request import HttpRequest, HttpResponse
from mcp_anyrev.http.responses import OK, STREAM_HEADERS
from mcp_anyrev.http.resumption import Streams
from mcp_anyrev.http.streams import Stream
from mcp_anyrev.messages import parse
from mcp_anyrev.principal import Principal, name_of, owner_of, scopes_of
from mcp_anyrev.server.audience import SessionStream
from mcp_anyrev.server.connection import Connection
from mcp_anyrev.server.core import NOT_AGREED
from mcp_anyrev.storage.keys import Key, key
from mcp_anyrev.turns import LARGE_BYTES, others_first

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.conversation.sessions import Session
    from mcp_anyrev.server.core import Core
    from mcp_anyrev.storage.protocols import Message

log = logging.getLogger("mcp_anyrev.server")

_QUERY = "session"


class _HttpSseConnection(Connection):
    """The calls of one session that go on here, and the stream that they are answered on.

    Args:
        core: the server.
        session: whose they are.
        stream: the stream.
        kept: the connections by their sessions, among which it is for as long as calls go on, or this worker holds its stream.
    """

    def __init__(self, core: Core, session: Session, stream: Stream, kept: dict[str, _HttpSseConnection]) -> None:
        super().__init__(core, session.name, stream)
        self.held = False
        """Is it this worker that holds the stream?"""
        self._kept = kept
        self._session = session.name

    def carries(self, adapter: Adapter) -> bool:
        """See `Connection.carries`."""
        return adapter.served_on_http_sse

    def cancels(self, adapter: Adapter) -> bool:
        """See `Connection.cancels`."""
        return adapter.http_sse_cancels_by_notification

    def finished(self) -> None:
        """See `Connection.finished`."""
        if not self.held:
            self._kept.pop(self._session, None)


class HttpSse:
    """The two addresses of one server.

    Args:
        core: the server behind them.
        message_path: the address to post to, within the application, which clients learn on the stream.

    Raises:
        ValueError: no revision that is served can be spoken over this transport.
    """

    def __init__(self, core: Core, message_path: str) -> None:
        adapters = core.adapters.by_version.values()
        self._served = tuple(adapter.version for adapter in adapters if adapter.served_on_http_sse)
        if not self._served:
            raise ValueError("none of the served revisions can be spoken over HTTP+SSE")
        self._core = core
        self._message_path = message_path
        self._front = Front(core)
        self._streams = Streams(core)
        self._first = core.adapters.by_version[self._served[0]]
        """The revision in which a connection begins."""
        instead = self._first.deprecated.get("http_sse")
        if instead is not None:
            log.warning("HTTP+SSE is deprecated since it has a successor: %s", instead)
        self._connections: dict[str, _HttpSseConnection] = {}

    async def listen(self, request: HttpRequest) -> HttpResponse | None:
        """Answer a request to the first address: open the stream.

        Args:
            request: the request.

        Returns:
            The answer; None where it has gone out already, bit by bit.
        """
        return await self._front.handle(request, self._listen)

    async def post(self, request: HttpRequest) -> HttpResponse | None:
        """Answer a request to the second address: take a message.

        Args:
            request: the request.

        Returns:
            The answer.
        """
        return await self._front.handle(request, self._post)

    async def _listen(self, request: HttpRequest, principal: Principal | None) -> HttpResponse | None:
        if request.head.method != "GET":
            return self._not_allowed(request, "GET")
        await self._serve(request, principal, f"{request.head.root}{self._message_path}?{_QUERY}=")
        return None

    async def _post(self, request: HttpRequest, principal: Principal | None) -> HttpResponse:
        if request.head.method != "POST":
            return self._not_allowed(request, "POST")
        name = parse_qs(request.head.query).get(_QUERY, [""])[0]
        session = await self._core.sessions.find(name, name_of(principal))
        if session is None or not session.is_connection:
            raise SessionUnknown("there is no such connection; open one first")
        if principal is not None and session.scopes != principal.scopes:
            await self._core.note_scopes(session, principal)
        try:
            body = await request.body()
            payload = parse(body, self._core.settings.limits)
            if len(body) >= LARGE_BYTES:
                await others_first()
        except ProtocolError as error:
            adapter = self._core.adapters.by_version[session.version or self._first.version]
            return self._front.responses.refusal(adapter, dict(error.identifier), error, request.head)
        return await self._take(session, principal, payload, len(body), request.head)

    async def _serve(self, request: HttpRequest, principal: Principal | None, address: str) -> None:
        """Serve one stream until it ends or nobody is there."""
        core, first = self._core, self._first
        name = name_of(principal)
        owner = owner_of(name, request.head.peer)
        with core.quota.one_more(owner):
            session = await core.sessions.open(
                NOT_AGREED, name, owner, Declaration({}, None), connection=True, scopes=scopes_of(principal)
            )
            topic = _topic(session)
            stream = await self._streams.open(topic, owner)
            connection = self._connections[session.name] = _HttpSseConnection(core, session, stream, self._connections)
            connection.held = True
            reader = self._streams.reader(topic, request, self._written)
            reader.elsewhere = True
            told = SessionStream(session, first, principal, stream.send, connection.end, stream.is_attended)
            try:
                await core.audience.join(told)
                await request.open(OK, {**STREAM_HEADERS, **first.stream_headers})
                where = f"{address}{session.name}".encode()
                await request.write(named_event(first.http_sse_endpoint_event, where))
                async with pinging(core, told, stream, reader):
                    await reader.read_out("", core.settings.keep_alive_seconds)
            except ConnectionError:
                pass
            finally:
                del self._connections[session.name]
                connection.held = False
                core.audience.leave(told)
                with contextlib.suppress(Unavailable):  # the log has it, and the session goes when its time is over
                    await core.end_session(session)  # nobody can get an answer to its calls
                await self._streams.close(topic)

    def _written(self, message: Message) -> bytes:
        return named_event(self._first.http_sse_message_event, message.body)

    async def _take(
        self, session: Session, principal: Principal | None, payload: Json, size: int, head: Head
    ) -> HttpResponse:
        connection = self._connections.get(session.name)
        if connection is None:
            stream = self._streams.joined(_topic(session))
            connection = _HttpSseConnection(self._core, session, stream, self._connections)
        adapter, refused = await connection.take(payload, size, session, principal)
        if refused is not None:
            return self._front.responses.refused(adapter, refused, head)
        if connection.going_on:
            self._connections.setdefault(session.name, connection)
        return HttpResponse(adapter.accepted_status)

    def _not_allowed(self, request: HttpRequest, allowed: str) -> HttpResponse:
        error = MethodNotAllowed(f"{request.head.method} is not answered at this address")
        answer = self._front.responses.refusal(self._first, {}, error, request.head)
        return answer._replace(headers={**answer.headers, "allow": allowed})


def _topic(session: Session) -> Key:
    return key("connection", session.name)
