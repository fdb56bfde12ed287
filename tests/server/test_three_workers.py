"""Three processes on one Valkey are one server, whichever of them a request comes to.

Rule: a balancer in front hands each request to the next one, whatever session or connection it came on, so nothing is pinned.
Citations: basic/transports#session-management, basic/transports#resumability-and-redelivery, basic/utilities/cancellation.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import socket
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from bounds import starting
from event_streams import EventStream, listening, posting
from mcp_anyrev.storage.keys import new_name
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from raw_client import RawClient
from test_asking_by_rounds import again, questions_of

WIRE = Path(__file__).parents[1] / "fixtures" / "wire.py"
OF_THE_CONNECTION = {"connection", "keep-alive", "transfer-encoding", "content-length", "host"}
ACCEPT = {"action": "accept", "content": {"name": "Ada"}}
PROGRESS = {"progressToken": "t"}
PIECES = 30


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port: int = bound.getsockname()[1]
        return port


@contextlib.asynccontextmanager
async def workers(store: str) -> AsyncIterator[list[str]]:
    """Three workers of an application of their own; gives where each is."""
    environment = {**os.environ, "WIRE_APP": f"wire {new_name()}"}
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable,
            str(WIRE),
            "worker",
            f"{free_port()}",
            store,
            stdout=asyncio.subprocess.PIPE,
            env=environment,
        )
        for _ in range(3)
    ]
    try:
        urls = []
        with starting():
            for process in processes:
                assert process.stdout is not None
                urls.append((await process.stdout.readline()).decode().strip())
        yield urls
    finally:
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
        for process in processes:
            await process.wait()


@contextlib.asynccontextmanager
async def balanced(urls: list[str]) -> AsyncIterator[str]:
    """A balancer that never pins; gives where it is."""
    turns = itertools.cycle(urls)

    async def relay(request: web.Request) -> web.StreamResponse:
        headers = {name: value for name, value in request.headers.items() if name.lower() not in OF_THE_CONNECTION}
        asked = passing.request(request.method, next(turns), headers=headers, data=await request.read())
        async with asked as answer:
            response = web.StreamResponse(status=answer.status)
            for name, value in answer.headers.items():
                if name.lower() not in OF_THE_CONNECTION:
                    response.headers[name] = value
            await response.prepare(request)
            with contextlib.suppress(ConnectionError):  # whoever asked has gone
                async for piece in answer.content.iter_any():
                    await response.write(piece)
                await response.write_eof()
            return response

    application = web.Application()
    application.router.add_route("*", "/mcp", relay)
    runner = web.AppRunner(application, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    connector = aiohttp.TCPConnector(force_close=True)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=None)) as passing:
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port := free_port()).start()
        try:
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            await runner.cleanup()


async def asks(client: RawClient) -> None:
    """A question is answered through another worker, in whichever way it is asked."""
    if client.adapter.can_push_ask:

        async def answer(message: dict[str, Any]) -> None:
            if "id" in message:
                await client.post({"jsonrpc": "2.0", "id": message["id"], "result": ACCEPT})

        for name in ("ask_name", "ask_once"):
            assert (await client.tool(name, on_message=answer)).text == "Hello Ada"
        return
    for name in ("ask_name", "ask_once"):
        questions = questions_of(client, await client.tool(name))
        tries = [again(client, name, {"name": ACCEPT}, questions.state) for _ in range(3)]
        texts = [
            reply.text if reply.message and "result" in reply.message else "" for reply in await asyncio.gather(*tries)
        ]
        assert texts.count("Hello Ada") == (1 if name == "ask_once" else 3), (name, texts)


async def resumes(client: RawClient) -> None:
    """A stream that broke goes on at another worker, and nothing is lost or comes twice."""
    if not client.adapter.event_ids:
        return
    call = {"name": "count", "arguments": {"n": PIECES, "ms": 10}, "_meta": PROGRESS}
    async with posting(client, "tools/call", call, id="counts") as stream:
        while len([event for event in stream.seen if event.data]) < 5:
            await stream.event()
        stream.response.close()
    streams: list[EventStream] = [stream]
    messages: list[dict[str, Any]] = []
    while not any(message.get("id") == "counts" for message in messages):
        last = next(event.identifier for each in reversed(streams) for event in reversed(each.seen) if event.identifier)
        async with listening(client, last) as more:
            streams.append(more)
            for _ in range(10):
                if (event := await more.event()) is None or (event.data and event.message.get("id") == "counts"):
                    break
            more.response.close()
        messages = [event.message for each in streams for event in each.seen if event.data]
    counted = [message["params"]["progress"] for message in messages if "params" in message]
    assert counted == list(range(1, PIECES + 1))


async def hears(client: RawClient) -> None:
    """Whatever changes on any worker is told, once."""
    adapter = client.adapter
    uri = f"mem://n/{adapter.version}"  # the others are told of theirs at the same time
    wanted = {"notifications": {"toolsListChanged": True, "resourceSubscriptions": [uri]}}
    if not adapter.listens:
        assert (await client.call("resources/subscribe", {"uri": uri})).status == 200
    opened = posting(client, "subscriptions/listen", wanted) if adapter.listens else listening(client)
    async with opened as stream:
        if adapter.listens:
            await stream.message()
        for _ in range(3):  # each time on another worker
            await client.tool("touch", {"uri": uri})
            told = await stream.message() or {}
            assert told["method"] == "notifications/resources/updated" and told["params"]["uri"] == uri
        await client.tool("touch", {"uri": "mem://n/another"})
        assert await stream.silent()
        stream.response.close()


async def cancels(client: RawClient) -> None:
    """A cancellation that comes to another worker than the call ends the call."""
    if not client.adapter.has_handshake:
        return
    call = {"name": "slow", "arguments": {"ms": 60_000}, "_meta": PROGRESS}
    begun = time.monotonic()
    async with posting(client, "tools/call", call, id="long") as stream:
        await asyncio.sleep(0.1)
        await client.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "long"}})
        assert not any("result" in message for message in await stream.messages())
    assert time.monotonic() - begun < 10


async def uses(url: str, adapter: Adapter) -> None:
    for way in (asks, resumes, hears, cancels):
        async with RawClient(url, adapter) as client:
            await way(client)
            if client.session is not None and adapter.has_handshake:
                stranger = {adapter.session_header: f"{client.session[:-1]}x"}
                assert (await client.tool("echo", {"text": "x"}, change=stranger)).status == adapter.error_statuses[
                    "session_unknown"
                ]


@pytest.mark.long
async def test_any_of_three_workers_answers_in_every_revision(valkey_url: str) -> None:
    async with workers(valkey_url) as urls, balanced(urls) as url, asyncio.TaskGroup() as group:
        for adapter in AdapterSet.default().by_version.values():
            group.create_task(uses(url, adapter), name=adapter.version)
