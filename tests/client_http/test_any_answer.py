"""Whatever a server answers over HTTP, a call of a client ends: with the answer to that very call, or with a `ClientError`.

Rule: what is answered is made up of what servers do wrong, and of bytes; a wrong answer is never taken for the right one.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from answering_anything import EVENTS, JSON, Received, Reply, event, scripted
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mcp_anyrev import Limits
from mcp_anyrev.client.errors import ClientError
from mcp_anyrev.serving.client import Client
from mcp_revisions import AdapterSet

ADAPTERS = AdapterSet.default()
RIGHT = {"content": [{"type": "text", "text": "right"}], "resultType": "complete"}
WRONG = {"content": [{"type": "text", "text": "wrong"}], "resultType": "complete"}
AT_MOST_SECONDS = 6.0

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["jsonrpc", "id", "result", "error", "method", "params", "code", "_meta"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=6,
)
_MESSAGE = st.one_of(
    st.sampled_from(
        [
            "right",
            "wrong id",
            "text id",
            "null id",
            "no id",
            "error",
            "error without id",
            "request",
            "notification",
            "both",
        ]
    ),
    _JSON,
)
_STATUS = st.sampled_from([200, 200, 200, 200, 202, 204, 301, 307, 400, 401, 403, 404, 405, 429, 500, 503])
_KIND = st.sampled_from([JSON, EVENTS, {"content-type": "text/html"}, {}])
_ENDING = st.sampled_from(["close", "cut", "stay"])
ANSWER = st.one_of(
    st.tuples(st.just("json"), _STATUS, _MESSAGE),
    st.tuples(st.just("events"), st.lists(st.tuples(_MESSAGE, st.booleans()), max_size=4), _ENDING),
    st.tuples(st.just("body"), _STATUS, _KIND, st.binary(max_size=60)),
    st.tuples(st.just("bytes"), st.binary(max_size=60), _ENDING),
    st.tuples(st.just("nothing"), _ENDING),
)


def worded(message: Any, identifier: Any) -> Any:
    """A message of a kind, or JSON as it is."""
    kinds: dict[str, dict[str, Any]] = {
        "right": {"id": identifier, "result": RIGHT},
        "wrong id": {"id": 10_000, "result": WRONG},
        "text id": {"id": str(identifier), "result": WRONG},
        "null id": {"id": None, "result": WRONG},
        "no id": {"result": WRONG},
        "error": {"id": identifier, "error": {"code": -32603, "message": "no"}},
        "error without id": {"error": {"code": "x", "message": 7}},
        "request": {"id": identifier, "method": "ping"},
        "notification": {"method": "notifications/message", "params": {"level": 3}},
        "both": {"id": identifier, "result": WRONG, "error": {"code": 1, "message": ""}},
    }
    return {"jsonrpc": "2.0", **kinds[message]} if isinstance(message, str) and message in kinds else message


async def give(answer: Any, received: Received, reply: Reply) -> None:
    kind, *rest = answer
    identifier = received.message.get("id") if received.body else None
    if kind == "json":
        await reply.json(worded(rest[1], identifier), rest[0], {"location": "/other"})
    elif kind == "body":
        await reply.body(rest[0], rest[1], rest[2])
    elif kind == "events":
        named = [event(worded(message, identifier), "i" if has_id else None) for message, has_id in rest[0]]
        await reply.stream("retry: 1\n\n", *named)
    elif kind == "bytes":
        await reply.raw(rest[0])
    if rest[-1] == "cut":
        reply.cut()
    elif rest[-1] == "stay":
        await asyncio.sleep(AT_MOST_SECONDS)


async def call(version: str, answers: list[Any]) -> Any:
    """Call a tool of a server that answers so, one request after the other; the handshake is as it should be."""
    adapter = ADAPTERS.by_version[version]
    left = list(answers)

    async def script(received: Received, reply: Reply) -> None:
        message = json.loads(received.body) if received.method == "POST" else {}
        if message.get("method") == adapter.description_method and left:
            served = [version]
            described = adapter.description_result({"name": "s", "version": "1"}, {"tools": {}}, None, served)
            filled = adapter.encode_result(adapter.description_method, described, {"name": "s", "version": "1"})
            await reply.json({"jsonrpc": "2.0", "id": message["id"], "result": filled})
        elif received.method == "POST" and "id" not in message:
            await reply.body(adapter.accepted_status, {}, b"")
        elif left:
            await give(left.pop(0), received, reply)
        else:
            await reply.json({}, adapter.error_statuses["method_not_allowed"])

    async with scripted(script) as server:
        client = Client(server.url, adapter, timeout_seconds=0.3, limits=Limits(body_bytes=10_000), listens=False)
        async with asyncio.timeout(AT_MOST_SECONDS):
            async with client:
                try:
                    return await client.call_tool("any", {})
                except ClientError as error:
                    return error


@pytest.mark.parametrize("version", [ADAPTERS.versions[0], ADAPTERS.newest_with_handshake.version])
@settings(max_examples=60)
@given(answers=st.lists(ANSWER, min_size=1, max_size=3))
@example(answers=[("json", 404, "right")])  # the session is lost, and no other can be opened
def test_a_call_ends_with_its_answer_or_a_typed_error(version: str, answers: list[Any]) -> None:
    found = asyncio.run(call(version, answers))
    if not isinstance(found, ClientError):
        assert found.content[0].text == "right"


def test_the_right_answer_is_taken() -> None:
    for version in ADAPTERS.versions:
        found = asyncio.run(call(version, [("events", [("wrong id", True), ("right", True)], "stay")]))
        assert found.content[0].text == "right", version


async def call_over_http_sse(version: str, pieces: list[Any], ending: str) -> Any:
    """Call a tool of a server whose one stream brings these when it is called."""
    adapter = ADAPTERS.by_version[version]
    streams: list[Reply] = []

    async def script(received: Received, reply: Reply) -> None:
        if received.method == "GET":
            streams.append(reply)
            await reply.stream(f"event: {adapter.http_sse_endpoint_event}\ndata: /post\n\n")
            await asyncio.sleep(AT_MOST_SECONDS)
            return
        message = received.message
        await reply.body(adapter.accepted_status, {}, b"")
        if message.get("method") == adapter.description_method:
            described = adapter.description_result({"name": "s", "version": "1"}, {"tools": {}}, None, [version])
            await streams[0].event({"jsonrpc": "2.0", "id": message["id"], "result": described})
        elif message.get("method") == "tools/call":
            for piece in pieces:
                await streams[0].raw(
                    piece if isinstance(piece, bytes) else event(worded(piece, message["id"])).encode()
                )
            if ending == "cut":
                streams[0].cut()

    async with scripted(script) as server:
        limits = Limits(body_bytes=10_000)
        client = Client(server.url, adapter, transport="sse", timeout_seconds=0.2, limits=limits)
        async with asyncio.timeout(AT_MOST_SECONDS), client:
            try:
                return await client.call_tool("any", {})
            except ClientError as error:
                return error


@settings(max_examples=25)
@given(pieces=st.lists(_MESSAGE | st.binary(max_size=60), max_size=4), ending=st.sampled_from(["cut", "stay"]))
@example(pieces=[b"data: " + b"x" * 20_000], ending="stay")
@example(pieces=["wrong id", "text id", "null id", "right"], ending="stay")
def test_so_it_does_over_http_sse(pieces: list[Any], ending: str) -> None:
    found = asyncio.run(call_over_http_sse(ADAPTERS.newest_with_handshake.version, pieces, ending))
    if not isinstance(found, ClientError):
        assert found.content[0].text == "right"
