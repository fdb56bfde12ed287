"""A header that is no text is refused with 400, whichever it is and whatever would have read it; one in UTF-8 is read alike everywhere.

Citations: basic/transports/streamable-http#server-validation.
"""

from __future__ import annotations

import asyncio
import json
from urllib.parse import urlsplit

import pytest
from mcp_anyrev import Exchange, Registry, Settings
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving

NAMES = ("mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name", "accept", "origin", "x-who", "x-other")


def registry() -> Registry:
    made = Registry("headers", "1.0")

    @made.tool
    async def who(ex: Exchange) -> str:
        return "nobody" if ex.principal is None else ex.principal.name

    return made


SETTINGS = Settings(principal=lambda head: head.headers.get("x-who"))


async def sent(url: str, headers: dict[str, bytes], message: object, method: str = "POST") -> tuple[int, bytes]:
    """The status and the body that answer a request whose headers are bytes."""
    address, body = urlsplit(url), json.dumps(message).encode()
    own = {
        "host": b"127.0.0.1",
        "content-type": b"application/json",
        "accept": b"application/json, text/event-stream",
        "content-length": b"%d" % len(body),
        "connection": b"close",
    }
    lines = b"".join(name.encode() + b": " + value + b"\r\n" for name, value in {**own, **headers}.items())
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    try:
        writer.write(f"{method} {address.path} HTTP/1.1\r\n".encode() + lines + b"\r\n" + body)
        answer = await reader.read()
    finally:
        writer.close()
    head, _, rest = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), rest


@pytest.mark.parametrize("value", [b"\xff\xfe", b"Jos\xe9", b"\xed\xa0\x80"])
async def test_a_header_that_is_no_text_is_refused(adapter: Adapter, binding: str, value: bytes) -> None:
    async with serving(registry(), SETTINGS, binding) as url, RawClient(url, adapter) as client:
        message = client.request("tools/call", {"name": "who", "arguments": {}})
        fitting = {name.lower(): text.encode() for name, text in client.headers(message).items()}
        for name in NAMES:
            status, body = await sent(url, {**fitting, name: value}, message)
            assert status == 400, (name, body)
            assert "error" in json.loads(body) and name.encode() in body.lower(), name
        opening = client.request(adapter.description_method, adapter.description_params(client.declaration))
        fitting = {name.lower(): text.encode() for name, text in client.headers(opening).items()}
        assert (await sent(url, {**fitting, "x-who": value}, opening))[0] == 400
        assert (await sent(url, {**fitting, "x-who": value}, None, "GET"))[0] == 400


async def test_spaces_around_a_header_are_none_of_it(adapter: Adapter, binding: str) -> None:
    async with (
        serving(registry(), SETTINGS, binding) as url,
        RawClient(url, adapter, headers={"X-Who": "ada"}) as client,
    ):
        message = client.request("tools/call", {"name": "who", "arguments": {}})
        headers = {**client.headers(message), "x-who": "ada"}
        spaced = {name.lower(): b" \t" + text.encode() + b"\t " for name, text in headers.items()}
        status, body = await sent(url, spaced, message)
        assert status == 200 and json.loads(body)["result"]["content"][0]["text"] == "ada"


async def test_a_header_in_utf_8_is_the_same_text_on_every_binding(adapter: Adapter, binding: str) -> None:
    async with (
        serving(registry(), SETTINGS, binding) as url,
        RawClient(url, adapter, headers={"X-Who": "José"}) as client,
    ):
        assert (await client.tool("who")).text == "José"
