"""Sessions over HTTP: only after a handshake, only for who opened them, bounded in number and time.

Citations: basic/transports#session-management.
"""

from __future__ import annotations

import asyncio
import re

from mcp_anyrev import Limits, Registry, Settings
from mcp_anyrev.storage.memory import MemoryStore
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving

ROOM_FOR_TWO = Limits(stored_bytes_of_principal=1_800)  # a session takes up about 700, with what it costs to keep it


def registry() -> Registry:
    made = Registry("plain", "1.0")

    @made.tool
    async def plain() -> str:
        return "fine"

    return made


async def test_a_handshake_opens_a_session_with_an_unguessable_name(session_adapter: Adapter) -> None:
    async with (
        serving(registry()) as url,
        RawClient(url, session_adapter) as one,
        RawClient(url, session_adapter) as two,
    ):
        assert one.session != two.session
        assert re.fullmatch(r"[\x21-\x7e]{40,}", one.session or "")


async def test_no_session_where_there_is_no_handshake(result_adapter: Adapter) -> None:
    headers = {other.session_header for other in AdapterSet.default().by_version.values()} - {None}
    async with serving(registry()) as url, RawClient(url, result_adapter) as client:
        for header in headers:
            reply = await client.tool("plain", change={header: "no-such-session"})
            assert reply.text == "fine" and header not in reply.headers


async def test_a_request_without_its_session_is_refused(session_adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, session_adapter) as client:
        request = client.request("tools/call", {"name": "plain", "arguments": {}})
        reply = await client.post(request, change={session_adapter.session_header: None})
        if reply.status != session_adapter.error_statuses["session_missing"]:
            assert reply.status == session_adapter.error_statuses["version_header"]
        assert reply.message["id"] == request["id"]


async def test_an_unknown_session_is_refused_with_the_id_of_the_request(session_adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, session_adapter) as client:
        for name in ("no-such-session", "x" * 5_000, ""):
            client.session = name
            reply = await client.call("tools/list")
            assert reply.status == session_adapter.error_statuses["session_unknown"], name
            assert "id" in reply.message


async def test_an_ended_session_is_unknown(session_adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, session_adapter) as client:
        headers = client.headers(client.request("ping"))
        async with client.http.delete(url, headers=headers) as response:
            assert response.status == session_adapter.ended_status
        assert (await client.tool("plain")).status == session_adapter.error_statuses["session_unknown"]
        async with client.http.delete(url, headers=headers) as response:
            assert response.status == session_adapter.error_statuses["session_unknown"]


async def test_a_session_does_not_exist_for_another_principal(session_adapter: Adapter) -> None:
    settings = Settings(principal=lambda head: head.headers.get("x-principal"))
    async with (
        serving(registry(), settings) as url,
        RawClient(url, session_adapter, headers={"X-Principal": "ada"}) as client,
    ):
        for stranger in ("eve", None):
            reply = await client.tool("plain", change={"X-Principal": stranger})
            assert reply.status == session_adapter.error_statuses["session_unknown"]
        assert (await client.tool("plain")).text == "fine"


async def test_an_unused_session_ends_and_a_used_one_does_not(session_adapter: Adapter) -> None:
    async with (
        serving(registry(), Settings(session_ttl_seconds=0.4)) as url,
        RawClient(url, session_adapter) as used,
        RawClient(url, session_adapter) as unused,
    ):
        for _ in range(6):
            await asyncio.sleep(0.12)
            assert (await used.tool("plain")).text == "fine"
        assert (await unused.tool("plain")).status == session_adapter.error_statuses["session_unknown"]


async def test_sessions_are_bounded_and_the_longest_unused_goes_first(session_adapter: Adapter) -> None:
    store = MemoryStore(owner_bytes=ROOM_FOR_TWO.stored_bytes_of_principal, in_use_seconds=0.02)
    async with (
        serving(registry(), Settings(store=store)) as url,
        RawClient(url, session_adapter) as first,
        RawClient(url, session_adapter) as second,
    ):
        await asyncio.sleep(0.05)
        third = await RawClient(url, session_adapter).__aenter__()
        assert (await first.tool("plain")).status == session_adapter.error_statuses["session_unknown"]
        assert (await second.tool("plain")).text == "fine"
        assert (await third.tool("plain")).text == "fine"
        await third.__aexit__()


