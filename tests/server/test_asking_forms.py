"""Questions by address, and the forms that a revision can show.

Citations: client/elicitation#url-mode-elicitation-requests, client/elicitation#requested-schema.
"""

from __future__ import annotations

import datetime
import enum
import uuid
from typing import Any

import pytest
from mcp_anyrev import Exchange, Registry, Settings, elicit
from mcp_revisions.protocol import Adapter
from pydantic import BaseModel, SecretStr
from raw_client import RawClient, Reply, serving, worded

ADDRESS = "https://pay.example/checkout"
TITLED = {"type": "string", "oneOf": [{"const": "a", "title": "Aye"}, {"const": "b", "title": "Bee"}]}
SEVERAL = {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}
SETTINGS = Settings(keys=[b"0123456789abcdef"], ask_timeout_seconds=1)


class Kind(enum.Enum):
    TEA = "tea"
    MILK = "milk"


class Order(BaseModel):
    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    kind: Kind = Kind.TEA
    hot: bool = True


def form(member: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"choice": member}, "required": ["choice"]}


def registry() -> Registry:
    made = Registry("forms", "1.0")

    @made.tool
    async def pay(ex: Exchange) -> str:
        question = elicit("Please pay.", url=ADDRESS)
        ex.completed(question)  # not asked yet, so nothing is told
        answer = await ex.ask("pay", question)
        ex.completed(elicit("Please pay.", url=ADDRESS))  # another question, which nobody was asked
        ex.completed(question)
        return f"{answer.action} {answer.accepted}"

    @made.tool
    async def order(ex: Exchange) -> str:
        answer = await ex.ask("order", elicit("Your order?", Order))
        return str(answer.data) if answer.accepted else "none"

    @made.tool
    async def titled(ex: Exchange) -> str:
        answer = await ex.ask("choice", elicit("Which?", form(TITLED)))
        return str(answer.content.get("choice"))

    @made.tool
    async def several(ex: Exchange) -> str:
        answer = await ex.ask("choice", elicit("Which ones?", form(SEVERAL)))
        return str(answer.content.get("choice"))

    return made


async def call(client: RawClient, name: str, said: dict[str, Any]) -> tuple[Reply, list[dict[str, Any]]]:
    """Call a tool and answer its question; gives the reply and what was asked."""
    said = worded(client.adapter, said)
    asked: list[dict[str, Any]] = []

    async def pushed(message: dict[str, Any]) -> None:
        if message["method"] == "elicitation/create":
            client.adapter.check_question(message)
            asked.append(message["params"])
            await client.post({"jsonrpc": "2.0", "id": message["id"], "result": said})

    reply = await client.call("tools/call", {"name": name, "arguments": {}}, on_message=pushed)
    questions = client.adapter.read_questions(reply.result) if "result" in reply.message else None
    if questions is None:
        return reply, asked
    asked += [one["params"] for one in questions.questions.values()]
    params = client.adapter.answer_params(
        {"name": name, "arguments": {}}, dict.fromkeys(questions.questions, said), questions.state
    )
    return await client.call("tools/call", params), asked


async def test_an_address_is_asked_for_only_where_the_client_declared_that(adapter: Adapter) -> None:
    asks_by_url = adapter.may_be_asked(adapter.required_to_ask("url"), "url")
    async with serving(registry(), SETTINGS) as url:
        async with RawClient(url, adapter, mode="form") as client:
            reply, asked = await call(client, "pay", {"action": "accept"})
            assert asked == [] and reply.earlier == [] and ("error" in reply.message or reply.result["isError"])
            if not asks_by_url:  # and a client that declares all that there is could not be asked either
                assert "open an address" in reply.text and ADDRESS in reply.text
        async with RawClient(url, adapter, mode="url") as client:
            reply, asked = await call(client, "pay", {"action": "accept"})
            assert len(asked) == asks_by_url
            if asks_by_url:
                assert reply.text == "accept True"
                assert asked[0]["mode"] == "url" and asked[0]["url"] == ADDRESS
                assert ("elicitationId" in asked[0]) == adapter.url_question_has_id


