"""A question to the client, and what became of it.

Rule: an answer counts only if it is what its question asks for; everything else is none. What that is, each kind of question says
itself, and nobody else, whichever way the answer came.
Specification: client/elicitation#response-actions
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from mcp_contract import Json, JsonObject
from pydantic_core import to_json

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

Data = TypeVar("Data")


class Answer(Generic[Data]):
    """What became of a question.

    Attributes:
        accepted: was it answered with what it asks for?
        action: `accept`, `decline` or `cancel`; None where no answer came, or none that says what it is.
        content: what was accepted, as JSON; an empty object where nothing was.
    """

    __slots__ = ("_data", "accepted", "action", "content")

    def __init__(self, accepted: bool, action: str | None, content: JsonObject, data: Data | None = None) -> None:
        self.accepted = accepted
        self.action = action
        self.content = content
        self._data = data

    @property
    def data(self) -> Data:
        """What was accepted: a form read into its model where it has one, a sampled message, or roots.

        Raises:
            ValueError: nothing was accepted.
        """
        if not self.accepted:
            raise ValueError("the question was not accepted, so there is no data; look at .accepted first")
        return self._data  # type: ignore[return-value]  # whoever judges gives data to every accepted answer

    def __repr__(self) -> str:
        return f"Answer(accepted={self.accepted}, action={self.action!r})"


class Question(ABC, Generic[Data]):
    """What is to be asked; made by `elicit`, `sample` or `roots`."""

    method: ClassVar[str]
    """The request that asks it."""

    unasked: bool = False
    """Does an answer count that comes with a call before the question was asked?"""

    @property
    def digest(self) -> str:
        """What makes this question this one; an answer to another question has another."""
        return hashlib.sha256(to_json([self.method, self.told()])).hexdigest()

    @abstractmethod
    def told(self) -> Json:
        """Everything that is asked, as JSON that is the same each time."""

    @abstractmethod
    def params(self) -> JsonObject:
        """The params of the request that asks it, in canonical form."""

    @abstractmethod
    def undeclared(self, adapter: Adapter, capabilities: JsonObject) -> JsonObject | None:
        """What a client that declared these capabilities would have to declare besides; None where it may be asked.

        Raises:
            ToolError: no client of the revision can be asked.
        """

    @abstractmethod
    def judge(self, adapter: Adapter, said: Json) -> Answer[Data] | None:
        """What an answer amounts to.

        Args:
            adapter: the revision.
            said: what came back, from anybody and of any shape.

        Returns:
            The answer; None for one that does not fit, such as a form that was not filled in.
        """

    def kept(self, answer: Answer[Data]) -> JsonObject:
        """An answer as JSON, which `judge` reads as the same answer."""
        return answer.content

    def completion(self, adapter: Adapter) -> JsonObject | None:
        """The notification that says that what it asked to be done elsewhere is done; None where there is none."""
        return None

    def request(self) -> JsonObject:
        """The question as a request without an id, in canonical form."""
        return {"method": self.method, "params": self.params()}


def no_answer() -> Answer[Data]:
    """What a question got that nobody answered."""
    return Answer(False, None, {})
