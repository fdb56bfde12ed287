"""What a server says of its own accord, and giving up. Specification: basic/index#notifications, basic/utilities/cancellation"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from descriptions import description, finished
from mcp_anyrev import CannotConnect, Client, NoAnswer
from mcp_revisions.protocol import Adapter
from scripted import Message, Scripted, notification, result


def server(adapter: Adapter, called: Any) -> Scripted:
    """A server whose calls are answered by `called(message)`; its lists are empty."""

    def script(message: Message) -> Any:
        if message.get("method") == "tools/call":
            return called(message)
        if message.get("method") == "tools/list":
            return [result(message, finished(adapter, "tools/list", {"tools": []}))]
        return [result(message, description(adapter))] if "id" in message else []

    return Scripted(script)


def done(adapter: Adapter) -> dict[str, Any]:
    return finished(adapter, "tools/call", {"content": [{"type": "text", "text": "done"}]})


CHANGED = notification("notifications/tools/list_changed")


async def test_a_callback_may_call_the_server_while_a_call_goes_on(adapter: Adapter) -> None:
    """Notifications do not block whoever reads."""
    listed = asyncio.Event()

    async def on_notification(method: str, params: dict[str, Any]) -> None:
        await client.list_tools()
        listed.set()

    async def called(message: Message) -> Any:
        heard.say(notification("notifications/resources/updated", uri="mem://a"), CHANGED)
        return [result(message, done(adapter))]

    heard = server(adapter, called)
    async with Client(heard, adapter, on_notification=on_notification) as client:
        assert (await client.call_tool("t")).text == "done"
        await listed.wait()


async def test_a_slow_callback_stops_nothing_and_is_told_of_a_change_once(adapter: Adapter) -> None:
    going, told = asyncio.Event(), []

    async def on_notification(method: str, params: dict[str, Any]) -> None:
        told.append(method)
        await going.wait()

    heard = server(adapter, lambda message: [*[CHANGED] * 500, result(message, done(adapter))])
    async with Client(heard, adapter, on_notification=on_notification) as client:
        await client.call_tool("t")
        going.set()
        await client.call_tool("t")
        await asyncio.sleep(0.01)
    assert len(told) <= 4


async def test_of_too_many_reports_some_are_left_out_and_nothing_else(
    adapter: Adapter, caplog: pytest.LogCaptureFixture
) -> None:
    going, logs = asyncio.Event(), []

    async def on_log(params: Any) -> None:
        logs.append(params.data)
        await going.wait()

    messages = [notification("notifications/message", level="error", data=number) for number in range(5_000)]
    heard = server(adapter, lambda message: [*messages, result(message, done(adapter))])
    async with Client(heard, adapter, on_log=on_log) as client:
        assert (await client.call_tool("t")).text == "done"
        going.set()
        while len(logs) < 1_000:  # noqa: ASYNC110  # callbacks note what they get
            await asyncio.sleep(0.001)
    assert logs == list(range(len(logs)))
    assert "left out" in caplog.text


async def test_a_callback_that_fails_is_in_the_log_and_ends_nothing(
    adapter: Adapter, caplog: pytest.LogCaptureFixture
) -> None:
    def on_notification(method: str, params: dict[str, Any]) -> None:
        raise SystemExit("a callback that wants to end everything")

    heard = server(adapter, lambda message: [CHANGED, result(message, done(adapter))])
    async with Client(heard, adapter, on_notification=on_notification) as client:
        for _ in range(2):
            assert (await client.call_tool("t")).text == "done"
            await asyncio.sleep(0.001)
    assert "a callback failed" in caplog.text


async def test_a_malformed_notification_is_in_the_log_and_ends_nothing(
    adapter: Adapter, caplog: pytest.LogCaptureFixture
) -> None:
    malformed = [
        notification("notifications/message", level=5),
        notification("notifications/progress"),
        notification("notifications/progress", progressToken={}, progress=1),
        notification("notifications/cancelled", requestId={}),
        notification("no/such", a=1),
        notification("notifications/resources/updated", uri=5),
    ]
    heard = server(adapter, lambda message: [*malformed, result(message, done(adapter))])
    logs: list[Any] = []
    async with Client(heard, adapter, on_log=logs.append, on_progress=logs.append) as client:
        assert (await client.call_tool("t")).text == "done"
        await asyncio.sleep(0.001)
    assert logs == []
    assert "malformed" in caplog.text


async def test_progress_of_something_else_is_told_to_nobody(adapter: Adapter) -> None:
    """Specification: basic/utilities/progress#progress-flow"""
    own: list[float] = []

    def called(message: Message) -> Any:
        token = message["params"]["_meta"]["progressToken"]
        tokens = [token, f"{token}", float(token), True, token + 1, None]
        told = [
            notification("notifications/progress", progressToken=one, progress=at) for at, one in enumerate(tokens, 1)
        ]
        return [*told, result(message, done(adapter))]

    async with Client(server(adapter, called), adapter) as client:
        await client.call_tool("t", on_progress=lambda params: own.append(params.progress))
        await asyncio.sleep(0.001)
    assert own == [1]


