"""Streams of changes that a request opens: acknowledged first, only what was asked for, each message with its subscription.

Citations: basic/patterns/subscriptions.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from event_streams import EventStream, posting
from mcp_anyrev import Limits, Registry, Settings
from mcp_anyrev.storage.memory import MemoryHub
from mcp_contract import member
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving
from sent_messages import check_sent

URI = "test://note"
ADAPTERS = [adapter for adapter in AdapterSet.default().by_version.values() if adapter.listens]
LISTEN = "subscriptions/listen"


@pytest.fixture(params=ADAPTERS, ids=lambda adapter: adapter.version)
def listening_adapter(request: pytest.FixtureRequest) -> Adapter:
    """Each revision where a request opens a stream of changes."""
    adapter: Adapter = request.param
    return adapter


def registry() -> Registry:
    made = Registry("changing", "1.0")

    @made.tool
    def touch() -> str:
        made.changed("tools")
        return "touched"

    @made.resource(URI)
    def note() -> str:
        return "text"

    return made


async def heard(stream: EventStream, adapter: Adapter, identifier: Any) -> dict[str, Any]:
    """The next message; every one says which subscription it belongs to."""
    message = await stream.message()
    assert message is not None
    check_sent(adapter.version, message, LISTEN)
    part = message["params"] if "method" in message else message["result"]
    told = member(part, "_meta", "io.modelcontextprotocol/subscriptionId")
    assert told == identifier and type(told) is type(identifier)
    return message


def wanting(**wanted: Any) -> dict[str, Any]:
    return {"notifications": wanted}


@pytest.mark.parametrize("identifier", [0, "", "one", -1])
async def test_what_was_asked_for_is_acknowledged_and_told(
    listening_adapter: Adapter, binding: str, identifier: Any
) -> None:
    made = registry()
    wanted = wanting(toolsListChanged=True, resourceSubscriptions=[URI])
    async with (
        serving(made, binding=binding) as url,
        RawClient(url, listening_adapter) as client,
        posting(client, LISTEN, wanted, id=identifier) as stream,
    ):
        first = await heard(stream, listening_adapter, identifier)
        assert first["method"] == "notifications/subscriptions/acknowledged"
        assert first["params"]["notifications"] == wanted["notifications"]
        for name, value in listening_adapter.stream_headers.items():
            assert stream.response.headers[name] == value
        made.changed("resources")
        made.updated("test://other")
        assert (await client.tool("touch")).earlier == []  # a call's own stream is not for changes
        made.updated(URI)
        methods = [(await heard(stream, listening_adapter, identifier))["method"] for _ in range(2)]
        assert sorted(methods) == ["notifications/resources/updated", "notifications/tools/list_changed"]
        assert await stream.silent()
    assert all(event.identifier is None and event.retry is None for event in stream.seen)


async def test_several_streams_of_one_client_are_told_apart(listening_adapter: Adapter) -> None:
    made = registry()
    async with (
        serving(made) as url,
        RawClient(url, listening_adapter) as client,
        posting(client, LISTEN, wanting(toolsListChanged=True), id=1) as tools,
        posting(client, LISTEN, wanting(resourcesListChanged=True), id="1") as resources,
    ):
        await heard(tools, listening_adapter, 1)
        await heard(resources, listening_adapter, "1")
        made.changed("resources")
        made.changed("tools")
        assert (await heard(tools, listening_adapter, 1))["method"] == "notifications/tools/list_changed"
        assert (await heard(resources, listening_adapter, "1"))["method"] == "notifications/resources/list_changed"


async def test_what_is_not_offered_is_not_honoured(listening_adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, listening_adapter) as client:
        wanted = wanting(toolsListChanged=True, promptsListChanged=True, resourcesListChanged=False)
        async with posting(client, LISTEN, wanted, id=1) as stream:
            first = await heard(stream, listening_adapter, 1)
            assert first["params"]["notifications"] == {"toolsListChanged": True}


@pytest.mark.parametrize("wanted", [{}, {"promptsListChanged": True}, {"toolsListChanged": False}])
async def test_a_stream_on_which_nothing_will_come_is_not_held_open(
    listening_adapter: Adapter, wanted: dict[str, Any]
) -> None:
    for settings, asked in ((Settings(), wanted), (Settings(announce=()), {"toolsListChanged": True})):
        async with (
            serving(registry(), settings) as url,
            RawClient(url, listening_adapter) as client,
            posting(client, LISTEN, wanting(**asked), id=5) as stream,
        ):
            assert (await heard(stream, listening_adapter, 5))["params"]["notifications"] == {}
            assert (await heard(stream, listening_adapter, 5))["result"]["resultType"] == "complete"
            assert await stream.event() is None


async def test_it_can_be_turned_off(listening_adapter: Adapter) -> None:
    async with serving(registry(), Settings(listen=False)) as url, RawClient(url, listening_adapter) as client:
        reply = await client.call(LISTEN, wanting(toolsListChanged=True))
        assert reply.status == listening_adapter.error_statuses["method_not_found"]
        assert reply.error["code"] == listening_adapter.error_codes["method_not_found"]


async def test_there_is_no_such_request_elsewhere(session_adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, session_adapter) as client:
        reply = await client.call(LISTEN, wanting(toolsListChanged=True))
        assert reply.error["code"] == session_adapter.error_codes["method_not_found"]


async def test_a_filter_that_is_none_is_refused(listening_adapter: Adapter) -> None:
    limits = Limits(subscriptions=2)
    async with serving(registry(), Settings(limits=limits)) as url, RawClient(url, listening_adapter) as client:
        for params in ({}, {"notifications": []}):
            reply = await client.call(LISTEN, params)
            assert reply.error["code"] == listening_adapter.error_codes["invalid_params"]
        reply = await client.call(LISTEN, wanting(resourceSubscriptions=["a:1", "a:2", "a:3"]))
        assert reply.error["code"] == listening_adapter.error_codes["too_large"]


async def test_a_stream_that_is_closed_is_let_go(listening_adapter: Adapter, binding: str) -> None:
    limits = Limits(streams_of_principal=1)
    async with (
        serving(registry(), Settings(limits=limits), binding=binding) as url,
        RawClient(url, listening_adapter) as client,
    ):
        async with posting(client, LISTEN, wanting(toolsListChanged=True), id=1) as stream:
            await stream.message()
            reply = await client.call(LISTEN, wanting(toolsListChanged=True))
            assert reply.status == listening_adapter.error_statuses["busy"] and int(reply.headers["Retry-After"]) >= 1
            stream.response.close()
        await asyncio.sleep(0.5)
        async with posting(client, LISTEN, wanting(toolsListChanged=True), id=1) as stream:
            assert await stream.message() is not None


async def test_a_change_on_one_worker_is_told_on_all(listening_adapter: Adapter) -> None:
    made, shared = registry(), Settings(hub=MemoryHub())
    async with (
        serving(made, shared) as url,
        serving(registry(), shared) as other,
        RawClient(url, listening_adapter) as client,
        RawClient(other, listening_adapter) as elsewhere,
        posting(elsewhere, LISTEN, wanting(toolsListChanged=True), id=1) as stream,
        posting(client, LISTEN, wanting(toolsListChanged=True), id=2),
    ):
        await stream.message()
        made.changed("tools")
        assert (await heard(stream, listening_adapter, 1))["method"] == "notifications/tools/list_changed"


async def test_a_slow_reader_costs_a_bounded_amount() -> None:
    """What must arrive waits, and once only where it says the same; reports ask for room, and wait for it."""
    from mcp_anyrev.conversation.amounts import Amount
    from mcp_anyrev.conversation.outbox import Queue

    queue = Queue(Limits(queue=3), Amount(1_000_000))
    for each in range(10):
        queue.send(b"change", same="tools")
        queue.send(b"%d" % each, same=str(each % 2))
    room = asyncio.ensure_future(queue.room())
    await asyncio.sleep(0)
    assert not room.done()
    assert [queue.take(), queue.take()] == [b"change", b"0"]
    assert await room
    queue.send(b"change", same="tools")
    queue.end(b"last")
    queue.send(b"too late")
    taken = []
    while queue:
        taken.append(queue.take())
    assert taken == [b"1", b"change", b"last"]
