"""What only shows through the whole client: sessions that are lost, transports that are tried, headers that were not known.

Citations: basic/transports#session-management, basic/transports#backwards-compatibility, basic/transports/streamable-http#client-behavior.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

import aiohttp
import pytest
from answering_anything import Received, Reply, for_ever, result, scripted
from mcp_anyrev import CannotConnect, Client, HttpRefused, Registry, Settings, WrongAnswer
from mcp_anyrev.testing import serve
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter

ADAPTERS = AdapterSet.default()
SPOKEN = ADAPTERS.newest_with_handshake
SESSION = str(SPOKEN.session_header)


def registry(called: list[str] | None = None) -> Registry:
    made = Registry("through", "1.0")

    @made.tool(
        input_schema={
            "type": "object",
            "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        }
    )
    async def hdr(arguments: dict[str, Any]) -> str:
        if called is not None:
            called.append(arguments["region"])
        return f"in {arguments['region']}"

    return made


def described(received: Received, adapter: Adapter) -> dict[str, Any]:
    """What a server that has tools answers to the request that asks it to describe itself."""
    who = {"name": "scripted", "version": "1"}
    told = adapter.description_result(who, {"tools": {}}, None, [adapter.version])
    return result(received, adapter.encode_result(adapter.description_method, told, who))


async def test_a_session_that_the_server_has_ended_is_opened_anew(session_adapter: Adapter) -> None:
    called: list[str] = []
    heads: list[Any] = []
    async with serve(registry(called)) as url, Client(url, session_adapter, on_wire=heads.append) as client:
        await client.call_tool("hdr", {"region": "a"})
        named = str(session_adapter.session_header)
        session = next(one.headers[named] for one in heads if named in getattr(one, "headers", {}))
        async with aiohttp.ClientSession() as other, other.delete(url, headers={named: session}) as ended:
            assert ended.status == session_adapter.ended_status
        await client.call_tool("hdr", {"region": "b"})
        assert called == ["a", "b"]


async def test_a_session_that_the_server_never_knows_is_opened_anew_once() -> None:
    async def script(received: Received, reply: Reply) -> None:
        if received.method == "POST" and received.message["method"] == SPOKEN.description_method:
            await reply.json(described(received, SPOKEN), headers={SESSION: "gone"})
        elif received.method == "POST" and "id" not in received.message:
            await reply.body(SPOKEN.accepted_status, {}, b"")
        else:
            await reply.json({}, HTTPStatus.NOT_FOUND)

    async with scripted(script) as server, Client(server.url, SPOKEN) as client:
        with pytest.raises(HttpRefused) as refused:
            await client.call_tool("any")
        assert refused.value.status == HTTPStatus.NOT_FOUND
        methods = [one.message.get("method") for one in server.of("POST")]
        assert methods.count("tools/call") == 2 and methods.count(SPOKEN.description_method) == 2


@pytest.mark.parametrize("status", [HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED])
async def test_http_sse_is_tried_after_an_answer_that_such_a_server_gives(status: HTTPStatus) -> None:
    streams: list[Reply] = []

    async def script(received: Received, reply: Reply) -> None:
        if received.method == "GET":
            streams.append(reply)
            await reply.stream(f"event: {SPOKEN.http_sse_endpoint_event}\ndata: /post\n\n")
            await for_ever()
        elif received.path != "/post":
            await reply.json({}, status)
        else:
            await reply.body(SPOKEN.accepted_status, {}, b"")
            if received.message.get("method") == SPOKEN.description_method:
                await streams[0].event(described(received, SPOKEN))

    async with scripted(script) as server, Client(server.url) as client:
        await client.initialize()
        assert client.verdict == (SPOKEN.version, "sse")


async def test_a_server_that_speaks_neither_says_what_both_said() -> None:
    async def script(received: Received, reply: Reply) -> None:
        await reply.body(HTTPStatus.NOT_FOUND, {"content-type": "text/html"}, b"<html>")

    async with scripted(script) as server, Client(server.url) as client:
        with pytest.raises(CannotConnect, match=r"404 Not Found.*sse") as refused:
            await client.initialize()
        assert str(refused.value).count("404") == 2


async def test_a_web_page_is_no_server() -> None:
    async def script(received: Received, reply: Reply) -> None:
        await reply.body(HTTPStatus.OK, {"content-type": "text/html"}, b"<html>")

    async with scripted(script) as server, Client(server.url) as client:
        with pytest.raises(WrongAnswer, match="text/html"):
            await client.initialize()


async def test_a_client_of_http_sse_connects_again_to_a_server_that_has_come_back(session_adapter: Adapter) -> None:
    served = serve(registry(), Settings(shutdown_seconds=0), path=None, sse_path="/sse")
    async with served as url:
        client = Client(url, session_adapter, transport="sse")
        await client.call_tool("hdr", {"region": "a"})
        port = int(url.split(":")[2].split("/")[0])
    try:
        async with serve(registry(), path=None, sse_path="/sse", port=port):
            async with asyncio.timeout(5):
                assert (await client.call_tool("hdr", {"region": "b"})).content[0].text == "in b"
            await client.close()
    finally:
        await client.close()


async def test_a_tool_that_was_never_listed_is_listed_when_its_headers_are_missed() -> None:
    called: list[str] = []
    mirroring = [one for one in ADAPTERS.by_version.values() if one.parameter_header is not None]
    for adapter in mirroring:
        async with serve(registry(called)) as url, Client(url, adapter) as client:
            assert (await client.call_tool("hdr", {"region": "über"})).content[0].text == "in über"
    assert called == ["über"] * len(mirroring)