async def test_its_completion_is_announced_by_its_own_id_where_there_is_one(adapter: Adapter) -> None:
    announced = "notifications/elicitation/complete"
    async with serving(registry(), SETTINGS) as url, RawClient(url, adapter, mode="url") as client:
        reply, asked = await call(client, "pay", {"action": "accept"})
    told = [message for message in reply.earlier if message["method"] == announced]
    if announced in adapter.server_notifications:
        assert [message["params"] for message in told] == [{"elicitationId": asked[0]["elicitationId"]}]
    else:
        assert told == []


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_whoever_does_not_open_an_address_has_not_accepted(adapter: Adapter, action: str) -> None:
    if not adapter.may_be_asked(adapter.required_to_ask("url"), "url"):
        pytest.skip("the revision asks by form alone")
    async with serving(registry(), SETTINGS) as url, RawClient(url, adapter, mode="url") as client:
        reply, _ = await call(client, "pay", {"action": action})
        assert reply.text == f"{action} False"


async def test_defaults_stand_in_the_form_where_the_revision_has_them(adapter: Adapter) -> None:
    said = {"name": "Ada", "age": 36, "score": 1, "kind": "milk", "hot": False}
    async with serving(registry(), SETTINGS) as url, RawClient(url, adapter) as client:
        reply, asked = await call(client, "order", {"action": "accept", "content": said})
    assert reply.text == "name='Ada' age=36 score=1.0 kind=<Kind.MILK: 'milk'> hot=False"
    members = asked[0]["requestedSchema"]["properties"]
    shown = {name: member["default"] for name, member in members.items() if "default" in member}
    everywhere = {"name": "John Doe", "age": 30, "score": 95.5, "kind": "tea", "hot": True}
    only_booleans = {"hot": True}
    has_all = adapter.question_form({"requestedSchema": form({"type": "string", "default": "x"})})
    assert shown == (everywhere if "default" in has_all["requestedSchema"]["properties"]["choice"] else only_booleans)


class Marked(BaseModel):
    mark: uuid.UUID
    at: datetime.time
    day: datetime.date


async def test_a_format_that_no_client_knows_is_left_out_and_still_held_against_the_model(adapter: Adapter) -> None:
    made = Registry("forms", "1.0")

    @made.tool
    async def mark(ex: Exchange) -> str:
        answer = await ex.ask("mark", elicit("Which?", Marked))
        return str(answer.data.mark) if answer.accepted else "none"

    said = {"mark": "no mark", "at": "10:00", "day": "2026-12-01"}
    right = {**said, "mark": "12345678123456781234567812345678"}
    async with serving(made, SETTINGS) as url, RawClient(url, adapter) as client:
        _, asked = await call(client, "mark", {"action": "accept", "content": said})
        reply, _ = await call(client, "mark", {"action": "accept", "content": right})
    shown = asked[0]["requestedSchema"]["properties"]
    assert shown["mark"] == shown["at"] == {"type": "string"} and shown["day"] == {"type": "string", "format": "date"}
    assert reply.text == str(uuid.UUID(right["mark"]))


class Kinds(BaseModel):
    kinds: list[Kind] = [Kind.TEA]


def test_several_of_an_enumeration_are_choices() -> None:
    shown = elicit("Which?", Kinds).schema["properties"]["kinds"]
    assert shown == {"type": "array", "items": {"type": "string", "enum": ["tea", "milk"]}, "default": ["tea"]}


