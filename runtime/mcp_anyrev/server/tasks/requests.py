"""Requests about tasks: how one stands, what it came to, answers to what it asks, that it is to be given up, and which there are.

Rule: what a request is answered with follows from what is kept, on every worker alike.
Specification: basic/utilities/tasks#protocol-messages
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from mcp_contract import TASKS_EXTENSION, InvalidParams, InvalidRequest, Json, JsonObject, TooLarge
from mcp_contract.tasks import LISTENED_TO, NOTIFICATION

from mcp_anyrev.conversation.conversation import Undeliverable
from mcp_anyrev.conversation.outcomes import Outcome, Result
from mcp_anyrev.server.asking.asking import refuse_undeclared
from mcp_anyrev.server.asking.capabilities import undeclared
from mcp_anyrev.server.offers import filled
from mcp_anyrev.server.pages import Pages

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.conversation.requests import Request
    from mcp_anyrev.server.methods import Method
    from mcp_anyrev.server.tasks.records import Kept, TaskRecord
    from mcp_anyrev.server.tasks.tasks import Tasks

_LOOK_SECONDS = 15.0
"""After how long whoever waits for a task looks at it even if nothing was told."""


class TaskRequests:
    """Answers them.

    Args:
        tasks: the tasks.
        page_size: the most tasks in one page of their list.
        most_listened_to: the most tasks that one stream of changes tells of.
    """

    def __init__(self, tasks: Tasks, page_size: int, most_listened_to: int) -> None:
        self._tasks = tasks
        self._records = tasks.records
        self._page_size = page_size
        self._most_listened_to = most_listened_to

    def methods(self, adapter: Adapter) -> Mapping[str, Method]:
        """What answers requests about tasks, by their methods."""
        answers = {
            "get": self._get,
            "update": self._update,
            "result": self._result,
            "cancel": self._cancel,
            "list": self._list,
        }
        return {method: answers[name] for name, method in adapter.task_methods.items()}

    async def listened_to(self, request: Request) -> list[str]:
        """The tasks that a client wants to be told of, as far as they are its own.

        Raises:
            MissingClientCapability: it did not declare what tasks belong to.
            InvalidParams: it is said otherwise than by an array of text.
            TooLarge: these are too many.
        """
        conversation = request.conversation
        wanted = request.params["notifications"].get(LISTENED_TO)
        if wanted is None or not conversation.adapter.listens_to_tasks:
            return []
        _check_declared(request)
        if not isinstance(wanted, list) or not all(isinstance(one, str) for one in wanted):
            raise InvalidParams(f"notifications.{LISTENED_TO}: an array of text is wanted")
        if len(wanted) > self._most_listened_to:
            raise TooLarge(f"at most {self._most_listened_to} tasks in one subscription")
        found = []
        for identifier in dict.fromkeys(wanted):
            with contextlib.suppress(InvalidParams):
                found.append((await self._records.find(conversation, identifier)).identifier)
        return found

    async def tell(self, request: Request, identifier: str, notify: Callable[[str, JsonObject], None]) -> None:
        """Tell each time how a task stands now, until it is over.

        Args:
            request: the request that listens.
            identifier: the task.
            notify: sends a notification.
        """
        told: JsonObject = {}
        while True:
            with self._tasks.told_of(identifier) as changed:
                record = await self._records.now(identifier)
                if record is None:
                    return
                now = self._told(request, record)
                if now != told:
                    told = now
                    notify(NOTIFICATION, now)
                if record.over:
                    return
                await asyncio.wait((changed,), timeout=_LOOK_SECONDS)

    async def _get(self, request: Request) -> Outcome:
        return self._state(request, await self._find(request))

    async def _update(self, request: Request) -> Outcome:
        record = await self._find(request)
        given = request.params.get("inputResponses")
        if not isinstance(given, dict):
            raise InvalidParams("inputResponses: an object is wanted, with answers by the keys of the questions")
        adapter = request.conversation.adapter
        for key, question in record.questions.items():
            if key in given:
                _check_answer(adapter, key, question, given[key])
        await self._answered(record, {key: [said] for key, said in given.items()})
        return self._finished(request, {})

    async def _cancel(self, request: Request) -> Outcome:
        record = await self._find(request)
        was_over = (
            record.over or await self._tasks.change(record.identifier, lambda _: self._records.cancelled()) is None
        )
        now = await self._find(request)
        return self._finished(request, request.conversation.adapter.task_cancelled(now.task(), was_over))

    async def _list(self, request: Request) -> Outcome:
        found = await self._records.listed(request.conversation)
        told = {record.identifier: self._told(request, record) for record in found}
        page = Pages(told, self._page_size).page(request.params.get("cursor"))
        result: JsonObject = {"tasks": list(page.items)}
        return self._finished(request, result if page.following is None else {**result, "nextCursor": page.following})

    async def _result(self, request: Request) -> Outcome:
        """Wait until a task is over, and put the questions that it waits for to whoever waits here."""
        asked: dict[str, asyncio.Task[None]] = {}
        await self._tasks.ready()
        try:
            while True:
                with self._tasks.told_of(str(request.params["taskId"])) as told:
                    record = await self._find(request)
                    if record.over:
                        return self._payload(request, record)
                    for key, question in record.questions.items():
                        if key not in asked:
                            asking = self._ask(request, record, key, question)
                            asked[key] = asyncio.get_running_loop().create_task(asking)
                    await asyncio.wait((told,), timeout=_LOOK_SECONDS)
        finally:
            for task in asked.values():
                task.cancel()
            if asked:
                await asyncio.wait(asked.values())

    async def _ask(self, request: Request, record: TaskRecord, key: str, question: JsonObject) -> None:
        """Push a question of a task to whoever waits for its result."""
        conversation = request.conversation
        adapter = conversation.adapter
        related = {**question, "params": adapter.related_to_task(question["params"], record.identifier)}
        message = adapter.question_request(conversation.new_identifier(), related)

        def judge(response: JsonObject) -> list[Json]:
            if "error" in response:
                return []
            try:
                adapter.check_answer(question["method"], response.get("result"))
            except InvalidParams as error:
                raise InvalidRequest(f"this is no answer to the question: {error.message}") from None
            return [response.get("result")]

        try:
            await conversation.ready()
            said = await conversation.request(message, None, judge)
        except Undeliverable:
            return  # whoever asks for the result again is asked
        await self._answered(record, {key: said})

    async def _answered(self, record: TaskRecord, said: Mapping[str, list[Json]]) -> None:
        """Note answers to questions that are open."""

        def noted(now: TaskRecord) -> Kept:
            taken = {key: answer for key, answer in said.items() if key in now.questions}
            left = {key: question for key, question in now.questions.items() if key not in taken}
            return self._records.told(questions=left, answers={**now.answers, **taken})

        if any(key in record.questions for key in said):
            await self._tasks.change(record.identifier, noted)

    async def _find(self, request: Request) -> TaskRecord:
        """The task that a request is about.

        Raises:
            MissingClientCapability: the client did not declare what tasks belong to.
            InvalidParams: there is none.
        """
        conversation = request.conversation
        if request.method not in conversation.adapter.client_requests:
            _check_declared(request)
        return await self._records.find(conversation, request.params.get("taskId"))

    def _state(self, request: Request, record: TaskRecord) -> Outcome:
        return self._finished(request, self._told(request, record))

    def _told(self, request: Request, record: TaskRecord) -> JsonObject:
        adapter = request.conversation.adapter
        return adapter.task_state(record.task(), record.outcome(adapter, request.signature))

    def _payload(self, request: Request, record: TaskRecord) -> Outcome:
        """What the call of a task would have been answered with."""
        adapter = request.conversation.adapter
        failure = record.failure()
        if failure is not None:
            raise failure
        result = record.outcome(adapter, request.signature).result
        if result is None:
            raise InvalidParams(f"the task has no result: it is {record.status}")
        return Result(adapter.related_to_task(result, record.identifier))

    def _finished(self, request: Request, result: JsonObject) -> Outcome:
        return Result(filled(request.conversation.adapter, request.method, result))


def _check_declared(request: Request) -> None:
    """See that the client declared what tasks belong to.

    Raises:
        MissingClientCapability: it did not.
    """
    adapter = request.conversation.adapter
    missing = undeclared(adapter, request.client.capabilities, ("extensions", TASKS_EXTENSION))
    if missing is not None:
        refuse_undeclared(adapter, missing)


def _check_answer(adapter: Adapter, key: str, question: JsonObject, said: Json) -> None:
    try:
        adapter.check_answer(question["method"], said)
    except InvalidParams as error:
        raise InvalidParams(f"inputResponses/{key}: {error.message}") from None
