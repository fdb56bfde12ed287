"""Two servers on one store and one hub are one server: streams move, changes and cancellations arrive, and nothing is lost.

Citations: basic/transports#resumability-and-redelivery, basic/transports#multiple-connections.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from event_streams import Event, EventStream, listening, posting
from mcp_anyrev import Exchange, Registry, Settings
from mcp_anyrev.storage.memory import MemoryHub, MemoryStore
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving

ADAPTERS = [adapter for adapter in AdapterSet.default().by_version.values() if adapter.event_ids]
MANY = 3_000
PROGRESS = {"progressToken": "t"}


@pytest.fixture(params=ADAPTERS, ids=lambda adapter: adapter.version)
def resuming_adapter(request: pytest.FixtureRequest) -> Adapter:
    """Each revision whose events carry ids."""
    adapter: Adapter = request.param
    return adapter


def registry(fate: list[str] | None = None) -> Registry:
    made = Registry("twice", "1.0")

    @made.tool
    async def counts(ex: Exchange, to: int) -> str:
        for number in range(1, to + 1):
            await ex.progress(number, to)
        return "counted"

    @made.tool
    async def waits(ex: Exchange) -> str:
        await ex.progress(1)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            if fate is not None:
                fate.append("cancelled")
            raise
        return "waited"

    @made.prompt
    def greet() -> str:
        return "hello"

    @made.resource("test://here")
    def here() -> str:
        return "here"

    return made


@contextlib.asynccontextmanager
async def two_servers(adapter: Adapter, *registries: Registry) -> AsyncIterator[tuple[RawClient, RawClient]]:
    """A client of each, in the same session."""
    shared = Settings(store=MemoryStore(), hub=MemoryHub())
    made = registries or (registry(), registry())
    async with (
        serving(made[0], shared) as one,
        serving(made[1], shared) as two,
        RawClient(one, adapter) as client,
        RawClient(two, adapter) as elsewhere,
    ):
        elsewhere.session = client.session
        yield client, elsewhere


async def last_of(stream: EventStream, count: int) -> Event:
    """Read so many messages; gives the last event."""
    event: Event | None = None
    while count:
        event = await stream.event()
        assert event is not None
        count -= bool(event.data)
    assert event is not None
    return event


async def test_a_stream_taken_up_on_the_other_loses_no_event(resuming_adapter: Adapter) -> None:
    call = {"name": "counts", "arguments": {"to": MANY}, "_meta": PROGRESS}
    async with two_servers(resuming_adapter) as (client, elsewhere):
        async with posting(client, "tools/call", call, id="many") as stream:
            last = await last_of(stream, 10)
            stream.response.close()
        seen = [event.message["params"]["progress"] for event in stream.seen if event.data]
        async with listening(elsewhere, last.identifier) as rest:
            back = await last_of(rest, 1_000)
            rest.response.close()
        async with listening(client, back.identifier) as end:
            *progress, answer = await end.messages(20)
        seen += [event.message["params"]["progress"] for event in rest.seen if event.data]
        seen += [message["params"]["progress"] for message in progress]
    assert seen == list(range(1, MANY + 1))
    assert answer["id"] == "many" and answer["result"]["content"][0]["text"] == "counted"


async def test_changes_raised_on_either_reach_listeners_of_both(adapter: Adapter) -> None:
    one, two = registry(), registry()
    wanted = {"notifications": {"toolsListChanged": True, "promptsListChanged": True}}
    async with two_servers(adapter, one, two) as (client, elsewhere), contextlib.AsyncExitStack() as stack:
        streams = []
        for each in (client, elsewhere):
            if not adapter.listens and each is elsewhere:  # a session hears once; so the other one listens in its own
                each = await stack.enter_async_context(RawClient(elsewhere.url, adapter))
            opened = posting(each, "subscriptions/listen", wanted) if adapter.listens else listening(each)
            streams.append(await stack.enter_async_context(opened))
            if adapter.listens:
                await streams[-1].message()
        for raised_on in (one, two):
            raised_on.changed("tools")
            for stream in streams:
                assert (await stream.message() or {})["method"] == "notifications/tools/list_changed"


async def test_a_session_that_moves_is_told_of_every_change_once(resuming_adapter: Adapter) -> None:
    one, two = registry(), registry()
    async with two_servers(resuming_adapter, one, two) as (client, elsewhere):
        async with listening(client) as stream:
            one.changed("tools")
            last = await last_of(stream, 1)
            stream.response.close()
        one.changed("prompts")
        await asyncio.sleep(0.4)
        async with listening(elsewhere, last.identifier) as rest:
            assert (await rest.message() or {})["method"] == "notifications/prompts/list_changed"
            for raised_on in (one, two):
                raised_on.changed("tools")
                assert (await rest.message() or {})["method"] == "notifications/tools/list_changed"
            assert await rest.silent()
            last = next(event for event in reversed(rest.seen) if event.data)
            rest.response.close()
        await asyncio.sleep(0.4)
        two.changed("resources")
        async with listening(client, last.identifier) as again:
            assert (await again.message() or {})["method"] == "notifications/resources/list_changed"
            assert await again.silent()


async def test_a_call_on_one_is_cancelled_on_the_other(session_adapter: Adapter) -> None:
    fate: list[str] = []
    call = {"name": "waits", "arguments": {}, "_meta": PROGRESS}
    async with (
        two_servers(session_adapter, registry(fate), registry()) as (client, elsewhere),
        posting(client, "tools/call", call, id="long") as stream,
    ):
        await stream.message()
        cancelled: dict[str, Any] = {"method": "notifications/cancelled", "params": {"requestId": "long"}}
        reply = await elsewhere.post({"jsonrpc": "2.0", **cancelled})
        assert reply.status == session_adapter.accepted_status
        assert await stream.messages() == []
    assert fate == ["cancelled"]
