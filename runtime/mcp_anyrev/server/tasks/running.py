"""One call that may become a task, on the worker that runs it.

Rule: the work begins once and goes on, whoever waits for it. It is a task once that is kept where every worker finds it, and not before;
from then on what it asks and what it comes to goes there, and nowhere else.
Specification: basic/utilities/tasks#task-support-and-handling
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from mcp_contract import InternalError, Json, JsonObject, ProtocolError

from mcp_anyrev.conversation.outcomes import Failure, Later, Outcome, Result
from mcp_anyrev.conversation.requests import GivenUp
from mcp_anyrev.questions import Answer, Data, Question, no_answer
from mcp_anyrev.user_code import contained

if TYPE_CHECKING:
    from mcp_anyrev.conversation.requests import Request
    from mcp_anyrev.server.tasks.records import Kept, TaskRecord
    from mcp_anyrev.server.tasks.tasks import Tasks

log = logging.getLogger("mcp_anyrev.server")

Attempt = Callable[["RunningTask"], Awaitable[Outcome]]
"""Runs the work of a call, with the task that it may become."""


class RunningTask:
    """A call that may become a task.

    Args:
        tasks: where it is one.
        request: the call.
        ttl: for how many milliseconds its sender would like it to be kept; None where it does not say.

    Attributes:
        identifier: its id; None while it is no task.
        owner: whose it is, and among whose tasks it counts.
    """

    def __init__(self, tasks: Tasks, request: Request, ttl: int | None) -> None:
        self.identifier: str | None = None
        self.owner = request.conversation.owner
        self._tasks = tasks
        self._request = request
        self._ttl = ttl
        self._begun: asyncio.Future[TaskRecord] = asyncio.get_running_loop().create_future()
        self._beginning = asyncio.Lock()
        self._work: asyncio.Task[Outcome] | None = None
        self._open: dict[str, asyncio.Future[list[Json]]] = {}
        self._used: set[str] = set()
        self._tells_again = 0.0
        self._expiry: asyncio.TimerHandle | None = None

    async def outcome(self, attempt: Attempt, *, at_once: bool) -> Outcome:
        """Run it, until it is finished or a task.

        Args:
            attempt: the work.
            at_once: is it a task from its beginning?

        Raises:
            ProtocolError: it ended in an error before it was a task, or cannot be one.
        """
        if at_once:
            await self.begin()
        work = self._work = asyncio.get_running_loop().create_task(self._run(attempt))
        try:
            await asyncio.wait((work, self._begun), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:  # the call is given up before anybody was told that it is a task
            work.cancel()
            await asyncio.wait((work,))
            raise
        if self._begun.done():
            return Later(self._begun.result().task())
        return work.result()

    async def begin(self) -> None:
        """Make it a task, unless it is one.

        Raises:
            Busy: its sender has too many.
            Unavailable: it cannot be kept now.
        """
        async with self._beginning:
            if self.identifier is None:
                record = await self._tasks.begin(self, self._request, self._ttl)
                self.identifier = record.identifier
                self._expiry = asyncio.get_running_loop().call_later(record.seconds, self.give_up)
                self._begun.set_result(record)

    def give_up(self) -> None:
        """End its work, once."""
        if self._work is not None and self._request.given_up is None:
            self._request.given_up = GivenUp.CANCELLED  # so that the handler sees it, wherever it runs
            self._work.cancel()

    async def wait(self) -> None:
        """Return once its work has ended."""
        if self._work is not None:
            await asyncio.wait((self._work,))

    async def ask(self, key: str, question: Question[Data], seconds: float | None) -> Answer[Data]:
        """Ask whoever has the task, and wait.

        Args:
            key: what the handler calls the question.
            question: the question.
            seconds: for how long to wait; None for as long as the task is kept.
        """
        adapter = self._request.conversation.adapter
        try:
            async with asyncio.timeout(seconds):
                while True:
                    said = await self._answer(self._unused(key), question)
                    answer = question.judge(adapter, said[0]) if said else no_answer()
                    if answer is not None:
                        return answer
        except TimeoutError:
            return no_answer()

    async def tell(self, message: str) -> None:
        """Say how far it has got, so often as somebody could look."""
        now = asyncio.get_running_loop().time()
        if now < self._tells_again:
            return
        self._tells_again = now + self._tasks.poll_seconds
        await self._change(lambda _: self._tasks.records.told(message=message))

    def changed(self, record: TaskRecord) -> None:
        """It stands otherwise than before, as somebody else said."""
        if record.over:
            self.give_up()
        for key, said in record.answers.items():
            answer = self._open.get(key)
            if answer is not None and not answer.done():
                answer.set_result(list(said))

    async def _run(self, attempt: Attempt) -> Outcome:
        records = self._tasks.records
        try:
            outcome = await attempt(self)
            if self.identifier is not None:
                await self._keep(self._kept(outcome))
            return outcome
        except asyncio.CancelledError:
            await self._keep(records.failed(InternalError("the server ended the task")))
            raise
        except BaseException as error:
            if self.identifier is None:
                raise
            failure = _failure(contained(error))
            await self._keep(records.failed(failure))
            return Failure(failure)  # which nobody waits for
        finally:
            if self._expiry is not None:
                self._expiry.cancel()
            self._tasks.end(self)

    def _kept(self, outcome: Outcome) -> Kept:
        """What is kept of what it came to."""
        records = self._tasks.records
        if not isinstance(outcome, Result):
            return records.failed(InternalError("the call did not end in a result"))
        request = self._request
        try:
            request.conversation.adapter.encode_result(request.method, outcome.value, request.signature)
            return records.ended(outcome.value)
        except Exception as error:
            try:
                return records.ended(outcome.otherwise(error))
            except Exception as worse:
                return records.failed(_failure(worse))

    async def _keep(self, kept: Kept) -> None:
        """Keep how it ended, if it is a task."""
        if self.identifier is None:
            return
        try:
            await self._tasks.change(self.identifier, lambda _: kept)
        except ProtocolError as error:  # so it will be found that nobody works on it any longer
            log.error("how a task ended cannot be kept: %s", error.message)

    async def _answer(self, key: str, question: Question[Data]) -> list[Json]:
        """What is said to a question; nothing in the list where nobody answers it."""
        answer: asyncio.Future[list[Json]] = asyncio.get_running_loop().create_future()
        self._open[key] = answer
        asked, records = question.request(), self._tasks.records
        try:
            await self._change(lambda record: records.told(questions={**record.questions, key: asked}))
            return await answer
        finally:
            del self._open[key]
            await self._change(lambda record: records.told(**_without(record, key)))

    async def _change(self, change: Callable[[TaskRecord], Kept]) -> None:
        assert self.identifier is not None
        if await self._tasks.change(self.identifier, change) is None:
            self.give_up()

    def _unused(self, key: str) -> str:
        """A key under which nothing has been asked yet."""
        unused, number = key, 1
        while unused in self._used:
            number += 1
            unused = f"{key}-{number}"
        self._used.add(unused)
        return unused


def _without(record: TaskRecord, key: str) -> JsonObject:
    return {
        "questions": {name: one for name, one in record.questions.items() if name != key},
        "answers": {name: one for name, one in record.answers.items() if name != key},
    }


def _failure(error: Exception) -> ProtocolError:
    if isinstance(error, ProtocolError):
        return error
    log.error("a task failed", exc_info=error)
    return InternalError("the server failed")
