"""Who may come in is judged on the head of a request; nobody waits for the body of one who may not.

Citations: basic/transports/streamable-http#security-endpoint, basic/authorization#token-handling.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from http import HTTPStatus
from urllib.parse import urlsplit

import pytest
from aiohttp import web
from hosting import on_aiohttp
from mcp_anyrev import Registry, Server, Settings, Unauthorized
from mcp_anyrev.head import Head
from mcp_revisions import AdapterSet
from raw_client import serving

NEVER_SENT = 10_000
ADAPTER = AdapterSet.default().newest_with_handshake


def registry() -> Registry:
    made = Registry("guarded", "1.0")

    @made.tool
    async def plain() -> str:
        return "fine"

    return made


def known(head: Head) -> str:
    """Only who gives a name is let in."""
    name = head.headers.get("x-name")
    if name is None:
        raise Unauthorized("who are you?")
    return name


async def head_only(url: str, method: str, **fields: str) -> bytes:
    """Send the head of a request whose body never comes; gives the head of the response."""
    parts = urlsplit(url)
    sent = {"Host": parts.netloc, "Content-Type": "application/json", "Content-Length": str(NEVER_SENT), **fields}
    lines = [f"{method} {parts.path} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items()), "", ""]
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        writer.write("\r\n".join(lines).encode())
        async with asyncio.timeout(2):
            return await reader.readuntil(b"\r\n\r\n")
    finally:
        writer.close()


def status_of(head: bytes) -> int:
    return int(head.split()[1])


@pytest.mark.parametrize("method", ["POST", "DELETE"])
@pytest.mark.parametrize("fields", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}])
async def test_names_are_judged_before_the_body_comes(binding: str, method: str, fields: dict[str, str]) -> None:
    async with serving(registry(), None, binding) as url:
        head = await head_only(url, method, **fields)
    assert status_of(head) == ADAPTER.error_statuses["origin_refused"]


async def test_who_it_is_is_found_out_before_the_body_comes(binding: str) -> None:
    async with serving(registry(), Settings(principal=known), binding) as url:
        head = await head_only(url, "POST")
        assert status_of(head) == ADAPTER.error_statuses["unauthorized"] and b"www-authenticate" in head.lower()
        with pytest.raises(TimeoutError):  # whoever is let in is waited for
            await head_only(url, "POST", **{"X-Name": "ada"})


async def test_a_body_that_says_it_is_too_large_is_not_waited_for(binding: str) -> None:
    async with serving(registry(), None, binding) as url:
        head = await head_only(url, "POST", **{"Content-Length": str(10**9)})
    assert status_of(head) == ADAPTER.error_statuses["too_large"]


async def test_a_client_that_leaves_within_its_body_is_nothing_to_log(
    binding: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(registry(), None, binding) as url:
        with pytest.raises(TimeoutError):
            await head_only(url, "POST")
        await asyncio.sleep(0.1)
    assert not [record for record in caplog.records if record.levelname in ("ERROR", "CRITICAL")]


@contextlib.asynccontextmanager
async def as_routes(made: Registry) -> AsyncIterator[str]:
    """A server as routes of an application of aiohttp, which would ask for bodies itself; gives the URL."""
    server, application = Server(made), web.Application()
    application.add_routes(server.routes())
    application.on_shutdown.append(server.close)
    async with on_aiohttp(application) as root:
        yield f"{root}/mcp"


@pytest.mark.parametrize("how", ["aiohttp", "routes", "asgi"])
async def test_a_client_that_waits_to_be_asked_for_its_body_is_asked_once_it_is_let_in(how: str) -> None:
    """RFC 9110, section 10.1.1: whoever expects `100-continue` sends the body when it is told to."""
    async with as_routes(registry()) if how == "routes" else serving(registry(), None, how) as url:
        waits = {"Expect": "100-continue"}
        assert status_of(await head_only(url, "POST", **waits)) == HTTPStatus.CONTINUE
        refused = await head_only(url, "POST", **waits, Host="evil.example")
        assert status_of(refused) == ADAPTER.error_statuses["origin_refused"]
        unread = await head_only(url, "POST", **waits, **{"Content-Length": str(10**9)})
        assert status_of(unread) == ADAPTER.error_statuses["too_large"]
