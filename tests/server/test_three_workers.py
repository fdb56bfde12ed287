"""Three processes on one Valkey are one server, whichever of them a request comes to.

Rule: a balancer in front hands each request to the next one, whatever session or connection it came on, so nothing is pinned.
Citations: basic/transports#session-management, basic/transports#resumability-and-redelivery, basic/utilities/cancellation.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from event_streams import EventStream, listening, posting
from mcp_anyrev.storage.keys import new_name
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from raw_client import RawClient
from test_asking_by_rounds import again, questions_of
from worker_processes import balanced, workers

ACCEPT = {"action": "accept", "content": {"name": "Ada"}}
PROGRESS = {"progressToken": "t"}
PIECES = 30


async def asks(client: RawClient) -> None:
    """A question is answered through another worker, in whichever way it is asked."""
    if client.adapter.can_push_ask:

        async def answer(message: dict[str, Any]) -> None:
            if "id" in message:
                await client.post({"jsonrpc": "2.0", "id": message["id"], "result": ACCEPT})

        for name in ("ask_name", "ask_once"):
            assert (await client.tool(name, on_message=answer)).text == "Hello Ada"
        return
    for name in ("ask_name", "ask_once"):
        questions = questions_of(client, await client.tool(name))
        tries = [again(client, name, {"name": ACCEPT}, questions.state) for _ in range(3)]
        texts = [
            reply.text if reply.message and "result" in reply.message else "" for reply in await asyncio.gather(*tries)
        ]
        assert texts.count("Hello Ada") == (1 if name == "ask_once" else 3), (name, texts)


async def resumes(client: RawClient) -> None:
    """A stream that broke goes on at another worker, and nothing is lost or comes twice."""
    if not client.adapter.event_ids:
        return
    call = {"name": "count", "arguments": {"n": PIECES, "ms": 10}, "_meta": PROGRESS}
    async with posting(client, "tools/call", call, id="counts") as stream:
        while len([event for event in stream.seen if event.data]) < 5:
            await stream.event()
        stream.response.close()
    streams: list[EventStream] = [stream]
    messages: list[dict[str, Any]] = []
    while not any(message.get("id") == "counts" for message in messages):
        last = next(event.identifier for each in reversed(streams) for event in reversed(each.seen) if event.identifier)
        async with listening(client, last) as more:
            streams.append(more)
            for _ in range(10):
                if (event := await more.event()) is None or (event.data and event.message.get("id") == "counts"):
                    break
            more.response.close()
        messages = [event.message for each in streams for event in each.seen if event.data]
    counted = [message["params"]["progress"] for message in messages if "params" in message]
    assert counted == list(range(1, PIECES + 1))


async def hears(client: RawClient) -> None:
    """Whatever changes on any worker is told, once."""
    adapter = client.adapter
    uri = f"mem://n/{new_name()}"  # others are told of theirs at the same time
    wanted = {"notifications": {"toolsListChanged": True, "resourceSubscriptions": [uri]}}
    if not adapter.listens:
        assert (await client.call("resources/subscribe", {"uri": uri})).status == 200
    opened = posting(client, "subscriptions/listen", wanted) if adapter.listens else listening(client)
    async with opened as stream:
        if adapter.listens:
            await stream.message()
        for _ in range(3):  # each time on another worker
            await client.tool("touch", {"uri": uri})
            told = await stream.message() or {}
            assert told["method"] == "notifications/resources/updated" and told["params"]["uri"] == uri
        await client.tool("touch", {"uri": "mem://n/another"})
        assert await stream.silent()
        stream.response.close()


async def cancels(client: RawClient) -> None:
    """A cancellation that comes to another worker than the call ends the call."""
    if not client.adapter.has_handshake:
        return
    call = {"name": "slow", "arguments": {"ms": 60_000}, "_meta": PROGRESS}
    begun = time.monotonic()
    async with posting(client, "tools/call", call, id="long") as stream:
        await asyncio.sleep(0.1)
        await client.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "long"}})
        assert not any("result" in message for message in await stream.messages())
    assert time.monotonic() - begun < 10


async def uses(url: str, adapter: Adapter) -> None:
    for way in (asks, resumes, hears, cancels):
        async with RawClient(url, adapter) as client:
            await way(client)
            if client.session is not None and adapter.has_handshake:
                stranger = {adapter.session_header: f"{client.session[:-1]}x"}
                assert (await client.tool("echo", {"text": "x"}, change=stranger)).status == adapter.error_statuses[
                    "session_unknown"
                ]


@pytest.mark.long
async def test_any_of_three_workers_answers_in_every_revision(valkey_url: str) -> None:
    async with workers(valkey_url) as three, balanced(three) as url, asyncio.TaskGroup() as group:
        for adapter in AdapterSet.default().by_version.values():
            group.create_task(uses(url, adapter), name=adapter.version)
