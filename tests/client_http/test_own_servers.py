"""The client's half of Streamable HTTP and of HTTP+SSE against our own servers, on both bindings.

Citations: basic/transports/streamable-http, basic/transports#http-with-sse.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from hosting import on_aiohttp, on_uvicorn
from mcp_anyrev import Exchange, Limits, Registry, Settings, elicit
from mcp_anyrev.client.errors import CannotConnect, HttpRefused
from mcp_anyrev.http.client.options import HttpOptions
from mcp_anyrev.serving.server import Server
from mcp_anyrev.transports.aiohttp_client import http_sse, streamable_http
from mcp_contract import Unauthorized
from mcp_revisions.protocol import Adapter
from receiving import Receiving

ASKED = {"elicitation": {}}
NOT_THERE = "http://127.0.0.1:9"


class Fate:
    """What has become of a slow call."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.ended = asyncio.Event()


def registry(fate: Fate | None = None) -> Registry:
    made = Registry("called", "1.0")
    fate = fate or Fate()

    @made.tool
    async def plain(word: str = "fine") -> str:
        return word

    @made.tool
    async def gate(ex: Exchange) -> str:
        return "went ahead" if (await ex.ask("go", elicit("Go ahead?"))).accepted else "stopped"

    @made.tool
    async def chatty(ex: Exchange) -> str:
        await ex.log("error", "first")
        await asyncio.sleep(0.01)
        await ex.log("error", "second")
        return "said"

    @made.tool
    async def slow(ex: Exchange) -> str:
        await ex.log("error", "begun")
        fate.begun.set()
        try:
            await asyncio.sleep(20)
        finally:
            fate.ended.set()
        return "slept"

    return made


@contextlib.asynccontextmanager
async def served(binding: str, made: Registry, settings: Settings | None = None) -> AsyncIterator[str]:
    """A registry on a binding; gives its address, without a path."""
    server = Server(made, settings or Settings(retry_seconds=0, head_delay_seconds=0.2))
    if binding == "asgi":
        async with on_uvicorn(server.asgi(sse_path="/sse")) as url:
            yield url
        return
    application = web.Application()
    application.add_routes(server.routes(sse_path="/sse"))
    application.on_startup.append(server.start)
    application.on_shutdown.append(server.close)
    async with on_aiohttp(application) as url:
        yield url


@contextlib.asynccontextmanager
async def connected(
    url: str, adapter: Adapter, options: HttpOptions | None = None, capabilities: dict[str, Any] | None = None
) -> AsyncIterator[Receiving]:
    """A transport of Streamable HTTP, opened and past its handshake."""
    receiving = Receiving(streamable_http(f"{url}/mcp", Limits(), options or HttpOptions()), adapter, capabilities)
    await receiving.open()
    try:
        await receiving.handshake()
        yield receiving
    finally:
        await receiving.transport.close()


def text_of(response: dict[str, Any]) -> str:
    return str(response["result"]["content"][0]["text"])


async def test_calls_are_answered_at_every_revision(adapter: Adapter, binding: str) -> None:
    async with served(binding, registry()) as url, connected(url, adapter) as client:
        answers = await asyncio.gather(*(client.tool("plain", word=f"{number}") for number in range(20)))
        assert [text_of(answer) for answer in answers] == [f"{number}" for number in range(20)]


async def test_what_a_call_says_comes_on_its_own_stream(session_adapter: Adapter, binding: str) -> None:
    async with served(binding, registry()) as url, connected(url, session_adapter) as client:
        answer = await client.tool("chatty")
        assert text_of(answer) == "said"
        said = [(message, on) for message, on in client.seen if message.get("method") == "notifications/message"]
        assert [message["params"]["data"] for message, _ in said] == ["first", "second"]
        assert {on for _, on in said} == {answer["id"]}


async def test_a_pushed_question_is_answered_by_a_message_of_its_own(session_adapter: Adapter, binding: str) -> None:
    if not session_adapter.can_push_ask:
        pytest.skip("nothing is pushed in this revision")
    async with (
        served(binding, registry()) as url,
        connected(url, session_adapter, capabilities=ASKED) as client,
    ):
        calling = asyncio.ensure_future(client.tool("gate"))
        question, _ = await client.message("elicitation/create")
        client.answer(question["id"], {"action": "accept", "content": {}})
        assert text_of(await calling) == "went ahead"


async def test_a_request_waits_until_the_server_is_told_that_the_client_is_ready(
    session_adapter: Adapter, binding: str
) -> None:
    # basic/lifecycle#initialization: a call sent right behind the notification is not to overtake it.
    async with served(binding, registry()) as url:
        for _ in range(5):
            async with connected(url, session_adapter) as client:
                assert text_of(await client.tool("plain")) == "fine"


