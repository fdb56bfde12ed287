"""A connection that one client has to itself from beginning to end, as frames of bytes: stdin and stdout, or two queues.

Rule: a frame is one JSON text. What cannot be read is answered, and nothing that comes ends the connection but its end. Both ways of
beginning work on it side by side. What is sent is bounded: while a client does not read, nothing more of it is taken.
Specification: basic/transports#stdio
"""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING

from mcp_contract import Declaration, Json, JsonObject, ProtocolError, Unavailable

from mcp_anyrev.conversation.conversation import refusal
from mcp_anyrev.conversation.outbox import Queue
from mcp_anyrev.messages import parse
from mcp_anyrev.principal import name_of, owner_of, scopes_of
from mcp_anyrev.server.audience import SessionStream
from mcp_anyrev.server.connection import Connection
from mcp_anyrev.server.core import NOT_AGREED
from mcp_anyrev.storage.keys import new_name
from mcp_anyrev.turns import LARGE_BYTES, others_first

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.conversation.sessions import Session
    from mcp_anyrev.principal import Principal
    from mcp_anyrev.server.core import Core

log = logging.getLogger("mcp_anyrev.server")


class Pipe(Connection):
    """The server's end of one.

    Args:
        core: the server.
        principal: who the client is; None for nobody in particular.

    Attributes:
        queue: what is to be sent.
    """

    def __init__(self, core: Core, principal: Principal | None = None) -> None:
        self.queue = Queue(core.settings.limits, core.unread)
        super().__init__(core, new_name(), self.queue)
        self._principal = principal
        self._session: Session | None = None
        self._stream: SessionStream | None = None

    def carries(self, adapter: Adapter) -> bool:
        """See `Connection.carries`."""
        return True

    def cancels(self, adapter: Adapter) -> bool:
        """See `Connection.cancels`."""
        return adapter.stdio_cancels_by_notification

    def cancels_listening(self, adapter: Adapter) -> bool:
        """See `Connection.cancels_listening`."""
        return adapter.stdio_cancels_listening

    async def open(self) -> None:
        """Begin; nothing that is said to the session from then on is missed.

        Raises:
            Unavailable: the store or the hub cannot be reached.
        """
        core, principal = self._core, self._principal
        served = core.adapters
        if not served.handshake_versions:
            return
        name = name_of(principal)
        self._session = await core.sessions.open(
            NOT_AGREED,
            name,
            owner_of(name, None),
            Declaration({}, None),
            connection=True,
            scopes=scopes_of(principal),
        )
        self._name = self._session.name  # requests of both kinds are given up by the same notification
        first = served.newest_with_handshake
        self._stream = SessionStream(
            self._session, first, principal, self.queue.send, self.end, lambda: not self.queue.closed
        )
        await core.audience.join(self._stream)

    async def take_frame(self, frame: bytes) -> None:
        """Take a frame, once what is to be sent has room; answers follow by themselves.

        Args:
            frame: bytes of any kind.
        """
        await self.queue.room()
        core = self._core
        try:
            payload = parse(frame, core.settings.limits)
            if len(frame) >= LARGE_BYTES:
                await others_first()
            session = None if self._session is None else await self._session.now()
        except ProtocolError as error:
            self.refuse(error)
            return
        if session is None and self._session is not None:
            log.error("a connection was ended, since its session has gone")
            self.queue.close()
            return
        _, refused = await self.take(payload, len(frame), session, self._principal)
        if refused is None:
            return
        if _wants_no_answer(payload):
            log.warning("what a client sent was not taken: %s", refused.error)
        else:
            self.queue.send(refused.message)

    def refuse(self, error: ProtocolError) -> None:
        """Say that a frame could not be read."""
        adapters = self._core.adapters
        version = self._stream.session.version if self._stream is not None else ""
        adapter = adapters.by_version[version or adapters.versions[0]]
        identifier: JsonObject = dict(error.identifier)
        self.queue.send(refusal(adapter, identifier, error).message)

    async def close(self) -> None:
        """Nothing more comes, and nobody reads any longer: its calls end, and its session."""
        self.queue.close()
        core = self._core
        core.in_flight.end_session(self._name)
        if self._session is None or self._stream is None:
            return
        core.audience.leave(self._stream)
        with contextlib.suppress(Unavailable):  # the log has it, and the session goes when its time is over
            await core.end_session(self._session)


def _wants_no_answer(payload: Json) -> bool:
    """Is it a notification or a response? What has an id beside its method is a request, even if the id is none that can be repeated."""
    if not isinstance(payload, dict):
        return False
    return "result" in payload or "error" in payload or ("method" in payload and "id" not in payload)
