"""Handlers that end to be continued, and work that is not repeated.

Citations: basic/patterns/mrtr#server-requirements-basic-workflow.
"""

from __future__ import annotations

import asyncio
from typing import Any

from mcp_anyrev import Exchange, Registry, Settings, elicit
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, Reply, call_answering, serving, worded

ACCEPT: dict[str, Any] = {"action": "accept", "content": {}}
SETTINGS = Settings(keys=[b"0123456789abcdef"], principal=lambda head: head.headers.get("x-principal"))


def registry(counts: dict[str, int] | None = None) -> Registry:
    made = Registry("suspending", "1.0")
    counts = {} if counts is None else counts

    def count(name: str) -> int:
        counts[name] = counts.get(name, 0) + 1
        return counts[name]

    @made.tool
    async def wait_state(ex: Exchange) -> str:
        if ex.state is None:
            await ex.suspend({"step": 1, "seen": (1, 2)})
        assert ex.state == {"step": 1, "seen": [1, 2]}
        return "resumed"

    @made.tool
    async def never_ready(ex: Exchange) -> str:
        count("never_ready")
        return str(await ex.suspend("waiting"))

    @made.tool
    async def careful(ex: Exchange) -> str:
        async def charge() -> dict[str, int]:
            await asyncio.sleep(0)
            return {"receipt": count("charge")}

        one, two = await asyncio.gather(ex.remember("charge", charge), ex.remember("charge", charge))
        count("runs")
        answer = await ex.ask("go", elicit("Go ahead?"))
        return f"{one['receipt']} {one == two} {answer.accepted}"

    @made.tool
    async def states_and_questions(ex: Exchange) -> str:
        if ex.state is None:
            await ex.suspend("first")
        answer = await ex.ask("go", elicit("Go ahead?"))
        return f"{ex.state} {answer.accepted}"

    @made.tool
    async def unkeepable(ex: Exchange) -> str:
        try:
            await ex.suspend(object())
        except TypeError as error:
            return str(error)

    @made.tool
    async def swallows(ex: Exchange) -> str:
        try:
            if ex.state is None:
                await ex.suspend(1)
        except Exception:
            return "swallowed"
        finally:
            count("cleaned")
        return f"resumed {counts['cleaned']}"

    @made.tool(once=True)
    async def spend(ex: Exchange) -> str:
        if not (await ex.ask("go", elicit("Spend?"))).accepted:
            return "kept"
        await asyncio.sleep(0.01)
        return f"spent {count('spend')}"

    return made


async def resumed(client: RawClient, name: str) -> Reply:
    """Call a tool, and again with nothing but the state for as long as it says so."""
    params: dict[str, Any] = {"name": name, "arguments": {}}
    for _ in range(4):
        reply = await client.call("tools/call", params)
        if "error" in reply.message or client.adapter.finished(reply.result):
            return reply
        kept = client.adapter.read_questions(reply.result)
        assert kept is not None and kept.questions == {} and kept.state is not None
        params = client.adapter.answer_params({"name": name, "arguments": {}}, {}, kept.state)
    raise AssertionError("never finished")


async def test_a_handler_that_ends_with_a_state_is_continued_on_every_revision(adapter: Adapter) -> None:
    async with serving(registry(), SETTINGS) as url, RawClient(url, adapter) as client:
        assert (await resumed(client, "wait_state")).text == "resumed"
        assert (await resumed(client, "swallows")).text == "resumed 2"


async def test_a_result_that_only_keeps_a_state_has_no_questions_and_needs_no_capability(
    result_adapter: Adapter,
) -> None:
    async with serving(registry(), SETTINGS) as url, RawClient(url, result_adapter, mode=None) as client:
        reply = await client.tool("wait_state")
        kept = result_adapter.read_questions(reply.result)
        assert kept is not None and kept.questions == {} and "content" not in reply.result
        assert (await resumed(client, "wait_state")).text == "resumed"


async def test_a_handler_that_is_never_ready_ends_in_an_error_where_the_server_continues_it(
    session_adapter: Adapter,
) -> None:
    counts: dict[str, int] = {}
    settings = Settings(ask_timeout_seconds=0.5)
    async with serving(registry(counts), settings) as url, RawClient(url, session_adapter) as client:
        reply = await client.tool("never_ready")
    assert reply.error["code"] == session_adapter.error_codes["internal_error"]
    assert 2 < counts["never_ready"] < 12


async def test_work_that_is_done_once_is_not_repeated(adapter: Adapter) -> None:
    counts: dict[str, int] = {}
    async with serving(registry(counts), SETTINGS) as url, RawClient(url, adapter) as client:
        reply = await call_answering(client, "careful", {}, {"Go ahead?": ACCEPT})
    assert reply.text == "1 True True"
    assert counts == {"charge": 1, "runs": 1 if adapter.can_push_ask else 2}


async def test_a_state_stays_while_questions_are_answered(adapter: Adapter) -> None:
    async with serving(registry(), SETTINGS) as url, RawClient(url, adapter) as client:
        reply = await call_answering(client, "states_and_questions", {}, {"Go ahead?": ACCEPT})
    assert reply.text == "first True"


async def test_only_what_becomes_json_can_be_kept(adapter: Adapter) -> None:
    async with serving(registry(), SETTINGS) as url, RawClient(url, adapter) as client:
        assert (await client.tool("unkeepable")).text.startswith("only what can be written as JSON can be kept")


async def test_of_parallel_retries_exactly_one_completes(round_adapter: Adapter) -> None:
    counts: dict[str, int] = {}
    async with serving(registry(counts), SETTINGS) as url, RawClient(url, round_adapter) as client:
        questions = round_adapter.read_questions((await client.tool("spend")).result)
        assert questions is not None
        accepted = {"go": worded(round_adapter, ACCEPT)}
        params = round_adapter.answer_params({"name": "spend", "arguments": {}}, accepted, questions.state)
        async with RawClient(url, round_adapter, headers={"X-Principal": "eve"}) as eve:
            assert is_refused(await eve.call("tools/call", params), round_adapter)  # and does not use it up
        replies = await asyncio.gather(*(client.call("tools/call", params) for _ in range(5)))
    refused = [reply for reply in replies if is_refused(reply, round_adapter)]
    spent = [reply.text for reply in replies if reply not in refused]
    assert spent == ["spent 1"] and counts["spend"] == 1 and len(refused) == 4


def is_refused(reply: Reply, adapter: Adapter) -> bool:
    """Is the state of a request none of its own? Where it is an argument, a model can read that."""
    if adapter.asks_in_arguments:
        return bool(reply.result.get("isError")) and "mcpState" in reply.text
    return "error" in reply.message and reply.error["code"] == adapter.error_codes["invalid_params"]


async def test_a_handle_for_once_is_asked_for_anew_in_each_round(adapter: Adapter) -> None:
    async with serving(registry(), SETTINGS) as url, RawClient(url, adapter) as client:
        assert (await call_answering(client, "spend", {}, {"Spend?": ACCEPT})).text == "spent 1"
        assert (await call_answering(client, "spend", {}, {"Spend?": {"action": "decline"}})).text == "kept"