async def test_progress_keeps_a_call_from_being_given_up(adapter: Adapter) -> None:
    """Specification: basic/lifecycle#timeouts"""

    async def called(message: Message) -> Any:
        for at in range(12):
            await asyncio.sleep(0.05)
            heard.say(notification("notifications/progress", progressToken=message["id"], progress=at))
        return [result(message, done(adapter))]

    heard = server(adapter, called)
    async with Client(heard, adapter) as client:
        assert (await client.call_tool("t", timeout_seconds=0.5, on_progress=lambda params: None)).text == "done"


async def test_who_gives_up_says_so_and_the_late_answer_counts_for_nothing(adapter: Adapter) -> None:
    waiting: list[Message] = []

    def called(message: Message) -> Any:
        if waiting:
            return [result(waiting[0], {"content": [{"type": "text", "text": "late"}]}), result(message, done(adapter))]
        waiting.append(message)
        return []

    heard = server(adapter, called)
    async with Client(heard, adapter) as client:
        with pytest.raises(NoAnswer, match=r"0\.05"):
            await client.call_tool("t", timeout_seconds=0.05)
        assert (await client.call_tool("t")).text == "done"
    cancelled = [message for message in heard.sent if message.get("method") == "notifications/cancelled"]
    assert [message["params"]["requestId"] for message in cancelled] == (
        [waiting[0]["id"]] if adapter.stdio_cancels_by_notification else []
    )


async def test_a_handshake_is_not_given_up_by_a_notification(session_adapter: Adapter) -> None:
    """Specification: basic/utilities/cancellation#behavior-requirements"""
    heard = Scripted(lambda message: [])
    with pytest.raises(NoAnswer):
        await Client(heard, session_adapter, timeout_seconds=0.02).initialize()
    assert "notifications/cancelled" not in heard.methods


async def test_a_server_that_ends_fails_all_that_waits(adapter: Adapter) -> None:
    def called(message: Message) -> Any:
        calls.append(message)
        if len(calls) == 3:
            heard.end()
        return []

    calls: list[Message] = []
    heard = server(adapter, called)
    async with Client(heard, adapter) as client:
        await client.initialize()
        found = await asyncio.gather(*(client.call_tool("t") for _ in range(3)), return_exceptions=True)
        assert [type(one) for one in found] == [CannotConnect] * 3
        if adapter.stdio_restarts:  # it is started again for what comes next, and nothing is sent twice
            await client.list_tools()
            assert len(heard.pipes) == 2
        else:
            with pytest.raises(CannotConnect):
                await client.list_tools()
    assert len(calls) == 3


async def test_a_client_that_is_closed_fails_what_waits(adapter: Adapter) -> None:
    heard = server(adapter, lambda message: [])
    client = Client(heard, adapter)
    await client.initialize()
    call = asyncio.ensure_future(client.call_tool("t"))
    while "tools/call" not in heard.methods:  # noqa: ASYNC110  # the scripted server has no event for it
        await asyncio.sleep(0.001)
    await client.close()
    with pytest.raises(CannotConnect):
        await call
    await client.close()


async def test_lines_that_are_no_messages_are_in_the_log_and_end_nothing(
    adapter: Adapter, caplog: pytest.LogCaptureFixture
) -> None:
    noise = [
        b"Hello from a library",
        b"\xff\xfe",
        b"{",
        b"[]",
        b"5",
        b"null",
        b'{"jsonrpc":"1.0","id":1,"result":{}}',
        b"[" * 10_000,
    ]
    heard = server(adapter, lambda message: [*noise, result(message, done(adapter))])
    with caplog.at_level(logging.WARNING, "mcp_anyrev.client"):
        async with Client(heard, adapter) as client:
            assert (await client.call_tool("t")).text == "done"
    assert caplog.text.count("no message") == len(noise)


async def test_progress_is_wanted_of_requests_and_not_of_what_opens_the_connection(adapter: Adapter) -> None:
    """Specification: basic/utilities/progress#progress-flow, basic/lifecycle#initialization"""
    heard = server(adapter, lambda message: [result(message, done(adapter))])
    async with Client(heard, adapter, on_progress=lambda params: None) as client:
        await client.call_tool("t")
    tokens = {
        one["method"]: "progressToken" in one.get("params", {}).get("_meta", {}) for one in heard.sent if "id" in one
    }
    assert tokens == {adapter.description_method: False, "tools/call": True}
