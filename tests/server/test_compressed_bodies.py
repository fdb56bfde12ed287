"""A compressed body is read like any other, alike on both bindings, and costs no more than it may hold.

Citations: basic/transports/streamable-http#sending-messages; RFC 9110, 8.4 (Content-Encoding) and 15.5.16 (415).
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web
from hosting import on_aiohttp
from mcp_anyrev import Limits, Registry, Server, Settings
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving


def raw_deflate(body: bytes) -> bytes:
    compressing = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressing.compress(body) + compressing.flush()


def registry() -> Registry:
    made = Registry("compressed", "1.0")

    @made.tool
    async def length(text: str) -> int:
        return len(text)

    return made


def call(client: RawClient, text: str) -> tuple[dict[str, Any], bytes]:
    message = client.request("tools/call", {"name": "length", "arguments": {"text": text}})
    return message, json.dumps(message).encode()


@pytest.mark.parametrize(
    ("coding", "compress"),
    [
        ("gzip", gzip.compress),
        ("GZip", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", raw_deflate),
        ("identity", bytes),
    ],
)
async def test_a_compressed_body_is_read(
    adapter: Adapter, binding: str, coding: str, compress: Callable[[bytes], bytes]
) -> None:
    async with serving(registry(), None, binding) as url, RawClient(url, adapter) as client:
        for size in (3, 1_000_000):
            message, body = call(client, "x" * size)
            reply = await client.post(compress(body), like=message, change={"Content-Encoding": coding})
            assert reply.text == str(size)


@pytest.mark.parametrize("coding", ["br", "zstd", "compress", "gzip, gzip", "nonsense\x80"])
async def test_a_coding_that_is_not_read_is_named_with_those_that_are(
    adapter: Adapter, binding: str, coding: str
) -> None:
    async with serving(registry(), None, binding) as url, RawClient(url, adapter) as client:
        message, body = call(client, "text")
        reply = await client.post(body, like=message, change={"Content-Encoding": coding})
        assert reply.status == adapter.error_statuses["unknown_coding"]
        assert reply.headers["Accept-Encoding"] == "gzip, deflate"
        assert reply.error["code"] == adapter.error_codes["unknown_coding"]
        assert (await client.tool("length", {"text": "fine"})).text == "4"


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
@pytest.mark.parametrize("damage", [lambda body: b"{}" * 50, lambda body: body[:20], lambda body: b"\x1f\x8b" + body])
async def test_a_body_that_is_not_compressed_as_it_says_is_refused(
    adapter: Adapter, binding: str, coding: str, damage: Callable[[bytes], bytes]
) -> None:
    compress = gzip.compress if coding == "gzip" else zlib.compress
    async with serving(registry(), None, binding) as url, RawClient(url, adapter) as client:
        message, body = call(client, "text" * 100)
        reply = await client.post(
            damage(compress(body)), like=message, change={"Content-Encoding": coding}, unread=True
        )
        assert reply.status == adapter.error_statuses["invalid_request"]
        assert (await client.tool("length", {"text": "fine"})).text == "4"


@pytest.mark.parametrize(("coding", "compress"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
async def test_what_a_body_holds_is_bounded_and_not_what_it_is_sent_as(
    adapter: Adapter, binding: str, coding: str, compress: Callable[[bytes], bytes]
) -> None:
    """Ten megabytes fit into 10 KB."""
    settings = Settings(limits=Limits(body_bytes=100_000))
    async with serving(registry(), settings, binding) as url, RawClient(url, adapter) as client:
        for size, fits in ((90_000, True), (110_000, False), (10_000_000, False)):
            message, body = call(client, "x" * size)
            reply = await client.post(compress(body), like=message, change={"Content-Encoding": coding}, unread=True)
            assert (reply.status == 200) is fits
            assert fits or reply.status == adapter.error_statuses["too_large"]


@pytest.mark.parametrize("options", [{}, {"auto_decompress": False}], ids=["undone", "left"])
async def test_an_application_that_has_undone_the_coding_already_is_read_alike(
    adapter: Adapter, options: dict[str, Any]
) -> None:
    """That is what aiohttp does in applications, unless their runner is told not to."""
    server, application = Server(registry()), web.Application()
    application.add_routes(server.routes("/mcp"))
    async with server, on_aiohttp(application, **options) as root, RawClient(f"{root}/mcp", adapter) as client:
        for coding, compress in (("gzip", gzip.compress), ("deflate", zlib.compress), ("deflate", raw_deflate)):
            for space in (b"", b" \r\n\t"):
                message, body = call(client, "x" * 100_000)
                reply = await client.post(compress(space + body), like=message, change={"Content-Encoding": coding})
                assert reply.text == "100000"
            if options:  # otherwise it is aiohttp that complains, in its own words
                reply = await client.post(compress(body)[:20], like=message, change={"Content-Encoding": coding})
                assert reply.status == 400
        for coding in ["compress", "gzip, gzip", *(["br", "zstd"] if options else [])]:
            reply = await client.post(body, like=message, change={"Content-Encoding": coding})
            assert reply.status == adapter.error_statuses["unknown_coding"], coding
