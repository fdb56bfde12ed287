"""HTTP+SSE against servers that answer anything.

Citations: basic/transports#http-with-sse.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

import pytest
from answering_anything import Received, Reply, Script, Scripted, for_ever, scripted
from mcp_anyrev import Limits
from mcp_anyrev.client.errors import CannotConnect, ClientError, HttpRefused, WrongAnswer
from mcp_anyrev.http.client.options import HttpOptions
from mcp_anyrev.transports.aiohttp_client import http_sse
from mcp_revisions import AdapterSet
from receiving import Receiving

SPOKEN = AdapterSet.default().newest_with_handshake
ENDPOINT = f"event: {SPOKEN.http_sse_endpoint_event}\ndata: "
TOKEN = HttpOptions(auth="sesame", connect_seconds=2)


@contextlib.asynccontextmanager
async def connected(script: Script, options: HttpOptions = TOKEN) -> AsyncIterator[tuple[Receiving, Scripted]]:
    async with scripted(script) as server:
        client = Receiving(http_sse(server.url, SPOKEN, Limits(body_bytes=100_000), options), SPOKEN)
        try:
            await client.open()
            yield client, server
        finally:
            begun = time.monotonic()
            await client.transport.close()
            assert time.monotonic() - begun < 2


async def refused(script: Script, options: HttpOptions = TOKEN) -> Exception:
    with pytest.raises(ClientError) as caught:
        async with connected(script, options):
            pass
    return caught.value


def beginning(first: str, then: str = "") -> Script:
    async def script(received: Received, reply: Reply) -> None:
        await reply.stream(first)
        if then:
            await reply.raw(then.encode())
        await for_ever()

    return script


@pytest.mark.parametrize("told", ["/post?session=1", "post?session=1", "?session=1", "./post"])
async def test_messages_go_to_the_address_that_the_stream_begins_with(told: str) -> None:
    streams: list[Reply] = []

    async def script(received: Received, reply: Reply) -> None:
        if received.method == "GET":
            streams.append(reply)
            await reply.stream(f"{ENDPOINT}{told}\n\n")
            await for_ever()
        assert received.headers["authorization"] == "Bearer sesame"
        await reply.body(SPOKEN.accepted_status, {}, b"")
        message = f'{{"jsonrpc":"2.0","id":{received.message["id"]},"result":{{}}}}'
        await streams[0].raw(f"event: other\ndata: {{}}\n\ndata: {message}\n\n".encode())

    async with connected(script) as (client, server):
        assert (await client.call("tools/list"))["result"] == {}
        assert [on for _, on in client.seen] == [None]
        (post,) = server.of("POST")
        assert post.path == {"/": told, "p": f"/{told}", "?": f"/mcp{told}", ".": "/post"}[told[0]]


@pytest.mark.parametrize(
    "told", ["http://example.com/post", "//example.com/post", "http://127.0.0.1:1/post", "https://127.0.0.1/post"]
)
async def test_an_address_on_another_origin_is_refused(told: str) -> None:
    error = await refused(beginning(f"{ENDPOINT}{told}\n\n"))
    assert isinstance(error, WrongAnswer) and "another origin" in str(error)


@pytest.mark.parametrize("told", ["http://u:p@127.0.0.1/", "ftp://127.0.0.1/", "http://[", "file:///x"])
async def test_what_is_no_address_is_refused(told: str) -> None:
    assert isinstance(await refused(beginning(f"{ENDPOINT}{told}\n\n")), WrongAnswer)


async def test_a_stream_that_begins_with_something_else_is_refused() -> None:
    assert isinstance(await refused(beginning('data: {"jsonrpc":"2.0"}\n\n')), WrongAnswer)


async def test_a_stream_that_does_not_begin_is_given_up() -> None:
    quick = HttpOptions(connect_seconds=0.1)
    assert isinstance(await refused(beginning(": nothing yet\n\n"), quick), CannotConnect)


async def test_a_stream_that_ends_before_it_begins_cannot_be_connected_to() -> None:
    async def script(received: Received, reply: Reply) -> None:
        await reply.stream()

    assert isinstance(await refused(script), CannotConnect)


async def test_an_address_that_has_no_stream_says_so() -> None:
    async def missing(received: Received, reply: Reply) -> None:
        await reply.json({}, 404)

    async def other(received: Received, reply: Reply) -> None:
        await reply.body(200, {"content-type": "text/html"}, b"<html>")

    assert isinstance(await refused(missing), HttpRefused)
    assert isinstance(await refused(other), WrongAnswer)


@pytest.mark.parametrize("broken", [False, True])
async def test_the_end_of_the_stream_fails_all_that_waits(broken: bool) -> None:
    ending = asyncio.Event()

    async def script(received: Received, reply: Reply) -> None:
        if received.method == "GET":
            await reply.stream(f"{ENDPOINT}/post\n\n")
            await ending.wait()
            if broken:
                reply.cut()
            return
        await reply.body(SPOKEN.accepted_status, {}, b"")
        ending.set()

    async with connected(script) as (client, _):
        with pytest.raises(CannotConnect):
            await client.call("tools/list")
        with pytest.raises(CannotConnect):
            await client.call("tools/list")


async def test_an_event_that_is_too_large_fails_all_that_waits() -> None:
    async def script(received: Received, reply: Reply) -> None:
        await reply.stream(f"{ENDPOINT}/post\n\n")
        if received.method == "GET":
            await asyncio.sleep(0.05)
            await reply.raw(b"data: " + b"x" * 200_000)

    async with connected(script) as (client, _):
        with pytest.raises(WrongAnswer, match="more than"):
            await client.call("tools/list")


async def test_a_message_that_is_not_taken_fails_its_request_alone() -> None:
    async def script(received: Received, reply: Reply) -> None:
        if received.method == "GET":
            await reply.stream(f"{ENDPOINT}/post\n\n")
            await for_ever()
        await reply.json({}, 503, {"retry-after": "3"})

    async with connected(script) as (client, _):
        with pytest.raises(HttpRefused) as caught:
            await client.call("tools/list")
        assert caught.value.retry_after_seconds == 3
        assert client.transport.failure is None
