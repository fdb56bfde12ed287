"""A conversation from the client's end.

Rule: it differs from a server's in what this end sends, how it words its results, and what it does with a request that nobody waits for.
Specification: basic/index#messages
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from mcp_contract import JsonObject
from pydantic_core import to_json

from mcp_anyrev.client.errors import CannotConnect
from mcp_anyrev.conversation.conversation import Conversation, Handler
from mcp_anyrev.conversation.outcomes import Outcome, Response, Result
from mcp_anyrev.messages import result_message

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.client.transport import Transport
    from mcp_anyrev.conversation.requests import Request

_SCOPE = "server"
"""A client has one server, so that names all requests of it."""


class ClientConversation(Conversation):
    """One server in one revision.

    Args:
        handler: what is at this end.
        adapter: the revision.
        transport: carries the messages.
    """

    __slots__ = ("transport",)

    def __init__(self, handler: Handler, adapter: Adapter, transport: Transport) -> None:
        super().__init__(handler, adapter, transport, None, None, cancels=True, scope=_SCOPE)
        self.transport = transport

    @property
    def sends(self) -> Collection[str]:
        """See `Conversation.sends`."""
        return self.adapter.client_notifications

    @property
    def takes_responses(self) -> bool:
        """See `Conversation.takes_responses`."""
        return True

    def lost(self) -> CannotConnect:
        """Why nothing arrives any longer."""
        return CannotConnect(str(self.transport.failure or "the connection has ended"))

    def _give_up(self, message: JsonObject, reason: str) -> None:
        self.transport.abandon(message["id"])
        if self.transport.cancels(self.adapter) and message["method"] != self.adapter.description_method:
            super()._give_up(message, reason)

    def _worded(self, request: Request, outcome: Outcome) -> Response:
        if isinstance(outcome, Result):
            answer = self.adapter.encode_answer(request.method, outcome.value)
            return Response(result_message(request.identifier, to_json(answer)))
        return super()._worded(request, outcome)
