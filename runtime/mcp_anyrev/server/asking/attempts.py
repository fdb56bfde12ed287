"""One attempt at a request that may ask: what came back with it, who asks, and what goes out if the answer has to come first.

Rule: the same for everything that takes an `Exchange`. A handler that ends without a question, to be continued, is continued by
the client where a result can say so, and by the server itself where none can.
Specification: basic/patterns/mrtr#basic-workflow
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from mcp_contract import InternalError, Json, JsonObject

from mcp_anyrev.conversation.outcomes import Outcome, Questions, Result
from mcp_anyrev.principal import name_of
from mcp_anyrev.server.asking.asking import Asker
from mcp_anyrev.server.asking.pushing import Pusher
from mcp_anyrev.server.asking.request_state import Keeper, SealedKeeper, StoredKeeper, Unfinished, purpose_of
from mcp_anyrev.server.asking.sealing import Seal
from mcp_anyrev.server.asking.ways import Way, way_of
from mcp_anyrev.server.exchange import RequestExchange
from mcp_anyrev.user_code import Suspended

if TYPE_CHECKING:
    from mcp_anyrev.conversation.requests import Request
    from mcp_anyrev.exchange import Exchange
    from mcp_anyrev.server.deprecations import Deprecations
    from mcp_anyrev.server.tasks.running import RunningTask
    from mcp_anyrev.settings import Settings
    from mcp_anyrev.storage.protocols import SessionStore

Work = Callable[[JsonObject, "Exchange"], Awaitable[JsonObject]]

_NONE_GIVEN: Mapping[str, Json] = MappingProxyType({})
_FIRST_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 2.0


class Attempts:
    """Runs attempts.

    Args:
        name: the server's name.
        settings: how it is run.
        store: where state stays that does not travel.
        clock: seconds since the epoch, as all workers see them.
        deprecations: tells what is used that is deprecated.
    """

    def __init__(
        self,
        name: str,
        settings: Settings,
        store: SessionStore,
        clock: Callable[[], float],
        deprecations: Deprecations,
    ) -> None:
        self._name = name
        self._settings = settings
        self._store = store
        self._clock = clock
        self._deprecations = deprecations

    async def run(
        self,
        request: Request,
        target: str,
        work: Work,
        *,
        asks: bool,
        once: bool = False,
        task: RunningTask | None = None,
    ) -> Outcome:
        """Run one attempt.

        Args:
            request: the request.
            target: which tool, prompt or resource it is for.
            work: from the params without anything that belongs to asking to a result in canonical form.
            asks: may the work ask?
            once: may what an attempt left be taken up only once?
            task: the task that the call may become; None where it cannot.

        Returns:
            The finished result, or questions.

        Raises:
            InvalidParams: the echoed state is not of this call, or is used up.
            ToolError: the same, where it is an argument like others.
            ProtocolError: the work ended in an error.
        """
        conversation, params = request.conversation, request.params
        adapter, owner = conversation.adapter, name_of(conversation.principal)
        pusher = Pusher(conversation, self._settings.ask_timeout_seconds)
        way = way_of(adapter, request.method) if asks else None
        ends = way in (Way.RESULT, Way.ARGUMENTS)
        keeper: Keeper = self._sealed if way is Way.RESULT else self._stored
        purpose, unfinished, given, own = b"", Unfinished(), _NONE_GIVEN, params
        if ends:
            own, given, state = adapter.read_answers(params)
            arguments = own.get("arguments", {})
            purpose = purpose_of(self._name, owner, request.method, target, arguments)
            if state is not None:
                unfinished = await keeper.load(state, purpose, once)
        pauses = _pauses(self._settings.ask_timeout_seconds)
        while True:
            asker = Asker(request, unfinished, given, pusher, self._deprecations, task)
            try:
                return Result(await work(own, RequestExchange(asker, request, asks=asks)))
            except Suspended:
                questions = asker.outcome()
            is_task = task is not None and task.identifier is not None
            if ends and not is_task and (questions or way is Way.RESULT):
                break
            await asyncio.sleep(next(pauses))
        return Questions(questions, await keeper.save(unfinished, purpose, once, conversation.owner), own)

    @cached_property
    def _sealed(self) -> SealedKeeper:
        ttl = self._settings.state_ttl_seconds
        return SealedKeeper(Seal(self._settings.keys, ttl, self._clock), self._store, ttl)

    @cached_property
    def _stored(self) -> StoredKeeper:
        return StoredKeeper(self._store, self._settings.state_ttl_seconds)


def _pauses(seconds: float) -> Iterator[float]:
    """How long to wait before a handler that is to be continued runs again: not at all at first, then longer and longer.

    Raises:
        InternalError: so many seconds are over.
    """
    end, pause = time.monotonic() + seconds, 0.0
    while time.monotonic() + pause < end:
        yield pause
        pause = min(max(2 * pause, _FIRST_PAUSE_SECONDS), _LONGEST_PAUSE_SECONDS)
    raise InternalError("the call could not be continued in time")
