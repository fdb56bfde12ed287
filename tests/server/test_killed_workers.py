"""A worker that is killed in the middle of a call, a question and a stream: what docs/stores.md promises is what happens.

Rule: the others are asked through a balancer; the one that is killed was asked by itself, so that it is known what it was at.
Citations: basic/transports#resumability-and-redelivery, basic/transports#session-management
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import aiohttp
import pytest
from event_streams import listening, posting
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from raw_client import RawClient
from test_asking_by_rounds import again, questions_of
from worker_processes import Workers, balanced, workers

ADAPTERS = list(AdapterSet.default().by_version.values())
ACCEPT = {"action": "accept", "content": {"name": "Ada"}}
PROGRESS = {"progressToken": "t"}
KEEP_ALIVE = 0.5


async def in_the_middle_of_a_stream(client: RawClient, elsewhere: str, killed: asyncio.Event) -> None:
    """What was told before is there at another worker, once each; then the stream ends, since nobody writes on it any more."""
    call = {"name": "count", "arguments": {"n": 1_000, "ms": 20}, "_meta": PROGRESS}
    async with posting(client, "tools/call", call, id="counts") as stream:
        while len([event for event in stream.seen if event.data]) < 5:
            await stream.event()
        await killed.wait()
        with contextlib.suppress(aiohttp.ClientError):
            while await stream.event() is not None:
                pass
    client.url = elsewhere
    if not client.adapter.event_ids:
        assert (await client.tool("echo", {"text": "x"})).text == "x"
        return
    last = next(event.identifier for event in reversed(stream.seen) if event.identifier)
    async with listening(client, last) as rest:
        messages = await rest.messages(20 * KEEP_ALIVE)
    told = [event.message for event in stream.seen if event.data] + messages
    numbers = [message["params"]["progress"] for message in told]
    assert numbers == list(range(1, len(numbers) + 1)), "nothing is lost and nothing comes twice"


async def in_the_middle_of_a_question(client: RawClient, elsewhere: str, killed: asyncio.Event) -> None:
    """What the client carries is answered at another worker; a question that was pushed is gone with the call, and so is its answer."""
    if not client.adapter.can_push_ask:
        questions = questions_of(client, await client.tool("ask_name"))
        once = questions_of(client, await client.tool("ask_once"))
        await killed.wait()
        client.url = elsewhere
        assert (await again(client, "ask_name", {"name": ACCEPT}, questions.state)).text == "Hello Ada"
        answered = await asyncio.gather(*(again(client, "ask_once", {"name": ACCEPT}, once.state) for _ in range(3)))
        texts = [reply.text for reply in answered if reply.message and "result" in reply.message]
        assert texts.count("Hello Ada") == 1
        return
    pushed: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    asking = asyncio.ensure_future(client.tool("ask_name", on_message=pushed.put))
    question = await pushed.get()
    await killed.wait()
    with contextlib.suppress(aiohttp.ClientError, AssertionError):
        await asking
    client.url = elsewhere
    answer = {"jsonrpc": "2.0", "id": question["id"], "result": ACCEPT}
    assert (await client.post(answer)).status == client.adapter.accepted_status

    async def answer_it(message: dict[str, Any]) -> None:
        if "id" in message:
            await client.post({"jsonrpc": "2.0", "id": message["id"], "result": ACCEPT})

    assert (await client.tool("ask_name", on_message=answer_it)).text == "Hello Ada", "asked again, it is"


async def in_the_middle_of_a_call(client: RawClient, elsewhere: str, killed: asyncio.Event) -> None:
    """The call is gone; the session is not, and its id may be used again."""
    message = client.request("tools/call", {"name": "slow", "arguments": {"ms": 60_000}})
    calling = asyncio.ensure_future(client.post(message))
    await killed.wait()
    with contextlib.suppress(aiohttp.ClientError, AssertionError):
        await calling
    client.url = elsewhere
    message["params"]["arguments"] = {"ms": 0}
    assert (await client.post(message)).text == "done"


async def in_the_middle(
    adapter: Adapter, one: str, elsewhere: str, killed: asyncio.Event, ready: asyncio.Barrier
) -> None:
    async with contextlib.AsyncExitStack() as stack, asyncio.TaskGroup() as group:
        for what in (in_the_middle_of_a_stream, in_the_middle_of_a_question, in_the_middle_of_a_call):
            client = await stack.enter_async_context(RawClient(one, adapter))
            group.create_task(what(client, elsewhere, killed), name=f"{adapter.version} {what.__name__}")
        await ready.wait()


async def kill_in_the_middle(among: Workers, url: str, adapters: list[Adapter]) -> None:
    """Have all revisions be at everything on one worker, and kill it."""
    killed, ready = asyncio.Event(), asyncio.Barrier(len(adapters) + 1)
    one = among.urls[0]
    async with asyncio.TaskGroup() as group:
        for adapter in adapters:
            group.create_task(in_the_middle(adapter, one, url, killed, ready))
        await ready.wait()
        await asyncio.sleep(0.5)
        await among.kill(one)
        killed.set()


@pytest.mark.long
async def test_a_killed_worker_takes_nothing_with_it_that_another_can_finish(valkey_url: str) -> None:
    async with workers(valkey_url, 2, WIRE_KEEP_ALIVE=f"{KEEP_ALIVE}") as two, balanced(two) as url:
        await kill_in_the_middle(two, url, ADAPTERS)
