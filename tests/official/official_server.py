"""A server of the official SDK, with one thing for everything, for our client to call.

python tests/official/official_server.py
"""

from __future__ import annotations

from typing import Any

import anyio
import mcp_types
from mcp.server.mcpserver import Context, MCPServer
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import BaseModel

server = MCPServer("counterpart", version="1.0", instructions="Ask for anything.", log_level="ERROR")
fates: list[str] = []


class Person(BaseModel):
    name: str


class Sum(BaseModel):
    total: int


@server.tool(title="Adder")
def add(a: int, b: int) -> Sum:
    """Adds."""
    return Sum(total=a + b)


@server.tool()
def fail() -> str:
    """Fails."""
    raise ValueError("not today")


@server.tool()
async def steps(ctx: Context) -> str:
    """Reports how far it is."""
    for step in (1, 2, 3):
        await ctx.report_progress(step, 3, f"step {step}")
    return "stepped"


@server.tool()
async def noisy(ctx: Context) -> str:
    """Logs."""
    await ctx.log("error", "loud")
    return "logged"


@server.tool()
async def name(ctx: Context) -> str | mcp_types.InputRequiredResult:
    """Asks for a name, in the way that the revision has."""
    if ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
        asked = await ctx.elicit("Who?", Person)
        return asked.data.name if asked.action == "accept" else asked.action
    said = (ctx.input_responses or {}).get("who")
    if said is None:
        params = mcp_types.ElicitRequestFormParams(message="Who?", requested_schema=Person.model_json_schema())
        return mcp_types.InputRequiredResult(
            input_requests={"who": mcp_types.ElicitRequest(params=params)}, request_state="a state"
        )
    assert isinstance(said, mcp_types.ElicitResult)
    return str((said.content or {})["name"]) if said.action == "accept" else said.action


@server.tool()
async def others(ctx: Context) -> str | mcp_types.InputRequiredResult:
    """Asks the model, and for the roots."""
    message = mcp_types.SamplingMessage(role="user", content=mcp_types.TextContent(type="text", text="Hello"))
    if ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
        sampled: Any = await ctx.session.create_message([message], max_tokens=5)
        rooted: Any = await ctx.session.list_roots()
    elif not ctx.input_responses:
        params = mcp_types.CreateMessageRequestParams(messages=[message], max_tokens=5)
        asked = {"m": mcp_types.CreateMessageRequest(params=params), "r": mcp_types.ListRootsRequest()}
        return mcp_types.InputRequiredResult(input_requests=asked, request_state="a state")
    else:
        sampled, rooted = ctx.input_responses["m"], ctx.input_responses["r"]
    return f"{sampled.content.text} {rooted.roots[0].uri}"


@server.tool()
async def slow() -> str:
    """Takes long, and notes what became of it."""
    fates.append("running")
    try:
        await anyio.sleep(30)
    except anyio.get_cancelled_exc_class():
        fates.append("cancelled")
        raise
    return "slept"


@server.tool()
def fate() -> str:
    """What became of the last slow call."""
    return fates[-1] if fates else "unknown"


@server.tool()
async def grow(ctx: Context) -> str:
    """Says that there are other tools now."""
    if ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
        await ctx.session.send_tool_list_changed()
    else:
        await ctx.notify_tools_changed()
    return "grown"


@server.resource("mem://a", mime_type="text/plain")
def a() -> str:
    """A text."""
    return "A"


@server.resource("mem://n/{number}")
def numbered(number: int) -> str:
    """One for every number."""
    return f"number {number}"


@server.completion()
async def complete(reference: Any, argument: Any, context: Any) -> mcp_types.Completion:
    """Names."""
    return mcp_types.Completion(values=[name for name in ("ada", "alan") if name.startswith(argument.value)])


@server.prompt()
def greet(who: str) -> str:
    """Greets."""
    return f"Hello {who}"


if __name__ == "__main__":
    server.run("stdio")
