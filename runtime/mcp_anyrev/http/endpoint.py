"""Streamable HTTP without a socket: a request in, a response, or pieces of a stream, out.

Rule: the order of the checks is the order of the code in `_post`, and nothing of the application runs before all have passed.
Specification: basic/transports/streamable-http#sending-messages
"""

from __future__ import annotations

from collections.abc import Mapping

from mcp_contract import (
    InvalidRequest,
    JsonObject,
    MethodNotAllowed,
    ProtocolError,
    SessionMissing,
    SessionUnknown,
    header,
)
from mcp_revisions.protocol import Adapter

from mcp_anyrev.conversation.conversation import Conversation, messages_of, readable_id
from mcp_anyrev.conversation.outbox import Queue
from mcp_anyrev.conversation.sessions import Session
from mcp_anyrev.head import Head
from mcp_anyrev.http.front import Front
from mcp_anyrev.http.replies import Replies
from mcp_anyrev.http.request import HttpRequest, HttpResponse
from mcp_anyrev.http.resumption import Streams
from mcp_anyrev.http.session_streams import SessionStreams
from mcp_anyrev.messages import parse
from mcp_anyrev.principal import Principal, name_of
from mcp_anyrev.server.core import Core
from mcp_anyrev.turns import LARGE_BYTES, others_first


class Endpoint:
    """One address that speaks Streamable HTTP.

    Args:
        core: the server behind it.
    """

    def __init__(self, core: Core) -> None:
        streams = Streams(core)
        self.front = Front(core)
        self._core = core
        self._limits = core.settings.limits
        self._replies = Replies(core.settings, streams)
        self._session_streams = SessionStreams(core, streams)
        adapters = core.adapters.by_version.values()
        self._session_headers = tuple(
            {adapter.session_header.lower() for adapter in adapters if adapter.session_header is not None}
        )

    async def handle(self, request: HttpRequest) -> HttpResponse | None:
        """Answer a request.

        Args:
            request: the request, of which the body is asked for once it has been let in.

        Returns:
            The answer; None where it has gone out already, bit by bit, which the transport then ends.
        """
        return await self.front.handle(request, self._post if request.head.method == "POST" else self._other)

    async def _post(self, request: HttpRequest, principal: Principal | None) -> HttpResponse | None:
        core, headers = self._core, request.head.headers
        try:
            body = await request.body()
            payload = parse(body, self._limits)
            if len(body) >= LARGE_BYTES:
                await others_first()
        except ProtocolError as error:
            return await self._unreadable(request.head, principal, error)
        in_batch = isinstance(payload, list)
        try:
            if request.fault is not None:
                raise request.fault
            name, session = await self._session(headers, principal)
        except ProtocolError as error:  # whatever its revision is, the id can be read
            adapter = core.adapters.select(payload, headers, None).adapter
            return self._refused(adapter, readable_id(payload), error, request.head)
        adapter, refused = core.adapters.select(payload, headers, None if session is None else session.version)
        try:
            if refused is not None:
                raise refused
            messages, refusals = messages_of(adapter, payload, self._limits.batch_messages)
            opening = messages[0].get("method") == adapter.description_method
            if opening and in_batch:
                raise InvalidRequest(f"{adapter.description_method} is sent alone, not in a batch")
            if opening or adapter.session_header is None:
                session = None  # a handshake belongs to none, and so nobody can give it up
            elif session is None:
                raise _no_session(adapter, name)
            for message in messages:
                adapter.check_headers(headers, message)
            queue = Queue(self._limits, core.unread, resumable=adapter.event_ids and session is not None)
            conversation = Conversation(
                core,
                adapter,
                queue,
                session,
                principal,
                headers,
                request.head.peer,
                len(body) // len(messages),
                cancels=adapter.cancels_by_notification,
            )
            requests = await conversation.receive(messages, in_batch=in_batch)
        except ProtocolError as error:
            return self._refused(adapter, readable_id(payload), error, request.head)
        if not requests and not refusals:
            return HttpResponse(adapter.accepted_status)
        work = conversation.answer_all(requests, refusals) if in_batch else conversation.answer(requests[0])
        response = await self._replies.reply(conversation, queue, work, request)
        if response is None:
            return None
        answer = self.front.responses.of(adapter, response, request.head)
        if session is None and conversation.session is not None and adapter.session_header is not None:
            return answer._replace(headers={**answer.headers, adapter.session_header: conversation.session.name})
        return answer

    async def _other(self, request: HttpRequest, principal: Principal | None) -> HttpResponse | None:
        head = request.head
        name, session = await self._session(head.headers, principal)
        adapter, refused = self._core.adapters.select({}, head.headers, None if session is None else session.version)
        try:
            if head.method not in self._methods(adapter) or head.method == "POST":
                raise MethodNotAllowed(f"{head.method} is not answered at this address")
            if refused is not None:
                raise refused
            if session is None:
                raise _no_session(adapter, name)
            adapter.check_headers(head.headers, {})
            if head.method == "GET":
                await self._session_streams.serve(
                    adapter, session, principal, header(head.headers, adapter.resumption_header), request
                )
                return None
        except ProtocolError as error:
            return self._refused(adapter, {}, error, head)
        await self._core.end_session(session)
        assert adapter.ended_status is not None  # DELETE is answered where it ends sessions
        return HttpResponse(adapter.ended_status)

    async def _unreadable(self, head: Head, principal: Principal | None, error: ProtocolError) -> HttpResponse:
        """Refuse what cannot be read, as the revision of its session does."""
        _, session = await self._session(head.headers, principal)
        adapter, _ = self._core.adapters.select({}, head.headers, None if session is None else session.version)
        return self._refused(adapter, dict(error.identifier), error, head)

    async def _session(
        self, headers: Mapping[str, str], principal: Principal | None
    ) -> tuple[str | None, Session | None]:
        """The name of the session that a request gives, and the session of that name."""
        for known in self._session_headers:
            name = headers.get(known)
            if name is not None:
                session = await self._core.sessions.find(name, name_of(principal))
                if session is None or session.is_connection:
                    return name, None
                if principal is not None and session.scopes != principal.scopes:
                    await self._core.note_scopes(session, principal)
                return name, session
        return None, None

    def _methods(self, adapter: Adapter) -> list[str]:
        """The HTTP methods that are answered at this address."""
        methods = ["POST"]
        if adapter.listens_by_get and adapter.session_header is not None and self._core.settings.listen:
            methods.append("GET")
        if adapter.ends_by_delete and adapter.session_header is not None:
            methods.append("DELETE")
        return methods

    def _refused(self, adapter: Adapter, identifier: JsonObject, error: ProtocolError, head: Head) -> HttpResponse:
        answer = self.front.responses.refusal(adapter, identifier, error, head)
        if isinstance(error, MethodNotAllowed):
            return answer._replace(headers={**answer.headers, "allow": ", ".join(self._methods(adapter))})
        return answer


def _no_session(adapter: Adapter, name: str | None) -> ProtocolError:
    if name is None:
        return SessionMissing(f"the header {adapter.session_header} is missing; {adapter.description_method} gives one")
    return SessionUnknown(f"there is no such session; {adapter.description_method} gives a new one")
