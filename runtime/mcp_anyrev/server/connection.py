"""One connection that carries all messages of one client, both ways.

Rule: what comes is taken in order, and what answers it goes out when it is there. A handshake agrees on a revision for the connection,
once; until then its messages are read as the newest revision with a handshake has them. A request that says for itself which revision
it is of is answered in that one, if the transport carries it. Where the connection is to end, the calls that go on finish first.
Specification: basic/transports
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from mcp_contract import Busy, Json, JsonObject, ProtocolError, UnsupportedVersion, is_identifier

from mcp_anyrev.conversation.conversation import Conversation, messages_of, readable_id, refusal

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.conversation.outbox import Ending
    from mcp_anyrev.conversation.outcomes import Response
    from mcp_anyrev.conversation.sessions import Session
    from mcp_anyrev.principal import Principal
    from mcp_anyrev.server.core import Core


class Taken(NamedTuple):
    """What became of a frame.

    Attributes:
        adapter: the revision that it was read in.
        refusal: why it was not taken, where that was not said on the connection, since it holds no request.
    """

    adapter: Adapter
    refusal: Response | None


class Connection:
    """A connection, as far as it is the same on every transport.

    Args:
        core: the server.
        name: what names it among all connections.
        outbox: where everything goes that is sent.
    """

    def __init__(self, core: Core, name: str, outbox: Ending) -> None:
        self.going_on = 0
        """How many calls are not answered yet."""
        self.outbox = outbox
        self._core = core
        self._ending = False
        self._name = name
        self._working: set[asyncio.Task[None]] = set()

    def carries(self, adapter: Adapter) -> bool:
        """Can a revision be spoken on it?"""
        raise NotImplementedError

    def cancels(self, adapter: Adapter) -> bool:
        """Does a client give up a call by a notification?"""
        raise NotImplementedError

    def cancels_listening(self, adapter: Adapter) -> bool:
        """Does the server say by a cancellation that it ends a stream of changes?"""
        return False

    def finished(self) -> None:
        """No call goes on any longer."""

    def end(self) -> None:
        """End what is sent, once no call goes on."""
        self._ending = True
        if not self.going_on:
            self.outbox.end(None)

    async def take(self, payload: Json, size: int, session: Session | None, principal: Principal | None) -> Taken:
        """Take what has come in one frame; answers follow by themselves.

        Args:
            payload: the JSON in it.
            size: how many bytes it has.
            session: the session of the connection, as it is now; None where no revision with a handshake is served.
            principal: who sent it.
        """
        core, in_batch = self._core, isinstance(payload, list)
        adapter, refused = core.adapters.select(payload, {}, self._agreed(session))
        try:
            if refused is not None:
                raise refused
            if not self.carries(adapter):
                carried = [one.version for one in core.adapters.by_version.values() if self.carries(one)]
                raise UnsupportedVersion(adapter.version, carried)
            messages, refusals = messages_of(adapter, payload, core.settings.limits.batch_messages)
            conversation = Conversation(
                core,
                adapter,
                self.outbox,
                session if adapter.has_handshake else None,
                principal,
                size=size // len(messages),
                cancels=self.cancels(adapter),
                cancels_listening=self.cancels_listening(adapter),
                scope=self._name,
            )
            self._check_room(messages)
            requests = await conversation.receive(messages, in_batch=in_batch)
        except ProtocolError as error:
            refused_with = refusal(adapter, readable_id(payload), error)
            if not _is_request(payload):
                return Taken(adapter, refused_with)
            self.outbox.send(refused_with.message)
            return Taken(adapter, None)
        if requests or refusals:
            self.going_on += len(requests)
            working = asyncio.ensure_future(self._answer(conversation, requests, refusals, in_batch=in_batch))
            self._working.add(working)
            working.add_done_callback(self._working.discard)
        return Taken(adapter, None)

    def _agreed(self, session: Session | None) -> str:
        """The revision of what does not name one itself; where none has a handshake, the newest, which says what a request lacks."""
        served = self._core.adapters
        return served.versions[0] if session is None else session.version or served.handshake_versions[0]

    async def _answer(
        self, conversation: Conversation, requests: list[JsonObject], refusals: list[Response], *, in_batch: bool
    ) -> None:
        """Answer requests, on the connection."""
        try:
            response = await (
                conversation.answer_all(requests, refusals) if in_batch else conversation.answer(requests[0])
            )
            if response is not None:
                self.outbox.send(response.message)
        finally:
            self.going_on -= len(requests)
            if not self.going_on:
                self.finished()
                if self._ending:
                    self.outbox.end(None)

    def _check_room(self, messages: list[JsonObject]) -> None:
        """See that so many more calls may go on here."""
        coming = sum("method" in message and "id" in message for message in messages)
        most = self._core.settings.limits.calls_of_connection
        if self.going_on + coming > most:
            raise Busy(f"{most} calls of this connection are going on, which is the most; wait for an answer")


def _is_request(payload: Json) -> bool:
    return isinstance(payload, dict) and "method" in payload and is_identifier(payload.get("id"))
