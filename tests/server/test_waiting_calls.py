"""Calls that wait, alone and in batches: each is answered, refused or given up by itself, and they are bounded.

Citations: basic/index#batching, basic/utilities/cancellation#behavior-requirements, basic/transports#http-with-sse.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
import test_http_sse as http_sse
from mcp_anyrev import Limits, Registry, Settings
from mcp_anyrev.storage.memory import MemoryHub, MemoryStore
from mcp_contract import InvalidRequest
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, Reply, serving


def _has_batches(adapter: Adapter) -> bool:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    try:
        return adapter.batching([ping, ping]) == [ping, ping]
    except InvalidRequest:
        return False


BATCHING = [adapter for adapter in AdapterSet.default().by_version.values() if _has_batches(adapter)]


def registry(fate: list[str] | None = None) -> Registry:
    made, fate = Registry("waiting", "1.0"), [] if fate is None else fate

    @made.tool
    async def plain(padding: str = "") -> str:
        return "fine"

    @made.tool
    async def short(padding: str = "") -> str:
        await asyncio.sleep(0.1)
        return "slept"

    @made.tool
    async def hangs(padding: str = "") -> str:
        try:
            await asyncio.sleep(60)
        finally:
            fate.append("ended")
        return "never"

    return made


def call(identifier: Any, name: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": identifier, "method": "tools/call", "params": params}


BATCH: list[Any] = [
    call("first", "plain"),
    {"jsonrpc": "1.0", "id": "old", "method": "ping"},
    5,
    call("overdue", "hangs"),
    {"jsonrpc": "2.0", "id": "params", "method": "ping", "params": []},
    call("wrong", "plain", padding=7),
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}},
    {"jsonrpc": "2.0", "id": None, "method": "ping"},
    call("last", "short"),
]


def check_answers(answers: list[dict[str, Any]], adapter: Adapter) -> None:
    by_id: dict[Any, list[dict[str, Any]]] = {}
    for answer in answers:
        by_id.setdefault(answer.get("id"), []).append(answer)
    assert by_id["first"][0]["result"]["content"][0]["text"] == "fine"
    assert by_id["last"][0]["result"]["content"][0]["text"] == "slept"
    assert by_id["overdue"][0]["error"]["code"] == adapter.error_codes["internal_error"]
    assert by_id["wrong"][0]["result"]["isError"]
    for identifier in ("old", "params"):
        assert by_id[identifier][0]["error"]["code"] == adapter.error_codes["invalid_request"]
    assert [answer["error"]["code"] for answer in by_id[None]] == [adapter.error_codes["invalid_request"]] * 2
    assert len(answers) == 8


@pytest.fixture(params=BATCHING, ids=[adapter.version for adapter in BATCHING])
def batch_adapter(request: pytest.FixtureRequest) -> Adapter:
    adapter: Adapter = request.param
    return adapter


async def test_of_a_batch_everything_is_answered(batch_adapter: Adapter, binding: str) -> None:
    settings = Settings(limits=Limits(call_seconds=0.3))
    async with serving(registry(), settings, binding) as url, RawClient(url, batch_adapter) as client:
        reply: Reply = await client.post(BATCH)
        assert reply.status == 200
        check_answers(reply.message, batch_adapter)
        only_wrong = await client.post([5, {"jsonrpc": "2.0", "method": "notifications/initialized"}])
        assert [one["error"]["code"] for one in only_wrong.message] == [batch_adapter.error_codes["invalid_request"]]


async def test_what_is_no_message_counts_in_a_batch(batch_adapter: Adapter) -> None:
    settings = Settings(limits=Limits(batch_messages=3))
    async with serving(registry(), settings) as url, RawClient(url, batch_adapter) as client:
        just_fits: Reply = await client.post([client.request("ping"), 5, 5])
        assert len(just_fits.message) == 3
        too_many = await client.post([client.request("ping"), 5, 5, 5])
        assert too_many.status == batch_adapter.error_statuses["too_large"]


async def test_of_a_batch_everything_is_answered_on_a_stream_of_its_connection(
    batch_adapter: Adapter, binding: str
) -> None:
    settings = Settings(limits=Limits(call_seconds=0.3))
    async with (
        http_sse.serving(registry(), settings, binding) as url,
        http_sse.SseClient(url, batch_adapter) as client,
    ):
        await client.shake_hands()
        status, _ = await client.post(BATCH)
        assert status == batch_adapter.accepted_status
        while not (answers := [data for _, data in client.events if isinstance(data, list)]):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        check_answers(answers[0], batch_adapter)


async def test_a_call_that_is_given_up_leaves_the_others_of_its_batch(batch_adapter: Adapter, binding: str) -> None:
    fate: list[str] = []
    async with serving(registry(fate), None, binding) as url, RawClient(url, batch_adapter) as client:
        batch = [call("a", "short"), call("b", "hangs"), call("c", "short"), call("d", "plain")]
        answering = asyncio.ensure_future(client.post(batch))
        await asyncio.sleep(0.05)
        await client.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "b"}})
        reply = await answering
        assert {one["id"]: one["result"]["content"][0]["text"] for one in reply.message} == {
            "a": "slept",
            "c": "slept",
            "d": "fine",
        }
        assert fate == ["ended"]


async def until(fate: list[str], count: int) -> None:
    async with asyncio.timeout(5):
        while len(fate) < count:  # noqa: ASYNC110  # what is waited for says nothing
            await asyncio.sleep(0.02)


async def test_calls_end_with_the_connection_that_they_are_answered_on(session_adapter: Adapter, binding: str) -> None:
    """On the worker that holds it as well as on others."""
    fate: list[str] = []
    shared = Settings(store=MemoryStore(), hub=MemoryHub())
    async with (
        http_sse.serving(registry(fate), shared, binding) as url,
        http_sse.serving(registry(fate), shared, binding) as other,
    ):
        async with http_sse.SseClient(url, session_adapter) as client:
            await client.shake_hands()
            await client.post(call(100, "hangs"))
            elsewhere = client.address.replace(url.rpartition("/")[0], other.rpartition("/")[0])
            assert elsewhere != client.address
            assert (await client.post(call(101, "hangs"), elsewhere))[0] == session_adapter.accepted_status
            await asyncio.sleep(0.2)
            assert not fate
        await until(fate, 2)


async def test_of_two_handshakes_at_once_one_wins(session_adapter: Adapter, binding: str) -> None:
    other = AdapterSet.default().by_version[AdapterSet.default().handshake_versions[0]]

    class Slow:
        def __init__(self, works: Any) -> None:
            self._works = works

        def __getattr__(self, name: str) -> Any:
            work = getattr(self._works, name)

            async def do(*args: Any, **named: Any) -> Any:
                given = await work(*args, **named)
                await asyncio.sleep(0.03)
                return given

            return do

    settings = Settings(store=Slow(MemoryStore()))
    async with (
        http_sse.serving(registry(), settings, binding) as url,
        http_sse.SseClient(url, session_adapter) as client,
    ):
        params = [
            adapter.description_params(http_sse.Declaration({}, http_sse.INFORMATION))
            for adapter in (session_adapter, other, session_adapter, other)
        ]
        method = session_adapter.description_method
        answers = await asyncio.gather(*(client.call(method, each) for each in params))
        won = [answer["result"]["protocolVersion"] for answer in answers if "result" in answer]
        assert len(won) == 1 and sum("error" in answer for answer in answers) == 3


@pytest.mark.parametrize(
    ("limits", "padding"),
    [
        (Limits(calls_of_principal=3), ""),
        (Limits(calls_of_principal=20, call_bytes_of_principal=60_000), "x" * 20_000),
        (Limits(call_bytes=60_000), "x" * 20_000),
    ],
)
async def test_calls_that_wait_are_bounded(adapter: Adapter, binding: str, limits: Limits, padding: str) -> None:
    fate: list[str] = []
    async with serving(registry(fate), Settings(limits=limits), binding) as url, RawClient(url, adapter) as client:
        waiting = [asyncio.ensure_future(client.tool("hangs", {"padding": padding})) for _ in range(3)]
        await asyncio.sleep(0.3)
        refused = await client.tool("hangs", {"padding": padding})
        assert refused.status == adapter.error_statuses["busy"]
        assert refused.error["code"] == adapter.error_codes["busy"] and fate == ["ended"]
        assert (await client.tool("plain")).text == "fine", "what does not wait goes on"
        if padding:
            assert (await client.tool("short")).text == "slept", "an equal share finds room beside what is large"
        if adapter.ends_by_delete:  # where a client that leaves gives up nothing
            async with client.http.delete(url, headers=client.headers({"method": "ping", "params": {}})):
                await asyncio.gather(*waiting)
        for each in waiting:
            each.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def test_calls_that_wait_on_a_connection_are_bounded_in_bytes(session_adapter: Adapter) -> None:
    settings = Settings(limits=Limits(call_bytes_of_principal=60_000))
    async with (
        http_sse.serving(registry(), settings) as url,
        http_sse.SseClient(url, session_adapter) as client,
    ):
        await client.shake_hands()
        for number in range(3):
            await client.post(call(f"waits {number}", "hangs", padding="x" * 20_000))
        params = {"name": "hangs", "arguments": {"padding": "x" * 20_000}}
        answer = await client.call("tools/call", params)
        assert answer["error"]["code"] == session_adapter.error_codes["busy"]
        assert json.dumps(answer).count("x" * 100) == 0


async def test_what_has_waited_is_counted_no_longer(adapter: Adapter) -> None:
    settings = Settings(limits=Limits(calls_of_principal=2))
    async with serving(registry(), settings) as url, RawClient(url, adapter) as client:
        for _ in range(5):
            replies = await asyncio.gather(*(client.tool("short") for _ in range(2)))
            assert [reply.text for reply in replies] == ["slept", "slept"]
