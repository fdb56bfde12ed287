"""Pages of other origins: the allowed ones can read everything, all others nothing.

Citations: basic/transports/streamable-http#security-endpoint.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp_anyrev import Exchange, Registry, Settings, elicit
from mcp_anyrev.testing import serve
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving

ORIGIN = "https://app.example"
SETTINGS = Settings(allowed_origins=["app.example"], allowed_hosts=["127.0.0.1", "localhost"])


def registry() -> Registry:
    made = Registry("shared", "1.0")

    @made.tool
    async def plain() -> str:
        return "fine"

    @made.tool
    async def slow() -> str:
        await asyncio.sleep(0.2)
        return "slept"

    @made.tool
    async def gate(ex: Exchange) -> str:
        return str((await ex.ask("go", elicit("Go?"))).accepted)

    return made


async def test_an_allowed_origin_is_named_in_every_answer(adapter: Adapter, binding: str) -> None:
    async with (
        serving(registry(), SETTINGS, binding) as url,
        RawClient(url, adapter, headers={"Origin": ORIGIN}) as client,
    ):
        replies = [
            await client.tool("plain"),
            await client.tool("nothing"),
            await client.post(b"{"),
            await client.post({"jsonrpc": "2.0", "method": "notifications/nothing"}),
        ]
        for reply in replies:
            assert reply.headers["Access-Control-Allow-Origin"] == ORIGIN
            assert reply.headers["Vary"] == "Origin" and "Access-Control-Allow-Credentials" not in reply.headers
            exposed = {name.strip().lower() for name in reply.headers["Access-Control-Expose-Headers"].split(",")}
            assert {"mcp-session-id", "www-authenticate"} == exposed


async def test_a_stream_can_be_read_too(adapter: Adapter, binding: str) -> None:
    settings = Settings(allowed_origins=["app.example"], head_delay_seconds=0.01)
    async with (
        serving(registry(), settings, binding) as url,
        RawClient(url, adapter, headers={"Origin": ORIGIN}) as client,
    ):
        reply = await client.tool("slow")
        assert reply.streamed and reply.text == "slept"
        assert reply.headers["Access-Control-Allow-Origin"] == ORIGIN


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "https://app.example.evil.example",
        "",
        "https://app.example/page",
        "https://app.example?page",
        "//app.example",
        "https://evil@app.example",
    ],
)
async def test_another_origin_is_refused_and_named_nowhere(adapter: Adapter, binding: str, origin: str) -> None:
    async with serving(registry(), SETTINGS, binding) as url, RawClient(url, adapter) as client:
        request = client.request("tools/call", {"name": "plain", "arguments": {}})
        reply = await client.post(request, change={"Origin": origin})
        assert reply.status == adapter.error_statuses["origin_refused"]
        asked = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        async with client.http.options(url, headers=asked) as preflight:
            assert preflight.status == adapter.error_statuses["origin_refused"]
            for headers in (reply.headers, preflight.headers):
                assert not [name for name in headers if name.lower().startswith("access-control-")]


async def test_nobody_is_told_anything_who_does_not_say_where_they_are(adapter: Adapter, binding: str) -> None:
    async with serving(registry(), SETTINGS, binding) as url, RawClient(url, adapter) as client:
        reply = await client.tool("plain")
        assert not [name for name in reply.headers if name.lower().startswith("access-control-")]


async def test_a_page_may_ask_first_and_learns_what_it_may_send(binding: str) -> None:
    wanted = "content-type,mcp-session-id,mcp-param-region"
    asked = {"Origin": ORIGIN, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": wanted}
    adapter = AdapterSet.default().newest
    settings = Settings(allowed_origins=["app.example"], principal=_nobody)
    async with serving(registry(), settings, binding) as url, RawClient(url, adapter, mode=None) as client:
        async with client.http.options(url, headers=asked) as preflight:
            assert 200 <= preflight.status < 300 and await preflight.read() == b""
            assert preflight.headers["Access-Control-Allow-Origin"] == ORIGIN
            assert preflight.headers["Access-Control-Allow-Headers"] == wanted
            assert {"GET", "POST", "DELETE"} <= set(preflight.headers["Access-Control-Allow-Methods"].split(", "))
        for nonsense in ("x" * 5_000, "a:b", "a b", "é"):
            async with client.http.options(url, headers={**asked, "Access-Control-Request-Headers": nonsense}) as other:
                assert "Access-Control-Allow-Headers" not in other.headers
        async with client.http.options(url) as plain:
            assert plain.status >= 400


def _nobody(head: Any) -> str:
    from mcp_anyrev import Unauthorized

    raise Unauthorized("nobody is let in")


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "evil.example:80", ""])
async def test_a_name_that_a_stranger_resolves_to_this_machine_is_refused(
    adapter: Adapter, binding: str, host: str
) -> None:
    """DNS rebinding: `Host` and `Origin` are alike, and neither is on its list."""
    async with serving(registry(), Settings(), binding) as url, RawClient(url, adapter) as client:
        request = client.request("tools/call", {"name": "plain", "arguments": {}})
        for change in ({"Host": host}, {"Host": host, "Origin": f"http://{host}"}):
            reply = await client.post(request, change=dict(change))
            assert reply.status in (adapter.error_statuses["origin_refused"], 400)
        assert (await client.tool("plain")).text == "fine"


async def test_a_header_that_comes_twice_means_the_same_on_both_bindings(adapter: Adapter) -> None:
    statuses = []
    for binding in ("aiohttp", "asgi"):
        async with serving(registry(), SETTINGS, binding) as url, RawClient(url, adapter) as client:
            message = client.request("tools/call", {"name": "plain", "arguments": {}})
            headers = [*client.headers(message).items(), ("Content-Type", "application/json")]
            for name, values in (
                ("Origin", (ORIGIN, "https://evil.example")),
                ("Origin", (ORIGIN, ORIGIN)),
                (adapter.version_header or "MCP-Protocol-Version", (adapter.version, "1999-01-01")),
                ("X-Other", ("a", "b")),
            ):
                doubled = [
                    *(one for one in headers if one[0].lower() != name.lower()),
                    *((name, one) for one in values),
                ]
                async with client.http.post(url, json=message, headers=doubled) as response:
                    statuses.append(response.status)
    first, second = statuses[:4], statuses[4:]
    assert first == second
    assert first[0] == first[1] == adapter.error_statuses["origin_refused"] and first[3] == 200


async def test_both_transports_are_guarded_alike(session_adapter: Adapter) -> None:
    async with serve(registry(), SETTINGS, sse_path="/sse") as url, RawClient(url, session_adapter) as client:
        address = url.replace("/mcp", "/sse")
        async with client.http.get(address, headers={"Origin": "https://evil.example"}) as response:
            assert response.status == session_adapter.error_statuses["origin_refused"]
        async with client.http.get(address, headers={"Origin": ORIGIN}) as response:
            assert response.status == 200 and response.headers["Access-Control-Allow-Origin"] == ORIGIN
