"""A question as a request of the server's own, while the call goes on, and the wait for its response.

Rule: an answer counts only from whom was asked, the first one counts, and nobody is waited for without end.
Specification: client/elicitation#protocol-messages
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_contract import InvalidParams, Json, JsonObject
from pydantic_core import to_json

from mcp_anyrev.questions import Answer, Data, Question, no_answer

if TYPE_CHECKING:
    from mcp_anyrev.conversation.conversation import Conversation


class Pusher:
    """Asks on the stream of a call.

    Args:
        conversation: whom to ask.
        timeout: for how many seconds an answer is waited for.
    """

    def __init__(self, conversation: Conversation, timeout: float) -> None:
        self._adapter = conversation.adapter
        self._conversation = conversation
        self._timeout = timeout

    async def ask(self, question: Question[Data]) -> Answer[Data]:
        """Ask, and wait; where no answer comes in time, or none that fits, the answer is none."""
        identifier = self._conversation.new_identifier()
        request = self._adapter.question_request(identifier, question.request())
        try:
            response = await self._conversation.request(request, self._timeout)
        except TimeoutError:
            return no_answer()
        return self._judged(question, response.get("result"))

    def tell(self, message: JsonObject) -> None:
        """Send a message that belongs to a question."""
        self._conversation.outbox.send(to_json(message))

    def _judged(self, question: Question[Data], said: Json) -> Answer[Data]:
        try:
            self._adapter.check_answer(question.method, said)
        except InvalidParams:
            return no_answer()
        return question.judge(self._adapter, said) or no_answer()
