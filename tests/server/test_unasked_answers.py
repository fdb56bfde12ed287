"""Answers that come before their question: for what a client may know, if the application says so, and never for consent."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_anyrev import Exchange, Registry, elicit
from mcp_revisions.protocol import Adapter
from pydantic import BaseModel
from raw_client import RawClient, Reply, serving, worded


class Name(BaseModel):
    name: str


def registry() -> Registry:
    made = Registry("unasked", "1.0")

    @made.tool
    async def known(ex: Exchange) -> str:
        answer = await ex.ask("name", elicit("Your name?", Name, unasked=True))
        return f"Hello {answer.data.name}" if answer.accepted else f"no name: {answer.action}"

    @made.tool
    async def asked(ex: Exchange) -> str:
        answer = await ex.ask("name", elicit("Your name?", Name))
        return f"Hello {answer.data.name}" if answer.accepted else f"no name: {answer.action}"

    return made


async def first_call(adapter: Adapter, tool: str, said: object) -> Reply:
    answers = dict.fromkeys(("name", "another"), worded(adapter, said))
    params = adapter.answer_params({"name": tool, "arguments": {}}, answers, None)
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        return await client.call("tools/call", params)


ANN = {"action": "accept", "content": {"name": "Ann"}}


async def test_a_form_that_may_be_answered_unasked_is(result_adapter: Adapter) -> None:
    assert (await first_call(result_adapter, "known", ANN)).text == "Hello Ann"


async def test_any_other_form_is_asked_all_the_same(result_adapter: Adapter) -> None:
    assert result_adapter.read_questions((await first_call(result_adapter, "asked", ANN)).result) is not None


@pytest.mark.parametrize("said", [{"action": "accept", "content": {}}, {"action": "accept", "content": {"name": 1}}])
async def test_an_unasked_answer_that_does_not_fit_is_asked_for(result_adapter: Adapter, said: object) -> None:
    assert result_adapter.read_questions((await first_call(result_adapter, "known", said)).result) is not None


@pytest.mark.parametrize("said", [{}, {"content": {"name": "Ann"}}, {"action": "decline", "content": {"name": "Ann"}}])
async def test_an_unasked_answer_that_accepts_nothing_is_none(result_adapter: Adapter, said: object) -> None:
    reply = await first_call(result_adapter, "known", said)
    if "error" in reply.message:  # it is no answer at all by the schema
        assert reply.error["code"] == result_adapter.error_codes["invalid_params"]
    else:
        assert result_adapter.read_questions(reply.result) is not None or reply.text.startswith("no name")


async def test_a_model_cannot_fill_in_a_form_that_nobody_has_seen(arguments_adapter: Adapter) -> None:
    params: dict[str, Any] = {"name": "known", "arguments": {"mcpAnswers": {"name": ANN}}}
    async with serving(registry()) as url, RawClient(url, arguments_adapter) as client:
        reply = await client.call("tools/call", params)
    assert arguments_adapter.read_questions(reply.result) is not None


def test_consent_cannot_be_given_unasked() -> None:
    for question in ({}, {"url": "https://example.org/"}):
        with pytest.raises(TypeError, match="has to follow the question"):
            elicit("Delete everything?", unasked=True, **question)
