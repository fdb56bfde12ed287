"""One request of a peer, while it is answered.

Rule: plain data, the same for every transport.
Specification: basic/index#requests
"""

from __future__ import annotations

import asyncio
from enum import Enum
from typing import TYPE_CHECKING, Any

from mcp_contract import Declaration, Json, JsonObject

if TYPE_CHECKING:
    from mcp_anyrev.conversation.conversation import Conversation
    from mcp_anyrev.conversation.outcomes import Outcome

_NOTHING_DECLARED = Declaration({}, None)
_NOBODY: JsonObject = {}


class GivenUp(Enum):
    """Why a request is given up, which decides whether its sender is owed an answer even so."""

    CANCELLED = "its sender wants no answer"
    DEPARTED = "its sender is there no longer"
    OVERDUE = "it has taken too long"
    CROWDED = "too many of its sender wait already"
    ENDED = "its session ends, or the server does"

    @property
    def owes_answer(self) -> bool:
        """Is its sender still waiting for one?"""
        return self in (GivenUp.OVERDUE, GivenUp.CROWDED, GivenUp.ENDED)


class Request:
    """A request.

    Args:
        conversation: where it came from.
        message: the message, which has a method and an id.

    Attributes:
        message: the message as it came.
        identifier: its id.
        method: its method.
        params: its params as sent.
        client: what its sender declared, as far as it holds for this request.
        signature: who signs its result, as the revision has it; empty until that is known.
        open: is the answer still to come? Whatever is at work for it afterwards has nothing more to say.
        endless: may it go on for as long as its sender likes?
        owner: whose waiting requests it counts among; None while it does not.
        given_up: why nobody waits any longer for what it does; None while somebody does.
        outcome: what it came to, once it has been answered.
    """

    __slots__ = (
        "_deadline",
        "_task",
        "client",
        "conversation",
        "endless",
        "given_up",
        "identifier",
        "message",
        "method",
        "open",
        "outcome",
        "owner",
        "params",
        "signature",
    )

    def __init__(self, conversation: Conversation, message: JsonObject) -> None:
        self.conversation = conversation
        self.message = message
        self.identifier: Json = message["id"]
        self.method: str = message["method"]
        self.params: JsonObject = message.get("params", {})
        self.client = _NOTHING_DECLARED
        self.signature = _NOBODY
        self.outcome: Outcome | None = None
        self.open = True
        self.endless = False
        self.owner: str | None = None
        self.given_up: GivenUp | None = None
        self._task: asyncio.Task[Any] | None = None
        self._deadline: asyncio.TimerHandle | None = None

    def attend(self, seconds: float) -> None:
        """The current task works on it, for so many seconds at most."""
        self._task = asyncio.current_task()
        self._deadline = asyncio.get_running_loop().call_later(seconds, self._overdue)

    def leave(self) -> None:
        """No task works on it any longer."""
        if self._deadline is not None:
            self._deadline.cancel()

    def give_up(self, reason: GivenUp) -> None:
        """Cancel what works on it; once is enough."""
        if self.given_up is None:
            self.given_up = reason
            if self._task is not None:
                self._task.cancel()

    def was_cancelled(self) -> bool:
        """Its task met a cancellation, or should have: was it because the request was given up, and for nothing else?"""
        return self.given_up is not None and (self._task is None or self._task.uncancel() == 0)

    def _overdue(self) -> None:
        if not self.endless:
            self.give_up(GivenUp.OVERDUE)
