"""Every member of `Settings` and `Limits` does what it says, seen from outside; which test shows it, stands here.

Rule: a test that shows a member fails where the server does not get it. Those that have no place elsewhere are in this file.
Citations: basic/transports#resumability-and-redelivery, basic/transports#session-management, server/resources#subscriptions.
"""

from __future__ import annotations

import ast
import asyncio
import dataclasses
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from event_streams import listening, posting
from mcp_anyrev import Exchange, Limits, Registry, Settings
from mcp_anyrev.server.shared import Shared
from mcp_anyrev.storage.keys import key
from mcp_anyrev.testing import serve
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving

SHOWN_BY = {
    "body_bytes": "test_requests.test_a_large_body_is_refused_unread",
    "values": "test_message_bounds.test_a_message_of_too_many_values_is_too_large",
    "nesting": "test_message_bounds.test_arguments_that_are_nested_too_deeply_are_wrong",
    "body_seconds": "test_limits.test_a_body_that_does_not_arrive_is_not_waited_for",
    "bodies_of_address": "test_limits.test_bodies_that_are_arriving_are_bounded",
    "arriving_bytes_of_address": "test_limits.test_bodies_that_are_arriving_are_bounded",
    "arriving_bytes": "test_limits.test_bodies_that_are_arriving_are_bounded",
    "call_seconds": "test_limits.test_a_call_that_hangs_ends_in_an_error",
    "line_bytes": "../stdio/test_stdio_server.test_a_conversation_goes_its_way",
    "batch_messages": "test_each_door.test_a_batch_has_so_many_messages_and_no_more",
    "session_bytes": "test_every_setting.test_what_a_session_keeps_is_bounded_in_bytes",
    "streams_of_session": "test_session_streams.test_streams_are_bounded",
    "streams_of_principal": "test_session_streams.test_streams_are_bounded",
    "subscriptions": "test_session_streams.test_streams_are_bounded",
    "queue": "test_every_setting.test_a_handler_waits_for_a_slow_reader_as_soon_as_so_much_waits",
    "queue_bytes": "test_every_setting.test_a_handler_waits_for_a_slow_reader_as_soon_as_so_much_waits",
    "queue_bytes_of_all": "test_every_setting.test_a_handler_waits_as_soon_as_so_much_waits_for_all",
    "calls_of_principal": "test_waiting_calls.test_calls_that_wait_are_bounded",
    "call_bytes_of_principal": "test_waiting_calls.test_calls_that_wait_are_bounded",
    "call_bytes": "test_waiting_calls.test_calls_that_wait_are_bounded",
    "calls_of_connection": "test_http_sse.test_streams_and_calls_are_bounded",
    "calls_per_minute": "test_rate.test_who_calls_too_often_is_told_when_to_call_again",
    "tasks_of_principal": "../extensions/test_tasks.test_so_many_tasks_are_at_work_at_once_and_no_more",
    "threads": "test_every_setting.test_so_many_sync_calls_run_at_once_and_no_more",
    "stored_bytes": "test_every_setting.test_what_is_kept_of_all_sessions_is_bounded_in_bytes",
    "stored_bytes_of_principal": "test_sessions.test_a_session_that_is_in_use_stays_and_a_new_one_is_told_to_wait",
    "kept_bytes": "test_every_setting.test_what_is_kept_of_streams_is_bounded_in_bytes",
    "kept_bytes_of_principal": "test_every_setting.test_what_is_kept_of_streams_is_bounded_in_bytes",
    "revisions": "test_kinds_negotiation.test_a_server_without_handshakes_says_what_it_serves",
    "store": "test_two_servers.test_a_session_that_moves_is_told_of_every_change_once",
    "hub": "test_two_servers.test_a_call_on_one_is_cancelled_on_the_other",
    "keys": "test_asking_by_rounds.test_a_round_trip_started_on_one_server_finishes_on_another_with_the_same_key",
    "ask_timeout_seconds": "test_asking_pushed.test_an_answer_that_is_none_never_means_yes",
    "state_ttl_seconds": "test_asking_by_rounds.test_expired_state_is_refused",
    "session_ttl_seconds": "test_sessions.test_an_unused_session_ends_and_a_used_one_does_not",
    "task_seconds": "../extensions/test_tasks.test_a_task_is_kept_for_so_long",
    "task_poll_seconds": "../extensions/test_tasks.test_a_task_can_be_left_and_found_again",
    "head_delay_seconds": "test_tools.test_a_slow_tool_becomes_a_stream_and_a_quick_one_does_not",
    "ping_seconds": "test_pings.test_a_client_that_does_not_answer_loses_its_stream",
    "ping_timeout_seconds": "test_pings.test_a_client_that_does_not_answer_loses_its_stream",
    "keep_alive_seconds": "test_session_streams.test_silence_is_broken_by_comments",
    "retry_seconds": "test_resumption.test_a_stream_opens_with_an_event_without_data_only_where_it_may_be_polled",
    "kept_seconds": "test_every_setting.test_a_stream_is_kept_for_so_long",
    "shutdown_seconds": "test_every_setting.test_a_call_may_go_on_for_so_long_at_the_end",
    "listen": "test_session_streams.test_what_is_turned_off_is_neither_declared_nor_there",
    "allowed_hosts": "test_every_setting.test_hosts_and_origins_are_those_that_are_named",
    "allowed_origins": "test_every_setting.test_hosts_and_origins_are_those_that_are_named",
    "announce": "test_lists.test_a_server_declares_what_it_has_and_which_changes_it_announces",
    "schemas": "test_declared_schemas.test_a_declared_schema_is_sent_as_it_is",
    "page_size": "test_lists.test_pages_come_one_after_the_other_and_the_last_has_no_cursor",
    "limits": "test_limits.test_a_call_that_hangs_ends_in_an_error",
    "principal": "test_sessions.test_a_session_does_not_exist_for_another_principal",
    "protected_resource": "test_principals.test_a_refusal_says_where_to_get_a_token_and_for_what",
}

