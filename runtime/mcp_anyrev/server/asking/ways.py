"""Which way a question travels.

Rule: decided here and nowhere else, for each kind of question and each request that it is asked from: pushed where the revision has it
as a request of the server's own; otherwise the request ends in it, if a request of that method may.
Specification: basic/patterns/mrtr#supported-requests, client/elicitation#protocol-messages
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

ELICITATION = "elicitation/create"


class Way(Enum):
    """A way; its value is the flag of the revisions that have it."""

    RESULT = "can_ask"
    """The question is the result, and the client sends the request again with the answers."""

    PUSHED = "can_push_ask"
    """The question is a request of the server's own, while the client's goes on."""

    ARGUMENTS = "asks_in_arguments"
    """The question is in the text of the result, and the answers are arguments of another call."""


def way_of(adapter: Adapter, method: str, question: str = ELICITATION) -> Way | None:
    """Which way a question travels.

    Args:
        adapter: the revision.
        method: the method of the request that it is asked from.
        question: the method of the question.

    Returns:
        The way; None where there is none.
    """
    if adapter.can_push_ask if question == ELICITATION else question in adapter.server_requests:
        return Way.PUSHED
    if not adapter.askable_methods.get(method):
        return None
    if adapter.can_ask:
        return Way.RESULT
    return Way.ARGUMENTS if adapter.asks_in_arguments else None
