"""Streamable HTTP without a socket: the head and the body of a request in, a response, or pieces of a stream, out.

Rule: the order of the checks is the order of the code in `_post`, and nothing of the application runs before all have passed.
Specification: basic/transports/streamable-http#sending-messages
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import Coroutine, Mapping
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

from mcp_anyrev.server.calls import Context
from mcp_anyrev.server.core import Core
from mcp_anyrev.server.gate import Gate
from mcp_anyrev.server.parsing import parse
from mcp_anyrev.server.replies import Outbox, Patience, Reply
from mcp_anyrev.server.wire import JSON_HEADERS, OK, Head, Line, Response

Work = Coroutine[Any, Any, Response]
"""What makes the final message of a reply."""


class Endpoint:
    """One address that speaks Streamable HTTP.

    Args:
        core: the server behind it.
    """

    def __init__(self, core: Core) -> None:
        settings = core.settings
        self._core = core
        self._gate = Gate(settings.allowed_hosts, settings.allowed_origins)
        self._patience = Patience(settings.head_delay_seconds, settings.keep_alive_seconds)
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
        try:
            self._gate.check(head.headers)
            principal = None if self._core.settings.principal is None else await self._principal(head)
            if head.method == "POST":
                if body is None:
                    raise InvalidRequest(f"the body is larger than {self.body_limit} bytes")
                return await self._post(head, principal, parse(body), line)
        except ProtocolError as error:  # too early to know more than the head
            return self._refused(self._core.adapters.select({}, head.headers, None).adapter, {}, error)
        return await self._other(head, principal)

    async def _post(self, head: Head, principal: str | None, payload: Json, line: Line) -> Response | None:
        headers = head.headers
        name = self._session_name(headers)
        session = None if name is None else await self._core.sessions.find(name, principal)
        adapter, refusal = self._core.adapters.select(payload, headers, None if session is None else session.version)
        try:
            if refusal is not None:
                raise refusal
            messages = adapter.split(payload)
            message = messages[0]
            if adapter.session_header is None:
                session = None
            elif session is None and message.get("method") != adapter.description_method:
                raise _no_session(adapter, name)
            outbox = Outbox()
            context = Context(adapter, session, principal, outbox.send)
            work: Work | None = None
            if isinstance(payload, list):
                requests = await self._requests(context, headers, messages)
                if requests:
                    work = self._batch(context, requests)
            elif "method" in message and "id" in message:
                _check_headers(adapter, headers, message)
                work = self._request(context, message)
            else:
                await self._take(context, headers, message)
        except ProtocolError as error:
            return self._refused(adapter, _readable_id(payload), error)
        if work is None:
            return Response(adapter.accepted_status)
        return await Reply(adapter, work, outbox, line, self._patience)

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
        name = await self._core.sessions.open(adapter.version, context.principal, declaration)
        return response._replace(headers={**response.headers, adapter.session_header: name})

    async def _take(self, context: Context, headers: Mapping[str, str], message: JsonObject) -> None:
        """Take a message that wants no answer.

        Raises:
            ProtocolError: it is refused.
        """
        if "method" in message:
            _check_headers(context.adapter, headers, message)
            self._core.take_notification(context.adapter, message)
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

    async def _batch(self, context: Context, requests: list[JsonObject]) -> Response:
        responses = await asyncio.gather(*(self._core.respond(context, message) for message in requests))
        return Response(OK, b"[%b]" % b",".join(response.body for response in responses), JSON_HEADERS)

    async def _other(self, head: Head, principal: str | None) -> Response:
        name = self._session_name(head.headers)
        session = None if name is None else await self._core.sessions.find(name, principal)
        adapter, refusal = self._core.adapters.select({}, head.headers, None if session is None else session.version)
        try:
            if refusal is not None:
                raise refusal
            if head.method != "DELETE" or adapter.session_header is None:
                raise MethodNotAllowed(f"{head.method} is not answered at this address")
            if session is None:
                raise _no_session(adapter, name)
        except ProtocolError as error:
            return self._refused(adapter, {}, error)
        await self._core.sessions.end(session)
        return Response(adapter.accepted_status)

    def _session_name(self, headers: Mapping[str, str]) -> str | None:
        """The name of the session that a request gives."""
        for header in self._session_headers:
            name = headers.get(header)
            if name is not None:
                return name
        return None

    async def _principal(self, head: Head) -> str | None:
        found: Any = self._core.settings.principal(head) if self._core.settings.principal else None
        principal: str | None = await found if inspect.isawaitable(found) else found
        return principal

    def _refused(self, adapter: Adapter, identifier: JsonObject, error: ProtocolError) -> Response:
        response = self._core.refusal(adapter, identifier, error)
        if isinstance(error, MethodNotAllowed):
            allowed = "POST" if adapter.session_header is None else "POST, DELETE"
            return response._replace(headers={**response.headers, "allow": allowed})
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
