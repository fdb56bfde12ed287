"""What one client may use up: bodies in size and time, nesting, calls in time.

Citations: basic/lifecycle#timeouts.
"""

from __future__ import annotations

import asyncio
import time

import pytest
from mcp_anyrev import Limits, Registry, Settings
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving


def registry() -> Registry:
    made = Registry("bounded", "1.0")

    @made.tool
    async def plain() -> str:
        return "fine"

    @made.tool
    async def hangs() -> str:
        await asyncio.sleep(60)
        return "never"

    return made


async def test_a_body_that_does_not_arrive_is_not_waited_for(adapter: Adapter, binding: str) -> None:
    settings = Settings(limits=Limits(body_seconds=0.2))
    async with serving(registry(), settings, binding) as url, RawClient(url, adapter) as client:

        async def slowly() -> object:
            yield b'{"jsonrpc": '
            await asyncio.sleep(3)
            yield b'"2.0"}'

        start = time.monotonic()
        headers = {**client.headers(client.request("ping")), "Content-Type": "application/json"}
        async with client.http.post(url, data=slowly(), headers=headers) as response:
            assert 400 <= response.status < 500
        assert time.monotonic() - start < 2.5
        assert (await client.tool("plain")).text == "fine"


@pytest.mark.parametrize("nesting", [b"[" * 100_000, b'{"a":' * 5_000 + b"1" + b"}" * 5_000])
async def test_a_body_that_is_nested_too_deeply_is_no_message(adapter: Adapter, binding: str, nesting: bytes) -> None:
    async with serving(registry(), None, binding) as url, RawClient(url, adapter) as client:
        reply = await client.post(nesting)
        assert reply.status == adapter.error_statuses["parse_error"]
        assert (await client.tool("plain")).text == "fine"


async def test_a_call_that_hangs_ends_in_an_error(adapter: Adapter, binding: str) -> None:
    settings = Settings(limits=Limits(call_seconds=0.2), head_delay_seconds=0.05)
    async with serving(registry(), settings, binding) as url, RawClient(url, adapter) as client:
        reply = await client.tool("hangs")
        assert reply.error["code"] == adapter.error_codes["internal_error"]
        assert (await client.tool("plain")).text == "fine"


async def test_a_stream_of_changes_has_no_such_end(adapter: Adapter) -> None:
    if not adapter.listens:
        pytest.skip("changes come on a stream of the session")
    async with (
        serving(registry(), Settings(limits=Limits(call_seconds=0.1))) as url,
        RawClient(url, adapter) as client,
    ):
        listening = asyncio.ensure_future(
            client.call("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        )
        done, _ = await asyncio.wait((listening,), timeout=0.5)
        assert not done
        listening.cancel()
