"""What carries the messages of one client.

Rule: a transport knows frames and how they travel, and nothing of what they mean. It says what it was that failed; whether that matters,
others decide.
Specification: basic/transports
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from mcp_contract import Json, JsonObject

from mcp_anyrev.conversation.outbox import Outbox

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter


class Receiver(Protocol):
    """Takes what a server sends."""

    async def take_frame(self, frame: bytes, answering: Json = None) -> None:
        """Take a frame; waits while what came before has not been made room for, so nothing more is to be read meanwhile.

        Args:
            frame: a JSON text, or what should be one.
            answering: the id of the request on whose own stream it came, where requests have streams of their own; no other response
                counts there. None for what all of them share.
        """
        ...

    def waits(self, identifier: Json) -> bool:
        """Does anybody still wait for the answer to a request?"""
        ...

    def fail(self, identifier: Json, error: Exception) -> None:
        """A request cannot be answered any longer; nothing happens where nobody waits for that.

        Args:
            identifier: its id.
            error: why, as its sender is to be told.
        """
        ...


class Transport(Outbox, Protocol):
    """Carries the messages of one client. What is sent is JSON-RPC, a message each; `send` never waits.

    `watch` is told when nothing arrives any longer, with which every request has failed; `fail` of the receiver is for a single one.
    """

    has_headers: bool
    """Can anything be said beside a message, and does every request get some answer, if only a status?"""

    @property
    def failure(self) -> Exception | None:
        """Why nothing arrives any longer; None while that is not so."""
        ...

    async def open(self, receiver: Receiver) -> None:
        """Get ready to send.

        Args:
            receiver: takes what comes.

        Raises:
            ClientError: there is nobody at the other end, or it is not as it should be.
        """
        ...

    def speak(self, adapter: Adapter, beside: Callable[[JsonObject], Mapping[str, str]]) -> None:
        """What is sent from now on is of this revision.

        Args:
            adapter: the revision.
            beside: from a message to what is said of it beside it, by names of headers, where that can be said.
        """
        ...

    def carries(self, adapter: Adapter) -> bool:
        """Can a revision be spoken?"""
        ...

    def cancels(self, adapter: Adapter) -> bool:
        """Is a request given up by a notification, in a revision?"""
        ...

    def answers(self, adapter: Adapter) -> bool:
        """May a request of the server be answered, in a revision?"""
        ...

    def reopens(self, adapter: Adapter) -> bool:
        """Is another connection opened, in a revision, once nothing arrives any longer on this one?"""
        ...

    def abandon(self, identifier: Json) -> None:
        """Nobody waits for the answer to a request any longer, whose own stream, if it has one, may close."""
        ...

    async def close(self) -> None:
        """End the connection in good order; nothing happens where that has been done."""
        ...
