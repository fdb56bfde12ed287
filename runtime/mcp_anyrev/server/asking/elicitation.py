"""Questions to the person behind the client: a form to fill in, or an address to open.

Rule: an answer is an acceptance only if it says so and its content fits the form.
Specification: client/elicitation#elicitation-requests
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, overload
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from mcp_contract import Json, JsonObject, ProtocolError, check_uri, unshowable
from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from mcp_anyrev.declaring.model_schemas import form_of, known_formats
from mcp_anyrev.errors import ToolError
from mcp_anyrev.messages import written
from mcp_anyrev.questions import Answer, Data, Question, no_answer
from mcp_anyrev.schemas import validator_for_text

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

_COMPLETE = "notifications/elicitation/complete"
_ACTIONS = ("accept", "decline", "cancel")

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class Elicitation(Question[Data]):
    """A question to a person.

    Attributes:
        message: the words for the person.
        mode: `form` or `url`.
        schema: the form, a flat JSON Schema of an object; empty for a mere confirmation.
        url: the address that the person is to open, in the mode `url`.
        model: the model that the content is read into, or None.
        identifier: by what name its completion is announced, in the mode `url`.
        unasked: see `Question.unasked`.
    """

    method: ClassVar[str] = "elicitation/create"

    message: str
    mode: str
    schema: JsonObject
    url: str | None
    model: type[BaseModel] | None
    identifier: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    unasked: bool = False

    def told(self) -> Json:
        """See `Question.told`."""
        return [self.mode, self.message, self.schema, self.url]

    def params(self) -> JsonObject:
        """See `Question.params`."""
        if self.mode == "url":
            return {"message": self.message, "mode": "url", "url": self.url, "elicitationId": self.identifier}
        return {"message": self.message, "requestedSchema": self.schema}

    def undeclared(self, adapter: Adapter, capabilities: JsonObject) -> JsonObject | None:
        """See `Question.undeclared`."""
        missing = undeclared_mode(adapter, capabilities, self.mode)
        if missing is not None and not adapter.may_be_asked(missing, self.mode):
            raise ToolError(
                f"no client of {adapter.version} can be asked to open an address: {self.message} {self.url}"
            )
        return missing

    def completion(self, adapter: Adapter) -> JsonObject | None:
        """See `Question.completion`."""
        if self.mode != "url" or not adapter.url_question_has_id or _COMPLETE not in adapter.server_notifications:
            return None
        return adapter.encode_notification(_COMPLETE, {"elicitationId": self.identifier})

    def judge(self, adapter: Adapter, said: Json) -> Answer[Data] | None:
        """See `Question.judge`: None for an acceptance whose content does not fit."""
        action = said.get("action") if isinstance(said, dict) else None
        if action not in _ACTIONS:
            return no_answer()
        if action != "accept":
            return Answer(False, action, {})
        if self.mode == "url":
            return Answer(True, action, {}, {})  # type: ignore[arg-type]  # Data is JsonObject without a model
        content = said.get("content")
        content = {} if content is None else content
        if not isinstance(content, dict) or not validator_for_text(to_json(self.schema)).accepts(content):
            return None
        if self.model is None:
            return Answer(True, action, content, content)  # type: ignore[arg-type]  # as above
        try:
            return Answer(True, action, content, self.model.model_validate(content))  # type: ignore[arg-type]  # the model is what Data stands for
        except ValidationError:
            return None

    def kept(self, answer: Answer[Data]) -> JsonObject:
        """See `Question.kept`."""
        return {"action": answer.action, "content": answer.content}


@overload
def elicit(message: str, form: type[Model], *, unasked: bool = False) -> Elicitation[Model]: ...
@overload
def elicit(
    message: str, form: JsonObject | None = None, *, url: str | None = None, unasked: bool = False
) -> Elicitation[JsonObject]: ...
def elicit(
    message: str,
    form: type[BaseModel] | JsonObject | None = None,
    *,
    url: str | None = None,
    unasked: bool = False,
) -> Question[Any]:
    """A question to a person, for `Exchange.ask`.

    Args:
        message: the words for the person.
        form: what they are to fill in: a model, a flat JSON Schema of an object, or None for a mere confirmation. Each member asks
            for one text, number, yes or no, or for choices among texts; formats are email, uri, date and date-time.
        url: in place of a form, an address to open: for what must not pass through the client, such as secrets. An acceptance
            says that the person agreed to open it, not that they are done there; see `Exchange.completed`.
        unasked: take an answer, too, that comes with a call before this was asked, where questions travel in results. For what
            a client may know already; not for consent, since nobody can say that the person has seen the question.

    Raises:
        TypeError: form and url are both given, the form is none that every client can show, or asks for a secret (the text names the
            member), or a mere confirmation or a url is to be taken unasked.
        ValueError: the url is no absolute http or https address.

    Specification: client/elicitation#elicitation-requests
    """
    if unasked and form is None:
        raise TypeError("only a form can be answered unasked; that somebody agreed has to follow the question")
    if url is not None:
        if form is not None:
            raise TypeError("a question has a form or a url, not both")
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError(f"{url!r} is no absolute http or https address")
        check_uri(url)
        return Elicitation[Any](message, "url", {}, url, None)
    if form is None:
        return Elicitation[Any](message, "form", {"type": "object", "properties": {}}, None, None)
    if isinstance(form, dict):
        if form.get("type") != "object" or not isinstance(form.get("properties"), dict):
            raise TypeError('a form is a schema with "type": "object" and "properties"')
        try:
            validator_for_text(written(form))
        except ValueError as error:
            raise TypeError(f"the form is no usable schema: {error}") from None
        reason = unshowable(form, known_formats())
        if reason is not None:
            raise TypeError(f"no client can show this form: {reason}")
        return Elicitation[Any](message, "form", form, None, None, unasked=unasked)
    return Elicitation[Any](message, "form", _form_once(form), None, form, unasked=unasked)


class UrlElicitationRequired(ProtocolError):
    """A call cannot go on before the person has been at an address; once that is done, the client calls again.

    A handler raises it in place of asking. Where the revision has no error for it, or the client cannot open addresses, the
    call fails with the words of the questions and their addresses.

    Args:
        questions: what `elicit` made with a url.

    Raises:
        TypeError: there is none, or one has no url.

    Specification: client/elicitation#url-elicitation-required-error
    """

    kind = "url_elicitation_required"

    def __init__(self, *questions: Question[Any]) -> None:
        if not questions:
            raise TypeError("it takes at least one question with a url")
        told = []
        for question in questions:
            if not isinstance(question, Elicitation) or question.url is None:
                raise TypeError("it takes only questions with a url, as elicit(…, url=…) makes them")
            told.append(question.params())
        super().__init__("the person has to open an address first", {"elicitations": told})

    def unless_sent(self, adapter: Adapter, capabilities: JsonObject) -> Exception:
        """The error itself where it can be sent; otherwise the same in words."""
        if self.kind in adapter.error_codes and adapter.may_be_asked(capabilities, "url"):
            return self
        return ToolError("\n".join(f"{one['message']} {one['url']}" for one in self.data["elicitations"]))


def undeclared_mode(adapter: Adapter, capabilities: JsonObject, mode: str) -> JsonObject | None:
    """What a client would have to declare besides, to be asked in a mode; None where it may be."""
    if adapter.may_be_asked(capabilities, mode):
        return None
    return adapter.required_to_ask(mode) or {"elicitation": {mode: {}}}


_forms: WeakKeyDictionary[type[BaseModel], JsonObject] = WeakKeyDictionary()


def _form_once(model: type[BaseModel]) -> JsonObject:
    """The form of a model, made when it is first asked for: a handler asks anew on every attempt."""
    form = _forms.get(model)
    if form is None:
        form = _forms[model] = form_of(model)
    return form
