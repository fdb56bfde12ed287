"""Asking where the question is pushed on the stream of the call and answered by a message of its own.

Citations: client/elicitation, basic/transports#sending-messages-to-the-server.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from mcp_anyrev import Exchange, Limits, Registry, Settings, elicit
from mcp_anyrev.storage.memory import MemoryHub, MemoryStore
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving

ACCEPT: dict[str, Any] = {"action": "accept", "content": {}}
FORM = {"type": "object", "properties": {"color": {"type": "string"}}, "required": ["color"]}


def registry() -> Registry:
    made = Registry("pushing", "1.0")

    @made.tool
    async def gate(ex: Exchange) -> str:
        answer = await ex.ask("go", elicit("Go ahead?"))
        return "went ahead" if answer.accepted else f"stopped: {answer.action}"

    @made.tool
    async def color(ex: Exchange) -> str:
        answer = await ex.ask("color", elicit("Which color?", FORM))
        return answer.data["color"] if answer.accepted else f"stopped: {answer.action}"

    @made.tool
    async def both(ex: Exchange) -> str:
        answers = await ex.ask_all(one=elicit("One?"), two=elicit("Two?"))
        return " ".join(f"{key}={answer.accepted}" for key, answer in answers.items())

    return made


async def call(client: RawClient, answer: dict[str, Any], name: str = "gate") -> str:
    """Call a tool and post one answer to whatever it pushes; gives the text of the result."""

    async def on_message(message: dict[str, Any]) -> None:
        if "id" in message:
            reply = await client.post({"jsonrpc": "2.0", "id": message["id"], **answer})
            assert reply.status == client.adapter.accepted_status and reply.message is None

    return (await client.tool(name, on_message=on_message)).text


async def test_a_question_is_a_request_on_the_stream_of_the_call(push_adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, push_adapter) as client:
        seen: list[dict[str, Any]] = []

        async def on_message(message: dict[str, Any]) -> None:
            seen.append(message)
            await client.post({"jsonrpc": "2.0", "id": message["id"], "result": ACCEPT})

        reply = await client.tool("gate", on_message=on_message)
    assert reply.text == "went ahead" and reply.streamed
    assert [message["method"] for message in seen] == ["elicitation/create"]
    assert isinstance(seen[0]["id"], str) and len(seen[0]["id"]) >= 32
    assert seen[0]["params"]["requestedSchema"] == {"type": "object", "properties": {}}


async def call_wrongly(client: RawClient, wrong: dict[str, Any], right: dict[str, Any], name: str = "gate") -> str:
    """Call a tool and post a wrong answer to what it asks, and then a right one; gives the text of the result."""

    async def on_message(message: dict[str, Any]) -> None:
        if "id" in message:
            refused = await client.post({"jsonrpc": "2.0", "id": message["id"], **wrong})
            assert refused.status == client.adapter.error_statuses["invalid_request"]
            assert refused.error["code"] == client.adapter.error_codes["invalid_request"]
            assert refused.message.get("id") is None, "the id is that of a question, not of a request"
            assert (await client.post({"jsonrpc": "2.0", "id": message["id"], **right})).message is None

    return (await client.tool(name, on_message=on_message)).text


async def test_an_error_is_an_answer_and_never_means_yes(push_adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, push_adapter) as client:
        assert await call(client, {"error": {"code": -32601, "message": "no"}}) == "stopped: None"


@pytest.mark.parametrize(
    "answer",
    [
        {"result": {}},
        {"result": {"content": {}}},
        {"result": {"action": "maybe"}},
        {"result": {"action": "accept", "content": "yes"}},
    ],
)
async def test_an_answer_that_is_none_leaves_the_question_open(
    push_adapter: Adapter, binding: str, answer: dict[str, Any]
) -> None:
    async with serving(registry(), None, binding) as url, RawClient(url, push_adapter) as client:
        assert await call_wrongly(client, answer, {"result": {"action": "decline"}}) == "stopped: decline"
        assert await call_wrongly(client, answer, {"result": ACCEPT}) == "went ahead"


async def test_an_answer_that_is_none_never_means_yes(push_adapter: Adapter) -> None:
    settings = Settings(ask_timeout_seconds=0.3)
    async with serving(registry(), settings) as url, RawClient(url, push_adapter) as client:

        async def on_message(message: dict[str, Any]) -> None:
            if message["method"] == "elicitation/create":
                await client.post({"jsonrpc": "2.0", "id": message["id"], "result": {"action": "maybe"}})

        assert (await client.tool("gate", on_message=on_message)).text == "stopped: None"


async def test_an_answer_that_is_no_response_is_refused_and_the_call_goes_on(push_adapter: Adapter) -> None:
    async with (
        serving(registry(), Settings(ask_timeout_seconds=0.3)) as url,
        RawClient(url, push_adapter) as client,
    ):

        async def on_message(message: dict[str, Any]) -> None:
            if message.get("method") == "elicitation/create":
                reply = await client.post({"jsonrpc": "2.0", "id": message["id"], "result": {}, "error": {}})
                assert reply.status == push_adapter.error_statuses["invalid_request"]

        assert (await client.tool("gate", on_message=on_message)).text == "stopped: None"


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_declining_and_cancelling_reach_the_handler(push_adapter: Adapter, action: str) -> None:
    async with serving(registry()) as url, RawClient(url, push_adapter) as client:
        assert await call(client, {"result": {"action": action}}) == f"stopped: {action}"


@pytest.mark.parametrize("content", [{}, {"color": None}, {"color": 7}])
async def test_a_form_that_does_not_fit_is_no_acceptance(push_adapter: Adapter, content: dict[str, Any]) -> None:
    async with serving(registry()) as url, RawClient(url, push_adapter) as client:
        said = {"result": {"action": "accept", "content": content}}
        fitting = {"result": {"action": "accept", "content": {"color": "red"}}}
        assert await call_wrongly(client, said, fitting, "color") == "red"
        assert await call_wrongly(client, said, {"result": {"action": "cancel"}}, "color") == "stopped: cancel"


async def test_silence_ends_the_question_and_tells_the_client(push_adapter: Adapter) -> None:
    async with (
        serving(registry(), Settings(ask_timeout_seconds=0.3)) as url,
        RawClient(url, push_adapter) as client,
    ):
        start = time.monotonic()
        reply = await client.tool("gate")
    assert reply.text == "stopped: None"
    assert 0.25 < time.monotonic() - start < 5
    asked, cancelled = reply.earlier
    assert cancelled["method"] == "notifications/cancelled"
    assert cancelled["params"]["requestId"] == asked["id"]


async def test_an_answer_from_another_session_or_principal_is_dropped(push_adapter: Adapter) -> None:
    settings = Settings(ask_timeout_seconds=5, principal=lambda head: head.headers.get("x-principal"))
    async with serving(registry(), settings) as url:
        ada = {"X-Principal": "ada"}
        async with (
            RawClient(url, push_adapter, headers=ada) as client,
            RawClient(url, push_adapter, headers=ada) as other_session,
            RawClient(url, push_adapter, headers={"X-Principal": "eve"}) as other_principal,
        ):

            async def on_message(message: dict[str, Any]) -> None:
                for stranger in (other_session, other_principal):
                    said = {"jsonrpc": "2.0", "id": message["id"], "result": ACCEPT}
                    assert (await stranger.post(said)).status == push_adapter.accepted_status
                await asyncio.sleep(0.1)
                await client.post({"jsonrpc": "2.0", "id": message["id"], "result": {"action": "decline"}})

            assert (await client.tool("gate", on_message=on_message)).text == "stopped: decline"


async def test_a_session_of_somebody_else_cannot_be_used_to_answer(push_adapter: Adapter) -> None:
    settings = Settings(ask_timeout_seconds=5, principal=lambda head: head.headers.get("x-principal"))
    async with (
        serving(registry(), settings) as url,
        RawClient(url, push_adapter, headers={"X-Principal": "ada"}) as client,
    ):

        async def on_message(message: dict[str, Any]) -> None:
            said = {"jsonrpc": "2.0", "id": message["id"], "result": ACCEPT}
            stolen = await client.post(said, change={"X-Principal": "eve"})
            assert stolen.status == push_adapter.error_statuses["session_unknown"]
            await client.post({"jsonrpc": "2.0", "id": message["id"], "result": {"action": "decline"}})

        assert (await client.tool("gate", on_message=on_message)).text == "stopped: decline"


async def test_the_first_answer_wins(push_adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, push_adapter) as client:

        async def on_message(message: dict[str, Any]) -> None:
            for action in ("decline", "accept"):
                await client.post({"jsonrpc": "2.0", "id": message["id"], "result": {"action": action}})

        assert (await client.tool("gate", on_message=on_message)).text == "stopped: decline"


async def test_a_question_waits_until_the_client_is_ready(push_adapter: Adapter, binding: str) -> None:
    """basic/lifecycle#initialization: until then a server sends no requests of its own."""
    async with serving(registry(), None, binding) as url, RawClient(url, push_adapter) as client:
        params = push_adapter.description_params(client.declaration)
        again = await client.call(push_adapter.description_method, params)
        client.session = again.headers[push_adapter.session_header]
        told: list[str] = []

        async def on_message(message: dict[str, Any]) -> None:
            told.append("asked")
            await client.post({"jsonrpc": "2.0", "id": message["id"], "result": ACCEPT})

        calling = asyncio.ensure_future(client.tool("gate", on_message=on_message))
        await asyncio.sleep(0.3)
        assert not told
        told.append("ready")
        await client.post({"jsonrpc": "2.0", "method": push_adapter.ready_notification})
        assert (await calling).text == "went ahead" and told == ["ready", "asked"]


