"""A script as a user writes it; both type checkers find nothing in it, and `tests/typing/test_public_api.py` runs it."""

from __future__ import annotations

from mcp_anyrev import Exchange, Registry, Settings, asgi, elicit
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

registry = Registry("typed", "1.0", title="Typed", instructions="Call add.")


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
