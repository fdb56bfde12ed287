"""Streams of a session that GET opens: what changes is told there, once, and only to whom it concerns.

Citations: basic/transports#listening-for-messages-from-the-server, basic/transports#multiple-connections, server/resources#subscriptions.
"""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from event_streams import EventStream, listening
from mcp_anyrev import Limits, Registry, Settings
from mcp_anyrev.storage.memory import MemoryHub, MemoryStore
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, declares, serving
from sent_messages import check_sent

URI = "test://note"


def registry() -> Registry:
    made = Registry("changing", "1.0")

    @made.tool
    def plain() -> str:
        return "fine"

    @made.tool
    def touch(kind: str) -> str:
        made.changed(kind)
        return "touched"

    @made.resource(URI)
    def note() -> str:
        return "text"

    @made.prompt
    def greet() -> str:
        return "hello"

    return made


def methods(messages: list[dict[str, Any]]) -> list[str]:
    return [message["method"] for message in messages]


async def received(stream: EventStream, count: int) -> list[str]:
    return methods([message for _ in range(count) if (message := await stream.message()) is not None])


async def test_every_kind_of_change_is_told(session_adapter: Adapter, binding: str) -> None:
    made = registry()
    async with (
        serving(made, binding=binding) as url,
        RawClient(url, session_adapter) as client,
        listening(client) as stream,
    ):
        assert stream.response.status == 200 and stream.response.content_type == "text/event-stream"
        for kind in ("tools", "prompts", "resources"):
            made.changed(kind)
        await client.call("resources/subscribe", {"uri": URI})
        made.updated("test://other")
        made.updated(URI)
        messages = [await stream.message() for _ in range(4)]
    for message in messages:
        check_sent(session_adapter.version, message)
    lists = [f"notifications/{kind}/list_changed" for kind in ("tools", "prompts", "resources")]
    assert methods(messages) == [*lists, "notifications/resources/updated"]  # type: ignore[arg-type]
    assert messages[3] is not None and messages[3]["params"]["uri"] == URI