async def test_what_nobody_waits_for_is_cancelled_by_closing_its_stream_where_the_revision_has_it_so(
    adapter: Adapter, binding: str
) -> None:
    fate = Fate()
    async with served(binding, registry(fate)) as url, connected(url, adapter) as client:
        calling = asyncio.ensure_future(client.tool("slow"))
        await asyncio.wait_for(fate.begun.wait(), 3)
        calling.cancel()
        await asyncio.wait((calling,))
        if adapter.disconnect_cancels:
            await asyncio.wait_for(fate.ended.wait(), 3)
        else:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(fate.ended.wait(), 0.3)


async def test_the_stream_of_the_session_tells_of_changes(session_adapter: Adapter, binding: str) -> None:
    made = registry()
    async with served(binding, made) as url, connected(url, session_adapter) as client:
        async with asyncio.timeout(3):
            while not client.seen or client.seen[-1][0].get("method") != "notifications/tools/list_changed":
                made.changed("tools")
                await asyncio.sleep(0.02)
        assert client.seen[-1][1] is None


async def test_close_ends_the_session(session_adapter: Adapter, binding: str) -> None:
    # basic/transports#session-management: a client that needs a session no longer says so by DELETE.
    async with served(binding, registry()) as url:
        async with connected(url, session_adapter) as client:
            session = client.transport._session  # type: ignore[attr-defined]
        async with connected(url, session_adapter) as client:
            client.transport._session = session  # type: ignore[attr-defined]
            with pytest.raises(HttpRefused) as refused:
                await client.tool("plain")
        assert refused.value.status == session_adapter.error_statuses["session_unknown"]


async def test_a_refusal_says_what_the_server_says(adapter: Adapter, binding: str) -> None:
    def nobody(head: Any) -> str:
        raise Unauthorized("who are you?")

    async with served(binding, registry(), Settings(principal=nobody)) as url:
        with pytest.raises(HttpRefused, match="who are you") as refused:
            async with connected(url, adapter):
                pass
        assert refused.value.status == adapter.error_statuses["unauthorized"]
        assert refused.value.challenge is not None and refused.value.challenge.startswith("Bearer")
        assert isinstance(refused.value.body, dict)


@pytest.mark.parametrize("auth", ["sesame", lambda request: request.headers.update(authorization="Bearer sesame")])
async def test_a_token_lets_one_in(auth: Any, binding: str, session_adapter: Adapter) -> None:
    def known(head: Any) -> str:
        if head.headers.get("authorization") != "Bearer sesame":
            raise Unauthorized("who are you?")
        return "ali"

    async with (
        served(binding, registry(), Settings(principal=known)) as url,
        connected(url, session_adapter, HttpOptions(auth=auth)) as client,
    ):
        assert text_of(await client.tool("plain")) == "fine"


async def test_nobody_at_the_other_end(adapter: Adapter) -> None:
    with pytest.raises(CannotConnect, match="cannot be reached"):
        async with connected(NOT_THERE, adapter):
            pass


async def test_closing_fails_what_still_waits(session_adapter: Adapter) -> None:
    async with served("aiohttp", registry()) as url:
        async with connected(url, session_adapter) as client:
            calling = asyncio.ensure_future(client.tool("slow"))
            await client.message("notifications/message")
        with pytest.raises(CannotConnect, match="closed on this side"):
            await calling


async def test_http_sse_carries_calls_questions_and_what_the_server_says(
    session_adapter: Adapter, binding: str
) -> None:
    async with served(binding, registry()) as url:
        transport = http_sse(f"{url}/sse", session_adapter, Limits(), HttpOptions())
        client = Receiving(transport, session_adapter, ASKED)
        await client.open()
        try:
            await client.handshake()
            assert text_of(await client.tool("chatty")) == "said"
            assert {on for _, on in client.seen} == {None}
            if session_adapter.can_push_ask:
                calling = asyncio.ensure_future(client.tool("gate"))
                question, _ = await client.message("elicitation/create")
                client.answer(question["id"], {"action": "accept", "content": {}})
                assert text_of(await calling) == "went ahead"
        finally:
            await transport.close()


async def test_the_end_of_the_stream_of_http_sse_fails_all_that_waits(session_adapter: Adapter) -> None:
    async with served("aiohttp", registry(), Settings(shutdown_seconds=0)) as url:
        transport = http_sse(f"{url}/sse", session_adapter, Limits(), HttpOptions())
        client = Receiving(transport, session_adapter)
        await client.open()
        await client.handshake()
        calling = asyncio.ensure_future(client.tool("slow"))
        await client.message("notifications/message")
    try:
        # The server words an answer to what it ends where it can; where it cannot, nothing comes any longer.
        await asyncio.wait((calling,), timeout=3)
        assert calling.done()
        with pytest.raises(CannotConnect):
            await client.tool("plain")
    finally:
        calling.cancel()
        await transport.close()
        await asyncio.gather(calling, return_exceptions=True)
