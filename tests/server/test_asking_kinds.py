"""Asking for a sampled message and for roots: pushed where the server may send the request, in the result where it stands there.

Citations: client/sampling#creating-messages, client/roots#listing-roots, basic/patterns/mrtr#basic-workflow.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp_anyrev import Exchange, Registry, Settings, elicit, roots, sample
from mcp_contract import Declaration, MissingClientCapability
from mcp_revisions.protocol import Adapter
from pydantic import BaseModel, ValidationError
from raw_client import INFORMATION, RawClient, Reply, serving, worded

SAMPLED = {"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m-1", "stopReason": "endTurn"}
ROOTS = {"roots": [{"uri": "file:///project", "name": "project"}]}
ANSWERS: dict[str, Any] = {
    "sampling/createMessage": SAMPLED,
    "roots/list": ROOTS,
    "elicitation/create": {"action": "accept", "content": {}},
}
ALL: dict[str, Any] = {"sampling": {"tools": {}}, "roots": {}, "elicitation": {"form": {}}}
TOOL = {"name": "look", "inputSchema": {"type": "object"}}


def registry() -> Registry:
    made = Registry("kinds", "1.0")
    runs = {"mixed": 0}

    @made.tool
    async def capital(ex: Exchange) -> str:
        answer = await ex.ask("capital", sample("What is the capital of France?", max_tokens=100))
        return str(answer.data.content.text) if answer.accepted else "no answer"  # type: ignore[union-attr]

    @made.tool
    async def folders(ex: Exchange) -> str:
        answer = await ex.ask("folders", roots())
        return ", ".join(root.uri for root in answer.data.roots) if answer.accepted else "no answer"

    @made.tool
    async def with_tools(ex: Exchange) -> str:
        answer = await ex.ask("tools", sample("Look.", max_tokens=1, tools=[TOOL], tool_choice={"mode": "auto"}))
        return answer.data.model if answer.accepted else "no answer"

    @made.tool
    async def mixed(ex: Exchange) -> str:
        runs["mixed"] += 1
        answers = await ex.ask_all(go=elicit("Go?"), text=sample("Hello?", max_tokens=9), where=roots())
        return f"{[answers[key].accepted for key in ('go', 'text', 'where')]} {runs['mixed']}"

    @made.tool
    async def beside(ex: Exchange) -> str:
        first, second = await asyncio.gather(
            ex.ask("go", elicit("Go?")), ex.ask("text", sample("Hello?", max_tokens=9))
        )
        return f"{first.accepted} {second.accepted}"

    return made


def client_of(url: str, adapter: Adapter, capabilities: dict[str, Any]) -> RawClient:
    client = RawClient(url, adapter)
    client.declaration = Declaration(adapter.encode_client_capabilities(capabilities), INFORMATION)
    return client


async def call(
    client: RawClient, name: str, answers: dict[str, Any] = ANSWERS, asked: list[str] | None = None
) -> Reply:
    """Call a tool, and answer what it asks by its method, the way the revision has it."""
    asked = [] if asked is None else asked

    async def pushed(message: dict[str, Any]) -> None:
        if "id" in message:
            asked.append(message["method"])
            client.adapter.check_question(message)
            said = worded(client.adapter, answers[message["method"]], message["method"])
            body = said if "error" in said else {"result": said}
            await client.post({"jsonrpc": "2.0", "id": message["id"], **body})

    params: dict[str, Any] = {"name": name, "arguments": {}}
    for _ in range(4):
        reply = await client.call("tools/call", params, on_message=pushed)
        questions = client.adapter.read_questions(reply.result) if "result" in reply.message else None
        if questions is None:
            return reply
        asked += [one["method"] for one in questions.questions.values()]
        given = {
            key: worded(client.adapter, answers[one["method"]], one["method"])
            for key, one in questions.questions.items()
        }
        params = client.adapter.answer_params({"name": name, "arguments": {}}, given, questions.state)
    raise AssertionError(f"still asking: {asked}")


@pytest.mark.parametrize(("tool", "words"), [("capital", "Paris"), ("folders", "file:///project")])
async def test_a_model_and_the_roots_can_be_asked_for_on_every_revision(
    adapter: Adapter, tool: str, words: str
) -> None:
    asked: list[str] = []
    async with serving(registry()) as url, client_of(url, adapter, ALL) as client:
        assert (await call(client, tool, asked=asked)).text == words
    assert len(asked) == 1


@pytest.mark.parametrize(
    "said",
    [
        {"error": {"code": -1, "message": "User rejected sampling request"}},
        {},
        {"action": "accept"},
        {"role": "assistant", "model": "m"},
        {"roots": "all"},
    ],
)
async def test_what_is_no_sampled_message_never_counts_as_one(session_adapter: Adapter, said: dict[str, Any]) -> None:
    settings = Settings(ask_timeout_seconds=0.5)  # what is no answer leaves the question open
    async with serving(registry(), settings) as url, client_of(url, session_adapter, ALL) as client:
        answers = {"sampling/createMessage": said, "roots/list": said}
        assert (await call(client, "capital", answers)).text == "no answer"
        assert (await call(client, "folders", answers)).text == "no answer"


async def test_what_answers_another_kind_of_question_is_asked_again(result_adapter: Adapter) -> None:
    async with serving(registry()) as url, client_of(url, result_adapter, ALL) as client:
        questions = result_adapter.read_questions((await client.tool("capital")).result)
        assert questions is not None
        for method in ("roots/list", "elicitation/create"):
            said = worded(result_adapter, ANSWERS[method], method)
            params = result_adapter.answer_params(
                {"name": "capital", "arguments": {}}, {"capital": said}, questions.state
            )
            again = result_adapter.read_questions((await client.call("tools/call", params)).result)
            assert again is not None and list(again.questions) == ["capital"]


@pytest.mark.parametrize("declared", [{}, {"sampling": None}])
async def test_a_client_that_did_not_declare_it_is_not_asked(adapter: Adapter, declared: dict[str, Any]) -> None:
    async with serving(registry()) as url:
        client = RawClient(url, adapter)
        client.declaration = Declaration({} if adapter.has_handshake else declared, INFORMATION)
        async with client:
            for tool, capability in (("capital", "sampling"), ("folders", "roots")):
                reply = await client.tool(tool)
                assert reply.earlier == []
                if not adapter.refuses_undeclared:
                    assert reply.result["isError"] and capability in reply.text
                elif declared == {}:
                    assert reply.status == adapter.error_statuses["missing_client_capability"]
                    needed = adapter.encode_client_capabilities({capability: {}})
                    assert reply.error["data"] == {"requiredCapabilities": needed}
                else:
                    assert reply.error["code"] in (
                        adapter.error_codes["missing_client_capability"],
                        adapter.error_codes["invalid_params"],
                    )


async def test_tools_are_given_only_where_the_client_declared_that(adapter: Adapter) -> None:
    async with serving(registry()) as url, client_of(url, adapter, {"sampling": {}}) as client:
        reply = await client.tool("with_tools")
        assert reply.earlier == [] and ("error" in reply.message or reply.result["isError"])
    async with serving(registry()) as url, client_of(url, adapter, ALL) as client:
        has_tools = adapter.may_sample(client.declaration.capabilities, True)
        reply = await call(client, "with_tools")
        assert reply.text == "m-1" if has_tools else reply.result["isError"]


async def test_all_kinds_are_asked_in_one_call(adapter: Adapter) -> None:
    """Where some are pushed and others are the result, no answer is asked for twice."""
    asked: list[str] = []
    async with serving(registry()) as url, client_of(url, adapter, ALL) as client:
        reply = await call(client, "mixed", asked=asked)
    runs = 1 if adapter.can_push_ask else 2
    assert reply.text == f"[True, True, True] {runs}"
    assert sorted(asked) == ["elicitation/create", "roots/list", "sampling/createMessage"]


async def test_a_question_that_ends_the_call_waits_for_pushed_answers_beside_it(adapter: Adapter) -> None:
    asked: list[str] = []
    async with serving(registry()) as url, client_of(url, adapter, ALL) as client:
        assert (await call(client, "beside", asked=asked)).text == "True True"
    assert sorted(asked) == ["elicitation/create", "sampling/createMessage"]


async def test_a_request_that_cannot_end_in_a_question_can_still_push_one(session_adapter: Adapter) -> None:
    """The argument convention serves tools alone; a request of the server's own needs no room in the call."""
    made = Registry("prompting", "1.0")

    @made.prompt
    async def sampled(ex: Exchange) -> str:
        return str((await ex.ask("t", sample("Hello?", max_tokens=9))).accepted)

    @made.prompt
    async def elicited(ex: Exchange) -> str:
        return str((await ex.ask("go", elicit("Go?"))).accepted)

    @made.prompt
    async def completed(word: str) -> str:
        return word

    @made.completion("word", prompt="completed")
    async def words(value: str, ex: Exchange) -> list[str]:
        return [(await ex.ask("t", sample("Hello?", max_tokens=9))).data.model]

    async def pushed(message: dict[str, Any]) -> None:
        if "id" in message:
            said = worded(session_adapter, ANSWERS[message["method"]], message["method"])
            await client.post({"jsonrpc": "2.0", "id": message["id"], "result": said})

    async with serving(made) as url, client_of(url, session_adapter, ALL) as client:
        of = {"ref": {"type": "ref/prompt", "name": "completed"}, "argument": {"name": "word", "value": ""}}
        if "completion/complete" in session_adapter.client_requests:
            reply = await client.call("completion/complete", of, on_message=pushed)
            assert reply.result["completion"]["values"] == ["m-1"]
        reply = await client.call("prompts/get", {"name": "sampled"}, on_message=pushed)
        assert reply.result["messages"][0]["content"]["text"] == "True"
        if session_adapter.asks_in_arguments:
            reply = await client.call("prompts/get", {"name": "elicited"}, on_message=pushed)
            assert reply.error["message"].startswith("prompts/get cannot ask")


