"""A client that listens in silence is asked whether it is still there, and any answer says so.

Citations: basic/utilities/ping#behavior-requirements, basic/utilities/ping#implementation-considerations.
"""

from __future__ import annotations

from typing import Any

import pytest
from event_streams import EventStream, listening
from mcp_anyrev import Registry, Settings
from mcp_anyrev.storage.memory import MemoryHub, MemoryStore
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving

OFTEN = Settings(ping_seconds=0.05, ping_timeout_seconds=5)
IMPATIENT = Settings(ping_seconds=0.05, ping_timeout_seconds=0.1)


def registry() -> Registry:
    made = Registry("pinging", "1.0")

    @made.tool
    async def plain() -> str:
        return "fine"

    return made


async def ping_on(stream: EventStream) -> dict[str, Any]:
    asked = await stream.message()
    assert asked is not None and asked["method"] == "ping" and isinstance(asked["id"], str)
    return asked


ANSWERS: tuple[dict[str, Any], ...] = ({"result": {}}, {"error": {"code": -32601, "message": "no such method"}})


@pytest.mark.parametrize("answer", ANSWERS)
async def test_a_client_that_answers_keeps_its_stream(
    session_adapter: Adapter, binding: str, answer: dict[str, Any]
) -> None:
    async with (
        serving(registry(), OFTEN, binding) as url,
        RawClient(url, session_adapter) as client,
        listening(client) as stream,
    ):
        for _ in range(3):
            asked = await ping_on(stream)
            reply = await client.post({"jsonrpc": "2.0", "id": asked["id"], **answer})
            assert reply.status == session_adapter.accepted_status


async def test_a_client_that_does_not_answer_loses_its_stream(
    session_adapter: Adapter, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        serving(registry(), IMPATIENT) as url,
        RawClient(url, session_adapter) as client,
        listening(client) as stream,
    ):
        asked = await ping_on(stream)
        later = await stream.message()
        assert later is None or later["params"]["requestId"] == asked["id"]
        assert later is None or await stream.message() is None
        assert (await client.tool("plain")).text == "fine", "the session is still there"
    assert "has not answered a ping" in caplog.text


async def test_who_is_told_something_is_not_asked(session_adapter: Adapter) -> None:
    made = registry()
    settings = Settings(ping_seconds=0.3)
    async with (
        serving(made, settings) as url,
        RawClient(url, session_adapter) as client,
        listening(client) as stream,
    ):
        for _ in range(2):
            made.changed("tools")
            told = await stream.message()
            assert told is not None and told["method"] == "notifications/tools/list_changed"
        await ping_on(stream)


async def test_pings_can_be_turned_off(session_adapter: Adapter) -> None:
    settings = Settings(ping_seconds=None, keep_alive_seconds=0.1)
    async with (
        serving(registry(), settings) as url,
        RawClient(url, session_adapter) as client,
        listening(client) as stream,
    ):
        events = [event for _ in range(3) if (event := await stream.event()) is not None]
    assert not any(event.data for event in events) and any(event.comment for event in events)


async def test_an_answer_to_a_ping_may_come_to_another_worker(session_adapter: Adapter) -> None:
    shared = {"store": MemoryStore(), "hub": MemoryHub()}
    settings = Settings(ping_seconds=0.05, ping_timeout_seconds=5, **shared)  # type: ignore[arg-type]  # a store and a hub
    made = registry()
    async with (
        serving(made, settings) as url,
        serving(made, settings) as other,
        RawClient(url, session_adapter) as client,
        listening(client) as stream,
    ):
        for _ in range(2):
            asked = await ping_on(stream)
            client.url = other
            reply = await client.post({"jsonrpc": "2.0", "id": asked["id"], "result": {}})
            assert reply.status == session_adapter.accepted_status
            client.url = url


async def test_a_subscription_is_not_pinged(result_adapter: Adapter) -> None:
    """Citation: basic/transports/streamable-http#receiving-messages: a server sends no requests there."""
    assert "ping" not in result_adapter.server_requests
