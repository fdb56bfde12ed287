"""The ways in which a question reaches a person, behind one method.

Rule: an answer counts only for the very question that was asked, from whom it was asked, while it is open. Which way is taken, the
adapter's flags say.
Specification: basic/patterns/mrtr#basic-workflow
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from mcp_contract import CannotAsk, Declaration, InvalidParams, Json, JsonObject, MissingClientCapability
from pydantic_core import to_json

from mcp_anyrev.server.failures import ToolError
from mcp_anyrev.server.questions import Answer, Question, judge

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.storage import Hub

Questions = Mapping[str, Question[Any]]


class Suspended(BaseException):
    """A handler ends here, because its question has to be answered first. `except Exception` lets it pass, on purpose."""


class Asker(Protocol):
    """A way to ask."""

    async def ask_many(self, questions: Questions) -> dict[str, Answer[Any]]:
        """Answers by key; what it raises, `Exchange.ask` tells."""
        ...


@dataclass(slots=True)
class Unfinished:
    """What is known of a call that has asked.

    Attributes:
        answered: key → digest of the question, and the answer that counted.
        open: key → digest of a question that has been asked and not answered.
    """

    answered: dict[str, tuple[str, JsonObject]] = field(default_factory=dict)
    open: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> JsonObject:
        """As JSON, to be kept or to travel."""
        return {"answered": {key: list(value) for key, value in self.answered.items()}, "open": self.open}

    @classmethod
    def from_json(cls, kept: JsonObject) -> Unfinished:
        """What `to_json` gave."""
        return cls({key: (digest, said) for key, (digest, said) in kept["answered"].items()}, dict(kept["open"]))


class RoundAsker:
    """Asks by ending the call: the client answers by calling again, and the handler runs from its beginning.

    Args:
        adapter: the revision.
        client: what the client declared.
        unfinished: what earlier attempts left.
        given: the answers that came with this attempt, by key, not yet judged.
    """

    def __init__(
        self, adapter: Adapter, client: Declaration, unfinished: Unfinished, given: Mapping[str, Json]
    ) -> None:
        self._adapter = adapter
        self._client = client
        self._unfinished = unfinished
        self._given = given
        self._seen: dict[str, str] = {}
        self.pending: dict[str, Question[Any]] = {}

    async def ask_many(self, questions: Questions) -> dict[str, Answer[Any]]:
        """See `Asker.ask_many`."""
        answers = {}
        for key, question in questions.items():
            digest = question.digest
            if self._seen.setdefault(key, digest) != digest:
                raise ValueError(f"the key {key!r} names two questions; give each question its own")
            answer = self._answer(key, question, digest)
            if answer is not None:
                answers[key] = answer
            else:
                check_askable(self._adapter, self._client, question)
                self.pending[key] = question
        if len(answers) < len(questions):
            await asyncio.sleep(0)  # whatever is asked beside this joins the round
            raise Suspended
        return answers

    def _answer(self, key: str, question: Question[Any], digest: str) -> Answer[Any] | None:
        known = self._unfinished.answered.get(key)
        if known is not None and known[0] == digest:
            return judge(question, known[1])
        if key not in self._given or self._unfinished.open.get(key) != digest:
            return None
        said = self._given[key]
        answer = judge(question, said)
        if answer is not None:
            self._unfinished.answered[key] = (digest, _kept(answer))
            del self._unfinished.open[key]
        return answer

    def outcome(self) -> tuple[dict[str, JsonObject], Unfinished]:
        """The round to send: the questions by key, and what has to be known when their answers come."""
        questions = {key: question.request() for key, question in self.pending.items()}
        opened = {key: question.digest for key, question in self.pending.items()}
        return questions, Unfinished(self._unfinished.answered, opened)


class PushAsker:
    """Asks by a request of the server's own while the call goes on, and waits for the response.

    Args:
        adapter: the revision.
        client: what the client declared.
        asked: who is asked, as `sender` names them.
        hub: brings the response from whichever worker it reaches.
        send: puts a message on the stream of the call.
        timeout: for how many seconds an answer is waited for.
    """

    def __init__(
        self,
        adapter: Adapter,
        client: Declaration,
        asked: JsonObject,
        hub: Hub,
        send: Callable[[bytes], None],
        timeout: float,
    ) -> None:
        self._adapter = adapter
        self._client = client
        self._asked = asked
        self._hub = hub
        self._send = send
        self._timeout = timeout

    async def ask_many(self, questions: Questions) -> dict[str, Answer[Any]]:
        """See `Asker.ask_many`."""
        for question in questions.values():
            check_askable(self._adapter, self._client, question)
        answers = await asyncio.gather(*(self._ask(question) for question in questions.values()))
        return dict(zip(questions, answers, strict=True))

    async def _ask(self, question: Question[Any]) -> Answer[Any]:
        identifier = secrets.token_urlsafe(24)
        end = time.monotonic() + self._timeout
        async with self._hub.listen(topic_of(identifier)) as listener:
            self._send(to_json(self._adapter.question_request(identifier, question.request())))
            while (left := end - time.monotonic()) > 0:
                came = await listener.next(left)
                if came is not None and came["from"] == self._asked:
                    return self._judged(question, came["message"])
        told = {"requestId": identifier, "reason": f"no answer within {self._timeout:g} s"}
        self._send(to_json(self._adapter.encode_notification("notifications/cancelled", told)))
        return Answer(False, None, {})

    def _judged(self, question: Question[Any], response: JsonObject) -> Answer[Any]:
        said = response.get("result")
        try:
            self._adapter.check_answer(question.request()["method"], said)
        except InvalidParams:
            return Answer(False, None, {})
        return judge(question, said) or Answer(False, None, {})


class NoAsker:
    """Asks nobody: the request is of a kind that cannot.

    Args:
        method: the method of the request.
    """

    def __init__(self, method: str) -> None:
        self._method = method

    async def ask_many(self, questions: Questions) -> dict[str, Answer[Any]]:
        """See `Asker.ask_many`."""
        raise CannotAsk(f"{self._method} cannot ask anything in the negotiated revision")


def check_askable(adapter: Adapter, client: Declaration, question: Question[Any]) -> None:
    """See that the client said that it can be asked like this.

    Raises:
        MissingClientCapability: it did not, and the revision has an error for that.
        ToolError: it did not.
    """
    if adapter.may_be_asked(client.capabilities, question.mode):
        return
    if adapter.refuses_undeclared:
        raise MissingClientCapability(adapter.required_to_ask(question.mode))
    raise ToolError(f"this has to ask the user a question ({question.mode}), but the client cannot be asked one")


def topic_of(identifier: str) -> str:
    """Where the hub carries the answers to a pushed question."""
    return f"question/{identifier}"


def sender(session: str | None, principal: str | None) -> JsonObject:
    """Who sends a message, so that it can be compared with who was asked."""
    return {"session": session, "principal": principal}


def posted(sent_by: JsonObject, message: JsonObject) -> JsonObject:
    """A posted response with who posted it, as it travels through the hub."""
    return {"from": sent_by, "message": message}


def _kept(answer: Answer[Any]) -> JsonObject:
    return {"action": answer.action, "content": answer.content}