async def test_a_capability_can_be_required_before_any_work(adapter: Adapter) -> None:
    made = Registry("requiring", "1.0")

    @made.tool
    async def needs(ex: Exchange, path: list[str]) -> str:
        ex.require(*path)
        return "declared"

    declared: dict[str, Any] = {"sampling": {}, "roots": {}}
    async with serving(made) as url, client_of(url, adapter, declared) as client:
        for path in (["sampling"], ["roots"]):
            assert (await client.tool("needs", {"path": path})).text == "declared"
        for path in (["sampling", "tools"], ["elicitation", "url"], ["experimental", "x"]):
            reply = await client.tool("needs", {"path": path})
            if adapter.refuses_undeclared:
                needed = MissingClientCapability(adapter.encode_client_capabilities({path[0]: {path[1]: {}}}))
                assert reply.error["data"] == needed.data
            else:
                assert reply.result["isError"]
        reply = await client.tool("needs", {"path": ["elicitation"]})
        assert adapter.asks_in_arguments == ("result" in reply.message and not reply.result.get("isError"))


def test_what_cannot_be_sampled_is_refused_where_it_is_written() -> None:
    for messages, tokens in (("", 1), ([], 1), ("x", 0)):
        with pytest.raises(ValueError, match="nothing to sample"):
            sample(messages, max_tokens=tokens)
    with pytest.raises(ValidationError):
        sample([{"role": "nobody", "content": {"type": "text", "text": "x"}}], max_tokens=1)


