"""The requests that wait here: those of peers until they are answered, and our own until peers have answered.

Rule: the only place that knows of either. A peer gives up its own requests, by their ids, in its own session or on its own connection; ids that name none do
nothing. A response counts only from whom was asked, and the first one counts that fits.
Specification: basic/utilities/cancellation#behavior-requirements
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from mcp_contract import Json, JsonObject, is_identifier

from mcp_anyrev.conversation.amounts import Budget
from mcp_anyrev.conversation.requests import GivenUp, Request

if TYPE_CHECKING:
    from mcp_anyrev.conversation.sessions import Session
    from mcp_anyrev.settings import Limits

Given = TypeVar("Given")

Peer = tuple[str | None, str | None]
"""The name of a session, or a connection, and of a principal, as far as there are any: by these an answer is held against whom was asked."""

_LAST_SECONDS = 1.0


class _Asked(NamedTuple):
    """A request of our own."""

    identifier: Json
    peer: Peer
    answer: asyncio.Future[Any]
    judge: Callable[[JsonObject], Any]


class InFlight:
    """The requests of one process.

    Args:
        limits: after how long a request of a peer is given up, and how many may wait.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._waiting = Budget(
            most=limits.calls_of_principal,
            most_bytes=limits.call_bytes_of_principal,
            most_bytes_of_all=limits.call_bytes,
        )
        self._requests: set[Request] = set()
        self._named: dict[tuple[str | None, Json], Request] = {}
        self._asked: dict[Json, _Asked] = {}
        self._identifiers = itertools.count(1)
        self._unready: dict[str, set[asyncio.Future[None]]] = {}
        self._idle: asyncio.Future[None] | None = None

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
        scope = request.conversation.scope
        if scope is not None:
            self._named[scope, request.identifier] = request

    def remove(self, request: Request) -> None:
        """A request is done."""
        request.leave()
        self._requests.discard(request)
        if request.owner is not None:
            self._waiting.remove(request.owner, request.conversation.size)
        named = request.conversation.scope, request.identifier
        if self._named.get(named) is request:
            del self._named[named]
        if not self._requests and self._idle is not None and not self._idle.done():
            self._idle.set_result(None)

    async def cancel(self, scope: str, identifier: Json) -> None:
        """Give up a request of a session or a connection: its sender wants no answer."""
        self._cancelled(scope, identifier)

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

    def expect(self, identifier: Json, peer: Peer, judge: Callable[[JsonObject], Given]) -> asyncio.Future[Given]:
        """What the first response to a request of our own comes to that fits.

        Args:
            identifier: its id, from `new_identifier`.
            peer: whom it is sent to.
            judge: what a response comes to. It raises `InvalidRequest` for one that does not fit.
        """
        answer: asyncio.Future[Given] = asyncio.get_running_loop().create_future()
        self._asked[identifier] = _Asked(identifier, peer, answer, judge)
        return answer

    def expect_no_longer(self, identifier: Json) -> None:
        """Nobody waits for a response to a request of our own."""
        self._asked.pop(identifier, None)

    def expects(self, identifier: Json) -> bool:
        """Is the response to a request of our own still to come?"""
        asked = self._asked.get(identifier)
        return asked is not None and not asked.answer.done()

    def fail(self, identifier: Json, error: Exception) -> None:
        """A request of our own cannot be answered any longer; nothing happens where nobody waits for that."""
        asked = self._asked.get(identifier)
        if asked is not None and not asked.answer.done():
            asked.answer.set_exception(error)

    async def until_ready(self, session: Session) -> None:
        """Return once the client has said that it is ready, or the session has ended."""
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

    def new_identifier(self) -> Json:
        """An id for a request of our own."""
        return next(self._identifiers)

    async def take_response(self, peer: Peer, message: JsonObject) -> None:
        """Hand a response to whoever asked; one that nobody waits for is dropped.

        Raises:
            InvalidRequest: it does not fit what was asked, as far as that is known on this worker.
        """
        self._answered(peer, message)

    def session_changed(self, name: str) -> None:
        """Something was set in a session."""
        for told in self._unready.get(name, ()):
            if not told.done():
                told.set_result(None)

    def _count(self, request: Request) -> None:
        """Count a request among those of its sender; it is given up where these are too many."""
        size, owner = request.conversation.size, request.conversation.owner
        if not self._waiting.has_room(owner, size):
            request.give_up(GivenUp.CROWDED)
        request.owner = owner
        self._waiting.add(owner, size)

    def _answered(self, peer: Peer, message: JsonObject) -> bool:
        """Hand a response to whoever asked; False where nobody did here."""
        identifier = message.get("id")
        asked = self._asked.get(identifier) if is_identifier(identifier) else None
        if asked is None or type(asked.identifier) is not type(identifier):  # 1.0 is found where 1 is
            return False
        if asked.peer == peer and not asked.answer.done():
            asked.answer.set_result(asked.judge(message))
        return True

    def _cancelled(self, scope: str, identifier: Json) -> bool:
        request = self._named.get((scope, identifier))
        if request is None:
            return False
        request.give_up(GivenUp.CANCELLED)
        return True

    async def _until_idle(self, seconds: float) -> None:
        if self._requests:
            self._idle = asyncio.get_running_loop().create_future()
            await asyncio.wait((self._idle,), timeout=seconds)
