"""HTTP+SSE without a socket: one address that opens a stream, and one to post to.

Rule: what is posted is taken at once, and what answers it goes on the stream. The address to post to holds the session's unguessable
name. Headers of other transports mean nothing here.
Specification: basic/transports#http-with-sse
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from mcp_contract import (
    InternalError,
    InvalidRequest,
    Json,
    JsonObject,
    MethodNotAllowed,
    ProtocolError,
    SessionUnknown,
    UnsupportedVersion,
    is_identifier,
)

from mcp_anyrev.conversation.calls import Context
from mcp_anyrev.conversation.outbox import Outbox
from mcp_anyrev.head import Head
from mcp_anyrev.http.connections import Connections
from mcp_anyrev.http.front import Front
from mcp_anyrev.http.wire import Line, Response
from mcp_anyrev.messages import parse
from mcp_anyrev.principal import Principal, name_of

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.server.core import Core
    from mcp_anyrev.server.sessions import Session

_BEFORE_AGREEMENT = "ping"


class HttpSse:
    """The two addresses of one server.

    Args:
        core: the server behind them.

    Raises:
        ValueError: no revision that is served can be spoken over this transport.
    """

    def __init__(self, core: Core) -> None:
        adapters = core.adapters.by_version.values()
        self._served = tuple(adapter.version for adapter in adapters if adapter.served_on_http_sse)
        if not self._served:
            raise ValueError("none of the served revisions can be spoken over HTTP+SSE")
        self._core = core
        self._front = Front(core)
        self._connections = Connections(core, core.adapters.by_version[self._served[0]])
        self._working: set[asyncio.Task[None]] = set()
        self.body_limit = core.settings.limits.body_bytes

    async def listen(self, head: Head, address: str, line: Line) -> Response | None:
        """Answer a request to the first address: open the stream.

        Args:
            head: its head.
            address: the second address, up to where the name of the session goes.
            line: the way back.

        Returns:
            The answer; None where it has gone out on the line.
        """

        async def answer(principal: Principal | None, line: Line) -> Response | None:
            if head.method != "GET":
                return self._not_allowed(head, "GET")
            await self._connections.serve(name_of(principal), address, line)
            return None

        return await self._front.handle(head, line, answer)

    async def post(self, head: Head, name: str, body: bytes | None, line: Line) -> Response | None:
        """Answer a request to the second address: take a message.

        Args:
            head: its head.
            name: the name of the session, as the address holds it.
            body: its body; None for one that is larger than `body_limit`, and was not read.
            line: the way back, which is not used.

        Returns:
            The answer.
        """

        async def answer(principal: Principal | None, line: Line) -> Response | None:
            if head.method != "POST":
                return self._not_allowed(head, "POST")
            session = await self._core.sessions.find(name, name_of(principal))
            if session is None or not session.is_connection:
                raise SessionUnknown("there is no such connection; open one first")
            if body is None:
                raise InvalidRequest(
                    f"the body is larger than {self.body_limit} bytes, came too late or cannot be decoded"
                )
            return await self._take(session, principal, parse(body))

        return await self._front.handle(head, line, answer)

    async def _take(self, session: Session, principal: Principal | None, payload: Json) -> Response:
        adapter, refusal = self._core.adapters.select(payload, {}, session.version or None)
        try:
            if refusal is not None:
                raise refusal
            if not adapter.served_on_http_sse:
                raise UnsupportedVersion(adapter.version, self._served)
            messages = adapter.batching(payload)
            most = self._core.settings.limits.batch_messages
            if len(messages) > most:
                raise InvalidRequest(f"a batch has at most {most} messages")
            context = self._context(adapter, session, principal)
            requests = [message for message in messages if "method" in message and "id" in message]
            self._check(context, session, requests)
            for message in messages:
                await self._take_silent(context, message, alone=message is payload)
        except ProtocolError as error:
            return await self._refused(adapter, session, payload, error)
        if requests:
            working = asyncio.ensure_future(self._work(context, session.name, requests, isinstance(payload, list)))
            self._working.add(working)
            working.add_done_callback(self._working.discard)
        return Response(adapter.accepted_status)

    def _context(self, adapter: Adapter, session: Session, principal: Principal | None) -> Context:
        outbox = Outbox(self._core.settings.limits.queue)
        return Context(adapter, session, principal, outbox.send, None, outbox)

    def _check(self, context: Context, session: Session, requests: list[JsonObject]) -> None:
        """See that the handshake comes first and once, and that not too much goes on at once."""
        opening = context.adapter.description_method
        for message in requests:
            if session.version and message["method"] == opening:
                raise InvalidRequest("this connection has had its handshake; open another for another one")
            if not session.version and message["method"] not in (opening, _BEFORE_AGREEMENT):
                raise InvalidRequest(f"the handshake comes first: {opening}")
        self._connections.check_room(session.name, len(requests))

    async def _take_silent(self, context: Context, message: JsonObject, *, alone: bool) -> None:
        """Take a message, if it is one that wants no answer."""
        try:
            if "method" not in message:
                await self._core.take_response(context, message)
            elif "id" not in message:
                await self._core.take_notification(context, message)
        except InvalidRequest:
            if alone:  # in a batch, what wants no answer does not spoil the rest
                raise

    async def _refused(self, adapter: Adapter, session: Session, payload: Json, error: ProtocolError) -> Response:
        """A request is refused on the stream, as it is answered there; whatever else, to who posts it."""
        if isinstance(payload, dict) and "method" in payload and is_identifier(payload.get("id")):
            refused = self._core.refusal(adapter, {"id": payload["id"]}, error)
            await self._connections.deliver(session.name, refused.body)
            return Response(adapter.accepted_status)
        return self._core.refusal(adapter, {}, error)

    async def _work(self, context: Context, name: str, requests: list[JsonObject], in_batch: bool) -> None:
        """Answer requests, and say on the stream whatever comes before the answer, and the answer."""
        outbox = context.outbox
        assert outbox is not None
        with self._connections.call(name):
            carrying = asyncio.ensure_future(self._carry(name, outbox))
            bodies: list[bytes] = []
            try:
                answers = await asyncio.gather(*(self._answer(context, message) for message in requests))
                bodies = [answer.body for answer in answers if answer is not None]
            finally:
                outbox.end(b"[%b]" % b",".join(bodies) if bodies and in_batch else next(iter(bodies), None))
                await carrying

    async def _carry(self, name: str, outbox: Outbox) -> None:
        while True:
            while outbox:
                await self._connections.deliver(name, outbox.take())
            if outbox.ended:
                return
            await outbox.wait(self._core.settings.keep_alive_seconds)

    async def _answer(self, context: Context, message: JsonObject) -> Response | None:
        """The answer to a request; None where it has been given up."""
        running = self._core.live.running
        context = replace(context)  # each can be given up without the others
        call = running.add(context, message["id"])
        try:
            response = await self._core.respond(context, message)
            await self._agree(context, message, response)
            return None if context.cancelled and not call.owes_answer else response
        except asyncio.CancelledError:
            if not call.was_given_up():
                raise
            ended = InternalError("the server ended the call")
            return self._core.refusal(context.adapter, {"id": message["id"]}, ended) if call.owes_answer else None
        finally:
            running.remove(call)

    async def _agree(self, context: Context, message: JsonObject, response: Response) -> None:
        """After a handshake that went well, note in the session what was agreed."""
        adapter, session = context.adapter, context.session
        if session is None or response.failed or message["method"] != adapter.description_method:
            return
        said = adapter.client_declaration(message["params"], None)
        agreed = {
            "version": adapter.version,
            "capabilities": said.capabilities,
            "information": said.information,
        }
        await session.change(lambda _: agreed)
        await self._connections.agreed(session.name)

    def _not_allowed(self, head: Head, allowed: str) -> Response:
        adapter = self._core.adapters.by_version[self._served[0]]
        error = MethodNotAllowed(f"{head.method} is not answered at this address")
        response = self._core.refusal(adapter, {}, error)
        return response._replace(headers={**response.headers, "allow": allowed})
