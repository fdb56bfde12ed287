"""What a client answers when a server asks: by callbacks of the application.

Rule: only what there is a callback for is declared, and one person is asked one question at a time. What a callback gives counts as an
acceptance only if it fits the question; whatever else it does, the server gets an answer.
Specification: client/elicitation#response-actions, client/sampling#creating-messages, client/roots#listing-roots
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from mcp_contract import Json, JsonObject
from pydantic import BaseModel
from pydantic_core import to_json

from mcp_anyrev.declaring.functions import is_async
from mcp_anyrev.schemas import validator_for_text
from mcp_anyrev.user_code import awaited, raised

if TYPE_CHECKING:
    from mcp_revisions.canonical import (
        CreateMessageRequestParams,
        CreateMessageResult,
        ElicitRequestFormParams,
        ElicitRequestURLParams,
        ElicitResult,
        Root,
    )

log = logging.getLogger("mcp_anyrev.client")

Asked: TypeAlias = "ElicitRequestFormParams | ElicitRequestURLParams"
"""A question to the person: a form to fill in, or an address to open."""

Said: TypeAlias = "ElicitResult | BaseModel | JsonObject | bool | None"
"""What becomes of it: what the form holds, or True, accepts; False declines; None puts it off. An `ElicitResult` says it in full."""

OnAsk: TypeAlias = "Callable[[Asked], Said | Awaitable[Said]]"
OnSample: TypeAlias = "Callable[[CreateMessageRequestParams], CreateMessageResult | JsonObject | str | Awaitable[CreateMessageResult | JsonObject | str]]"
OnRoots: TypeAlias = (
    "Callable[[], Iterable[Root | JsonObject | str | Path] | Awaitable[Iterable[Root | JsonObject | str | Path]]]"
)

ELICITATION, SAMPLING, ROOTS = "elicitation/create", "sampling/createMessage", "roots/list"


class Answering:
    """Answers what a server asks.

    Args:
        on_ask: asks the person; None where there is none.
        on_sample: samples from a model.
        on_roots: gives the roots.
        capabilities: what is declared besides, or otherwise, in canonical form.
    """

    def __init__(
        self,
        on_ask: OnAsk | None = None,
        on_sample: OnSample | None = None,
        on_roots: OnRoots | None = None,
        capabilities: Mapping[str, Any] | None = None,
    ) -> None:
        self._on_ask = on_ask
        self._on_sample = on_sample
        self._on_roots = on_roots
        self._asking = asyncio.Lock()
        declared: JsonObject = {}
        if on_ask is not None:
            declared["elicitation"] = {"form": {}, "url": {}}
        if on_sample is not None:
            declared["sampling"] = {}
        if on_roots is not None:
            declared["roots"] = {"listChanged": True}
        self.capabilities: JsonObject = {**declared, **(capabilities or {})}
        """What is declared, in canonical form."""

    def answers(self, method: str) -> bool:
        """Is there a callback for this request?"""
        callbacks = {ELICITATION: self._on_ask, SAMPLING: self._on_sample, ROOTS: self._on_roots}
        return callbacks.get(method) is not None

    async def answer(self, method: str, params: JsonObject) -> JsonObject:
        """What a question is answered with, in canonical form.

        Args:
            method: one that there is a callback for.
            params: the params of the request, in canonical form.

        Raises:
            ValidationError: the params are none of such a request.
            ValueError: what the callback gave does not fit the question.
            Exception: what the callback raised.
        """
        if method == ELICITATION:
            return await self._ask(params)
        return await (self._sample(params) if method == SAMPLING else self._roots())

    async def _ask(self, params: JsonObject) -> JsonObject:
        from mcp_revisions.canonical import ElicitRequestFormParams, ElicitRequestURLParams, ElicitResult

        by_form = params.get("mode", "form") == "form"
        asked: Asked = (ElicitRequestFormParams if by_form else ElicitRequestURLParams).model_validate(params)
        async with self._asking:
            said = await _given(self._on_ask, asked)
        if isinstance(said, ElicitResult):
            said = {"action": said.action, "content": said.content}
        elif said is None or isinstance(said, bool):
            said = {"action": {True: "accept", False: "decline", None: "cancel"}[said], "content": None}
        else:
            said = {"action": "accept", "content": _plain(said)}
        if said["action"] != "accept" or not by_form:
            return {"action": said["action"]}
        return {"action": "accept", "content": filled_in(params["requestedSchema"], said["content"] or {})}

    async def _sample(self, params: JsonObject) -> JsonObject:
        from mcp_revisions.canonical import CreateMessageRequestParams, CreateMessageResult

        given = await _given(self._on_sample, CreateMessageRequestParams.model_validate(params))
        if isinstance(given, str):
            given = {"role": "assistant", "content": {"type": "text", "text": given}, "model": "unspecified"}
        answer: JsonObject = _plain(given)
        CreateMessageResult.model_validate(answer)
        return answer

    async def _roots(self) -> JsonObject:
        from mcp_revisions.canonical import ListRootsResult

        given = await _given(self._on_roots)
        answer = {"roots": [_root(one) for one in given]}
        ListRootsResult.model_validate(answer)
        return answer


def filled_in(schema: JsonObject, content: JsonObject) -> JsonObject:
    """What a person put into a form, with the defaults of what they left out.

    Args:
        schema: the form.
        content: what was put into it.

    Raises:
        ValueError: it does not fit the form; the text names the members.
    """
    defaults = {name: wanted["default"] for name, wanted in schema.get("properties", {}).items() if "default" in wanted}
    whole = {**defaults, **content}
    validator = validator_for_text(to_json(schema))
    if not validator.accepts(whole):
        raise ValueError(f"what was put into the form does not fit it: {validator.faults(whole)}")
    return whole


async def _given(callback: Callable[..., Any] | None, *arguments: Any) -> Any:
    """What a callback gives; one that is not async may take its time, so it runs in a thread."""
    assert callback is not None  # whoever asks has seen that there is one
    work = callback(*arguments) if is_async(callback) else asyncio.to_thread(callback, *arguments)
    given = await awaited(work, raised)
    return await awaited(given, raised) if inspect.isawaitable(given) else given


def _plain(value: Any) -> Json:
    return value.model_dump(mode="json", by_alias=True, exclude_unset=True) if isinstance(value, BaseModel) else value


def _root(given: Any) -> JsonObject:
    if isinstance(given, Path):
        return {"uri": given.resolve().as_uri(), "name": given.name}
    plain: JsonObject = {"uri": given} if isinstance(given, str) else _plain(given)
    return plain
