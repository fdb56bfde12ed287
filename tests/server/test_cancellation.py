"""A call is given up by a notification or by closing its stream, as the revision has it, and by nobody else.

Citations: basic/utilities/cancellation, basic/patterns/cancellation, basic/transports#sending-messages-to-the-server.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from event_streams import EventStream, posting
from mcp_anyrev import Exchange, Registry, Settings
from mcp_anyrev.server.core import Core
from mcp_anyrev.server.pipe import Pipe
from mcp_anyrev.storage.memory import MemoryHub, MemoryStore
from mcp_contract import Declaration
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from pydantic_core import to_json
from raw_client import RawClient, serving

fates: dict[str, str] = {}


def registry() -> Registry:
    made = Registry("cancelling", "1.0")

    @made.tool
    async def slow(ex: Exchange, tag: str, seconds: float = 5, speak: bool = True) -> str:
        fates[tag] = "running"
        if speak:
            await ex.progress(0, 1)
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            fates[tag] = f"cancelled: {ex.cancelled}"
            raise
        fates[tag] = f"finished: {ex.cancelled}"
        return "slept"

    @made.tool
    async def stubborn(ex: Exchange, tag: str) -> str:
        fates[tag] = "running"
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            fates[tag] = "stubborn"
        return "anyway"

    return made


async def becomes(tag: str, fate: str, seconds: float = 2) -> bool:
    for _ in range(int(seconds / 0.02)):
        if fates.get(tag) == fate:
            return True
        await asyncio.sleep(0.02)
    return False


def slow(tag: str, **more: Any) -> dict[str, Any]:
    return {"name": "slow", "arguments": {"tag": tag, **more}, "_meta": {"progressToken": tag}}


async def cancel(client: RawClient, identifier: Any) -> None:
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": identifier}}
    assert (await client.post(message)).status == client.adapter.accepted_status


async def answers(stream: EventStream) -> list[dict[str, Any]]:
    return [message for message in await stream.messages() if "method" not in message]


async def test_a_notification_gives_up_the_call_and_it_is_not_answered(session_adapter: Adapter, binding: str) -> None:
    tag = f"note-{session_adapter.version}-{binding}"
    for identifier, speak in ((777, True), ("777", False)):
        async with serving(registry(), binding=binding) as url, RawClient(url, session_adapter) as client:

            async def give_up(client: RawClient = client, identifier: Any = identifier, speak: Any = speak) -> None:
                assert await becomes(f"{tag}-{speak}", "running")
                await cancel(client, identifier)

            giving_up = asyncio.ensure_future(give_up())
            async with posting(client, "tools/call", slow(f"{tag}-{speak}", speak=speak), id=identifier) as stream:
                assert stream.response.content_type == "text/event-stream"
                assert await answers(stream) == []
            await giving_up
            assert await becomes(f"{tag}-{speak}", "cancelled: True")


async def test_a_call_that_will_not_stop_is_not_answered_either(session_adapter: Adapter) -> None:
    tag = f"stubborn-{session_adapter.version}"
    async with serving(registry()) as url, RawClient(url, session_adapter) as client:

        async def give_up() -> None:
            assert await becomes(tag, "running")
            await cancel(client, 5)

        giving_up = asyncio.ensure_future(give_up())
        async with posting(client, "tools/call", {"name": "stubborn", "arguments": {"tag": tag}}, id=5) as stream:
            assert await answers(stream) == [] and fates[tag] == "stubborn"
        await giving_up


async def test_ids_that_name_no_call_of_the_session_do_nothing(session_adapter: Adapter) -> None:
    tag = f"other-{session_adapter.version}"
    async with (
        serving(registry()) as url,
        RawClient(url, session_adapter) as client,
        RawClient(url, session_adapter) as other,
        posting(client, "tools/call", slow(tag, seconds=0.4), id=1) as stream,
    ):
        assert await becomes(tag, "running")
        await cancel(other, 1)  # another session's call of that id
        for identifier in ("1", 2, "", -1):
            await cancel(client, identifier)
        (answer,) = await answers(stream)
        assert answer["result"]["content"][0]["text"] == "slept" and fates[tag] == "finished: False"


async def test_a_notification_means_nothing_where_calls_are_given_up_by_closing(result_adapter: Adapter) -> None:
    tag = f"deaf-{result_adapter.version}"
    async with (
        serving(registry()) as url,
        RawClient(url, result_adapter) as client,
        posting(client, "tools/call", slow(tag, seconds=0.4), id=1) as stream,
    ):
        message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        await client.post(message, change=result_adapter.request_headers({**message, "params": {}}, None))
        (answer,) = await answers(stream)
        assert answer["result"]["content"][0]["text"] == "slept"


async def test_a_notification_on_a_pipe_needs_to_name_no_revision(result_adapter: Adapter) -> None:
    """Also where none was agreed on. Specification: basic/patterns/cancellation#cancellation-flow"""
    tag = f"pipe-{result_adapter.version}"
    core = Core(registry(), Settings(revisions=[result_adapter.version]))
    await core.start()
    pipe = Pipe(core)
    await pipe.open()
    try:
        params = result_adapter.declared_params(slow(tag), Declaration({}, {"name": "raw", "version": "1.0"}))
        await pipe.take_frame(to_json({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}))
        assert await becomes(tag, "running")
        given_up = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        await pipe.take_frame(to_json(given_up))
        assert await becomes(tag, "cancelled: True")
    finally:
        await pipe.close()
        await core.close()


