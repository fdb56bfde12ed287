"""Questions to the client's model: something to sample from.

Rule: only what fits the result of the request, as the revision has it, is an answer; a refusal by the person is none.
Specification: client/sampling#creating-messages
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from mcp_contract import InvalidParams, Json, JsonObject, check_content
from pydantic import BaseModel

from mcp_anyrev.messages import written
from mcp_anyrev.questions import Answer, Question
from mcp_anyrev.server.asking.tool_balance import imbalance, uses_tools

if TYPE_CHECKING:
    from mcp_revisions.canonical import CreateMessageResult
    from mcp_revisions.protocol import Adapter


@dataclass(frozen=True)
class Sampling(Question["CreateMessageResult"]):
    """A question to a model.

    Attributes:
        given: the params of the request, in canonical form.
    """

    method: ClassVar[str] = "sampling/createMessage"

    given: JsonObject

    def told(self) -> Json:
        """See `Question.told`."""
        return self.given

    def params(self) -> JsonObject:
        """See `Question.params`."""
        return self.given

    def undeclared(self, adapter: Adapter, capabilities: JsonObject) -> JsonObject | None:
        """See `Question.undeclared`."""
        with_tools = "tools" in self.given or "toolChoice" in self.given or uses_tools(self.given["messages"])
        if adapter.may_sample(capabilities, with_tools):
            return None
        return adapter.encode_client_capabilities({"sampling": {"tools": {}} if with_tools else {}})

    def judge(self, adapter: Adapter, said: Json) -> Answer[CreateMessageResult] | None:
        """See `Question.judge`: None for what is no sampled message."""
        from mcp_revisions.canonical import CreateMessageResult

        try:
            adapter.check_answer(self.method, said)
        except InvalidParams:
            return None
        return Answer(True, "accept", said, CreateMessageResult.model_validate(said))


def sample(
    messages: str | Sequence[BaseModel | JsonObject],
    *,
    max_tokens: int,
    system_prompt: str | None = None,
    model_preferences: BaseModel | JsonObject | None = None,
    temperature: float | None = None,
    stop_sequences: Sequence[str] | None = None,
    metadata: JsonObject | None = None,
    tools: Sequence[BaseModel | JsonObject] | None = None,
    tool_choice: BaseModel | JsonObject | None = None,
) -> Question[CreateMessageResult]:
    """A question to the client's model, for `Exchange.ask`. The answer's data is a canonical `CreateMessageResult`.

    Args:
        messages: text of the user, or the messages as canonical `SamplingMessage` models or JSON objects. A message that uses tools
            is followed by one with their results, all of them and nothing else.
        max_tokens: the most tokens that are to be sampled.
        system_prompt: what the model is told first.
        model_preferences: which model is wanted, as a canonical `ModelPreferences` or a JSON object.
        temperature: how varied the answer is.
        stop_sequences: texts that end the answer.
        metadata: what goes to the provider of the model as it is.
        tools: what the model may call, as canonical `Tool` models or JSON objects; only a client that said so can be given any.
        tool_choice: how it is to choose among them.

    Raises:
        ValueError: there are no messages, the most tokens are less than 1, a block of content cannot be sent as it is (bytes that are no
            Base64, say), it holds a number that JSON has not, or uses of tools and their results are out of balance; the text says in which message.
        ValidationError: a member is of the wrong type.

    Specification: client/sampling#creating-messages
    """
    from mcp_revisions.canonical import CreateMessageRequestParams

    if not messages or max_tokens < 1:
        raise ValueError("there is nothing to sample: give at least one message and one token")
    if isinstance(messages, str):
        messages = [{"role": "user", "content": {"type": "text", "text": messages}}]
    members: dict[str, Any] = {
        "messages": [_plain(message) for message in messages],
        "maxTokens": max_tokens,
        "systemPrompt": system_prompt,
        "modelPreferences": _plain(model_preferences),
        "temperature": temperature,
        "stopSequences": None if stop_sequences is None else list(stop_sequences),
        "metadata": metadata,
        "tools": None if tools is None else [_plain(tool) for tool in tools],
        "toolChoice": _plain(tool_choice),
    }
    given = {name: value for name, value in members.items() if value is not None}
    CreateMessageRequestParams.model_validate(given)
    written(given)
    for place, message in enumerate(given["messages"]):
        try:
            check_content(message["content"])
        except ValueError as error:
            raise ValueError(f"message {place}: {error}") from None
    reason = imbalance(given["messages"])
    if reason is not None:
        raise ValueError(f"the tool uses and results are out of balance: {reason}")
    return Sampling(given)


def _plain(value: BaseModel | JsonObject | None) -> Json:
    return value.model_dump(mode="json", by_alias=True, exclude_unset=True) if isinstance(value, BaseModel) else value