ADAPTERS = AdapterSet.default()
BOTH = (ADAPTERS.newest_with_handshake, ADAPTERS.by_version[ADAPTERS.versions[0]])
"""The newest revision with streams that are taken up again, and the newest of all."""


def test_each_member_has_a_test_that_shows_it() -> None:
    members = [member.name for made in (Settings, Limits) for member in dataclasses.fields(made)]
    assert sorted(SHOWN_BY) == sorted(members)
    for member, test in SHOWN_BY.items():
        file, _, name = test.rpartition(".")
        tree = ast.parse((Path(__file__).parent / f"{file}.py").read_text("utf-8"))
        found = {one.name for one in tree.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
        assert name in found, f"{member}: there is no {test}"


def registry() -> Registry:
    made = Registry("settled", "1.0")

    @made.tool
    async def reports(ex: Exchange, size: int = 0, pause: float = 0.0) -> str:
        await ex.progress(1)
        await asyncio.sleep(pause)
        return "x" * size

    @made.resource("test://{+path}")
    def anything(path: str) -> str:
        return path

    return made


def reports(**arguments: Any) -> dict[str, Any]:
    return {"name": "reports", "arguments": arguments, "_meta": {"progressToken": 1}}


async def test_what_a_session_keeps_is_bounded_in_bytes(adapter: Adapter, binding: str) -> None:
    settings = Settings(limits=Limits(session_bytes=4_000))
    uris = [f"test://{number}{'x' * 500}" for number in range(10)]
    async with serving(registry(), settings, binding) as url, RawClient(url, adapter) as client:
        if adapter.listens:
            reply = await client.call("subscriptions/listen", {"notifications": {"resourceSubscriptions": uris}})
            assert reply.status == adapter.error_statuses["too_large"]
            return
        refused = ["error" in (await client.call("resources/subscribe", {"uri": uri})).message for uri in uris]
        assert refused[0] is False and refused[-1] is True


@pytest.mark.parametrize("adapter", BOTH, ids=lambda adapter: adapter.version)
@pytest.mark.parametrize(
    ("limits", "waits"),
    [
        (Limits(queue=4, queue_bytes=64_000_000), True),
        (Limits(queue=400, queue_bytes=500_000), True),
        (Limits(queue=400, queue_bytes=64_000_000), False),
    ],
)
async def test_a_handler_waits_for_a_slow_reader_as_soon_as_so_much_waits(
    adapter: Adapter, limits: Limits, waits: bool
) -> None:
    """Where nothing of it has to wait, all is said to somebody who reads nothing."""
    assert (await said_to_a_slow_reader(adapter, limits) < SAID) is waits


async def test_a_handler_waits_as_soon_as_so_much_waits_for_all() -> None:
    limits = Limits(queue=400, queue_bytes=64_000_000, queue_bytes_of_all=500_000)
    assert await said_to_a_slow_reader(BOTH[1], limits) < SAID


SAID = 96
"""So often a quarter of a megabyte is said."""


async def said_to_a_slow_reader(adapter: Adapter, limits: Limits) -> int:
    told = adapter.encode_notification("notifications/progress", {"progressToken": 1, "progress": 1, "message": "x"})
    if "message" not in told["params"]:
        pytest.skip("a report of progress has no words in the revision")
    made, said = Registry("talkative", "1.0"), [0]

    @made.tool
    async def talks(ex: Exchange) -> str:
        for number in range(1, SAID + 1):
            await ex.progress(number, message="x" * 250_000)
            said[0] = number
        return "said"

    async with serving(made, Settings(limits=limits)) as url, RawClient(url, adapter) as client:
        whole = client.adapter.declared_params({"name": "talks", "arguments": {}}, client.declaration)
        whole["_meta"] = {**whole.get("_meta", {}), "progressToken": 1}
        async with posting(client, "tools/call", whole):
            before = -1
            while before != said[0]:
                before = said[0]
                await asyncio.sleep(0.4)
            return before


async def test_so_many_sync_calls_run_at_once_and_no_more(adapter: Adapter) -> None:
    made, running, most = Registry("threads", "1.0"), [0], [0]
    counting = threading.Lock()

    @made.tool
    def works() -> str:
        with counting:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.1)
        with counting:
            running[0] -= 1
        return "worked"

    async with serving(made, Settings(limits=Limits(threads=2))) as url, RawClient(url, adapter) as client:
        replies = await asyncio.gather(*(client.tool("works") for _ in range(6)))
        assert {reply.text for reply in replies} == {"worked"} and most == [2]


