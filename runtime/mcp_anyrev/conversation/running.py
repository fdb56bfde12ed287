"""The calls that wait for something, so that they can be given up.

Rule: a client gives up its own calls, by their ids, in its own session; ids that name none do nothing. Whoever gives a call up says
whether it still owes an answer.
Specification: basic/utilities/cancellation#behavior-requirements
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mcp_contract import Json

if TYPE_CHECKING:
    from mcp_anyrev.conversation.calls import Context


class RunningCall:
    """A call, and the task that works on it.

    Args:
        context: where it came from.
        identifier: its id; None where no id can name it.
        task: what works on it.
    """

    __slots__ = ("_task", "context", "deadline", "identifier", "owes_answer")

    def __init__(self, context: Context, identifier: Json, task: asyncio.Task[Any] | None) -> None:
        self.context = context
        self.identifier = identifier
        self.owes_answer = False
        self.deadline: asyncio.TimerHandle | None = None
        self._task = task

    def give_up(self, *, owes_answer: bool = False) -> None:
        """Cancel it; once is enough."""
        if not self.context.cancelled:
            self.context.cancelled = True
            self.owes_answer = owes_answer
            if self._task is not None:
                self._task.cancel()

    def overdue(self) -> None:
        """Give it up, because it has taken too long, unless it is one that has no end."""
        if not self.context.endless:
            self.give_up(owes_answer=True)

    def was_given_up(self) -> bool:
        """Its task met a cancellation, or should have: was it because the call was given up, and for nothing else?"""
        return self.context.cancelled and (self._task is None or self._task.uncancel() == 0)


class Running:
    """The calls that wait.

    Args:
        named: called when there is a call that its client may give up, wherever it says so.
        seconds: after how long a call is given up.
    """

    def __init__(self, named: Callable[[], None], seconds: float) -> None:
        self._on_named = named
        self._seconds = seconds
        self._calls: set[RunningCall] = set()
        self._named: dict[tuple[str, Json], RunningCall] = {}
        self._idle: asyncio.Future[None] | None = None

    def add(self, context: Context, identifier: Json) -> RunningCall:
        """Note that the current task works on a call. An id of None names nothing."""
        call = RunningCall(context, identifier, asyncio.current_task())
        call.deadline = asyncio.get_running_loop().call_later(self._seconds, call.overdue)
        self._calls.add(call)
        if context.session is not None and identifier is not None:
            self._named[context.session.name, identifier] = call
            self._on_named()
        return call

    def remove(self, call: RunningCall) -> None:
        """Note that a call is done."""
        self._calls.discard(call)
        if call.deadline is not None:
            call.deadline.cancel()
        session = call.context.session
        if session is not None and self._named.get((session.name, call.identifier)) is call:
            del self._named[session.name, call.identifier]
        if not self._calls and self._idle is not None and not self._idle.done():
            self._idle.set_result(None)

    def cancel(self, session: str, identifier: Json) -> bool:
        """Give up a call of a session; False where the id names none here."""
        call = self._named.get((session, identifier))
        if call is not None:
            call.give_up()
        return call is not None

    def cancel_session(self, session: str) -> None:
        """Give up all calls of a session."""
        for call in list(self._calls):
            if call.context.session is not None and call.context.session.name == session:
                call.give_up(owes_answer=True)

    async def wind_up(self, seconds: float) -> None:
        """Wait until no call waits any longer, for so many seconds; then give up those that do."""
        if self._calls:
            self._idle = asyncio.get_running_loop().create_future()
            await asyncio.wait((self._idle,), timeout=seconds)
        for call in list(self._calls):
            call.give_up(owes_answer=True)
        if self._calls:
            self._idle = asyncio.get_running_loop().create_future()
            await asyncio.wait((self._idle,), timeout=1)
