"""Checks that are easily left out in one place: each method at each address, each member that state is bound to, each boundary.

Citations: basic/transports/streamable-http#security-endpoint, basic/transports#protocol-version-header.
"""

from __future__ import annotations

import asyncio
import gc
import threading
from typing import Any

import aiohttp
import pytest
import test_http_sse as http_sse
from covering import in_turn
from hosting import on_uvicorn
from mcp_anyrev import Exchange, Limits, ProtectedResource, Registry, Server, Settings
from mcp_anyrev.head import Head
from mcp_anyrev.http.hosts_and_origins import HostsAndOrigins
from mcp_anyrev.server.asking.request_state import purpose_of
from mcp_anyrev.storage.keys import key
from mcp_anyrev.storage.memory import MemoryStore
from mcp_contract import ProtocolError
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving
from test_server import on_routes

METHODS = ("GET", "POST", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD")
PATHS = ("/mcp", "/sse", "/messages", "/.well-known/oauth-protected-resource/mcp")
EVIL = ({"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Origin": "null"})


def registry() -> Registry:
    made = Registry("doors", "1.0")

    @made.tool
    async def plain() -> str:
        return "fine"

    @made.tool
    def threaded() -> str:
        return "fine"

    @made.tool
    async def waits(ex: Exchange) -> str:
        await asyncio.sleep(0)
        await ex.progress(1)
        return "fine"

    return made


async def test_no_method_gets_past_host_and_origin_at_any_address(binding: str) -> None:
    """And nobody is asked who it is before that."""
    asked: list[Head] = []

    async def recognise(head: Head) -> str:
        asked.append(head)
        return "ada"

    resource = ProtectedResource("https://server.example/mcp", ["https://issuer.example"])
    server = Server(registry(), Settings(principal=recognise, protected_resource=resource))
    running: Any = (
        on_routes(server.routes(sse_path="/sse"), server=server)
        if binding == "aiohttp"
        else on_uvicorn(server.asgi(sse_path="/sse"))
    )
    async with running as root, aiohttp.ClientSession() as http:
        for path in PATHS:
            for method in METHODS:
                for evil in EVIL:
                    async with http.request(method, root + path, headers=evil) as response:
                        assert response.status == 403, (method, path, evil)
                        assert "access-control-allow-origin" not in response.headers
        assert not asked
        async with http.delete(f"{root}/mcp") as response:
            assert response.status != 403
        assert len(asked) == 1


def test_names_are_judged_by_both_lists() -> None:
    names = HostsAndOrigins(hosts=["a.example"], origins=["b.example"])
    names.check({"host": "a.example", "origin": "https://b.example"})
    for wrong in ({"host": "b.example"}, {"host": "a.example", "origin": "https://a.example"}, {}):
        with pytest.raises(Exception, match="one that is to be let in"):
            names.check(wrong)


BOUND: dict[str, Any] = {
    "server": "s",
    "principal": "ada",
    "method": "tools/call",
    "target": "t",
    "arguments": {"a": [1, {"b": None}]},
}
OTHERS: list[tuple[str, Any]] = [
    ("server", "other"),
    ("server", ""),
    ("principal", None),
    ("principal", "eve"),
    ("principal", ""),
    ("method", "prompts/get"),
    ("method", "resources/read"),
    ("target", "other"),
    ("target", ""),
    ("arguments", {}),
    ("arguments", None),
    ("arguments", {"a": [1, {"b": False}]}),
    ("arguments", {"a": [1, {"b": None}], "c": None}),
    ("arguments", {"a": [True, {"b": None}]}),
    ("arguments", {"a": ["1", {"b": None}]}),
]


@pytest.mark.parametrize(("member", "other"), OTHERS)
def test_state_is_bound_to_each_member_of_its_call(member: str, other: Any) -> None:
    assert purpose_of(**BOUND) != purpose_of(**{**BOUND, member: other})


def test_every_member_is_tried() -> None:
    assert {member for member, _ in OTHERS} == set(BOUND)


async def test_what_has_expired_is_not_consumed() -> None:
    now = 1_000.0
    store = MemoryStore(clock=lambda: now)
    for name, seconds, expected in (("in", 10.5, b"x"), ("at", 10.0, None), ("out", 5.0, None)):
        now = 1_000.0
        assert await store.put_if(key("ticket", name), None, b"x", seconds, owner="ada", in_flight=True)
        now = 1_010.0
        assert await store.consume(key("ticket", name)) == expected, name


@pytest.mark.parametrize(
    ("adapter", "name"),
    in_turn(AdapterSet.default().versions, ["plain", "threaded", "waits"]),
    indirect=["adapter"],
)
async def test_nothing_is_left_of_finished_calls(adapter: Adapter, name: str) -> None:
    from mcp_anyrev.conversation.conversation import Conversation
    from mcp_anyrev.conversation.requests import Request

    def timers() -> int:
        scheduled = asyncio.get_running_loop()._scheduled  # type: ignore[attr-defined]  # there is no other way to see them
        return sum(not timer.cancelled() and "_overdue" in repr(timer) for timer in scheduled)

    server = Server(registry())
    async with on_routes(server.routes(), server=server) as root, RawClient(f"{root}/mcp", adapter) as client:
        for _ in range(3):
            assert (await client.tool(name)).text == "fine"
        await asyncio.sleep(0.05)
        tasks, threads = len(asyncio.all_tasks()), threading.active_count()
        for _ in range(100):
            assert (await client.tool(name)).text == "fine"
        await asyncio.sleep(0.05)
        gc.collect()
        kept = [one for one in gc.get_objects() if isinstance(one, Request | Conversation)]
        assert len(kept) <= 10 and timers() == 0, (len(kept), timers())
        assert len(asyncio.all_tasks()) <= tasks + 5 and threading.active_count() <= threads + 5
        assert (await server.health())["requests"] == 0


async def test_the_version_header_is_checked_whatever_the_method_and_the_message(
    session_adapter: Adapter, binding: str
) -> None:
    """basic/transports#protocol-version-header: a request with an invalid one is answered 400, whatever it is."""
    async with serving(registry(), binding=binding) as url, RawClient(url, session_adapter) as client:
        headers = {"Accept": "text/event-stream", **client.headers({"method": "ping", "params": {}})}
        if session_adapter.version_header is None:
            pytest.skip("the revision has no such header")
        wrong = {**headers, session_adapter.version_header: "1999-01-01"}
        for method in ("GET", "DELETE"):
            async with client.http.request(method, url, headers=wrong) as response:
                assert response.status == session_adapter.error_statuses["version_header"], method
        for message in (
            {"jsonrpc": "2.0", "id": 1, "result": {}},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
        ):
            reply = await client.post(message, change=wrong)
            assert reply.status == session_adapter.error_statuses["version_header"], message
        assert (await client.tool("plain")).text == "fine"  # nothing was ended


@pytest.mark.parametrize("more", [0, 1])
async def test_a_batch_has_so_many_messages_and_no_more(session_adapter: Adapter, binding: str, more: int) -> None:
    settings = Settings(limits=Limits(batch_messages=3))
    async with serving(registry(), settings, binding) as url, RawClient(url, session_adapter) as client:
        batch = [client.request("ping") for _ in range(3 + more)]
        reply = await client.post(batch, unread=True)
        try:
            session_adapter.batching(batch)
        except ProtocolError:
            assert "error" in reply.message
            return
        if more:
            assert reply.status == session_adapter.error_statuses["too_large"]
        else:
            assert len(reply.message) == 3


@pytest.mark.parametrize("more", [0, 1])
async def test_a_batch_on_a_connection_has_so_many_messages_and_no_more(
    session_adapter: Adapter, binding: str, more: int
) -> None:
    settings = Settings(limits=Limits(batch_messages=3))
    batch = [{"jsonrpc": "2.0", "id": number, "method": "ping"} for number in range(3 + more)]
    async with (
        http_sse.serving(registry(), settings, binding) as url,
        http_sse.SseClient(url, session_adapter) as client,
    ):
        await client.shake_hands()
        status, answer = await client.post(batch)
        try:
            session_adapter.batching(batch)
        except ProtocolError:
            assert status == session_adapter.error_statuses["too_large" if more else "invalid_request"]
            assert "error" in answer
            return
        if more:
            assert status == session_adapter.error_statuses["too_large"]
            assert answer["error"]["code"] == session_adapter.error_codes["too_large"]
            assert (await client.call("ping"))["result"] == {}
            assert not any(isinstance(data, list) for _, data in client.events), "nothing of it was done"
        else:
            assert status == session_adapter.accepted_status
            while not (answers := [data for _, data in client.events if isinstance(data, list)]):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            assert sorted(one["id"] for one in answers[0]) == [0, 1, 2]
