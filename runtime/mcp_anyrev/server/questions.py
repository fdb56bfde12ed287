"""A question to the person behind the client, and what counts as its answer.

Rule: an answer is an acceptance only if it says so and its content fits the form; everything else is none. This is decided here
and nowhere else, whichever way the answer came.
Specification: client/elicitation#response-actions
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, overload
from urllib.parse import urlsplit

from mcp_contract import Json, JsonObject
from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from mcp_anyrev.schemas import SchemaFault, validator_for_text
from mcp_anyrev.server.model_schemas import form_of

Data = TypeVar("Data")

_ACTIONS = ("accept", "decline", "cancel")


@dataclass(frozen=True)
class Question(Generic[Data]):
    """What is to be asked; made by `elicit`.

    Attributes:
        message: the words for the person.
        mode: `form` or `url`.
        schema: the form, a flat JSON Schema of an object; empty for a mere confirmation.
        url: the address that the person is to open, in the mode `url`.
        model: the model that the content is read into, or None.
    """

    message: str
    mode: str
    schema: JsonObject
    url: str | None
    model: type[BaseModel] | None

    @property
    def digest(self) -> str:
        """What makes this question this one; an answer to another question has another."""
        told = to_json([self.mode, self.message, self.schema, self.url])
        return hashlib.sha256(told).hexdigest()

    def request(self) -> JsonObject:
        """The question as a request without an id, in canonical form."""
        params: JsonObject = {"message": self.message}
        if self.mode == "url":
            params |= {"mode": "url", "url": self.url, "elicitationId": secrets.token_urlsafe(16)}
        else:
            params["requestedSchema"] = self.schema
        return {"method": "elicitation/create", "params": params}


class Answer(Generic[Data]):
    """What became of a question.

    Attributes:
        accepted: did the person agree, with content that fits?
        action: `accept`, `decline` or `cancel`; None where no answer came, or none that says what it is.
        content: the accepted content, an empty object where there is none.
    """

    __slots__ = ("_data", "accepted", "action", "content")

    def __init__(self, accepted: bool, action: str | None, content: JsonObject, data: Data | None = None) -> None:
        self.accepted = accepted
        self.action = action
        self.content = content
        self._data = data

    @property
    def data(self) -> Data:
        """The accepted content, read into the model where the question has one.

        Raises:
            ValueError: nothing was accepted.
        """
        if not self.accepted:
            raise ValueError("the question was not accepted, so there is no data; look at .accepted first")
        return self._data  # type: ignore[return-value]  # judge() gives data to every accepted answer

    def __repr__(self) -> str:
        return f"Answer(accepted={self.accepted}, action={self.action!r})"


Model = TypeVar("Model", bound=BaseModel)


@overload
def elicit(message: str, form: type[Model]) -> Question[Model]: ...
@overload
def elicit(message: str, form: JsonObject | None = None, *, url: str | None = None) -> Question[JsonObject]: ...
def elicit(message: str, form: type[BaseModel] | JsonObject | None = None, *, url: str | None = None) -> Question[Any]:
    """A question for `Exchange.ask`.

    Args:
        message: the words for the person.
        form: what they are to fill in: a model, a flat JSON Schema of an object, or None for a mere confirmation.
        url: in place of a form, an address to open: for what must not pass through the client, such as secrets.

    Raises:
        TypeError: form and url are both given, or the form is none that can be shown.
        ValueError: the url is no absolute http or https address.

    Specification: client/elicitation#elicitation-requests
    """
    if url is not None:
        if form is not None:
            raise TypeError("a question has a form or a url, not both")
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError(f"{url!r} is no absolute http or https address")
        return Question(message, "url", {}, url, None)
    if form is None:
        return Question(message, "form", {"type": "object", "properties": {}}, None, None)
    if isinstance(form, dict):
        if form.get("type") != "object" or not isinstance(form.get("properties"), dict):
            raise TypeError('a form is a schema with "type": "object" and "properties"')
        try:
            validator_for_text(to_json(form))
        except SchemaFault as error:
            raise TypeError(f"the form is no usable schema: {error}") from None
        return Question(message, "form", form, None, None)
    return Question(message, "form", _form_once(form), None, form)


def judge(question: Question[Data], said: Json) -> Answer[Data] | None:
    """What an answer as sent amounts to.

    Args:
        question: the question that was asked.
        said: what came back, from anybody and of any shape.

    Returns:
        The answer; None for an acceptance whose content does not fit, such as a form that was not filled in.
    """
    action = said.get("action") if isinstance(said, dict) else None
    if action not in _ACTIONS:
        return Answer(False, None, {})
    if action != "accept":
        return Answer(False, action, {})
    if question.mode == "url":
        return Answer(True, action, {}, {})  # type: ignore[arg-type]  # Data is JsonObject without a model
    content = said.get("content")
    content = {} if content is None else content
    if not isinstance(content, dict) or not validator_for_text(to_json(question.schema)).accepts(content):
        return None
    if question.model is None:
        return Answer(True, action, content, content)  # type: ignore[arg-type]  # as above
    try:
        return Answer(True, action, content, question.model.model_validate(content))  # type: ignore[arg-type]
    except ValidationError:
        return None


_forms: dict[type[BaseModel], JsonObject] = {}


def _form_once(model: type[BaseModel]) -> JsonObject:
    """The form of a model, made when it is first asked for: a handler asks anew on every attempt."""
    if model not in _forms:
        _forms[model] = form_of(model)
    return _forms[model]
