"""Streamable HTTP without a socket: the head and the body of a request in, a response, or pieces of a stream, out.

Rule: the order of the checks is the order of the code in `_post`, and nothing of the application runs before all have passed.
Specification: basic/transports/streamable-http#sending-messages
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from typing import Any

from mcp_contract import (
    InvalidRequest,
    Json,
    JsonObject,
    MethodNotAllowed,
    ProtocolError,
    SessionMissing,
    SessionUnknown,
    is_identifier,
)
from mcp_revisions.protocol import Adapter

from mcp_anyrev.conversation.calls import Context
from mcp_anyrev.conversation.outbox import Outbox
from mcp_anyrev.head import Head
from mcp_anyrev.http.front import Front
from mcp_anyrev.http.replies import Reply
from mcp_anyrev.http.wire import JSON_HEADERS, OK, Line, Response
from mcp_anyrev.messages import parse
from mcp_anyrev.principal import Principal, name_of
from mcp_anyrev.server.core import Core

Work = Coroutine[Any, Any, Response | None]
"""What makes the final message of a reply; None where nobody wants it any longer."""


class Endpoint:
    """One address that speaks Streamable HTTP.

    Args:
        core: the server behind it.
    """

    def __init__(self, core: Core) -> None:
        settings = core.settings
        self._core = core
        self.front = Front(core)
        adapters = core.adapters.by_version.values()
        self._session_headers = tuple(
            {adapter.session_header.lower() for adapter in adapters if adapter.session_header is not None}
        )
        self.body_limit = settings.limits.body_bytes

    async def handle(self, head: Head, body: bytes | None, line: Line) -> Response | None:
        """Answer a request.

        Args:
            head: its head.
            body: its body; None for one that is larger than `body_limit`, and was not read.
            line: the way back, for an answer that comes bit by bit.

        Returns:
            The answer; None where it has gone out on the line, which the transport then ends.
        """
        return await self.front.handle(head, line, lambda principal, line: self._let_in(head, principal, body, line))

    def _let_in(
        self, head: Head, principal: Principal | None, body: bytes | None, line: Line
    ) -> Coroutine[Any, Any, Response | None]:
        if head.method != "POST":
            return self._other(head, principal, line)
        if body is None:
            raise InvalidRequest(f"the body is larger than {self.body_limit} bytes, came too late or cannot be decoded")
        return self._post(head, principal, parse(body), line)

    async def _post(self, head: Head, principal: Principal | None, payload: Json, line: Line) -> Response | None:
        headers = head.headers
        name = self._session_name(headers)
        session = None if name is None else await self._core.sessions.find(name, name_of(principal))
        adapter, refusal = self._core.adapters.select(payload, headers, None if session is None else session.version)
        try:
            if refusal is not None:
                raise refusal
            messages = adapter.batching(payload)
            message = messages[0]
            if adapter.session_header is None or message.get("method") == adapter.description_method:
                session = None  # a handshake belongs to none, and so nobody can give it up
            elif session is None:
                raise _no_session(adapter, name)
            outbox = Outbox(self._core.settings.limits.queue, adapter.event_ids and session is not None)
            context = Context(adapter, session, principal, outbox.send, headers, outbox)
            work: Work | None = None
            identifier: Json = None
            if isinstance(payload, list):
                requests = await self._requests(context, headers, messages)
                if requests:
                    work = self._batch(context, requests)
            elif "method" in message and "id" in message:
                _check_headers(adapter, headers, message)
                work = self._request(context, message)
                identifier = message["id"]
            else:
                await self._take(context, headers, message)
        except ProtocolError as error:
            return self._refused(adapter, _readable_id(payload), error)
        if work is None:
            return Response(adapter.accepted_status)
        return await Reply(self._core.live.replies, context, identifier, work, outbox, line)

    def _request(self, context: Context, message: JsonObject) -> Work:
        """The work that answers a request."""
        if context.adapter.has_handshake and message["method"] == context.adapter.description_method:
            return self._opening(context, message)
        return self._core.respond(context, message)

    async def _opening(self, context: Context, message: JsonObject) -> Response:
        """Answer a handshake, and open a session if it went well."""
        adapter = context.adapter
        response = await self._core.respond(context, message)
        if response.failed or adapter.session_header is None:
            return response
        declaration = adapter.client_declaration(message["params"], None)
        name = await self._core.sessions.open(adapter.version, name_of(context.principal), declaration)
        return response._replace(headers={**response.headers, adapter.session_header: name})

    async def _take(self, context: Context, headers: Mapping[str, str], message: JsonObject) -> None:
        """Take a message that wants no answer.

        Raises:
            ProtocolError: it is refused.
        """
        if "method" in message:
            _check_headers(context.adapter, headers, message)
            await self._core.take_notification(context, message)
        else:
            await self._core.take_response(context, message)

    async def _requests(
        self, context: Context, headers: Mapping[str, str], messages: list[JsonObject]
    ) -> list[JsonObject]:
        """The messages of a batch that want an answer, once the others have been taken.

        Raises:
            ProtocolError: the batch is refused.
        """
        if len(messages) > self._core.settings.limits.batch_messages:
            raise InvalidRequest(f"a batch has at most {self._core.settings.limits.batch_messages} messages")
        requests = []
        for message in messages:
            if "method" in message and "id" in message:
                _check_headers(context.adapter, headers, message)
                requests.append(message)
            else:
                with contextlib.suppress(InvalidRequest):  # what wants no answer does not spoil the rest
                    await self._take(context, headers, message)
        return requests

    async def _batch(self, context: Context, requests: list[JsonObject]) -> Response | None:
        responses = await asyncio.gather(*(self._one_of_batch(replace(context), message) for message in requests))
        bodies = [response.body for response in responses if response is not None]
        return Response(OK, b"[%b]" % b",".join(bodies), JSON_HEADERS) if bodies else None

    async def _one_of_batch(self, context: Context, message: JsonObject) -> Response | None:
        """The answer to one message of a batch, which can be given up without the others."""
        running = self._core.live.running
        call = running.add(context, message["id"])
        try:
            response = await self._core.respond(context, message)
            return response if not context.cancelled or call.owes_answer else None
        except asyncio.CancelledError:
            if not call.was_given_up():
                raise
            return None
        finally:
            running.remove(call)

    async def _other(self, head: Head, principal: Principal | None, line: Line) -> Response | None:
        name = self._session_name(head.headers)
        session = None if name is None else await self._core.sessions.find(name, name_of(principal))
        adapter, refusal = self._core.adapters.select({}, head.headers, None if session is None else session.version)
        try:
            if head.method not in self._methods(adapter) or head.method == "POST":
                raise MethodNotAllowed(f"{head.method} is not answered at this address")
            if refusal is not None:
                raise refusal
            if session is None:
                raise _no_session(adapter, name)
            adapter.check_headers(head.headers, {})
            if head.method == "GET":
                await self._core.live.streams.serve(adapter, session, head.headers.get("last-event-id"), line)
                return None
        except ProtocolError as error:
            return self._refused(adapter, {}, error)
        await self._core.live.end_session(session)
        return Response(adapter.accepted_status)

    def _methods(self, adapter: Adapter) -> list[str]:
        """The HTTP methods that are answered at this address."""
        methods = ["POST"]
        if adapter.listens_by_get and adapter.session_header is not None and self._core.settings.listen:
            methods.append("GET")
        if adapter.ends_by_delete and adapter.session_header is not None:
            methods.append("DELETE")
        return methods

    def _session_name(self, headers: Mapping[str, str]) -> str | None:
        """The name of the session that a request gives."""
        for header in self._session_headers:
            name = headers.get(header)
            if name is not None:
                return name
        return None

    def _refused(self, adapter: Adapter, identifier: JsonObject, error: ProtocolError) -> Response:
        response = self._core.refusal(adapter, identifier, error)
        if isinstance(error, MethodNotAllowed):
            return response._replace(headers={**response.headers, "allow": ", ".join(self._methods(adapter))})
        return response


def _no_session(adapter: Adapter, name: str | None) -> ProtocolError:
    if name is None:
        return SessionMissing(f"the header {adapter.session_header} is missing; {adapter.description_method} gives one")
    return SessionUnknown(f"there is no such session; {adapter.description_method} gives a new one")


def _check_headers(adapter: Adapter, headers: Mapping[str, str], message: JsonObject) -> None:
    # The params may be left out, but a header may have to repeat one of their members.
    adapter.check_headers(headers, message if "params" in message else {**message, "params": {}})


def _readable_id(payload: Json) -> JsonObject:
    """The id to echo, as a member; nothing where there is none to be read."""
    if isinstance(payload, dict) and "id" in payload and is_identifier(payload["id"]):
        return {"id": payload["id"]}
    return {}
