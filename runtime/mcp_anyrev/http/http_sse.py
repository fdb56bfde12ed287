"""HTTP+SSE without a socket: one address that opens a stream, and one to post to.

Rule: each stream is a session, and carries everything that the server says in it, from whichever worker. What is posted is taken at
once, and what answers it goes on the stream, in order; once the stream has ended, so have its calls. The address to post to holds the session's unguessable name. Headers of other
transports mean nothing here. A stream that is to end lets the calls of its session finish first.
Specification: basic/transports#http-with-sse
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from mcp_contract import (
    Busy,
    Declaration,
    Json,
    JsonObject,
    MethodNotAllowed,
    ProtocolError,
    SessionUnknown,
    Unavailable,
    UnsupportedVersion,
    is_identifier,
)

from mcp_anyrev.conversation.conversation import Conversation, messages_of, refusal
from mcp_anyrev.events import named_event
from mcp_anyrev.head import Head
from mcp_anyrev.http.front import Front
from mcp_anyrev.http.request import HttpRequest, HttpResponse
from mcp_anyrev.http.responses import OK, STREAM_HEADERS
from mcp_anyrev.http.resumption import Streams
from mcp_anyrev.http.streams import Stream
from mcp_anyrev.messages import parse
from mcp_anyrev.principal import Principal, name_of, owner_of, scopes_of
from mcp_anyrev.server.audience import SessionStream
from mcp_anyrev.server.core import NOT_AGREED
from mcp_anyrev.storage.keys import Key, key

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.conversation.outcomes import Response
    from mcp_anyrev.conversation.sessions import Session
    from mcp_anyrev.server.core import Core
    from mcp_anyrev.storage.protocols import Message

log = logging.getLogger("mcp_anyrev.server")

_QUERY = "session"


class _Calls:
    """The calls of one session that go on here, and the stream that they are answered on.

    Args:
        stream: the stream.
        held: is it this worker that holds it?
    """

    __slots__ = ("_ending", "going_on", "held", "stream")

    def __init__(self, stream: Stream, *, held: bool = False) -> None:
        self.going_on = 0
        self.held = held
        self.stream = stream
        self._ending = False

    def end(self) -> None:
        """End the stream, once no call goes on here."""
        self._ending = True
        if not self.going_on:
            self.stream.end(None)

    def finished(self, calls: int) -> None:
        """So many calls are over."""
        self.going_on -= calls
        if self._ending:
            self.end()


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
        self._calls: dict[str, _Calls] = {}
        self._working: set[asyncio.Task[None]] = set()

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
        body = await request.body()
        payload = parse(body, self._core.settings.limits)
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
            calls = self._calls[session.name] = _Calls(stream, held=True)
            reader = self._streams.reader(topic, request, self._written)
            reader.elsewhere = True
            told = SessionStream(session, first, principal, stream.send, calls.end, stream.is_attended)
            try:
                await core.audience.join(told)
                await request.open(OK, {**STREAM_HEADERS, **first.stream_headers})
                where = f"{address}{session.name}".encode()
                await request.write(named_event(first.http_sse_endpoint_event, where))
                await reader.read_out("", core.settings.keep_alive_seconds)
            except ConnectionError:
                pass
            finally:
                del self._calls[session.name]
                calls.held = False
                core.audience.leave(told)
                with contextlib.suppress(Unavailable):  # the log has it, and the session goes when its time is over
                    await core.end_session(session)  # nobody can get an answer to its calls
                await self._streams.close(topic)

    def _written(self, message: Message) -> bytes:
        return named_event(self._first.http_sse_message_event, message.body)

    async def _take(
        self, session: Session, principal: Principal | None, payload: Json, size: int, head: Head
    ) -> HttpResponse:
        core, in_batch = self._core, isinstance(payload, list)
        adapter, refused = core.adapters.select(payload, {}, session.version or None)
        stream = self._streams.joined(_topic(session))
        try:
            if refused is not None:
                raise refused
            if not adapter.served_on_http_sse:
                raise UnsupportedVersion(adapter.version, self._served)
            messages, refusals = messages_of(adapter, payload, core.settings.limits.batch_messages)
            conversation = Conversation(
                core,
                adapter,
                stream,
                session,
                principal,
                size=size // len(messages),
                cancels=adapter.http_sse_cancels_by_notification,
            )
            calls = self._calls.get(session.name) or _Calls(stream)
            self._check_room(calls, messages)
            requests = await conversation.receive(messages, in_batch=in_batch)
        except ProtocolError as error:
            return self._refused(adapter, stream, payload, error, head)
        if requests or refusals:
            calls.going_on += len(requests)
            self._calls.setdefault(session.name, calls)
            working = asyncio.ensure_future(self._answer(conversation, calls, requests, refusals, in_batch=in_batch))
            self._working.add(working)
            working.add_done_callback(self._working.discard)
        return HttpResponse(adapter.accepted_status)

    async def _answer(
        self,
        conversation: Conversation,
        calls: _Calls,
        requests: list[JsonObject],
        refusals: list[Response],
        *,
        in_batch: bool,
    ) -> None:
        """Answer requests on the stream of their session."""
        try:
            response = await (
                conversation.answer_all(requests, refusals) if in_batch else conversation.answer(requests[0])
            )
            if response is not None:
                calls.stream.send(response.message)
        finally:
            calls.finished(len(requests))
            if not calls.going_on and not calls.held and conversation.session is not None:
                self._calls.pop(conversation.session.name, None)

    def _check_room(self, calls: _Calls, messages: list[JsonObject]) -> None:
        """See that so many more calls of a session may go on here."""
        coming = sum("method" in message and "id" in message for message in messages)
        most = self._core.settings.limits.calls_of_connection
        if calls.going_on + coming > most:
            raise Busy(f"{most} calls of this connection are going on, which is the most; wait for an answer")

    def _refused(
        self, adapter: Adapter, stream: Stream, payload: Json, error: ProtocolError, head: Head
    ) -> HttpResponse:
        """A request is refused on the stream, as it is answered there; whatever else, to who posts it."""
        if isinstance(payload, dict) and "method" in payload and is_identifier(payload.get("id")):
            stream.send(refusal(adapter, {"id": payload["id"]}, error).message)
            return HttpResponse(adapter.accepted_status)
        return self._front.responses.of(adapter, refusal(adapter, {}, error), head)

    def _not_allowed(self, request: HttpRequest, allowed: str) -> HttpResponse:
        error = MethodNotAllowed(f"{request.head.method} is not answered at this address")
        answer = self._front.responses.of(self._first, refusal(self._first, {}, error), request.head)
        return answer._replace(headers={**answer.headers, "allow": allowed})


def _topic(session: Session) -> Key:
    return key("connection", session.name)