async def test_a_session_that_is_in_use_stays_and_a_new_one_is_told_to_wait(session_adapter: Adapter) -> None:
    async with (
        serving(registry(), Settings(limits=ROOM_FOR_TWO)) as url,
        RawClient(url, session_adapter) as first,
        RawClient(url, session_adapter) as second,
    ):
        params = session_adapter.description_params(second.declaration)
        refused = await second.call(session_adapter.description_method, params)
        assert refused.status == session_adapter.error_statuses["busy"]
        assert refused.error["code"] == session_adapter.error_codes["busy"]
        for client in (first, second):
            assert (await client.tool("plain")).text == "fine"


async def test_a_handshake_that_is_refused_or_in_a_batch_opens_none(session_adapter: Adapter) -> None:
    store = MemoryStore()
    async with serving(registry(), Settings(store=store)) as url, RawClient(url, session_adapter) as client:
        before = len(store._values)
        hello = client.request(session_adapter.description_method, {"protocolVersion": session_adapter.version})
        reply = await client.post(hello, change={session_adapter.session_header: None})
        assert "error" in reply.message and session_adapter.session_header not in reply.headers
        await client.post([client.request("initialize", session_adapter.description_params(client.declaration))])
        assert len(store._values) == before


async def test_what_a_session_agreed_on_holds_whatever_a_header_says(session_adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, session_adapter) as client:
        for version in AdapterSet.default().handshake_versions:
            reply = await client.call(
                "tools/list", change={session_adapter.version_header or "MCP-Protocol-Version": version}
            )
            if session_adapter.version_header is None or version == session_adapter.version:
                assert "result" in reply.message
            else:
                assert reply.status == session_adapter.error_statuses["version_header"]


async def test_a_handshake_for_a_revision_nobody_serves_gets_the_newest_that_has_one() -> None:
    """basic/lifecycle#version-negotiation"""
    newest = AdapterSet.default().handshake_versions[0]
    adapter = AdapterSet.default().by_version[newest]
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        for version in ("1999-01-01", "2099-12-31", AdapterSet.default().versions[0]):
            params = {**adapter.description_params(client.declaration), "protocolVersion": version}
            reply = await client.call(adapter.description_method, params)
            assert reply.result["protocolVersion"] == newest


async def test_a_modern_request_takes_nothing_from_a_session(result_adapter: Adapter) -> None:
    """basic/index#statelessness: capabilities of an earlier handshake do not count."""
    from mcp_anyrev import Exchange, elicit

    made = registry()

    @made.tool
    async def gate(ex: Exchange) -> str:
        return str((await ex.ask("go", elicit("Go ahead?"))).accepted)

    older = AdapterSet.default().by_version[AdapterSet.default().handshake_versions[0]]
    async with (
        serving(made) as url,
        RawClient(url, older) as old,
        RawClient(url, result_adapter, mode=None) as client,
    ):
        reply = await client.tool("gate", change={older.session_header or "": old.session})
        assert reply.error["code"] == result_adapter.error_codes["missing_client_capability"]


async def test_a_session_in_which_a_call_waits_is_in_use(session_adapter: Adapter, binding: str) -> None:
    """No stream is open while it waits, which would keep the session in use as well."""
    made, now = registry(), 0.0

    @made.tool
    async def waits() -> str:
        nonlocal now
        for _ in range(50):  # time passes only while what keeps the session in use may run
            await asyncio.sleep(0.02)
            now += 0.02
        return "waited"

    settings = Settings(store=MemoryStore(clock=lambda: now), session_ttl_seconds=0.4, head_delay_seconds=60)
    async with serving(made, settings, binding) as url, RawClient(url, session_adapter) as client:
        assert (await client.tool("waits")).text == "waited"
        assert (await client.tool("plain")).text == "fine"
        assert now > 0.9