async def test_a_question_to_a_client_that_never_is_ready_is_not_answered(push_adapter: Adapter) -> None:
    settings = Settings(ask_timeout_seconds=0.3)
    async with serving(registry(), settings) as url, RawClient(url, push_adapter) as client:
        params = push_adapter.description_params(client.declaration)
        again = await client.call(push_adapter.description_method, params)
        client.session = again.headers[push_adapter.session_header]
        reply = await client.tool("gate")
        assert reply.text == "stopped: None" and not reply.earlier


async def test_several_questions_are_open_at_once(push_adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, push_adapter) as client:
        open_ids: list[str] = []

        async def on_message(message: dict[str, Any]) -> None:
            open_ids.append(message["id"])
            if len(open_ids) == 2:
                for identifier, action in zip(reversed(open_ids), ("accept", "decline"), strict=True):
                    await client.post({"jsonrpc": "2.0", "id": identifier, "result": {"action": action}})

        assert (await client.tool("both", on_message=on_message)).text == "one=False two=True"


async def test_an_answer_finds_its_question_on_another_worker(push_adapter: Adapter) -> None:
    settings = Settings(store=MemoryStore(), hub=MemoryHub())
    async with (
        serving(registry(), settings) as one,
        serving(registry(), settings) as two,
        RawClient(one, push_adapter) as client,
        RawClient(two, push_adapter) as elsewhere,
    ):
        elsewhere.session = client.session

        async def on_message(message: dict[str, Any]) -> None:
            await elsewhere.post({"jsonrpc": "2.0", "id": message["id"], "result": ACCEPT})

        assert (await client.tool("gate", on_message=on_message)).text == "went ahead"


