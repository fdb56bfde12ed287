"""How a question reaches the client, decided for each question.

Rule: pushed where the revision has the request as one of the server's own; otherwise the call ends in the question, and the
client answers by calling again. An answer counts only for the very question that was asked.
Specification: basic/patterns/mrtr#basic-workflow
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from mcp_contract import CannotAsk, Json, JsonObject, MissingClientCapability
from pydantic_core import PydanticSerializationError, to_jsonable_python

from mcp_anyrev.errors import ToolError
from mcp_anyrev.questions import Answer, Question
from mcp_anyrev.server.asking.request_state import Unfinished
from mcp_anyrev.server.asking.ways import Way, way_of
from mcp_anyrev.user_code import Suspended

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.conversation.requests import Request
    from mcp_anyrev.server.asking.pushing import Pusher
    from mcp_anyrev.server.deprecations import Deprecations
    from mcp_anyrev.server.tasks.running import RunningTask

Questions = Mapping[str, Question[Any]]


class Asker:
    """Asks for one attempt at a call, and keeps what the next one has to know.

    Args:
        request: the request.
        unfinished: what earlier attempts left.
        given: the answers that came with this attempt, by key, not yet judged.
        pusher: asks on the stream of the call.
        deprecations: tells what is used that is deprecated.
        task: the task that the call may become; None where it cannot.
    """

    def __init__(
        self,
        request: Request,
        unfinished: Unfinished,
        given: Mapping[str, Json],
        pusher: Pusher,
        deprecations: Deprecations,
        task: RunningTask | None = None,
    ) -> None:
        self._adapter = request.conversation.adapter
        self._capabilities = request.client.capabilities
        self._method = request.method
        self._given = given
        self._pusher = pusher
        self._seen: dict[str, str] = {}
        self._pending: dict[str, Question[Any]] = {}
        self._pushed: list[Question[Any]] = []
        self._waiting: set[asyncio.Future[Any]] = set()
        self.unfinished = unfinished
        self.deprecations = deprecations
        self.task = task

    @property
    def answered(self) -> bool:
        """See `Exchange.answered`."""
        return bool(self._given or self.unfinished.answered) or self.unfinished.state is not None

    async def ask_many(self, questions: Questions, seconds: float | None = None) -> dict[str, Answer[Any]]:
        """Answers by key; what it raises, `Exchange.ask` tells.

        Args:
            questions: the questions.
            seconds: for how long each of them is waited for, where it is; None for what the settings say.
        """
        if seconds is not None and not 0 < seconds < math.inf:
            raise ValueError(f"a question can wait for a time above 0, not for {seconds} s")
        answers: dict[str, Answer[Any]] = {}
        pushed: list[str] = []
        for key, question in questions.items():
            digest = question.digest
            if self._seen.setdefault(key, digest) != digest:
                raise ValueError(f"the key {key!r} names two questions; give each question its own")
            answer = self._known(key, question, digest)
            if answer is not None:
                answers[key] = answer
                continue
            way = self._way(question)
            if way is None:
                raise CannotAsk(f"{self._method} cannot ask anything in the negotiated revision")
            missing = question.undeclared(self._adapter, self._capabilities)
            if missing is not None:
                refuse_undeclared(self._adapter, missing)
            self.deprecations.used(self._adapter, question.method.partition("/")[0])
            if way is Way.PUSHED:
                pushed.append(key)
            else:
                self._pending[key] = question
        if pushed:
            answers |= await self._push({key: questions[key] for key in pushed}, seconds)
        if len(answers) < len(questions):
            await self.suspend()
        return {key: answers[key] for key in questions}

    async def suspend(self) -> NoReturn:
        """End this attempt, once everything that goes on beside it has asked its questions or has its pushed answers."""
        await asyncio.sleep(0)
        while self._waiting:
            await asyncio.wait(self._waiting)
        raise Suspended

    def outcome(self) -> dict[str, JsonObject]:
        """The round to send, questions by key, now noted as open; nothing where none has been asked in this way."""
        self.unfinished.open = {key: question.digest for key, question in self._pending.items()}
        return {key: question.request() for key, question in self._pending.items()}

    def completed(self, question: Question[Any]) -> None:
        """Say that what a pushed question asked to be done elsewhere is done, where the revision can."""
        told = question.completion(self._adapter)
        if told is not None and any(question is one for one in self._pushed):
            self._pusher.tell(told)

    def _known(self, key: str, question: Question[Any], digest: str) -> Answer[Any] | None:
        known = self.unfinished.answered.get(key)
        if known is not None and known[0] == digest:
            return question.judge(self._adapter, known[1])
        # Where the answers are arguments, a model could fill in a form that nobody has seen.
        unasked = question.unasked and self._way(question) is Way.RESULT
        if key not in self._given or not (unasked or self.unfinished.open.get(key) == digest):
            return None
        answer = question.judge(self._adapter, self._given[key])
        if answer is not None:
            self.unfinished.answered[key] = (digest, question.kept(answer))
        return answer

    async def _push(self, questions: Questions, seconds: float | None) -> dict[str, Answer[Any]]:
        self._pushed += questions.values()
        if self._is_task:
            assert self.task is not None
            asking = [self.task.ask(key, question, seconds) for key, question in questions.items()]
        else:
            asking = [self._pusher.ask(question, seconds) for question in questions.values()]
        answering = asyncio.gather(*asking)
        self._waiting.add(answering)
        try:
            answers = dict(zip(questions, await answering, strict=True))
        finally:
            self._waiting.discard(answering)
        for key, answer in answers.items():
            if answer.action is not None:  # where nobody answered, the next attempt may ask again
                self.unfinished.answered[key] = (questions[key].digest, questions[key].kept(answer))
        return answers

    @property
    def _is_task(self) -> bool:
        """Is the call a task by now, whose questions wait with it?"""
        return self.task is not None and self.task.identifier is not None

    def _way(self, question: Question[Any]) -> Way | None:
        if self._is_task:
            return Way.PUSHED
        return way_of(self._adapter, self._method, question.method)


def refuse_undeclared(adapter: Adapter, missing: JsonObject) -> NoReturn:
    """Refuse a call that needs what the client did not declare.

    Args:
        adapter: the revision.
        missing: the missing part of the client capabilities, as the revision has it.

    Raises:
        MissingClientCapability: the revision has an error for that.
        ToolError: it has none.
    """
    error = MissingClientCapability(missing)
    if adapter.refuses_undeclared:
        raise error
    raise ToolError(error.message)


def plain_json(value: Any) -> Json:
    """A value as JSON that can be kept.

    Raises:
        TypeError: it cannot be written as JSON.
    """
    try:
        return to_jsonable_python(value, by_alias=True)
    except (PydanticSerializationError, ValueError) as error:
        raise TypeError(f"only what can be written as JSON can be kept: {error}") from None
