"""Asking where the client answers by calling again: the question is the result, or rides in the tool call.

Citations: basic/patterns/mrtr. What rides in tool calls is a convention of this project.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from mcp_anyrev import Exchange, Registry, Settings, elicit
from mcp_anyrev.storage.memory import MemoryStore
from mcp_contract import Questions
from mcp_revisions.protocol import Adapter
from pydantic import BaseModel
from raw_client import RawClient, Reply, call_answering, serving, worded

KEY = b"a secret of thirty-two bytes, ok"
ACCEPT: dict[str, Any] = {"action": "accept", "content": {}}
SETTINGS = Settings(keys=[KEY], principal=lambda head: head.headers.get("x-principal"))


class Color(BaseModel):
    color: str


class Size(BaseModel):
    size: int


def registry() -> Registry:
    made = Registry("asking", "1.0")

    @made.tool
    async def gate(ex: Exchange, note: str = "") -> str:
        return "went ahead" if (await ex.ask("go", elicit("Go ahead?"))).accepted else "stopped"

    @made.tool
    async def other(ex: Exchange, note: str = "") -> str:
        return "went ahead" if (await ex.ask("go", elicit("Go ahead?"))).accepted else "stopped"

    @made.tool
    async def two(ex: Exchange) -> str:
        color = await ex.ask("color", elicit("Which color?", Color))
        if not color.accepted:
            return f"no color: {color.action}"
        size = await ex.ask("size", elicit("Which size?", Size))
        return f"{color.data.color} {size.data.size}" if size.accepted else f"no size: {size.action}"

    @made.tool
    async def together(ex: Exchange) -> str:
        answers = await asyncio.gather(
            ex.ask("color", elicit("Which color?", Color)), ex.ask("size", elicit("Which size?", Size))
        )
        return " ".join(str(answer.accepted) for answer in answers)

    @made.tool
    async def grouped(ex: Exchange) -> str:
        async with asyncio.TaskGroup() as group:
            color = group.create_task(ex.ask("color", elicit("Which color?", Color)))
            size = group.create_task(ex.ask("size", elicit("Which size?", Size)))
        return f"{color.result().accepted} {size.result().accepted}"

    @made.tool
    async def all_at_once(ex: Exchange) -> str:
        answers = await ex.ask_all(color=elicit("Which color?", Color), size=elicit("Which size?", Size))
        return " ".join(f"{key}={answer.content}" for key, answer in answers.items())

    @made.tool
    async def any_keys(ex: Exchange) -> str:
        answers = await ex.ask_all({"which color": elicit("Which color?", Color), "self": elicit("Go ahead?")})
        return " ".join(f"{key}={answer.accepted}" for key, answer in answers.items())

    @made.tool(destructive=True)
    async def destroy(ex: Exchange) -> str:
        return f"destroyed {(await ex.ask('go', elicit('Go ahead?'))).accepted}"

    @made.tool(destructive=True, once=False)
    async def destroy_again(ex: Exchange) -> str:
        return f"destroyed {(await ex.ask('go', elicit('Go ahead?'))).accepted}"

    @made.tool(asks=False)
    async def only_reports(ex: Exchange) -> str:
        await ex.progress(1)
        return str(await ex.remember("kept", lambda: "reported"))

    @made.tool(asks=False)
    async def asks_after_all(ex: Exchange) -> str:
        await ex.ask("go", elicit("Go ahead?"))
        return "asked"

    @made.tool
    async def stubborn(ex: Exchange) -> str:
        try:
            await ex.ask("go", elicit("Go ahead?"))
        except Exception:
            return "swallowed"
        return "asked"

    return made


def questions_of(client: RawClient, reply: Reply) -> Questions:
    questions = client.adapter.read_questions(reply.result)
    assert questions is not None, reply
    return questions


async def again(
    client: RawClient, name: str, answers: dict[str, Any], state: str | None, arguments: dict[str, Any] | None = None
) -> Reply:
    own = {"name": name, "arguments": arguments or {}}
    said = {key: worded(client.adapter, answer) for key, answer in answers.items()}
    return await client.call("tools/call", client.adapter.answer_params(own, said, state))


def check_refused(reply: Reply, adapter: Adapter) -> None:
    """State that is not of this call: an error, but where it is an argument that a model gave, one that the model can read."""
    if adapter.asks_in_arguments:
        assert reply.result["isError"] and "without mcpAnswers and mcpState" in reply.text
    else:
        assert reply.error["code"] == adapter.error_codes["invalid_params"]


async def test_the_json_to_copy_finishes_the_call_as_it_is(arguments_adapter: Adapter) -> None:
    """Whatever the call's own arguments are: nulls, texts with braces and line breaks."""
    arguments = {"note": '}{"mcpState":\n"é"'}
    async with serving(registry(), SETTINGS) as url, RawClient(url, arguments_adapter) as client:
        text = (await client.tool("gate", arguments)).text
        (copied,) = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        assert {name: copied[name] for name in arguments} == arguments
        assert (await client.tool("gate", copied)).text == "went ahead"