async def test_responses_nobody_waits_for_are_taken_and_leave_nothing_behind(push_adapter: Adapter) -> None:
    hub = MemoryHub()
    async with serving(registry(), Settings(hub=hub)) as url, RawClient(url, push_adapter) as client:
        for identifier in ("made-up", 7, ""):
            reply = await client.post({"jsonrpc": "2.0", "id": identifier, "result": ACCEPT})
            assert reply.status == push_adapter.accepted_status
        assert await call(client, {"result": ACCEPT}) == "went ahead"
    assert {topic.partition("/")[0] for topic in hub._topics} <= {"server", "stream"}


async def test_a_client_that_leaves_does_not_cancel_where_leaving_is_no_cancellation(adapter: Adapter) -> None:
    """basic/transports/streamable-http#cancellation and its predecessors: what leaving means, the revision says."""
    made = Registry("leaving", "1.0")
    fate: dict[str, str] = {}
    running = asyncio.Event()

    @made.tool
    async def slow() -> str:
        running.set()
        try:
            await asyncio.sleep(0.4)
        except asyncio.CancelledError:
            fate["slow"] = "cancelled"
            raise
        fate["slow"] = "finished"
        return "slept"

    async with serving(made, Settings(head_delay_seconds=0.05)) as url, RawClient(url, adapter) as client:
        calling = asyncio.ensure_future(client.tool("slow"))
        await running.wait()
        await asyncio.sleep(0.1)
        calling.cancel()
        await asyncio.sleep(0.6)
    assert fate["slow"] == ("cancelled" if adapter.disconnect_cancels else "finished")


