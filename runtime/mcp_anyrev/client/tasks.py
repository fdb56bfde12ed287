"""A call that the server answers later: looked at until it is over, and answered what it asks on the way.

Rule: a look no more often than the server wants it, and each question is answered once. Whoever does not need the result any longer says
so. What a task is known by outlives this process.
Specification: basic/utilities/tasks
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from mcp_contract import JsonObject, Questions, TaskState

from mcp_anyrev.client.errors import ClientError, NoAnswer, NotOffered, WrongAnswer
from mcp_anyrev.client.reading import read
from mcp_anyrev.client.rounds import answers_to
from mcp_anyrev.client.tools import CALL

if TYPE_CHECKING:
    from mcp_revisions.canonical import Task

    from mcp_anyrev.client.results import CallToolResult
    from mcp_anyrev.client.session import ClientSession
    from mcp_anyrev.client.tools import KnownTools

_PAUSE_SECONDS = 1.0
_SHORTEST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.05, 60.0
_LAST_SECONDS = 5.0
_OVER = frozenset({"completed", "failed", "cancelled"})


class TaskGivenUp(ClientError):
    """The task was given up before it had a result."""


class ClientTask:
    """A call that is answered later; `Client.start_tool` and `Client.task` make it.

    Args:
        session: the session with the server.
        identifier: the id of the task.
        tools: the tools that have been listed; None where it is not known which one was called.
        tool: the tool that was called.
        finished: the result, where the server has given it at once.

    Attributes:
        identifier: what the server calls it, and what finds it again, from any process; None where the result was given at once.
    """

    def __init__(
        self,
        session: ClientSession,
        identifier: str | None,
        tools: KnownTools | None = None,
        tool: str = "",
        finished: JsonObject | None = None,
    ) -> None:
        self.identifier = identifier
        self._session = session
        self._tool = tool
        self._tools = tools
        self._finished = finished

    async def state(self) -> Task | None:
        """How it stands; None where the result was given at once.

        Raises:
            ClientError: the server does not know it, or does not answer.
        """
        from mcp_revisions.canonical import Task

        return None if self.identifier is None else read(Task, (await self._look()).task, "the task")

    async def result(self) -> CallToolResult:
        """What the tool gave, once it is there; meanwhile what the task asks is answered by the client's callbacks.

        Raises:
            TaskGivenUp: there will be none.
            WrongAnswer: it is something else than the tool promises.
            ClientError: there is none.
        """
        from mcp_anyrev.client.results import CallToolResult

        given = await self._result() if self._finished is None else self._finished
        self._finished = given
        result = read(CallToolResult, given, "the result of a task")
        if self._tools is not None:
            self._tools.check_result(self._tool, result)
        return result

    async def cancel(self) -> None:
        """Say that the result is not needed any longer.

        Raises:
            ClientError: the server does not know it, does not answer, or says that it is over.
        """
        if self.identifier is not None:
            await self._session.request(await self._method("cancel"), {"taskId": self.identifier})

    async def leave(self) -> None:
        """The same, for whoever does not want to know any longer what becomes of it."""
        with contextlib.suppress(ClientError, TimeoutError):
            async with asyncio.timeout(_LAST_SECONDS):
                await self.cancel()

    async def _result(self) -> JsonObject:
        answered: set[str] = set()
        while True:
            state = await self._look()
            connection = self._session.connection
            status, outcome = state.task.get("status"), state.outcome
            if outcome.error is not None:
                raise connection.error(outcome.error)
            if outcome.result is not None:
                return outcome.result
            if status in _OVER or status == "input_required":
                waiting = connection.adapter.task_methods.get("result")
                if waiting is not None and status != "cancelled":
                    try:
                        return await self._session.request(waiting, {"taskId": self.identifier})
                    except NoAnswer:
                        continue
                if status in _OVER:
                    if status == "cancelled":
                        raise TaskGivenUp("the task was given up before it had a result")
                    raise WrongAnswer(f"the task is over, {status}, without a result")
                asked = {key: one for key, one in outcome.questions.items() if key not in answered}
                if asked:
                    answers = await answers_to(connection, CALL, Questions(asked, None))
                    answered |= answers.keys()
                    params = {"taskId": self.identifier, "inputResponses": answers}
                    await self._session.request(await self._method("update"), params)
                    continue
            await asyncio.sleep(_pause(state))

    async def _look(self) -> TaskState:
        said = await self._session.request(await self._method("get"), {"taskId": self.identifier})
        return self._session.connection.adapter.read_task_state(said)

    async def _method(self, name: str) -> str:
        adapter = (await self._session.open()).adapter
        method = adapter.task_methods.get(name)
        if method is None:
            raise NotOffered(f"{adapter.version} has no way to say this of a task")
        return method


def _pause(state: TaskState) -> float:
    """How long to wait before the next look, in seconds."""
    said = state.task.get("pollInterval")
    wanted = said / 1000 if isinstance(said, int | float) and not isinstance(said, bool) else _PAUSE_SECONDS
    return min(max(wanted, _SHORTEST_PAUSE_SECONDS), _LONGEST_PAUSE_SECONDS)
