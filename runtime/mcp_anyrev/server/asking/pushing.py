"""A question as a request of the server's own, while the call goes on, and the wait for its response.

Rule: an answer counts only from whom was asked, the first one counts, and nobody is waited for without end.
Specification: client/elicitation#protocol-messages
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from mcp_contract import InvalidParams, Json, JsonObject
from pydantic_core import to_json

from mcp_anyrev.questions import Answer, Data, Question, no_answer

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.storage import Hub


class Pusher:
    """Asks on the stream of a call.

    Args:
        adapter: the revision.
        asked: who is asked, as `sender` names them.
        hub: brings the response from whichever worker it reaches.
        send: puts a message on the stream of the call.
        timeout: for how many seconds an answer is waited for.
    """

    def __init__(
        self, adapter: Adapter, asked: JsonObject, hub: Hub, send: Callable[[bytes], None], timeout: float
    ) -> None:
        self._adapter = adapter
        self._asked = asked
        self._hub = hub
        self._send = send
        self._timeout = timeout

    async def ask(self, question: Question[Data]) -> Answer[Data]:
        """Ask, and wait; where no answer comes in time, or none that fits, the answer is none."""
        identifier = secrets.token_urlsafe(24)
        end = time.monotonic() + self._timeout
        async with self._hub.listen(topic_of(identifier)) as listener:
            self.tell(self._adapter.question_request(identifier, question.request()))
            while (left := end - time.monotonic()) > 0:
                came = await listener.next(left)
                if came is not None and came["from"] == self._asked:
                    return self._judged(question, came["message"].get("result"))
        told = {"requestId": identifier, "reason": f"no answer within {self._timeout:g} s"}
        self.tell(self._adapter.encode_notification("notifications/cancelled", told))
        return no_answer()

    def tell(self, message: JsonObject) -> None:
        """Send a message that belongs to a question."""
        self._send(to_json(message))

    def _judged(self, question: Question[Data], said: Json) -> Answer[Data]:
        try:
            self._adapter.check_answer(question.method, said)
        except InvalidParams:
            return no_answer()
        return question.judge(self._adapter, said) or no_answer()


def topic_of(identifier: str) -> str:
    """Where the hub carries the answers to a pushed question."""
    return f"question/{identifier}"


def sender(session: str | None, principal: str | None) -> JsonObject:
    """Who sends a message, so that it can be compared with who was asked."""
    return {"session": session, "principal": principal}


def posted(sent_by: JsonObject, message: JsonObject) -> JsonObject:
    """A posted response with who posted it, as it travels through the hub."""
    return {"from": sent_by, "message": message}
