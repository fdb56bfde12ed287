"""The question which folders and files the client lets a server work in.

Rule: only what fits the result of the request, as the revision has it, is an answer.
Specification: client/roots#listing-roots
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from mcp_contract import InvalidParams, Json, JsonObject

from mcp_anyrev.questions import Answer, Question
from mcp_anyrev.server.asking.capabilities import undeclared

if TYPE_CHECKING:
    from mcp_revisions.canonical import ListRootsResult
    from mcp_revisions.protocol import Adapter


@dataclass(frozen=True)
class RootsQuestion(Question["ListRootsResult"]):
    """The question for the roots."""

    method: ClassVar[str] = "roots/list"

    def told(self) -> Json:
        """See `Question.told`."""
        return []

    def params(self) -> JsonObject:
        """See `Question.params`."""
        return {}

    def undeclared(self, adapter: Adapter, capabilities: JsonObject) -> JsonObject | None:
        """See `Question.undeclared`."""
        return undeclared(adapter, capabilities, ("roots",))

    def judge(self, adapter: Adapter, said: Json) -> Answer[ListRootsResult] | None:
        """See `Question.judge`: None for what is no list of roots."""
        from mcp_revisions.canonical import ListRootsResult

        try:
            adapter.check_answer(self.method, said)
        except InvalidParams:
            return None
        return Answer(True, "accept", said, ListRootsResult.model_validate(said))


def roots() -> Question[ListRootsResult]:
    """The question for the client's roots, for `Exchange.ask`. The answer's data is a canonical `ListRootsResult`.

    Specification: client/roots#listing-roots
    """
    return RootsQuestion()