async def test_a_lost_connection_gives_up_a_call_only_where_it_says_so(adapter: Adapter, binding: str) -> None:
    tag = f"lost-{adapter.version}-{binding}"
    async with serving(registry(), binding=binding) as url, RawClient(url, adapter) as client:
        async with posting(client, "tools/call", slow(tag, seconds=1)) as stream:
            await stream.message()
            stream.response.close()
        assert await becomes(tag, "cancelled: True" if adapter.disconnect_cancels else "finished: False")


async def test_a_lost_connection_before_the_stream_counts_alike(adapter: Adapter) -> None:
    tag = f"early-{adapter.version}"
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        call = asyncio.ensure_future(client.call("tools/call", slow(tag, seconds=0.8, speak=False)))
        assert await becomes(tag, "running")
        call.cancel()
        assert await becomes(tag, "cancelled: True" if adapter.disconnect_cancels else "finished: False")


async def test_one_message_of_a_batch_is_given_up_alone() -> None:
    for adapter in AdapterSet.default().by_version.values():
        async with serving(registry()) as url, RawClient(url, adapter) as client:
            tags = [f"batch-{each}-{adapter.version}" for each in range(3)]
            batch = [{**client.request("tools/call", slow(tag, seconds=0.6)), "id": tag} for tag in tags]

            async def give_up(client: RawClient = client, tag: str = tags[1]) -> None:
                if await becomes(tag, "running", 0.5):
                    await cancel(client, tag)

            giving_up = asyncio.ensure_future(give_up())
            reply = await client.post(batch, like=batch[0])
            await giving_up
            if isinstance(reply.message, list):
                assert {answer["id"] for answer in reply.message} == {tags[0], tags[2]}
                assert fates[tags[1]] == "cancelled: True"
                return
    raise AssertionError("no revision has batches")


async def test_the_notification_may_reach_another_worker(session_adapter: Adapter) -> None:
    tag = f"worker-{session_adapter.version}"
    shared = Settings(store=MemoryStore(), hub=MemoryHub())
    async with (
        serving(registry(), shared) as url,
        serving(registry(), shared) as other,
        RawClient(url, session_adapter) as client,
        RawClient(other, session_adapter) as elsewhere,
    ):
        elsewhere.session = client.session
        async with posting(client, "tools/call", slow(tag), id=9) as stream:
            assert await becomes(tag, "running")
            await cancel(elsewhere, 9)
            assert await answers(stream) == []
        assert await becomes(tag, "cancelled: True")


MALFORMED = [{}, {"requestId": None}, {"requestId": {"a": 1}}, {"requestId": 1, "reason": 7}, [], [1], None, "x"]


@pytest.mark.parametrize("params", MALFORMED)
async def test_a_malformed_cancellation_is_ignored(session_adapter: Adapter, binding: str, params: Any) -> None:
    """basic/utilities/cancellation#error-handling: invalid cancellation notifications SHOULD be ignored."""
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
    async with serving(Registry("ignoring", "1.0"), None, binding) as url, RawClient(url, session_adapter) as client:
        assert (await client.post(message)).status == session_adapter.accepted_status
        ping = await client.call("ping", {})
        assert "result" in ping.message


async def test_malformed_cancellations_in_a_batch_spoil_nothing(binding: str) -> None:
    """As above; and basic/index#batching of the revision that has batches: a notification in one is not answered."""
    tried = 0
    for adapter in AdapterSet.default().by_version.values():
        async with serving(Registry("ignoring", "1.0"), None, binding) as url, RawClient(url, adapter) as client:
            told = [
                {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
                for params in MALFORMED
                if params != {"requestId": 1, "reason": 7}
            ]
            ping = client.request("ping")
            reply = await client.post([*told, ping], like=ping)
            if isinstance(reply.message, dict):  # no batches there
                continue
            tried += 1
            assert [answer["id"] for answer in reply.message] == [ping["id"]] and "result" in reply.message[0]
            reply = await client.post(told, like=ping)
            assert reply.status == adapter.accepted_status and reply.message is None
    assert tried