async def test_changes_may_be_told_from_any_thread_and_come_once(session_adapter: Adapter) -> None:
    made = registry()
    async with serving(made) as url, RawClient(url, session_adapter) as client, listening(client) as stream:
        threads = [threading.Thread(target=made.changed, args=["tools"]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()  # all before the event loop goes on
        await client.tool("touch", {"kind": "prompts"})
        assert await received(stream, 2) == [f"notifications/{kind}/list_changed" for kind in ("tools", "prompts")]
        assert await stream.silent()


async def test_a_tool_that_comes_or_goes_is_told(session_adapter: Adapter) -> None:
    made = registry()
    async with serving(made) as url, RawClient(url, session_adapter) as client, listening(client) as stream:

        @made.tool
        def grown() -> str:
            return "new"

        assert await received(stream, 1) == ["notifications/tools/list_changed"]
        assert "grown" in [tool["name"] for tool in (await client.call("tools/list")).result["tools"]]


async def test_of_several_streams_of_a_session_one_is_told(session_adapter: Adapter) -> None:
    made = registry()
    async with serving(made) as url, RawClient(url, session_adapter) as client, listening(client) as older:
        async with listening(client) as newer:
            made.changed("tools")
            assert await received(newer, 1) == ["notifications/tools/list_changed"]
            assert await older.silent()
        await asyncio.sleep(0.4)  # until it has been noticed
        made.changed("prompts")
        assert await received(older, 1) == ["notifications/prompts/list_changed"]


async def test_of_streams_on_several_workers_one_is_told(session_adapter: Adapter) -> None:
    made, shared = registry(), Settings(store=MemoryStore(), hub=MemoryHub())
    async with (
        serving(made, shared) as url,
        serving(registry(), shared) as other,
        RawClient(url, session_adapter) as client,
        RawClient(other, session_adapter) as elsewhere,
    ):
        elsewhere.session = client.session
        async with listening(elsewhere) as older, listening(client) as newer:
            await elsewhere.call("resources/subscribe", {"uri": URI})
            made.updated(URI)
            assert await received(newer, 1) == ["notifications/resources/updated"]
            assert await older.silent()


async def test_subscriptions_are_those_of_one_session(session_adapter: Adapter) -> None:
    made = registry()
    async with (
        serving(made) as url,
        RawClient(url, session_adapter) as one,
        RawClient(url, session_adapter) as two,
        listening(one) as first,
        listening(two) as second,
    ):
        assert (await one.call("resources/subscribe", {"uri": URI})).result == {}
        made.updated(URI)
        assert await received(first, 1) == ["notifications/resources/updated"]
        assert (await one.call("resources/unsubscribe", {"uri": URI})).result == {}
        made.updated(URI)
        made.changed("tools")
        assert await received(first, 1) == ["notifications/tools/list_changed"]
        assert await received(second, 1) == ["notifications/tools/list_changed"]


async def test_a_stream_needs_the_session_of_its_principal(session_adapter: Adapter) -> None:
    settings = Settings(principal=lambda head: head.headers.get("x-who"))
    statuses = session_adapter.error_statuses
    async with (
        serving(registry(), settings) as url,
        RawClient(url, session_adapter, headers={"X-Who": "ann"}) as client,
    ):
        async with listening(client, **{"X-Who": "bob"}) as stream:
            assert stream.response.status == statuses["session_unknown"]
        async with listening(client, **{"X-Who": "ann", "MCP-Protocol-Version": "1999-01-01"}) as stream:
            assert stream.response.status in (200, statuses["version_header"], statuses["unsupported_version"])
        client.session = "no-such-session"
        async with listening(client, **{"X-Who": "ann"}) as stream:
            assert stream.response.status == statuses["session_unknown"]


@pytest.mark.parametrize("accept", ["text/event-stream", "*/*", "text/*", ""])
async def test_what_is_accepted_is_read_leniently(session_adapter: Adapter, accept: str) -> None:
    async with (
        serving(registry()) as url,
        RawClient(url, session_adapter) as client,
        listening(client, Accept=accept) as stream,
    ):
        assert stream.response.status == 200


async def test_silence_is_broken_by_comments(session_adapter: Adapter) -> None:
    async with (
        serving(registry(), Settings(keep_alive_seconds=0.05)) as url,
        RawClient(url, session_adapter) as client,
        listening(client) as stream,
    ):
        while (event := await stream.event()) is not None and not event.comment:
            pass
        assert event is not None and event.data is None


async def test_changes_are_told_before_the_client_is_ready(session_adapter: Adapter) -> None:
    """basic/lifecycle#initialization: what has to wait are requests."""
    made = registry()
    async with serving(made) as url, RawClient(url, session_adapter) as client:
        again = await client.call(
            session_adapter.description_method, session_adapter.description_params(client.declaration)
        )
        client.session = again.headers[session_adapter.session_header]  # not ready yet
        async with listening(client) as stream:
            made.changed("tools")
            assert await received(stream, 1) == ["notifications/tools/list_changed"]
            await client.post({"jsonrpc": "2.0", "method": session_adapter.ready_notification})
            made.changed("prompts")
            assert await received(stream, 1) == ["notifications/prompts/list_changed"]


async def test_a_session_that_ends_takes_its_streams_and_calls_along(session_adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, session_adapter) as client, listening(client) as stream:
        headers = client.headers({"method": "ping", "params": {}})
        async with client.http.delete(url, headers=headers) as response:
            assert response.status == session_adapter.ended_status
        assert await stream.messages() == []
        async with listening(client) as refused:
            assert refused.response.status == session_adapter.error_statuses["session_unknown"]


async def test_a_session_that_is_listened_for_is_in_use(session_adapter: Adapter) -> None:
    made = registry()
    async with (
        serving(made, Settings(session_ttl_seconds=0.6)) as url,
        RawClient(url, session_adapter) as client,
        listening(client) as stream,
    ):
        await asyncio.sleep(1.2)
        made.changed("tools")
        assert await received(stream, 1) == ["notifications/tools/list_changed"]


async def test_a_session_that_nobody_listens_for_any_longer_goes(session_adapter: Adapter, binding: str) -> None:
    """A stream that was left is there for as long as it can be taken up again, and keeps its session no longer."""
    settings = Settings(session_ttl_seconds=0.2, kept_seconds=0.1)
    async with serving(registry(), settings, binding) as url, RawClient(url, session_adapter) as client:
        async with listening(client) as stream:
            stream.response.close()
        await asyncio.sleep(0.8)
        reply = await client.call("tools/list")
        assert reply.status == session_adapter.error_statuses["session_unknown"]


async def test_streams_are_bounded(session_adapter: Adapter) -> None:
    limits = Limits(streams_of_session=2, streams_of_principal=3, subscriptions=1)
    async with serving(registry(), Settings(limits=limits)) as url, RawClient(url, session_adapter) as client:
        async with listening(client) as first, listening(client), listening(client):
            assert await first.messages() == []  # the oldest has ended
        await asyncio.sleep(0.4)
        clients = [RawClient(url, session_adapter) for _ in range(4)]
        streams = []
        for each in clients:
            await each.__aenter__()
            streams.append(listening(each))
        statuses = [(await stream.__aenter__()).response.status for stream in streams]
        assert statuses == [200, 200, 200, session_adapter.error_statuses["busy"]]
        for each in clients:
            await each.__aexit__()
        assert (await client.call("resources/subscribe", {"uri": URI})).result == {}
        assert (await client.call("resources/subscribe", {"uri": URI})).result == {}
        reply = await client.call("resources/subscribe", {"uri": "test://second"})
        assert reply.error["code"] == session_adapter.error_codes["busy"]
        assert reply.status == session_adapter.error_statuses["busy"]


@pytest.mark.parametrize("settings", [Settings(announce=()), Settings(listen=False)])
async def test_what_is_turned_off_is_neither_declared_nor_there(adapter: Adapter, settings: Settings) -> None:
    made = registry()
    async with serving(made, settings) as url, RawClient(url, adapter) as client:
        described = await client.call(adapter.description_method, adapter.description_params(client.declaration))
        capabilities = described.result["capabilities"]
        for kind in ("tools", "prompts", "resources"):
            assert declares(adapter, capabilities, {kind: {}})
            assert not declares(adapter, capabilities, {kind: {"listChanged": True}})
        assert not declares(adapter, capabilities, {"resources": {"subscribe": True}})
        reply = await client.call("resources/subscribe", {"uri": URI})
        assert reply.error["code"] == adapter.error_codes["method_not_found"]
        if adapter.listens_by_get:
            async with listening(client) as stream:
                if settings.listen:
                    made.changed("tools")
                    assert await stream.silent()
                else:
                    assert stream.response.status == adapter.error_statuses["method_not_allowed"]


def test_some_revision_has_each_way() -> None:
    adapters = AdapterSet.default().by_version.values()
    assert any(adapter.listens_by_get for adapter in adapters) and any(adapter.listens for adapter in adapters)
