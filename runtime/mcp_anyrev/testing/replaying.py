"""A client that sends again what it has sent, to show handlers that do not bear that.

Rule: where a question ends an attempt, a handler starts over with the answers, and whoever has its state may send that again until it
expires. So the same attempt gives the same, a question stays the one that it was, and nothing is done twice. Whatever a handler
does otherwise is a failure that names it and what differs. What an application does is only seen where it tells.
Specification: basic/patterns/mrtr#basic-workflow
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mcp_contract import Json, JsonObject, member
from mcp_contract.wording import cut
from pydantic_core import to_json

from mcp_anyrev.client.connection import Connection
from mcp_anyrev.client.errors import ErrorAnswer
from mcp_anyrev.client.lists import listed
from mcp_anyrev.client.tools import CALL, LIST
from mcp_anyrev.serving.client import Client

if TYPE_CHECKING:
    from mcp_anyrev.client.answering import Answering
    from mcp_anyrev.client.notices import Notices, OnProgress
    from mcp_anyrev.client.transport import Transport
    from mcp_anyrev.settings import Limits

Effects = Callable[[], Sequence[Any]]
"""Everything that an application has done so far, in order, such as the orders of a shop."""

Same = Callable[[JsonObject, JsonObject], bool]
"""Are two results of the same attempt the same?"""

_WHAT = {CALL: ("the tool", "name"), "prompts/get": ("the prompt", "name"), "resources/read": ("the resource", "uri")}
"""What each request that runs a handler is for."""


class DoesNotBearReplay(AssertionError):
    """A handler does something twice that it must not, or something else the second time. The text names it and what differs."""


class ReplayingClient(Client):
    """A client that sends each attempt a second time, where the revision has handlers start over.

    What is looked at:

    * a question that is asked again in the same call is the same question;
    * nothing that an attempt has done is done by a later attempt of the same call, nor by the same attempt sent a second time with the state
      of the call;
    * an attempt that is sent a second time asks the same or gives the same, or is refused, since its state is used up;
    * what says that it changes nothing, does not (`read_only`, and all prompts and resources), and what says that it can be called twice
      does nothing the second time (`idempotent`). This is looked at in every revision, the rest where handlers start over.

    One call at a time, so that what is done is known to be done by that.

    Args:
        target: see `Client`.
        adapter: see `Client`.
        effects: everything that the application has done so far, in order; asked before and after each attempt. None where it does not tell.
        same: are two results of the same attempt the same? None where they have to be equal, but for `_meta`.
        options: see `Client`.

    Raises:
        DoesNotBearReplay: raised by the call that shows it.

    Specification: basic/patterns/mrtr#basic-workflow
    """

    def __init__(
        self,
        target: Any,
        adapter: Any = None,
        *,
        effects: Effects | None = None,
        same: Same | None = None,
        **options: Any,
    ) -> None:
        super().__init__(target, adapter, **options)
        self._effects = effects or _nothing
        self._same = same or _equal

    def _new_connection(self, transport: Transport) -> Connection:
        return _ReplayingConnection(
            transport, self._answering, self._notices, self._limits, self._information, self._effects, self._same
        )


class _Call:
    """A call that goes on.

    Args:
        what: what is called, for words.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self._questions: dict[str, JsonObject] = {}
        self._done: list[Any] = []

    def note_done(self, done: Sequence[Any]) -> None:
        """Note what an attempt did."""
        again = [one for one in done if one in self._done]
        if again:
            raise DoesNotBearReplay(
                f"{self.what} did again, when it was continued, what it had done before it asked: {_listed(again)}. A handler starts"
                " over with each answer; keep what comes before a question by `ex.remember(key, function)`, or do it after the last one."
            )
        self._done += done

    def note_questions(self, questions: Mapping[str, JsonObject]) -> None:
        """Note what an attempt asked."""
        for key, question in questions.items():
            before = self._questions.setdefault(key, question)
            if before != question:
                raise DoesNotBearReplay(
                    f"{self.what} asked {key!r} in other words when it was continued, so the answer does not count, and it never ends:"
                    f" first {_shown(before)}, then {_shown(question)}. Keep what differs by `ex.remember(key, function)`."
                )


