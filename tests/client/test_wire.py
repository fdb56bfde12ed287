"""What a client shows to whoever looks on: every message both ways, and over HTTP what stands before it.

Citations: basic/transports, basic/transports/streamable-http#sending-messages.
"""

from __future__ import annotations

import json
from typing import Any

from mcp_anyrev import Client, Registry, Server, WireHead, WireMessage, serve
from mcp_revisions.protocol import Adapter


def registry() -> Registry:
    made = Registry("looked at", "1.0")

    @made.tool
    def add(a: int, b: int) -> int:
        return a + b

    return made


def methods(seen: list[WireMessage | WireHead], *, sent: bool) -> list[str]:
    """What the messages of one direction are: methods, and ids of responses."""
    messages: list[Any] = [json.loads(one.content) for one in seen if isinstance(one, WireMessage) and one.sent == sent]
    return [message.get("method", f"answer {message.get('id')}") for message in messages]


async def test_every_message_is_seen_both_ways(adapter: Adapter) -> None:
    seen: list[WireMessage | WireHead] = []
    async with Server(registry()) as server, Client(server.connect, adapter, on_wire=seen.append) as client:
        await client.call_tool("add", {"a": 1, "b": 2})
    ready = [adapter.ready_notification] if adapter.ready_notification else []
    assert methods(seen, sent=True) == [adapter.description_method, *ready, "tools/call"]
    assert methods(seen, sent=False) == ["answer 1", "answer 2"]
    assert not [one for one in seen if isinstance(one, WireHead)]


async def test_over_http_the_heads_are_seen_too(adapter: Adapter) -> None:
    seen: list[WireMessage | WireHead] = []
    secret = {"Authorization": "Bearer secret"}
    async with serve(registry()) as url, Client(url, adapter, on_wire=seen.append, headers=secret) as client:
        await client.call_tool("add", {"a": 1, "b": 2})
    heads = [one for one in seen if isinstance(one, WireHead)]
    posted = [head for head in heads if head.sent and head.line == f"POST {url}"]
    assert len(posted) == len(methods(seen, sent=True))
    assert all(head.headers["authorization"] == "Bearer secret" for head in posted)
    assert {head.line for head in heads if not head.sent} >= {"200"}
    if adapter.session_header is not None:
        assert any(adapter.session_header in head.headers for head in heads if not head.sent)
    assert "secret" not in repr(heads)