async def test_newest_answers_alone_finish_a_call_with_two_questions(round_adapter: Adapter) -> None:
    """basic/patterns/mrtr#client-requirements-basic-workflow: a client sends the answers to the newest questions."""
    answers = {
        "Which color?": {"action": "accept", "content": {"color": "red"}},
        "Which size?": {"action": "accept", "content": {"size": 3}},
    }
    async with serving(registry(), SETTINGS) as url, RawClient(url, round_adapter) as client:
        assert (await call_answering(client, "two", {}, answers)).text == "red 3"


async def test_resending_earlier_answers_works_too_and_cannot_change_them(round_adapter: Adapter) -> None:
    async with serving(registry(), SETTINGS) as url, RawClient(url, round_adapter) as client:
        first = questions_of(client, await client.tool("two"))
        red = {"color": {"action": "accept", "content": {"color": "red"}}}
        second = questions_of(client, await again(client, "two", red, first.state))
        assert [*second.questions] == ["size"]
        resent = {
            "color": {"action": "accept", "content": {"color": "blue"}},
            "size": {"action": "accept", "content": {"size": 3}},
        }
        assert (await again(client, "two", resent, second.state)).text == "red 3"


@pytest.mark.parametrize("name", ["together", "grouped", "all_at_once"])
async def test_questions_awaited_together_travel_together(round_adapter: Adapter, name: str) -> None:
    async with serving(registry(), SETTINGS) as url, RawClient(url, round_adapter) as client:
        questions = questions_of(client, await client.tool(name))
        assert [*questions.questions] == ["color", "size"]
        answers = {
            "color": {"action": "accept", "content": {"color": "red"}},
            "size": {"action": "decline"},
        }
        reply = await again(client, name, answers, questions.state)
    expected = "color={'color': 'red'} size={}" if name == "all_at_once" else "True False"
    assert reply.text == expected


async def test_any_text_is_the_key_of_a_question(adapter: Adapter) -> None:
    answers = {
        "Which color?": {"action": "accept", "content": {"color": "red"}},
        "Go ahead?": {"action": "accept", "content": {}},
    }
    async with serving(registry(), SETTINGS) as url, RawClient(url, adapter) as client:
        assert (await call_answering(client, "any_keys", {}, answers)).text == "which color=True self=True"


@pytest.mark.parametrize(("name", "finished"), [("destroy", 1), ("destroy_again", 3)])
async def test_a_destructive_tool_that_asks_is_finished_once_unless_it_says_otherwise(
    round_adapter: Adapter, name: str, finished: int
) -> None:
    accept = {"go": {"action": "accept", "content": {}}}
    async with serving(registry(), SETTINGS) as url, RawClient(url, round_adapter) as client:
        questions = questions_of(client, await client.tool(name))
        replies = await asyncio.gather(*(again(client, name, accept, questions.state) for _ in range(3)))
    texts = [reply.text for reply in replies if "result" in reply.message]
    assert texts.count("destroyed True") == finished, texts


async def test_a_tool_that_only_reports_is_shown_as_it_is_and_cannot_ask(adapter: Adapter) -> None:
    async with serving(registry(), SETTINGS) as url, RawClient(url, adapter) as client:
        listed = {tool["name"]: tool for tool in (await client.call("tools/list")).result["tools"]}
        assert listed["only_reports"]["inputSchema"].get("properties", {}) == {}
        assert (await client.tool("only_reports")).text == "reported"
        reply = await client.tool("asks_after_all")
        assert reply.error["code"] == adapter.error_codes["internal_error"]
        assert "asks=False" in reply.error["message"]


