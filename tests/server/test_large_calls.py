"""While a request of 4 MB is worked on, of any shape, other clients are answered.

Citations: basic/transports/streamable-http#sending-messages.
"""

from __future__ import annotations

import contextlib
import functools
import json
import pathlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from bounds import starting
from large_calls import MOST, PLACE, few, large_calls, members, nested
from mcp_contract import Declaration
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, worded

ADAPTERS = AdapterSet.default()

LONGEST_GAP = 0.35
"""In seconds of the processor: what somebody else's ping has to wait for."""

BINDINGS = ("aiohttp", "asgi")
PARTS = len(BINDINGS) * len(ADAPTERS.versions)
SERVER = pathlib.Path(__file__).with_name("large_server.py")


class Unchecked(RawClient):
    """What comes back is as large as what was sent, and what it must be like, other tests see."""

    def _check(self, sent: Any, reply: Any) -> None:
        pass


@pytest.fixture(scope="module")
def large_server() -> Iterator[Callable[[str], str]]:
    """Gives the URL of a server on a binding, in a process of its own, which is started for whoever asks for it first."""
    with contextlib.ExitStack() as stack:

        @functools.cache
        def url_of(binding: str) -> str:
            command = [sys.executable, str(SERVER), binding]
            process = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
            stack.callback(process.kill)
            assert process.stdout is not None
            with starting():
                return process.stdout.readline().strip()

        yield url_of


async def gap(client: RawClient) -> float:
    return float((await client.tool("gap")).text)


