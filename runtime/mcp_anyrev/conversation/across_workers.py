"""The requests that wait on one of several workers.

Rule: what is for another worker is passed on to it: cancellations to all, since nobody knows where a request is, and a response to
the one that its id names. A session in which a request waits is in use.
Specification: basic/utilities/cancellation#behavior-requirements
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from typing import TYPE_CHECKING

from mcp_contract import InvalidRequest, Json, JsonObject, Unavailable

from mcp_anyrev.conversation.bus import MISSED
from mcp_anyrev.conversation.in_flight import InFlight, Peer
from mcp_anyrev.conversation.sessions import SESSION
from mcp_anyrev.storage.protocols import IN_USE_SECONDS

if TYPE_CHECKING:
    from mcp_anyrev.conversation.bus import Bus
    from mcp_anyrev.conversation.requests import Request
    from mcp_anyrev.conversation.sessions import Session
    from mcp_anyrev.settings import Limits

log = logging.getLogger("mcp_anyrev.server")

CANCELLED = "cancelled"
RESPONSE = "response"
"""What is passed on: the id of a request and whose it is, or a response and whom it came from."""


class InFlightAcrossWorkers(InFlight):
    """The requests of one worker.

    Args:
        bus: reaches the other workers.
        limits: after how long a request of a peer is given up, and how many may wait.
        session_ttl: for how many seconds an unused session is kept.
    """

    def __init__(self, bus: Bus, limits: Limits, session_ttl: float) -> None:
        super().__init__(limits)
        self._bus = bus
        self._use_again = min(session_ttl / 4, IN_USE_SECONDS / 4)
        self._next_use: asyncio.TimerHandle | None = None
        self._using: asyncio.Task[None] | None = None
        bus.hear(CANCELLED, self._heard_cancellation)
        bus.hear(RESPONSE, self._heard_response)
        bus.hear(SESSION, self._heard_session)
        bus.hear(MISSED, self._missed)

    def add(self, request: Request) -> None:
        """See `InFlight.add`."""
        super().add(request)
        if self._next_use is None:
            self._next_use = asyncio.get_running_loop().call_later(self._use_again, self._use_sessions)
        if request.conversation.scope is not None:
            self._bus.start()

    def remove(self, request: Request) -> None:
        """See `InFlight.remove`."""
        super().remove(request)
        if not self._requests and self._next_use is not None:
            self._next_use.cancel()
            self._next_use = None

    async def cancel(self, scope: str, identifier: Json) -> None:
        """See `InFlight.cancel`: on whichever worker it is."""
        if not self._cancelled(scope, identifier):
            await self._bus.say({CANCELLED: [scope, identifier]})

    async def until_ready(self, session: Session) -> None:
        """See `InFlight.until_ready`."""
        await self._bus.ready()
        await super().until_ready(session)

    def new_identifier(self) -> str:
        """See `InFlight.new_identifier`: nobody can guess it, and it says on which worker its response is waited for."""
        self._bus.start()
        return f"{self._bus.worker}.{secrets.token_urlsafe(24)}"

    async def take_response(self, peer: Peer, message: JsonObject) -> None:
        """See `InFlight.take_response`: whichever worker waits for it."""
        identifier = message.get("id")
        if not isinstance(identifier, str) or self._answered(peer, message):
            return
        worker = identifier.partition(".")[0]
        if worker != self._bus.worker:
            await self._bus.say_to(worker, {RESPONSE: [*peer, message]})

    def _use_sessions(self) -> None:
        """Have the sessions in which requests wait be in use, now and again after a while."""
        self._next_use = asyncio.get_running_loop().call_later(self._use_again, self._use_sessions)
        sessions = {one.name: one for request in self._requests if (one := request.conversation.session) is not None}
        if sessions and (self._using is None or self._using.done()):
            self._using = asyncio.ensure_future(_use(list(sessions.values())))

    async def _heard_cancellation(self, said: list[Json]) -> None:
        scope, identifier = said
        self._cancelled(scope, identifier)

    async def _heard_response(self, said: list[Json]) -> None:
        scope, principal, message = said
        try:
            self._answered((scope, principal), message)
        except InvalidRequest as reason:
            log.warning("a response that came to another worker does not count: %s", reason)

    async def _heard_session(self, name: str) -> None:
        self.session_changed(name)

    async def _missed(self, said: None) -> None:
        for name in list(self._unready):
            self.session_changed(name)


async def _use(sessions: list[Session]) -> None:
    for session in sessions:
        try:
            await session.now()
        except Unavailable as reason:
            log.warning("a session in which a request waits may be taken to be unused: %s", reason)