async def asked_and_told(client: RawClient, name: str, then: Any) -> list[dict[str, Any]]:
    """Call a tool that asks, do something once the question is there; gives what comes from the question on."""
    request = client.request("tools/call", {"name": name, "arguments": {}})
    seen: list[dict[str, Any]] = []

    async def on_message(message: dict[str, Any]) -> None:
        seen.append(message)
        if "id" in message:
            await then(message, request["id"])

    reply = await client.post(request, on_message=on_message)
    return [*seen, *([] if reply.message is None else [reply.message])]


async def test_a_cancelled_call_cancels_the_question_it_has_out(push_adapter: Adapter) -> None:
    """basic/utilities/cancellation#cancellation-flow: whoever sent a request says that it needs no answer any longer."""
    async with serving(registry()) as url, RawClient(url, push_adapter) as client:

        async def cancel(question: dict[str, Any], identifier: Any) -> None:
            await client.post(
                {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": identifier}}
            )

        question, told = await asked_and_told(client, "gate", cancel)
        assert told["method"] == "notifications/cancelled" and told["params"]["requestId"] == question["id"]


async def test_a_call_that_is_overdue_cancels_the_question_and_is_answered(push_adapter: Adapter) -> None:
    async def wait(question: dict[str, Any], identifier: Any) -> None:
        await asyncio.sleep(0)

    settings = Settings(limits=Limits(call_seconds=0.2))
    async with serving(registry(), settings) as url, RawClient(url, push_adapter) as client:
        question, told, answer = await asked_and_told(client, "gate", wait)
        assert told["method"] == "notifications/cancelled" and told["params"]["requestId"] == question["id"]
        assert answer["error"]["code"] == push_adapter.error_codes["internal_error"]


async def test_a_question_has_a_time_of_its_own(push_adapter: Adapter) -> None:
    made = Registry("pushing", "1.0")

    @made.tool
    async def short(ex: Exchange) -> str:
        return f"{(await ex.ask('go', elicit('Go ahead?'), timeout_seconds=0.2)).action}"

    @made.tool
    async def short_ones(ex: Exchange) -> str:
        answers = await ex.ask_all({"one": elicit("One?")}, two=elicit("Two?"), timeout_seconds=0.2)
        return " ".join(str(answer.action) for answer in answers.values())

    @made.tool
    async def never(ex: Exchange, seconds: float) -> str:
        await ex.ask("go", elicit("Go ahead?"), timeout_seconds=seconds)
        return "never"

    async with serving(made, Settings(ask_timeout_seconds=60)) as url, RawClient(url, push_adapter) as client:
        start = time.monotonic()
        assert (await client.tool("short")).text == "None"
        assert (await client.tool("short_ones")).text == "None None"
        assert 0.35 < time.monotonic() - start < 5
        for seconds in (0, -1):
            assert (await client.tool("never", {"seconds": seconds})).result["isError"]


async def test_a_question_can_have_more_time_than_others(push_adapter: Adapter) -> None:
    made = Registry("pushing", "1.0")

    @made.tool
    async def long(ex: Exchange) -> str:
        return f"{(await ex.ask('go', elicit('Go ahead?'), timeout_seconds=5)).action}"

    async with serving(made, Settings(ask_timeout_seconds=0.05)) as url, RawClient(url, push_adapter) as client:

        async def on_message(message: dict[str, Any]) -> None:
            await asyncio.sleep(0.15)
            await client.post({"jsonrpc": "2.0", "id": message["id"], "result": ACCEPT})

        assert (await client.tool("long", on_message=on_message)).text == "accept"
