"""A script as a user writes it; both type checkers find nothing in it, and `tests/typing/test_public_api.py` runs it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any

from mcp_anyrev import Change, Depends, Exchange, Invocation, Registry, Settings, asgi, elicit
from mcp_revisions import AdapterSet
from mcp_revisions.canonical import TextContent
from mcp_revisions.v2025_06_18 import (
    Adapter,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    Tool,
    ToolInputSchema,
)
from mcp_revisions.v2026_07_28 import ContentBlock
from mcp_revisions.v2026_07_28 import Tool as NewestTool
from pydantic import BaseModel, TypeAdapter


@asynccontextmanager
async def lifespan(registry: Registry) -> AsyncIterator[dict[str, int]]:
    yield {}


registry = Registry("typed", "1.0", title="Typed", instructions="Call add.", lifespan=lifespan)


class Size(BaseModel):
    size: int


@registry.tool(title="Sized", read_only=True)
async def sized(args: Size, ex: Exchange) -> list[TextContent]:
    answer = await ex.ask("size", elicit("Which size?", Size))
    size: int = answer.data.size if answer.accepted and answer.data is not None else args.size
    return [TextContent(type="text", text=str(size))]


@registry.tool
def add(a: int, b: int) -> int:
    return a + b


async def unit() -> AsyncIterator[str]:
    yield "cm"


@registry.resource("mx://size/{name}", mime_type="text/plain", ttl_ms=1000, cache_scope="private")
async def size_of(name: str, unit: Annotated[str, Depends(unit)]) -> str | None:
    return f"{name} {unit}"


@registry.prompt(title="Measure")
def measure(name: str) -> str:
    return f"Measure {name}."


@registry.completion("name", prompt="measure")
async def names(value: str) -> list[str]:
    return [value]


@registry.around
async def timed(invocation: Invocation, proceed: Callable[[Invocation], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
    return await proceed(invocation)


def on_change(change: Change) -> None:
    print(change.kind, change.uri)


stop: Callable[[], None] = registry.watch(on_change)
stop()
parts = Registry("parts", "1.0")
parts.include(Registry("more", "1.0"), prefix="more_")
registry.include(parts)

application = asgi(registry, Settings(revisions=AdapterSet.default().versions[:2]))
total: int = add(1, 2)

adapters = AdapterSet(["2025-06-18", "2026-07-28"])
pushes: bool = adapters.by_version["2025-06-18"].can_push_ask
own: str = Adapter().version
selected = adapters.select({"jsonrpc": "2.0", "id": 1, "method": "ping"}, {}, "2025-06-18")
version: str = selected.adapter.version

tool = Tool(name="add", input_schema=ToolInputSchema(type="object"), title="Add")
title: str | None = tool.title
newest: str | None = NewestTool.model_validate_json('{"name": "a", "inputSchema": {"type": "object"}}').description
request = CallToolRequest(method="tools/call", params=CallToolRequestParams(name="add", arguments={"a": 1}))
name: str = request.params.name
result = CallToolResult.model_validate({"content": [{"type": "text", "text": "3"}]})
first = result.content[0]
text: str = first.text if first.type == "text" else ""
blocks = TypeAdapter[list[ContentBlock]](list[ContentBlock]).validate_python([{"type": "text", "text": "x"}])
kinds: list[str] = [block.type for block in blocks]

if __name__ == "__main__":
    assert (total, pushes, own, version, title, newest, name, text, kinds) == (
        3,
        True,
        "2025-06-18",
        "2025-06-18",
        "Add",
        None,
        "add",
        "3",
        ["text"],
    )
