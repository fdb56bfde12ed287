"""A server of the official SDK, with one thing for everything, for our client to call.

python tests/official/official_server.py
"""

from __future__ import annotations

import mcp_types
from mcp.server.mcpserver import Context, MCPServer
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import BaseModel

server = MCPServer("counterpart", version="1.0", instructions="Ask for anything.", log_level="ERROR")


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


@server.resource("mem://a", mime_type="text/plain")
def a() -> str:
    """A text."""
    return "A"


@server.prompt()
def greet(who: str) -> str:
    """Greets."""
    return f"Hello {who}"


if __name__ == "__main__":
    server.run("stdio")