class _ReplayingConnection(Connection):
    """Sends attempts twice."""

    def __init__(
        self,
        transport: Transport,
        answering: Answering,
        notices: Notices,
        limits: Limits,
        information: JsonObject,
        effects: Effects,
        same: Same,
    ) -> None:
        super().__init__(transport, answering, notices, limits, information)
        self._effects = effects
        self._same = same
        self._unfinished: dict[str, _Call] = {}
        self._promises: dict[str, str | None] = {}

    async def request(
        self,
        method: str,
        params: JsonObject,
        seconds: float | None,
        on_progress: OnProgress | None = None,
        identifier: Json = None,
        *,
        encoded: bool = False,
    ) -> JsonObject:
        """See `Connection.request`."""
        if method not in _WHAT:
            return await super().request(method, params, seconds, on_progress, identifier, encoded=encoded)
        kind, named_by = _WHAT[method]
        name = params[named_by]
        state = self.adapter.read_answers(params).state
        call = self._unfinished.pop(state, None) if state is not None else None
        call = call or _Call(f"{kind} {name!r}")
        promise = await self._promise(method, name, seconds) if state is None else None
        before = len(self._effects())
        result = await super().request(method, params, seconds, on_progress, identifier)
        done = self._effects()[before:]
        asked = self.adapter.read_questions(result)
        if promise == _CHANGES_NOTHING and done:
            raise DoesNotBearReplay(f"{call.what} is declared {promise}, and did: {_listed(done)}")
        call.note_done(done)
        if asked is not None:
            call.note_questions(asked.questions)
        if asked is not None or state is not None or promise is not None:
            await self._replay(call, method, params, seconds, result, promise)
        if asked is not None and asked.state is not None:
            self._unfinished[asked.state] = call
        return result

    async def _replay(
        self,
        call: _Call,
        method: str,
        params: JsonObject,
        seconds: float | None,
        first: JsonObject,
        promise: str | None,
    ) -> None:
        adapter = self.adapter
        has_state = adapter.read_answers(params).state is not None
        before = len(self._effects())
        try:
            second = await super().request(method, params, seconds)
        except ErrorAnswer as error:
            if has_state:
                return  # it is used up, which is what keeps it from being done twice
            raise DoesNotBearReplay(f"{call.what} could not be called a second time: {error}") from error
        done = self._effects()[before:]
        asked, asked_again = adapter.read_questions(first), adapter.read_questions(second)
        if done and has_state:
            raise DoesNotBearReplay(
                f"{call.what} did {_listed(done)} once more when the same answers came a second time. State can be sent again until it"
                " expires; declare the tool `once=True`, so that it is used up."
            )
        if done and promise is not None:
            raise DoesNotBearReplay(
                f"{call.what} is declared {promise}, and did when it was called again: {_listed(done)}"
            )
        if has_state and second.get("isError") and not first.get("isError"):
            return  # used up, as above, in the words of a tool
        if asked is not None and asked_again is not None:
            _compare_questions(call, asked.questions, asked_again.questions)
        elif (asked is None) != (asked_again is None):
            gave = ("a question", "a result") if asked_again is None else ("a result", "a question")
            raise DoesNotBearReplay(f"{call.what} gave {gave[0]}, and {gave[1]} when the same was sent again")
        elif promise is None and not self._same(first, second):
            raise DoesNotBearReplay(
                f"{call.what} gave something else when the same answers came a second time: first {_shown(first)}, then {_shown(second)}"
            )

    async def _promise(self, method: str, name: str, seconds: float | None) -> str | None:
        """What is promised of being called twice; None where nothing is."""
        if method != CALL:
            return _CHANGES_NOTHING
        if name not in self._promises and LIST in self.adapter.client_requests:

            async def ask(method: str, params: JsonObject) -> JsonObject:
                return await super(_ReplayingConnection, self).request(method, params, seconds)

            tools = await listed(ask, self.adapter, LIST, "tools")
            self._promises = {name: None, **{member(tool, "name"): _promised(tool) for tool in tools}}
        return self._promises.get(name)


_CHANGES_NOTHING, _CALLED_TWICE = "to change nothing (read_only)", "to bear being called twice (idempotent)"


def _promised(tool: JsonObject) -> str | None:
    if member(tool, "annotations", "readOnlyHint") is True:
        return _CHANGES_NOTHING
    return _CALLED_TWICE if member(tool, "annotations", "idempotentHint") is True else None


def _compare_questions(call: _Call, first: Mapping[str, JsonObject], second: Mapping[str, JsonObject]) -> None:
    if first.keys() != second.keys():
        raise DoesNotBearReplay(
            f"{call.what} asked {_listed(list(first))}, and {_listed(list(second))} when the same was sent again"
        )
    for key, question in first.items():
        if question != second[key]:
            raise DoesNotBearReplay(
                f"{call.what} asked {key!r} in other words when the same was sent again: first {_shown(question)}, then {_shown(second[key])}"
            )


def _equal(first: JsonObject, second: JsonObject) -> bool:
    return {**first, "_meta": None} == {**second, "_meta": None}


def _nothing() -> Sequence[Any]:
    return ()


def _listed(values: Sequence[Any]) -> str:
    return ", ".join(cut(repr(value)) for value in values)


def _shown(value: Json) -> str:
    return cut(to_json(value).decode())