@pytest.mark.parametrize(
    "member",
    [
        {"type": "object", "properties": {"x": {"type": "string"}}},
        {"type": "array", "items": {"type": "object"}},
        {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        {"$ref": "#/$defs/x"},
        {},
        {"type": "string", "format": "uuid"},
    ],
)
def test_a_form_that_no_client_can_show_is_refused_with_the_name_of_its_member(member: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="'choice'"):
        elicit("Which?", {**form(member), "$defs": {"x": {"type": "string"}}})


class Login(BaseModel):
    name: str
    password: SecretStr


@pytest.mark.parametrize(
    "asked_for", [Login, form({"type": "string", "writeOnly": True}), form({"type": "string", "format": "password"})]
)
def test_a_form_asks_for_no_secret(asked_for: Any) -> None:
    """client/elicitation#user-interaction-model: a server must not ask for passwords by form."""
    with pytest.raises(TypeError, match=r"'(password|choice)' is a secret, which must not pass through a client"):
        elicit("Who are you?", asked_for)


async def test_titled_choices_have_the_form_of_the_revision(adapter: Adapter) -> None:
    async with serving(registry(), SETTINGS) as url, RawClient(url, adapter) as client:
        for said, text in (("b", "b"), ("Bee", "None")):
            reply, asked = await call(client, "titled", {"action": "accept", "content": {"choice": said}})
            if "result" in reply.message and not client.adapter.read_questions(reply.result):
                assert reply.text == text
    shown = asked[0]["requestedSchema"]["properties"]["choice"]
    assert shown in (TITLED, {"type": "string", "enum": ["a", "b"], "enumNames": ["Aye", "Bee"]})


async def test_several_choices_are_asked_for_or_refused_in_plain_words(adapter: Adapter) -> None:
    async with serving(registry(), SETTINGS) as url, RawClient(url, adapter) as client:
        reply, asked = await call(client, "several", {"action": "accept", "content": {"choice": ["a", "b"]}})
    if asked:
        assert reply.text == "['a', 'b']"
    else:
        assert reply.result["isError"] and "'choice' takes several choices at once" in reply.text


@pytest.mark.parametrize("declared", [None, True, "yes", [], 7])
async def test_a_declaration_of_no_shape_is_none(adapter: Adapter, declared: Any) -> None:
    async with serving(registry(), SETTINGS) as url:
        client = RawClient(url, adapter, mode=None)
        if adapter.has_handshake:
            params = adapter.description_params(client.declaration)
            async with client:
                hello = {**params, "capabilities": {"elicitation": declared}}
                reply = await client.post(client.request(adapter.description_method, hello))
                if "error" in reply.message:
                    return
                client.session = reply.headers[adapter.session_header]
                reply = await client.tool("order")
        else:
            async with client:
                request = client.request("tools/call", {"name": "order", "arguments": {}})
                for name, value in request["params"]["_meta"].items():
                    if value == {}:
                        request["params"]["_meta"][name] = {"elicitation": declared}
                reply = await client.post(request)
                assert reply.status >= 400
    asks_anybody = adapter.may_be_asked({}, "form")
    assert "error" in reply.message or reply.result.get("isError") or asks_anybody
    assert reply.earlier == []


async def test_the_text_of_the_convention_names_every_choice_and_default(arguments_adapter: Adapter) -> None:
    async with serving(registry(), SETTINGS) as url, RawClient(url, arguments_adapter) as client:
        assert "one of a (Aye), b (Bee)" in (await client.tool("titled")).text
        assert "any of a, b" in (await client.tool("several")).text
        ordering = (await client.tool("order")).text
        assert "one of tea, milk" in ordering and '"John Doe" if nothing is said' in ordering


async def test_what_no_form_has_is_not_sent_and_holds_all_the_same(adapter: Adapter) -> None:
    """Every message is held against the schema of its revision by the client here."""
    made = Registry("forms", "1.0")
    choice = {"type": "string", "pattern": "^a", "examples": ["ab"]}
    asked_for = {**form(choice), "additionalProperties": False, "dependentRequired": {}}

    @made.tool
    async def ask(ex: Exchange) -> str:
        answer = await ex.ask("choice", elicit("Which?", asked_for), timeout_seconds=0.2)
        return f"{answer.action}"

    async with serving(made, SETTINGS) as url, RawClient(url, adapter) as client:
        reply, asked = await call(client, "ask", {"action": "accept", "content": {"choice": "ab"}})
        assert reply.text == "accept"
        if not adapter.asks_in_arguments:  # there a model reads it as text, and any of it
            assert [one["requestedSchema"]["properties"] for one in asked] == [{"choice": {"type": "string"}}]