async def test_a_handler_that_catches_every_exception_still_asks(round_adapter: Adapter) -> None:
    async with serving(registry(), SETTINGS) as url, RawClient(url, round_adapter) as client:
        questions = questions_of(client, await client.tool("stubborn"))
        assert (await again(client, "stubborn", {"go": ACCEPT}, questions.state)).text == "asked"


async def test_answers_without_state_are_asked_again(round_adapter: Adapter) -> None:
    """An answer to what was never asked is none, whoever made it up."""
    async with serving(registry(), SETTINGS) as url, RawClient(url, round_adapter) as client:
        reply = await again(client, "gate", {"go": ACCEPT}, None)
        assert [*questions_of(client, reply).questions] == ["go"]


@pytest.mark.parametrize(
    "said", [{}, None, "no", [], {"content": {}}, {"action": "maybe"}, {"action": None}, {"error": {}}]
)
async def test_an_answer_that_does_not_say_accept_is_not_accepted(round_adapter: Adapter, said: Any) -> None:
    async with serving(registry(), SETTINGS) as url, RawClient(url, round_adapter) as client:
        questions = questions_of(client, await client.tool("gate"))
        reply = await again(client, "gate", {"go": said}, questions.state)
        assert "error" in reply.message or reply.text == "stopped"


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_declining_and_cancelling_reach_the_handler(round_adapter: Adapter, action: str) -> None:
    async with serving(registry(), SETTINGS) as url, RawClient(url, round_adapter) as client:
        questions = questions_of(client, await client.tool("two"))
        reply = await again(client, "two", {"color": {"action": action}}, questions.state)
        assert reply.text == f"no color: {action}"


async def test_a_form_that_does_not_fit_is_asked_again(round_adapter: Adapter) -> None:
    async with serving(registry(), SETTINGS) as url, RawClient(url, round_adapter) as client:
        questions = questions_of(client, await client.tool("two"))
        for content in ({}, {"color": 7}):
            said = {"color": {"action": "accept", "content": content}}
            questions = questions_of(client, await again(client, "two", said, questions.state))
            assert [*questions.questions] == ["color"]


async def test_a_form_copied_unfilled_is_asked_again(arguments_adapter: Adapter) -> None:
    async with serving(registry(), SETTINGS) as url, RawClient(url, arguments_adapter) as client:
        questions = questions_of(client, await client.tool("two"))
        unfilled = {"color": {"action": "accept", "content": {"color": None}}}
        reply = await again(client, "two", unfilled, questions.state)
        assert [*questions_of(client, reply).questions] == ["color"]


async def test_state_of_other_arguments_another_tool_or_another_principal_is_refused(round_adapter: Adapter) -> None:
    """basic/patterns/mrtr#server-requirements-basic-workflow: state is bound to the principal and the original request."""
    async with (
        serving(registry(), SETTINGS) as url,
        RawClient(url, round_adapter, headers={"X-Principal": "ada"}) as client,
    ):
        questions = questions_of(client, await client.tool("gate", {"note": "a"}))
        elsewhere = await again(client, "other", {"go": ACCEPT}, questions.state, {"note": "a"})
        check_refused(elsewhere, round_adapter)
        changed = await again(client, "gate", {"go": ACCEPT}, questions.state, {"note": "b"})
        check_refused(changed, round_adapter)
        async with RawClient(url, round_adapter, headers={"X-Principal": "eve"}) as eve:
            stolen = await again(eve, "gate", {"go": ACCEPT}, questions.state, {"note": "a"})
            check_refused(stolen, round_adapter)
        done = await again(client, "gate", {"go": ACCEPT}, questions.state, {"note": "a"})
        assert done.text == "went ahead"


async def test_tampered_and_invented_state_is_refused(round_adapter: Adapter) -> None:
    async with serving(registry(), SETTINGS) as url, RawClient(url, round_adapter) as client:
        state = questions_of(client, await client.tool("gate")).state
        assert state is not None
        middle = len(state) // 2
        changed = state[:middle] + ("A" if state[middle] != "A" else "B") + state[middle + 1 :]
        for wrong in (changed, state[:-4], "ATTACKER", "", "é"):
            reply = await again(client, "gate", {"go": ACCEPT}, wrong)
            check_refused(reply, round_adapter)


