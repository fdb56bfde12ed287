"""A server whose tools are those of another server, of another kind of revision. Specification: basic/versioning"""

from __future__ import annotations

from typing import Any

from descriptions import ADAPTERS, description, finished
from mcp_anyrev import Client, Registry, Server
from mcp_revisions.protocol import Adapter
from scripted import Message, Scripted, result


async def test_each_call_goes_on_once_and_what_the_other_lacks_is_answered_here(session_adapter: Adapter) -> None:
    """The one in front has a handshake, pings and a log level; the one behind has none of these."""
    behind = ADAPTERS.by_version[ADAPTERS.versions[0]]
    assert not behind.has_handshake

    def script(message: Message) -> list[Any]:
        if message["method"] == behind.description_method:
            return [result(message, description(behind))]
        content = {"content": [{"type": "text", "text": message["params"]["arguments"]["text"]}]}
        return [result(message, finished(behind, "tools/call", content))]

    other = Scripted(script)
    registry = Registry("bridge", "1.0")
    async with Client(other) as client:

        @registry.tool
        async def echo(text: str) -> str:
            return (await client.call_tool("echo", {"text": text})).text

        async with Server(registry) as server, Client(server.connect, session_adapter, sends_all=True) as front:
            await front.initialize()
            await front.ping()
            assert (await front.call_tool("echo", {"text": "once"})).text == "once"
    assert other.methods == [behind.description_method, "tools/call"]
