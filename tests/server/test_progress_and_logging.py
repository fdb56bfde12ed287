"""What a handler says on the way: progress for a given token, log messages from the level on that was set.

Citations: basic/patterns/progress, server/utilities/logging.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from event_streams import posting
from mcp_anyrev import Exchange, Registry
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, Reply, needs, serving
from sent_messages import check_sent


def registry() -> Registry:
    made = Registry("telling", "1.0")

    @made.tool
    async def steps(ex: Exchange, values: list[float], pause: float = 0) -> str:
        for value in values:
            await ex.progress(value, 10, f"at {value:g}")
            await asyncio.sleep(pause)
        return "stepped"

    @made.tool
    async def noisy(ex: Exchange) -> str:
        for level in ("debug", "info", "warning", "error", "emergency"):
            await ex.log(level, {"said": level}, "noise")
        return "logged"

    @made.tool
    async def many(ex: Exchange, count: int) -> str:
        for each in range(count):
            await ex.progress(each)
        return "done"

    @made.tool
    async def late(ex: Exchange) -> str:
        async def after() -> None:
            await asyncio.sleep(0.05)
            await ex.progress(1)
            await ex.log("emergency", "too late")

        kept.append(asyncio.ensure_future(after()))
        return "early"

    kept: list[asyncio.Task[None]] = []

    @made.tool
    async def loud(ex: Exchange) -> str:
        try:
            await ex.log("loud", "hello")
        except ValueError as error:
            return str(error)
        return "logged"

    @made.tool
    async def infinite(ex: Exchange) -> str:
        try:
            await ex.progress(float("inf"))
        except ValueError as error:
            return str(error)
        return "sent"

    return made


def told(reply: Reply, method: str) -> list[dict[str, Any]]:
    return [message["params"] for message in reply.earlier if message["method"] == method]


def with_token(token: Any) -> dict[str, Any]:
    return {"_meta": {"progressToken": token}}


async def call(client: RawClient, name: str, arguments: dict[str, Any], meta: dict[str, Any] | None = None) -> Reply:
    params = {"name": name, "arguments": arguments, **({"_meta": meta} if meta else {})}
    reply = await client.call("tools/call", params)
    for message in [*reply.earlier, reply.message]:
        check_sent(client.adapter.version, message, "tools/call")
    return reply


@pytest.mark.parametrize("token", ["abc", "", 0, 7])
async def test_progress_names_the_very_token_and_grows(adapter: Adapter, token: Any) -> None:
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        reply = await call(client, "steps", {"values": [1, 3, 2, 3, 4.5]}, {"progressToken": token})
    got = told(reply, "notifications/progress")
    assert [one["progress"] for one in got] == [1, 3, 4.5]
    assert all(one["progressToken"] == token and type(one["progressToken"]) is type(token) for one in got)
    assert {one["total"] for one in got} == {10} and reply.text == "stepped" and reply.streamed


async def test_without_a_token_nothing_is_said(adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        reply = await call(client, "steps", {"values": [1, 2]})
    assert not reply.earlier and not reply.streamed and reply.text == "stepped"


async def test_a_progress_message_is_left_out_where_there_is_no_place_for_it(adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        (got,) = told(await call(client, "steps", {"values": [1]}, {"progressToken": 1}), "notifications/progress")
    try:
        check_sent(
            adapter.version, {"jsonrpc": "2.0", "method": "notifications/progress", "params": {**got, "message": "m"}}
        )
    except AssertionError:
        assert "message" not in got
    else:
        assert got["message"] == "at 1"


async def test_a_flood_of_reports_arrives_whole(adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        reply = await call(client, "many", {"count": 3_000}, {"progressToken": 1})
    assert [one["progress"] for one in told(reply, "notifications/progress")] == list(range(3_000))


async def test_nothing_is_said_after_the_answer(adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        async with posting(client, "tools/call", {"name": "late", "arguments": {}, **with_token(1)}) as stream:
            body = await stream.response.json()
        assert body["result"]["content"][0]["text"] == "early"
        await asyncio.sleep(0.1)
        assert (await call(client, "noisy", {})).text == "logged"


async def test_messages_come_from_the_level_on_that_was_set(adapter: Adapter) -> None:
    needs(adapter, "notifications/message")
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        params = adapter.log_level_params({"name": "noisy", "arguments": {}}, "warning")
        if "logging/setLevel" in adapter.client_requests:
            assert (await client.call("logging/setLevel", {"level": "warning"})).result == {}
        got = told(await client.call("tools/call", params), "notifications/message")
    said = [{"level": level, "logger": "noise", "data": {"said": level}} for level in ("warning", "error", "emergency")]
    assert got == [adapter.encode_notification("notifications/message", one)["params"] for one in said]


async def test_a_level_belongs_to_one_session(session_adapter: Adapter) -> None:
    needs(session_adapter, "logging/setLevel", "notifications/message")
    async with (
        serving(registry()) as url,
        RawClient(url, session_adapter) as one,
        RawClient(url, session_adapter) as two,
    ):
        await one.call("logging/setLevel", {"level": "emergency"})
        await two.call("logging/setLevel", {"level": "debug"})
        counts = [len(told(await call(client, "noisy", {}), "notifications/message")) for client in (one, two, one)]
        assert counts == [1, 5, 1]


async def test_a_level_belongs_to_one_request_where_there_are_no_sessions(result_adapter: Adapter) -> None:
    needs(result_adapter, "notifications/message")
    async with serving(registry()) as url, RawClient(url, result_adapter) as client:
        params = result_adapter.log_level_params({"name": "noisy", "arguments": {}}, "error")
        assert len(told(await client.call("tools/call", params), "notifications/message")) == 2
        assert not (await call(client, "noisy", {})).earlier
        if "logging/setLevel" not in result_adapter.client_requests:
            reply = await client.call("logging/setLevel", {"level": "debug"})
            assert reply.error["code"] == result_adapter.error_codes["method_not_found"]


async def test_a_level_that_does_not_exist_is_refused(adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        noisy: dict[str, Any] = {"name": "noisy", "arguments": {}}
        ways = [("tools/call", adapter.log_level_params(noisy, "loud")), ("logging/setLevel", {"level": "loud"})]
        for method, params in ways:
            if params != noisy and method in adapter.client_requests:
                reply = await client.call(method, params)
                assert reply.error["code"] == adapter.error_codes["invalid_params"]
        assert (await call(client, "loud", {})).text.startswith("'loud' is no level")
        assert (
            await call(client, "infinite", {}, {"progressToken": 1})
        ).text == "progress and total are finite numbers"


async def test_logging_is_declared_where_something_can_log(adapter: Adapter) -> None:
    silent = Registry("silent", "1.0")

    @silent.tool
    def plain() -> str:
        return "fine"

    for made, declared in ((registry(), True), (silent, False)):
        async with serving(made) as url, RawClient(url, adapter) as client:
            described = await client.call(adapter.description_method, adapter.description_params(client.declaration))
            stated = adapter.encode_server_capabilities({"logging": {}})
            assert not stated or (stated.items() <= described.result["capabilities"].items()) is declared
            if "logging/setLevel" in adapter.client_requests:
                reply = await client.call("logging/setLevel", {"level": "debug"})
                assert ("result" in reply.message) is declared
