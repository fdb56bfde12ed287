"""What is kept of clients is bounded in bytes, and what one client has kept never goes for what another sends.

Citations: basic/lifecycle#capability-negotiation, basic/transports#session-management, server/resources#subscriptions.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from covering import in_turn
from event_streams import listening, posting
from mcp_anyrev import Exchange, Limits, Principal, Registry, Settings, elicit
from mcp_anyrev.principal import owner_of
from mcp_anyrev.storage.memory import MemoryHub, MemoryStore
from mcp_contract import Declaration
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving, worded

SESSIONS = [version for version, adapter in AdapterSet.default().by_version.items() if adapter.has_handshake]
LARGE = 3_900_000
INFORMATION = {"name": "large", "version": "1"}
HUGE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a text": ({"experimental": {"x": {"y": "z" * LARGE}}}, INFORMATION),
    "a name": ({"experimental": {"n" * LARGE: {}}}, INFORMATION),
    "many members": ({"experimental": {f"{number:0190}": {} for number in range(20_000)}}, INFORMATION),
    "a list": ({"experimental": {"x": {"y": ["z" * 190] * 20_000}}}, INFORMATION),
    "what it is": ({}, {**INFORMATION, "name": "e" * LARGE}),
}


def registry() -> Registry:
    made = Registry("keeping", "1.0")

    @made.tool
    async def gate(ex: Exchange) -> str:
        return "went ahead" if (await ex.ask("go", elicit("Go ahead?"))).accepted else "stopped"

    @made.tool
    async def count(ex: Exchange) -> str:
        assert ex.session is not None
        return str(await ex.session.update("calls", lambda calls: (calls or 0) + 1))

    @made.tool
    async def declared(ex: Exchange) -> str:
        return ", ".join(sorted(ex.client.capabilities))

    @made.resource("test://{+path}")
    def anything(path: str) -> str:
        return path

    return made


async def handshake(client: RawClient, capabilities: Any, information: Any = INFORMATION) -> None:
    """Have another handshake, from which on the client is in another session."""
    params = client.adapter.description_params(Declaration(capabilities, information))
    reply = await client.call(client.adapter.description_method, params)
    assert reply.result["protocolVersion"] == client.adapter.version
    client.session = reply.headers[client.adapter.session_header]
    await client.post({"jsonrpc": "2.0", "method": client.adapter.ready_notification})


@pytest.mark.parametrize(("session_adapter", "huge"), in_turn(SESSIONS, list(HUGE)), indirect=["session_adapter"])
async def test_eight_huge_handshakes_leave_little_behind(session_adapter: Adapter, huge: str) -> None:
    store = MemoryStore()
    async with (
        serving(registry(), Settings(store=store)) as url,
        RawClient(url, session_adapter) as client,
    ):
        before = store._size
        capabilities, information = HUGE[huge]
        for _ in range(8):
            await handshake(client, {"sampling": {}, **capabilities}, information)
            assert (await client.tool("count")).text == "1"
        assert store._size - before < 1_000_000
        assert max(len(value.value) for value in store._values.values()) <= 64 * 1024
        assert "sampling" in (await client.tool("declared")).text, "what fits is kept"


async def test_what_a_client_declares_is_kept_as_it_came_where_it_fits(session_adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, session_adapter) as client:
        await handshake(client, {"experimental": {str(number): {"x": [None]} for number in range(500)}})
        assert (await client.tool("declared")).text == "experimental"


async def test_addresses_that_a_session_subscribes_to_are_bounded(session_adapter: Adapter, binding: str) -> None:
    store = MemoryStore()
    async with (
        serving(registry(), Settings(store=store), binding) as url,
        RawClient(url, session_adapter) as client,
    ):
        replies = [
            await client.call("resources/subscribe", {"uri": f"test://{number}/{'x' * 5_000}"}) for number in range(20)
        ]
        refused = [reply for reply in replies if reply.status != 200]
        assert 5 < len(refused) < 15
        for reply in refused:
            assert reply.status == session_adapter.error_statuses["busy"]
            assert reply.error["code"] == session_adapter.error_codes["busy"]
        huge = await client.call("resources/subscribe", {"uri": f"test://{'x' * LARGE}"})
        assert huge.error["code"] == session_adapter.error_codes["busy"]
        assert max(len(value.value) for value in store._values.values()) <= 64 * 1024
        assert (await client.tool("count")).text == "1"


async def test_addresses_of_one_stream_of_changes_are_bounded(adapter: Adapter, binding: str) -> None:
    if not adapter.listens:
        pytest.skip("changes come on a stream of the session")
    async with serving(registry(), None, binding) as url, RawClient(url, adapter) as client:
        for uris in ([f"test://{number}/{'x' * 5_000}" for number in range(20)], [f"test://{n}" for n in range(1_001)]):
            reply = await client.call("subscriptions/listen", {"notifications": {"resourceSubscriptions": uris}})
            assert reply.error["code"] == adapter.error_codes["too_large"]
            assert reply.status == adapter.error_statuses["too_large"]


async def test_an_id_is_bounded(adapter: Adapter, binding: str) -> None:
    async with serving(registry(), None, binding) as url, RawClient(url, adapter) as client:
        request = client.request("tools/list")
        long = await client.post({**request, "id": "x" * 1_025}, unread=True)
        assert long.status == adapter.error_statuses["invalid_request"]
        assert (await client.post({**request, "id": "x" * 1_024})).result["tools"]
        if adapter.cancels_by_notification:
            cancelled = {"method": "notifications/cancelled", "params": {"requestId": "x" * LARGE}}
            assert (await client.post({"jsonrpc": "2.0", **cancelled})).status == adapter.accepted_status


async def flood(client: RawClient, times: int) -> int:
    """So many handshakes that say a lot; gives how many were let in."""
    params = client.adapter.description_params(Declaration({"experimental": {"x": {"y": "z" * 10_000}}}, INFORMATION))
    let_in = 0
    for _ in range(times):
        reply = await client.call(client.adapter.description_method, params)
        if reply.status == 200:
            let_in += 1
            client.session = reply.headers[client.adapter.session_header]
            await client.post({"jsonrpc": "2.0", "method": client.adapter.ready_notification})
            client.session = None
        else:
            assert reply.status == client.adapter.error_statuses["busy"], reply.message
            assert int(reply.headers["Retry-After"]) >= 1
    return let_in


async def test_a_flood_of_handshakes_ends_no_session_in_use(session_adapter: Adapter, binding: str) -> None:
    """The one that is in use is of the same client, as far as anybody can tell."""
    settings = Settings(limits=Limits(stored_bytes_of_principal=256 * 1024))
    async with (
        serving(registry(), settings, binding) as url,
        RawClient(url, session_adapter) as client,
        RawClient(url, session_adapter) as other,
    ):
        assert (await client.tool("count")).text == "1"
        assert 10 < await flood(other, 60) < 40
        assert (await client.tool("count")).text == "2"


async def test_a_flood_of_handshakes_ends_no_call_that_is_not_finished(round_adapter: Adapter) -> None:
    settings = Settings(limits=Limits(stored_bytes_of_principal=256 * 1024))
    async with serving(registry(), settings) as url, RawClient(url, round_adapter) as client:
        own = {"name": "gate", "arguments": {}}
        questions = round_adapter.read_questions((await client.call("tools/call", own)).result)
        assert questions is not None
        if round_adapter.has_handshake:
            async with RawClient(url, round_adapter) as other:
                await flood(other, 60)
        accepted = dict.fromkeys(questions.questions, worded(round_adapter, {"action": "accept", "content": {}}))
        again = await client.call("tools/call", round_adapter.answer_params(own, accepted, questions.state))
        assert again.text == "went ahead"


async def test_streams_of_one_principal_do_not_push_out_the_unread_answer_of_another(session_adapter: Adapter) -> None:
    hub = MemoryHub(total_bytes=300 * 1024, owner_bytes=400 * 1024)
    made = Registry("answering", "1.0")

    @made.tool
    async def large(ex: Exchange) -> str:
        await ex.progress(1)
        return "x" * 20_000

    settings = Settings(hub=hub, principal=lambda head: head.headers.get("x-who"))
    async with (
        serving(made, settings) as url,
        RawClient(url, session_adapter, headers={"X-Who": "ann"}) as ann,
        RawClient(url, session_adapter, headers={"X-Who": "bob"}) as bob,
    ):
        called = {"name": "large", "arguments": {}, "_meta": {"progressToken": 1}}
        ann.http.headers.update({"X-Who": "ann"})
        async with posting(ann, "tools/call", called) as stream:
            while (event := await stream.event()) is not None and (not event.data or "id" in event.message):
                pass
            assert event is not None
            last = event.identifier
        for _ in range(40):
            await bob.call("tools/call", called)
        async with listening(ann, last) as stream:
            answer = await stream.message()
        assert answer is not None and len(answer["result"]["content"][0]["text"]) == 20_000


@contextlib.asynccontextmanager
async def coming_from(client: RawClient, address: str) -> AsyncIterator[RawClient]:
    """A client that connects from an address of this machine."""
    connector = aiohttp.TCPConnector(local_addr=(address, 0))
    before, client.http = client.http, aiohttp.ClientSession(connector=connector)
    try:
        yield client
    finally:
        await client.http.close()
        client.http = before


async def test_who_is_nobody_in_particular_is_told_apart_by_address(adapter: Adapter, binding: str) -> None:
    settings = Settings(limits=Limits(streams_of_principal=1))
    async with (
        serving(registry(), settings, binding) as url,
        RawClient(url, adapter) as one,
        RawClient(url, adapter) as other,
        coming_from(one, "127.0.0.3"),
        coming_from(other, "127.0.0.4"),
    ):
        statuses = []
        async with contextlib.AsyncExitStack() as streams:
            for client in (one, one, other):
                if adapter.has_handshake:
                    await handshake(client, {})
                wanted = {"notifications": {"toolsListChanged": True}}
                opened = posting(client, "subscriptions/listen", wanted) if adapter.listens else listening(client)
                statuses.append((await streams.enter_async_context(opened)).response.status)
        assert statuses == [200, adapter.error_statuses["busy"], 200]


async def test_who_is_somebody_is_the_same_from_everywhere(session_adapter: Adapter) -> None:
    settings = Settings(limits=Limits(streams_of_principal=1), principal=lambda head: Principal("ann"))
    async with (
        serving(registry(), settings) as url,
        RawClient(url, session_adapter) as one,
        RawClient(url, session_adapter) as other,
        coming_from(other, "127.0.0.4"),
        listening(one),
        listening(other) as refused,
    ):
        assert refused.response.status == session_adapter.error_statuses["busy"]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("fe80::1%eth0", "fe80::2", True),
        ("not an address", "not an address", True),
        ("192.0.2.1", None, False),
    ],
)
def test_of_an_address_counts_what_one_client_cannot_change(one: str, other: str | None, same: bool) -> None:
    assert (owner_of(None, one) == owner_of(None, other)) is same
    assert owner_of("ann", one) == owner_of("ann", other)
