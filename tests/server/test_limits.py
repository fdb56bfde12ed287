"""What one client may use up: bodies in size and time, nesting, calls in time.

Citations: basic/lifecycle#timeouts.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
import tracemalloc
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import pytest
from mcp_anyrev import Limits, Registry, Settings
from mcp_anyrev.transports.bodies import Bodies
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
            assert response.status == adapter.error_statuses["late"]
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


@contextlib.asynccontextmanager
async def arriving(
    client: RawClient, url: str, sent: int, address: str = "127.0.0.1"
) -> AsyncIterator[asyncio.StreamReader]:
    """A body of which so many bytes have been sent, and the rest does not come; gives what is answered."""
    place = urlsplit(url)
    reader, writer = await asyncio.open_connection(place.hostname, place.port, local_addr=(address, 0))
    try:
        fields = {**client.headers(client.request("ping")), "Content-Type": "application/json", "Host": place.netloc}
        lines = [f"POST {place.path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
        writer.write("\r\n".join([*lines, f"Content-Length: {sent + 1}", "", ""]).encode())
        await writer.drain()
        await asyncio.sleep(0.02)  # the head is looked at before there is anything of the body
        writer.write(b" " * sent)
        await writer.drain()
        yield reader
    finally:
        writer.close()


@pytest.mark.parametrize(
    ("limits", "of_all"),
    [
        (Limits(bodies_of_address=3), False),
        (Limits(arriving_bytes_of_address=300_000, bodies_of_address=30), False),
        (Limits(arriving_bytes=300_000), True),
    ],
    ids=["number", "bytes", "all"],
)
async def test_bodies_that_are_arriving_are_bounded(
    adapter: Adapter, binding: str, limits: Limits, *, of_all: bool
) -> None:
    async with serving(registry(), Settings(limits=limits), binding) as url, RawClient(url, adapter) as client:
        async with contextlib.AsyncExitStack() as stack:
            for _ in range(3):
                await stack.enter_async_context(arriving(client, url, 90_000))
            await asyncio.sleep(0.1)
            further = await stack.enter_async_context(arriving(client, url, 90_000))
            head = (await further.readuntil(b"\r\n\r\n")).lower()
            assert int(head.split()[1]) == adapter.error_statuses["busy"] and b"\r\nretry-after:" in head
            assert json.loads(await further.read(10_000))["error"]["code"] == adapter.error_codes["busy"]
            assert (await client.tool("plain")).text == "fine", "what is there at once waits for nothing"
            if limits.bodies_of_address > 3:
                small = await stack.enter_async_context(arriving(client, url, 9_000))
                with pytest.raises(TimeoutError):  # an equal share goes on arriving beside what is large
                    async with asyncio.timeout(0.3):
                        await small.read(1)
            elsewhere = await stack.enter_async_context(arriving(client, url, 90_000, "127.0.0.5"))
            with contextlib.nullcontext() if of_all else pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    assert b"429" in await elsewhere.readuntil(b"\r\n\r\n")
        await asyncio.sleep(0.1)
        async with arriving(client, url, 90_000) as waiting:
            with pytest.raises(TimeoutError):  # whoever has gone counts no longer
                async with asyncio.timeout(0.3):
                    await waiting.read(1)


async def test_a_body_that_comes_byte_by_byte_takes_no_more_room_than_another() -> None:
    bodies, size = Bodies(Limits()), 100_000

    async def byte_by_byte() -> AsyncIterator[bytes]:
        for place in range(size):
            yield b"%02d" % (place % 100)
        assert tracemalloc.get_traced_memory()[0] - before < 4 * size
        assert bodies.arriving == 1

    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        assert len(await bodies.arrived(byte_by_byte(), "192.0.2.1")) == 2 * size
    finally:
        tracemalloc.stop()
    assert bodies.arriving == 0