@pytest.mark.parametrize("part", range(PARTS))
async def test_nobody_holds_the_others_up(part: int, large_server: Callable[[str], str]) -> None:
    """Each shape once, and each revision with a part of them on each binding: what is worked on is the same behind both."""
    binding = BINDINGS[part // len(ADAPTERS.versions)]
    adapter = ADAPTERS.by_version[ADAPTERS.versions[part % len(ADAPTERS.versions)]]
    async with Unchecked(large_server(binding), adapter) as client:
        ping = client.request("ping")
        mirrored = {name: None for name in client.headers(ping) if name.lower() in _mirroring(adapter)}
        calls = list(large_calls(ping["params"].get("_meta", {})))
        held_up = {}
        for call in calls[part::PARTS]:
            request = client.request(call.method, call.params)
            like = request if len(call.method) < 100 and "@" not in call.method else ping
            change = client.headers(like) if "@" not in str(client.headers(like)) else mirrored
            await gap(client)
            await client.post(call.body(request), like=ping, change=change)
            held_up[call.name] = await gap(client)
        assert max(held_up.values()) < LONGEST_GAP, held_up
        assert (await client.tool("text", {"it": "fine"})).text == "fine"


@pytest.mark.parametrize("number", range(len(ADAPTERS.versions)))
async def test_nobody_holds_the_others_up_beside_calls(number: int, large_server: Callable[[str], str]) -> None:
    """Handshakes, declarations, batches, notifications, and answers to questions; half of the revisions on each binding."""
    version, binding = ADAPTERS.versions[number], BINDINGS[number % len(BINDINGS)]
    adapter = ADAPTERS.by_version[version]
    async with Unchecked(large_server(binding), adapter) as client:
        held_up = {}
        messages = [*_declarations(client), *_batches(client), *_said(client), *await _answers(client)]
        await gap(client)
        for name, message, filling in messages:
            body = json.dumps(message).replace(json.dumps(PLACE), filling).encode()
            like = message if isinstance(message, dict) and "method" in message else None
            change = {} if like is None or "@" in str(client.headers(like)) else client.headers(like)
            await client.post(body, like=client.request("ping"), change=change)
            held_up[name] = await gap(client)
        assert max(held_up.values()) < LONGEST_GAP, held_up
        assert (await client.tool("text", {"it": "fine"})).text == "fine"


Messages = list[tuple[str, Any, str]]
"""What each is, the message, and the JSON text that goes into it."""


def _declarations(client: RawClient) -> Messages:
    """What a client says of itself."""
    capabilities = {"experimental": PLACE, "sampling": {}}
    declaration = Declaration(capabilities, {"name": "large", "version": "1"})
    if client.adapter.has_handshake:
        method, params = client.adapter.description_method, client.adapter.description_params(declaration)
    else:
        method, params = "tools/list", client.adapter.declared_params({}, declaration)
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return [
        (f"declaration: {name}", message, filling)
        for name, filling in (("many", members("{}", 900_000)), ("wrong", members("1", 900_000)), ("deep", nested(150)))
    ]


def _batches(client: RawClient) -> Messages:
    """What may come together; refused as a whole where nothing may."""
    calls = [client.request("tools/call", {"name": "echo", "arguments": {"it": PLACE}}) for _ in range(100)]
    wide = [client.request("ping") for _ in range(5_000)]
    return [
        ("batch of calls", calls, few('{"a":1}', 800)),
        ("batch of texts", calls, json.dumps("x" * 40_000)),
        ("wide batch", wide, ""),
    ]


def _said(client: RawClient) -> Messages:
    """What wants no answer."""
    progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": PLACE, "progress": 1}}
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, "reason": PLACE}}
    response = {"jsonrpc": "2.0", "id": "nobody asked", "result": PLACE}
    text = json.dumps("x" * MOST)
    return [
        ("progress", progress, text),
        ("cancelled", cancelled, text),
        ("response", response, members("[]", 900_000)),
        ("identifier", {"jsonrpc": "2.0", "id": PLACE, "method": "ping"}, text),
        (
            "identifier of escapes",
            {"jsonrpc": "2.0", "id": PLACE, "method": "ping"},
            '"' + "\\u0000" * (MOST // 6) + '"',
        ),
    ]


async def _answers(client: RawClient) -> Messages:
    """Answers to questions, where they travel in a request that is sent again."""
    found: Messages = []
    for name, answer, filling in (
        ("form", {"action": "accept", "content": {"name": PLACE}}, json.dumps("x" * (MOST - 40_000))),
        ("form of many members", {"action": "accept", "content": PLACE}, members("1", 900_000)),
        ("form of wrong members", {"action": "accept", "content": PLACE}, members("{}", 900_000)),
    ):
        own = {"name": "asks", "arguments": {}}
        reply = await client.call("tools/call", own) if not client.adapter.can_push_ask else None
        questions = None if reply is None else client.adapter.read_questions(reply.result)
        if questions is not None:
            said = worded(client.adapter, answer)
            params = client.adapter.answer_params(own, dict.fromkeys(questions.questions, said), questions.state)
            found.append((name, client.request("tools/call", params), filling))
    return found


async def test_a_pushed_question_may_be_answered_at_length(
    push_adapter: Adapter, binding: str, large_server: Callable[[str], str]
) -> None:
    async with Unchecked(large_server(binding), push_adapter) as client:
        for content, accepted in ((json.dumps("x" * 3_000_000), "accept"), (members("1", 900_000), "None")):

            async def answer(message: dict[str, Any], content: str = content) -> None:
                said = f'{{"action": "accept", "content": {{"name": {content}}}}}'
                body = f'{{"jsonrpc": "2.0", "id": {json.dumps(message["id"])}, "result": {said}}}'
                await client.post(body.encode())
                if content.startswith("{"):  # an answer that does not fit leaves the question open
                    declined = {"jsonrpc": "2.0", "id": message["id"], "result": {"action": "decline"}}
                    await client.post(declined)

            await gap(client)
            said = (await client.tool("asks", {}, on_message=answer)).text
            assert said in (accepted, "decline")
            assert await gap(client) < LONGEST_GAP


def _mirroring(adapter: Adapter) -> set[str]:
    return {name.lower() for name in (adapter.method_header, adapter.name_header) if name is not None}
