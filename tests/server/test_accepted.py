"""What a client says that it accepts is what it gets: no stream for one that takes none.

Citations: basic/transports/streamable-http#sending-messages.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp_anyrev import Exchange, Registry, Settings, elicit
from mcp_anyrev.head import Head
from mcp_anyrev.http.replies import takes_events
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving

LISTENING = [adapter for adapter in AdapterSet.default().by_version.values() if adapter.listens]
JSON_ALONE = {"Accept": "application/json"}
SOON = Settings(head_delay_seconds=0.1)


def registry() -> Registry:
    made = Registry("accepting", "1.0")

    @made.tool
    async def slow() -> str:
        await asyncio.sleep(0.4)
        return "slow"

    @made.tool
    async def reports(ex: Exchange, pause: float = 0.0) -> str:
        for number in range(1, 5):
            await ex.progress(number)
            await asyncio.sleep(pause)
        return "reported"

    @made.tool
    async def asks(ex: Exchange) -> str:
        return "yes" if (await ex.ask("go", elicit("Go ahead?"))).accepted else "no"

    return made


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [("slow", {}, "slow"), ("reports", {}, "reported"), ("reports", {"pause": 0.1}, "reported")],
)
async def test_who_takes_no_stream_gets_json(
    adapter: Adapter, binding: str, name: str, arguments: dict[str, Any], text: str
) -> None:
    async with serving(registry(), SOON, binding) as url, RawClient(url, adapter) as client:
        own = {"name": name, "arguments": arguments, "_meta": {"progressToken": 1}}
        request = client.request("tools/call", own)
        reply = await client.post(request, change=JSON_ALONE)
        assert (reply.streamed, reply.earlier, reply.text) == (False, [], text)
        assert reply.headers["Content-Type"].startswith("application/json")
        assert (await client.post(client.request("tools/call", own))).streamed, "others get one"


async def test_who_takes_no_stream_cannot_be_asked_on_one(push_adapter: Adapter, binding: str) -> None:
    async with serving(registry(), SOON, binding) as url, RawClient(url, push_adapter) as client:
        request = client.request("tools/call", {"name": "asks", "arguments": {}})
        async with asyncio.timeout(10):
            reply = await client.post(request, change=JSON_ALONE)
        assert not reply.streamed and reply.text == "no"


@pytest.mark.parametrize("listening_adapter", LISTENING, ids=lambda adapter: adapter.version)
async def test_who_takes_no_stream_is_told_that_changes_need_one(listening_adapter: Adapter, binding: str) -> None:
    async with serving(registry(), SOON, binding) as url, RawClient(url, listening_adapter) as client:
        wanted = {"notifications": {"toolsListChanged": True}}
        reply = await client.post(client.request("subscriptions/listen", wanted), change=JSON_ALONE)
        assert not reply.streamed and reply.error["code"] == listening_adapter.error_codes["invalid_request"]
        assert "stream" in reply.error["message"]


async def test_a_call_that_is_cancelled_leaves_nothing_to_say(push_adapter: Adapter, binding: str) -> None:
    async with serving(registry(), SOON, binding) as url, RawClient(url, push_adapter) as client:
        request = client.request("tools/call", {"name": "reports", "arguments": {"pause": 5}})
        calling = asyncio.ensure_future(client.post(request, change=JSON_ALONE))
        await asyncio.sleep(0.3)
        params = {"requestId": request["id"]}
        await client.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
        reply = await calling
        assert (reply.status, reply.message) == (push_adapter.accepted_status, None)


@pytest.mark.parametrize(
    ("accepted", "taken"),
    [
        (None, True),
        ("application/json, text/event-stream", True),
        ("*/*", True),
        ("application/json, text/*;q=0.5", True),
        ("Text/Event-Stream", True),
        ("application/json", False),
        ("text/html, application/json;q=0.9", False),
        ("text/event-stream;q=0, */*", False),
        ("text/event-stream; charset=utf-8; q=0.000 , application/json", False),
        ("text/event-stream;q=0.001", True),
        ("text/*;q=0, */*;q=1", False),
        ("", False),
    ],
)
def test_what_is_accepted(accepted: str | None, taken: bool) -> None:
    assert takes_events(Head("POST", headers={} if accepted is None else {"Accept": accepted})) is taken
