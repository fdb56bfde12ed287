"""A request until it is finished, however often the server asks before that.

Rule: where a question is the result, the request goes out again with all answers so far and the state exactly as it came, or without one
where none came; nothing of either goes into any other request. It ends after a bounded number of rounds.
Specification: basic/patterns/mrtr#basic-workflow
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from mcp_contract import InvalidRequest, Json, JsonObject, Questions
from pydantic import ValidationError

from mcp_anyrev.client.errors import NotOffered, Unfinished, WrongAnswer
from mcp_anyrev.client.tools import CALL

if TYPE_CHECKING:
    from mcp_anyrev.client.connection import Connection
    from mcp_anyrev.client.notices import OnProgress

_FIRST_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 2.0


class Finished(NamedTuple):
    """A finished request.

    Attributes:
        result: its result, as it came.
        asked: has the server asked before?
        task: the canonical task that it has become, if it has not been answered yet.
    """

    result: JsonObject
    asked: bool
    task: JsonObject | None = None


async def finished(
    connection: Connection,
    method: str,
    params: JsonObject,
    seconds: float | None,
    rounds: int,
    on_progress: OnProgress | None = None,
) -> Finished:
    """Send a request, and again with answers as long as the server asks.

    Args:
        connection: the server.
        method: the method of the request.
        params: its params in canonical form.
        seconds: for how long each answer is waited for.
        rounds: how often the server may ask.
        on_progress: takes its progress.

    Raises:
        Unfinished: the server asks too often.
        NotOffered: it asks what this client has no callback for.
        ClientError: there is no result.
        Exception: what a callback raised.
    """
    adapter = connection.adapter
    answers: dict[str, Json] = {}
    sent, pause = params, 0.0
    for done in range(rounds + 1):
        result = await connection.request(method, sent, seconds, on_progress)
        asked = adapter.read_questions(result)
        if asked is None:
            task = _task(connection, method, params, result)
            if task is not None:
                return Finished(result, asked=done > 0, task=task)
            _check_finished(connection, method, result)
            return Finished(result, asked=done > 0)
        if asked.questions:
            answers |= await answers_to(connection, method, asked)
        else:  # it only wants to be called again, which is no reason to do so without pause
            await asyncio.sleep(pause)
            pause = min(max(2 * pause, _FIRST_PAUSE_SECONDS), _LONGEST_PAUSE_SECONDS)
        sent = adapter.answer_params(params, answers, asked.state)
    raise Unfinished(f"{method}: the server has asked {rounds + 1} times and still does not answer")


async def answers_to(connection: Connection, method: str, asked: Questions) -> dict[str, Json]:
    """What questions are answered with, in the words of the revision.

    Args:
        connection: the server.
        method: the method of the request that asks.
        asked: the questions.

    Raises:
        NotOffered: there is no callback for one.
        WrongAnswer: one is none.
        Exception: what a callback raised.
    """
    adapter, answering = connection.adapter, connection.answering
    for key, question in asked.questions.items():
        wanted = question.get("method") if isinstance(question, dict) else None
        if not isinstance(wanted, str) or not isinstance(question.get("params", {}), dict):
            raise WrongAnswer(f"{method}: the question {key!r} is none")
        if not answering.answers(wanted):
            raise NotOffered(f"{method}: the server asks {wanted}, which this client has no callback for")
    answers = {}
    for key, question in asked.questions.items():
        wanted = question["method"]
        try:
            answer = await answering.answer(wanted, question.get("params", {}))
        except ValidationError as error:
            raise WrongAnswer(f"{method}: the question {key!r} has another form than the protocol gives it") from error
        answers[key] = adapter.encode_answer(wanted, answer)
    return answers


def _task(connection: Connection, method: str, params: JsonObject, result: JsonObject) -> JsonObject | None:
    """The task that a call has become, if it may become one and has."""
    adapter = connection.adapter
    if method != CALL or adapter.task_asked(params, connection.declaration.capabilities) is None:
        return None
    return adapter.read_task(result)


def _check_finished(connection: Connection, method: str, result: JsonObject) -> None:
    try:
        if connection.adapter.finished(result):
            return
    except InvalidRequest as error:
        raise WrongAnswer(f"{method}: {error.message}") from None
    raise WrongAnswer(f"{method}: the result is neither finished nor a question")
