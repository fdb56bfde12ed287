"""The example that this project promises, as a user writes it, on every revision."""

from __future__ import annotations

from typing import Any

from mcp_anyrev import Client, Exchange, Registry, elicit
from mcp_anyrev.testing import serve
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from pydantic import BaseModel

registry = Registry("gates", "1.0")


class Nothing(BaseModel):
    pass


@registry.tool
async def gate(args: Nothing, ex: Exchange) -> str:
    """One confirmation."""
    return "went ahead" if (await ex.ask("go", elicit("Go ahead?"))).accepted else "stopped"


@registry.tool
async def plain(args: Nothing) -> str:
    """Asks nothing."""
    return "fine"


async def test_it_runs_as_written(adapter: Adapter) -> None:
    url = await serve(registry)
    async with Client(url, AdapterSet.default().by_version[adapter.version]) as client:
        await client.initialize()
        tools = {tool.name: tool for tool in await client.list_tools()}

    assert ("mcpAnswers" in tools["gate"].input_schema["properties"]) is adapter.asks_in_arguments
    assert "mcpAnswers" not in tools["plain"].input_schema["properties"]


async def test_whoever_asks_gets_an_answer_whichever_way_it_travels(adapter: Adapter) -> None:
    url = await serve(registry)
    for said, expected in ((True, "went ahead"), (False, "stopped"), (None, "stopped")):
        asked: list[str] = []

        async def on_ask(question: Any, said: Any = said, asked: list[str] = asked) -> Any:
            asked.append(question.message)
            return said

        async with Client(url, adapter, on_ask=on_ask) as client:
            assert (await client.call_tool("gate")).text == expected
        assert asked == ["Go ahead?"]
