"""The requests that wait on this worker: those of peers until they are answered, and our own until peers have answered.

Rule: the only place that knows of either. A peer gives up its own requests, by their ids, in its own session or on its own connection; ids that name none do
nothing. A response counts only from whom was asked, and the first one counts. What is for another worker is passed on to it.
Specification: basic/utilities/cancellation#behavior-requirements
"""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, NamedTuple

from mcp_contract import Json, JsonObject

from mcp_anyrev.conversation.requests import GivenUp, Request

if TYPE_CHECKING:
    from mcp_anyrev.conversation.bus import Bus

CANCELLED = "cancelled"
RESPONSE = "response"
"""What is passed on: the id of a request and whose it is, or a response and whom it came from."""

Peer = tuple[str | None, str | None]
"""The name of a session, or a connection, and of a principal, as far as there are any: by these an answer is held against whom was asked."""

_LAST_SECONDS = 1.0


class _Asked(NamedTuple):
    """A request of our own."""

    peer: Peer
    answer: asyncio.Future[JsonObject]


class InFlight:
    """The requests of one worker.

    Args:
        bus: reaches the other workers.
        seconds: after how long a request of a peer is given up.
    """

    def __init__(self, bus: Bus, seconds: float) -> None:
        self._bus = bus
        self._seconds = seconds
        self._requests: set[Request] = set()
        self._named: dict[tuple[str | None, Json], Request] = {}
        self._asked: dict[str, _Asked] = {}
        self._idle: asyncio.Future[None] | None = None
        bus.hear(CANCELLED, self._heard_cancellation)
        bus.hear(RESPONSE, self._heard_response)

    @property
    def waiting(self) -> int:
        """How many requests of peers wait for something."""
        return len(self._requests)

    def add(self, request: Request) -> None:
        """The current task works on a request that has to wait for something."""
        request.attend(self._seconds)
        self._requests.add(request)
        scope = request.conversation.scope
        if scope is not None:
            self._named[scope, request.identifier] = request
            self._bus.start()

    def remove(self, request: Request) -> None:
        """A request is done."""
        request.leave()
        self._requests.discard(request)
        named = request.conversation.scope, request.identifier
        if self._named.get(named) is request:
            del self._named[named]
        if not self._requests and self._idle is not None and not self._idle.done():
            self._idle.set_result(None)

    async def cancel(self, scope: str, identifier: Json) -> None:
        """Give up a request of a session or a connection, on whichever worker it is: its sender wants no answer."""
        request = self._named.get((scope, identifier))
        if request is not None:
            request.give_up(GivenUp.CANCELLED)
        else:
            await self._bus.say({CANCELLED: [scope, identifier]})

    def end_session(self, session: str) -> None:
        """Give up all requests of a session, which still get an answer."""
        for request in list(self._requests):
            if request.conversation.scope == session:
                request.give_up(GivenUp.ENDED)

    async def wind_up(self, seconds: float) -> None:
        """Wait until no request waits any longer, for so many seconds; then give up those that do, with an answer."""
        await self._until_idle(seconds)
        for request in list(self._requests):
            request.give_up(GivenUp.ENDED)
        await self._until_idle(_LAST_SECONDS)

    async def ask(self, identifier: str, peer: Peer) -> JsonObject:
        """Wait for the response to a request of our own.

        Args:
            identifier: its id, from `new_identifier`.
            peer: whom it was sent to.
        """
        asked = self._asked[identifier] = _Asked(peer, asyncio.get_running_loop().create_future())
        try:
            return await asked.answer
        finally:
            del self._asked[identifier]

    def new_identifier(self) -> str:
        """An id for a request of our own, which nobody can guess, and which says on which worker its response is waited for."""
        self._bus.start()
        return f"{self._bus.worker}.{secrets.token_urlsafe(24)}"

    async def take_response(self, peer: Peer, message: JsonObject) -> None:
        """Hand a response to whoever asked; one that nobody waits for is dropped."""
        identifier = message.get("id")
        if not isinstance(identifier, str) or self._answered(identifier, peer, message):
            return
        worker = identifier.partition(".")[0]
        if worker != self._bus.worker:
            await self._bus.say_to(worker, {RESPONSE: [*peer, message]})

    def _answered(self, identifier: str, peer: Peer, message: JsonObject) -> bool:
        asked = self._asked.get(identifier)
        if asked is None:
            return False
        if asked.peer == peer and not asked.answer.done():
            asked.answer.set_result(message)
        return True

    async def _heard_cancellation(self, said: list[Json]) -> None:
        scope, identifier = said
        request = self._named.get((scope, identifier))
        if request is not None:
            request.give_up(GivenUp.CANCELLED)

    async def _heard_response(self, said: list[Json]) -> None:
        scope, principal, message = said
        self._answered(message["id"], (scope, principal), message)

    async def _until_idle(self, seconds: float) -> None:
        if self._requests:
            self._idle = asyncio.get_running_loop().create_future()
            await asyncio.wait((self._idle,), timeout=seconds)