async def test_what_is_kept_of_all_sessions_is_bounded_in_bytes(session_adapter: Adapter) -> None:
    """A session takes up about 700 bytes, with what it costs to keep it."""
    limits = Limits(stored_bytes=1_800)
    settings = Settings(limits=limits, principal=lambda head: head.headers.get("x-principal"))
    async with (
        serving(registry(), settings) as url,
        RawClient(url, session_adapter, headers={"X-Principal": "ada"}),
        RawClient(url, session_adapter, headers={"X-Principal": "bob"}) as client,
    ):
        params = session_adapter.description_params(client.declaration)
        refused = await client.call(session_adapter.description_method, params, change={"X-Principal": "eve"})
        assert refused.status == session_adapter.error_statuses["unavailable"]


async def _taken_up_again(client: RawClient, after: float, then: RawClient | None = None) -> bool:
    """Break a stream with 75 kB behind it, have another one of 50 kB, and see whether the first is still kept."""
    async with posting(client, "tools/call", reports(size=75_000)) as stream:
        messages = await stream.messages()
        assert "result" in messages[-1]
        first = next(event.identifier for event in stream.seen if event.data)
    if then is not None:
        async with posting(then, "tools/call", reports(size=50_000)) as other:
            await other.messages()
    await asyncio.sleep(after)
    async with listening(client, first) as rest:
        return not await rest.silent()