def test_a_question_to_a_model_takes_models_and_objects_alike() -> None:
    from mcp_revisions.canonical import ModelPreferences, SamplingMessage, TextContent

    message = SamplingMessage(role="user", content=TextContent(type="text", text="x"))
    preferences: BaseModel = ModelPreferences(cost_priority=0.5)
    one = sample([message], max_tokens=1, model_preferences=preferences)
    two = sample("x", max_tokens=1, model_preferences={"costPriority": 0.5})
    assert one.params() == two.params()
    assert two.digest != sample("x", max_tokens=2).digest


def said(role: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": blocks[0] if len(blocks) == 1 else list(blocks)}


def used(name: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": "look", "input": {}}


def result_of(name: str) -> dict[str, Any]:
    return {"type": "tool_result", "toolUseId": name, "content": [WORDS]}


WORDS = {"type": "text", "text": "x"}
HELLO = said("user", WORDS)


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([HELLO, said("assistant", used("a")), said("user", result_of("a"), WORDS)], "message 3 mixes"),
        ([HELLO, said("assistant", used("a"))], "message 2 .*no message follows"),
        ([HELLO, said("assistant", used("a")), HELLO], "message 3 follows .*'a'"),
        ([HELLO, said("assistant", used("a"), used("b")), said("user", result_of("a"))], "message 3 .*'b'"),
        ([HELLO, said("assistant", used("a")), HELLO, said("user", result_of("a"))], "message 3 follows"),
        ([HELLO, said("user", result_of("a"))], "message 2 .*'a', which"),
        ([HELLO, said("assistant", used("a")), said("user", result_of("a"), result_of("b"))], "message 3 .*'b', which"),
        ([HELLO, said("assistant", used("a")), said("user", result_of("a"), result_of("a"))], "same id"),
        ([HELLO, said("user", used("a")), said("user", result_of("a"))], "message 2 uses"),
        ([HELLO, said("assistant", result_of("a"))], "message 2 has results"),
    ],
)
def test_tool_uses_and_results_out_of_balance_are_refused(messages: list[Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        sample(messages, max_tokens=1)


def test_tool_uses_that_are_answered_are_in_balance() -> None:
    turn = [said("assistant", WORDS, used("a"), used("b")), said("user", result_of("b"), result_of("a"))]
    sample([HELLO, *turn, said("assistant", used("a")), said("user", result_of("a"))], max_tokens=1)
    sample([HELLO, *turn, said("assistant", WORDS), HELLO], max_tokens=1)


async def test_messages_with_tool_uses_go_only_to_who_declared_them(adapter: Adapter) -> None:
    made = Registry("balance", "1.0")
    turn = [HELLO, said("assistant", used("a")), said("user", result_of("a"))]

    @made.tool
    async def again(ex: Exchange) -> str:
        return str((await ex.ask("text", sample(turn, max_tokens=1))).accepted)

    async with serving(made) as url:
        client = RawClient(url, adapter)
        client.declaration = Declaration(adapter.encode_client_capabilities({"sampling": {}}), INFORMATION)
        async with client:
            reply = await client.tool("again")
    assert reply.earlier == [] and ("error" in reply.message or reply.result["isError"])
