"""A question as a request of the server's own, while the call goes on, and the wait for its response.

Rule: an answer counts only from whom was asked, the first one counts that fits, and nobody is waited for without end. Nobody is asked
before saying that it is ready.
Specification: client/elicitation#protocol-messages
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from mcp_contract import CannotAsk, InvalidParams, InvalidRequest, JsonObject
from pydantic_core import to_json

from mcp_anyrev.conversation.conversation import Undeliverable
from mcp_anyrev.errors import ToolError
from mcp_anyrev.questions import Answer, Data, Question, no_answer

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.conversation.conversation import Conversation

log = logging.getLogger("mcp_anyrev.server")


class Pusher:
    """Asks on the stream of a call.

    Args:
        conversation: whom to ask.
        timeout: for how many seconds an answer is waited for, where a question does not say.
    """

    def __init__(self, conversation: Conversation, timeout: float) -> None:
        self._adapter = conversation.adapter
        self._conversation = conversation
        self._timeout = timeout

    async def ask(self, question: Question[Data], seconds: float | None = None) -> Answer[Data]:
        """Ask, once the client is ready, and wait; where no answer comes in time, or none can come, the answer is none.

        Args:
            question: the question.
            seconds: for how long to wait; None for as long as for any question.

        Raises:
            ToolError: the revision has no words for what is asked.
        """
        conversation, adapter = self._conversation, self._adapter
        try:
            request = adapter.question_request(conversation.new_identifier(), question.request())
        except CannotAsk as error:
            raise ToolError(error.message) from None

        def judge(response: JsonObject) -> Answer[Data]:
            return _judged(adapter, question, response)

        until = asyncio.get_running_loop().time() + (self._timeout if seconds is None else seconds)
        try:
            async with asyncio.timeout_at(until):
                await conversation.ready()
            return await conversation.request(request, until, judge)
        except TimeoutError:
            return no_answer()
        except Undeliverable:
            log.warning("a question was not asked, since the client cannot be reached")
            return no_answer()

    def tell(self, message: JsonObject) -> None:
        """Send a message that belongs to a question."""
        self._conversation.outbox.send(to_json(message))


def _judged(adapter: Adapter, question: Question[Data], response: JsonObject) -> Answer[Data]:
    """What a response to a question amounts to; an error says that there is no answer.

    Raises:
        InvalidRequest: it is no answer to this question.
    """
    if "error" in response:
        return no_answer()
    said = response.get("result")
    try:
        adapter.check_answer(question.method, said)
    except InvalidParams as error:
        raise InvalidRequest(f"this is no answer to the question: {error.message}") from None
    answer: Answer[Data] | None = question.judge(adapter, said)
    if answer is None or answer.action is None:
        raise InvalidRequest("this is no answer to the question: it is not what was asked for")
    return answer