RESUMING = [adapter for adapter in ADAPTERS.by_version.values() if adapter.event_ids]


@pytest.mark.parametrize("adapter", RESUMING, ids=lambda adapter: adapter.version)
@pytest.mark.parametrize("seconds", [0.3, 60])
async def test_a_stream_is_kept_for_so_long(adapter: Adapter, seconds: float) -> None:
    async with serving(registry(), Settings(kept_seconds=seconds)) as url, RawClient(url, adapter) as client:
        assert await _taken_up_again(client, after=0.6) is (seconds > 1)


@pytest.mark.parametrize("adapter", RESUMING, ids=lambda adapter: adapter.version)
@pytest.mark.parametrize(
    ("limits", "others", "kept"),
    [
        (Limits(), False, True),
        (Limits(kept_bytes_of_principal=100_000), False, False),
        (Limits(kept_bytes_of_principal=100_000), True, True),
        (Limits(kept_bytes=100_000), True, False),
    ],
)
async def test_what_is_kept_of_streams_is_bounded_in_bytes(
    adapter: Adapter, limits: Limits, others: bool, kept: bool
) -> None:
    """Of one client, and of all together; whoever has most gives up."""
    settings = Settings(limits=limits, principal=lambda head: head.headers.get("x-principal"))
    async with (
        serving(registry(), settings) as url,
        RawClient(url, adapter, headers={"X-Principal": "ada"}) as client,
        RawClient(url, adapter, headers={"X-Principal": "eve" if others else "ada"}) as other,
    ):
        assert await _taken_up_again(client, after=0, then=other) is kept


@pytest.mark.parametrize("seconds", [0, 3])
async def test_a_call_may_go_on_for_so_long_at_the_end(adapter: Adapter, seconds: float) -> None:
    server = serve(registry(), Settings(shutdown_seconds=seconds))
    url = await server.start()
    async with (
        RawClient(url, adapter) as client,
        posting(client, "tools/call", reports(pause=0.7)) as stream,
    ):
        await stream.message()
        stopping = asyncio.ensure_future(server.stop())
        (answer,) = await stream.messages()
        assert ("result" in answer) is (seconds > 1), answer
        await stopping


async def test_hosts_and_origins_are_those_that_are_named(adapter: Adapter, binding: str) -> None:
    settings = Settings(allowed_hosts=["shop.example"], allowed_origins=["https://app.example"])
    shop, app = "shop.example", "https://app.example"
    async with serving(registry(), settings, binding) as url:
        made = RawClient(url, adapter, headers={"Host": shop})
        async with made as client:
            for host, origin, allowed in (
                (shop, None, True),
                (shop, app, True),
                (shop, "https://shop.example", False),
                (shop, "http://localhost", False),
                ("app.example", app, False),
                ("localhost", None, False),
            ):
                reply = await client.call("tools/list", change={"Host": host, "Origin": origin})
                assert ("result" in reply.message) is allowed, (host, origin)


@pytest.mark.parametrize("limits", [Limits(queue=2), Limits(queue_bytes=1_000)])
async def test_a_stream_keeps_four_times_what_may_be_unread(limits: Limits) -> None:
    hub, topic = Shared(Settings(limits=limits), "kept").hub, key("stream", "one")
    opened = await hub.open(topic, owner="ada")
    for _ in range(8):
        await hub.publish(topic, b"x" * 200)
    reading = await hub.read(topic, opened, 0)
    assert reading is not None and len(reading.messages) == 8 and not reading.missed
    await hub.publish(topic, b"x" * 200)
    reading = await hub.read(topic, opened, 0)
    assert reading is not None and reading.missed
