"""The requests that wait on this worker: those of peers until they are answered, and our own until peers have answered.

Rule: the only place that knows of either. A peer gives up its own requests, by their ids, in its own session or on its own connection; ids that name none do
nothing. A response counts only from whom was asked, and the first one counts that fits. What is for another worker is passed on to it.
Specification: basic/utilities/cancellation#behavior-requirements
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from mcp_contract import InvalidRequest, Json, JsonObject, Unavailable

from mcp_anyrev.conversation.amounts import Budget
from mcp_anyrev.conversation.bus import MISSED
from mcp_anyrev.conversation.requests import GivenUp, Request
from mcp_anyrev.conversation.sessions import SESSION
from mcp_anyrev.storage.protocols import IN_USE_SECONDS

if TYPE_CHECKING:
    from mcp_anyrev.conversation.bus import Bus
    from mcp_anyrev.conversation.sessions import Session
    from mcp_anyrev.settings import Limits

Given = TypeVar("Given")

log = logging.getLogger("mcp_anyrev.server")

CANCELLED = "cancelled"
RESPONSE = "response"
"""What is passed on: the id of a request and whose it is, or a response and whom it came from."""

Peer = tuple[str | None, str | None]
"""The name of a session, or a connection, and of a principal, as far as there are any: by these an answer is held against whom was asked."""

_LAST_SECONDS = 1.0


class _Asked(NamedTuple):
    """A request of our own."""

    peer: Peer
    answer: asyncio.Future[Any]
    judge: Callable[[JsonObject], Any]


class InFlight:
    """The requests of one worker.

    Args:
        bus: reaches the other workers.
        limits: after how long a request of a peer is given up, and how many may wait.
        session_ttl: for how many seconds an unused session is kept; one in which a request waits is in use.
    """

    def __init__(self, bus: Bus, limits: Limits, session_ttl: float) -> None:
        self._bus = bus
        self._use_again = min(session_ttl / 4, IN_USE_SECONDS / 4)
        self._next_use: asyncio.TimerHandle | None = None
        self._using: asyncio.Task[None] | None = None
        self._limits = limits
        self._waiting = Budget(
            most=limits.calls_of_principal,
            most_bytes=limits.call_bytes_of_principal,
            most_bytes_of_all=limits.call_bytes,
        )
        self._requests: set[Request] = set()
        self._named: dict[tuple[str | None, Json], Request] = {}
        self._asked: dict[str, _Asked] = {}
        self._unready: dict[str, set[asyncio.Future[None]]] = {}
        self._idle: asyncio.Future[None] | None = None
        bus.hear(CANCELLED, self._heard_cancellation)
        bus.hear(RESPONSE, self._heard_response)
        bus.hear(SESSION, self._heard_session)
        bus.hear(MISSED, self._missed)

    @property
    def waiting(self) -> int:
        """How many requests of peers wait for something."""
        return len(self._requests)

    def add(self, request: Request) -> None:
        """The current task works on a request that has to wait for something."""
        request.attend(self._limits.call_seconds)
        self._requests.add(request)
        if not request.endless:  # one that is, is a stream, and counted as such
            self._count(request)
        if self._next_use is None:
            self._next_use = asyncio.get_running_loop().call_later(self._use_again, self._use_sessions)
        scope = request.conversation.scope
        if scope is not None:
            self._named[scope, request.identifier] = request
            self._bus.start()

    def remove(self, request: Request) -> None:
        """A request is done."""
        request.leave()
        self._requests.discard(request)
        if request.owner is not None:
            self._waiting.remove(request.owner, request.conversation.size)
        named = request.conversation.scope, request.identifier
        if self._named.get(named) is request:
            del self._named[named]
        if self._requests:
            return
        if self._next_use is not None:
            self._next_use.cancel()
            self._next_use = None
        if self._idle is not None and not self._idle.done():
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

    def expect(self, identifier: str, peer: Peer, judge: Callable[[JsonObject], Given]) -> asyncio.Future[Given]:
        """What the first response to a request of our own comes to that fits.

        Args:
            identifier: its id, from `new_identifier`.
            peer: whom it is sent to.
            judge: what a response comes to. It raises `InvalidRequest` for one that does not fit.
        """
        answer: asyncio.Future[Given] = asyncio.get_running_loop().create_future()
        self._asked[identifier] = _Asked(peer, answer, judge)
        return answer

    def expect_no_longer(self, identifier: str) -> None:
        """Nobody waits for a response to a request of our own."""
        self._asked.pop(identifier, None)

    async def until_ready(self, session: Session) -> None:
        """Return once the client has said that it is ready, or the session has ended."""
        await self._bus.ready()
        while True:
            told = asyncio.get_running_loop().create_future()
            waiting = self._unready.setdefault(session.name, set())
            waiting.add(told)
            try:
                now = await session.now()
                if now is None or now.ready:
                    return
                await told
            finally:
                waiting.discard(told)
                if not waiting:
                    self._unready.pop(session.name, None)

    def new_identifier(self) -> str:
        """An id for a request of our own, which nobody can guess, and which says on which worker its response is waited for."""
        self._bus.start()
        return f"{self._bus.worker}.{secrets.token_urlsafe(24)}"

    async def take_response(self, peer: Peer, message: JsonObject) -> None:
        """Hand a response to whoever asked; one that nobody waits for is dropped.

        Raises:
            InvalidRequest: it does not fit what was asked, as far as that is known on this worker.
        """
        identifier = message.get("id")
        if not isinstance(identifier, str) or self._answered(identifier, peer, message):
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

    def _count(self, request: Request) -> None:
        """Count a request among those of its sender; it is given up where these are too many."""
        size, owner = request.conversation.size, request.conversation.owner
        if not self._waiting.has_room(owner, size):
            request.give_up(GivenUp.CROWDED)
        request.owner = owner
        self._waiting.add(owner, size)

    def _answered(self, identifier: str, peer: Peer, message: JsonObject) -> bool:
        asked = self._asked.get(identifier)
        if asked is None:
            return False
        if asked.peer == peer and not asked.answer.done():
            asked.answer.set_result(asked.judge(message))
        return True

    async def _heard_cancellation(self, said: list[Json]) -> None:
        scope, identifier = said
        request = self._named.get((scope, identifier))
        if request is not None:
            request.give_up(GivenUp.CANCELLED)

    async def _heard_response(self, said: list[Json]) -> None:
        scope, principal, message = said
        try:
            self._answered(message["id"], (scope, principal), message)
        except InvalidRequest as reason:
            log.warning("a response that came to another worker does not count: %s", reason)

    async def _heard_session(self, name: str) -> None:
        for told in self._unready.get(name, ()):
            if not told.done():
                told.set_result(None)

    async def _missed(self, said: None) -> None:
        for name in self._unready:
            await self._heard_session(name)

    async def _until_idle(self, seconds: float) -> None:
        if self._requests:
            self._idle = asyncio.get_running_loop().create_future()
            await asyncio.wait((self._idle,), timeout=seconds)


async def _use(sessions: list[Session]) -> None:
    for session in sessions:
        try:
            await session.now()
        except Unavailable as reason:
            log.warning("a session in which a request waits may be taken to be unused: %s", reason)