async def test_expired_state_is_refused(round_adapter: Adapter) -> None:
    settings = Settings(keys=[KEY], state_ttl_seconds=0.05)
    async with serving(registry(), settings) as url, RawClient(url, round_adapter) as client:
        questions = questions_of(client, await client.tool("gate"))
        await asyncio.sleep(0.1)
        reply = await again(client, "gate", {"go": ACCEPT}, questions.state)
        check_refused(reply, round_adapter)


@pytest.mark.parametrize(("seconds", "finishes"), [(59.0, True), (60.0, False), (61.0, False)])
async def test_what_can_be_finished_once_goes_when_its_time_is_over(
    round_adapter: Adapter, seconds: float, finishes: bool
) -> None:
    """Whatever the seal says: it is the store that knows what has been used, and what it knows goes."""
    now = 1_000.0
    settings = Settings(keys=[KEY], state_ttl_seconds=60, store=MemoryStore(clock=lambda: now))
    async with serving(registry(), settings) as url, RawClient(url, round_adapter) as client:
        questions = questions_of(client, await client.tool("destroy"))
        now += seconds
        reply = await again(client, "destroy", {"go": ACCEPT}, questions.state)
        if finishes:
            assert reply.text == "destroyed True"
        else:
            check_refused(reply, round_adapter)


async def test_a_round_trip_started_on_one_server_finishes_on_another_with_the_same_key(
    result_adapter: Adapter,
) -> None:
    async with (
        serving(registry(), SETTINGS) as one,
        serving(registry(), SETTINGS) as two,
        RawClient(one, result_adapter) as first,
        RawClient(two, result_adapter) as second,
    ):
        questions = questions_of(first, await first.tool("gate"))
        assert (await again(second, "gate", {"go": ACCEPT}, questions.state)).text == "went ahead"


async def test_the_convention_has_a_short_handle_and_repeats_its_questions_for_programs(
    arguments_adapter: Adapter,
) -> None:
    async with serving(registry(), SETTINGS) as url, RawClient(url, arguments_adapter) as client:
        reply = await client.tool("gate")
        questions = questions_of(client, reply)
        assert questions.state is not None and len(questions.state) == 22
        assert questions.state in reply.text and "Go ahead?" in reply.text and not reply.result.get("isError")


async def test_the_newest_members_mean_nothing_where_questions_travel_otherwise(session_adapter: Adapter) -> None:
    """An answer that nobody asked for in this way must not count as one."""
    async with serving(registry(), Settings(ask_timeout_seconds=0.2)) as url, RawClient(url, session_adapter) as client:
        params = {"name": "gate", "arguments": {}, "inputResponses": {"go": ACCEPT}, "requestState": "ATTACKER"}
        reply = await client.call("tools/call", params)
        assert "error" in reply.message or "went ahead" not in reply.text


async def test_a_client_that_declared_nothing_is_not_asked(adapter: Adapter) -> None:
    """basic/index#_meta and client/elicitation#capabilities: only a declared mode may be used."""
    async with serving(registry(), SETTINGS) as url, RawClient(url, adapter, mode=None) as client:
        reply = await client.tool("gate")
    assert reply.earlier == []
    if adapter.refuses_undeclared:
        assert reply.error["code"] == adapter.error_codes["missing_client_capability"]
        assert reply.status == adapter.error_statuses["missing_client_capability"]
        assert reply.error["data"]["requiredCapabilities"] == adapter.required_to_ask("form")
    elif adapter.asks_in_arguments:
        assert adapter.read_questions(reply.result) is not None
    else:
        assert reply.result["isError"] is True


async def test_a_client_that_can_only_be_shown_an_address_gets_no_form(adapter: Adapter) -> None:
    if adapter.may_be_asked(adapter.required_to_ask("url"), "form"):
        pytest.skip("the revision does not tell the modes apart")
    async with serving(registry(), SETTINGS) as url, RawClient(url, adapter, mode="url") as client:
        reply = await client.tool("gate")
    assert reply.earlier == [] and ("error" in reply.message or reply.result["isError"])
