"""The official SDK's client against our server, over what `test_official_client` of the server's tests does not have."""

from __future__ import annotations

import pathlib
import sys
from typing import Any

import pytest
from bounds import starting
from mcp_anyrev import serve
from mcp_revisions import AdapterSet

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "interop"))

from run import TOOLS, declared

HANDSHAKE = AdapterSet.default().newest_with_handshake
STATELESS = AdapterSet.default().newest


async def everything(client: Any) -> None:
    """Do all that both have."""
    listed = await client.list_tools()
    assert sorted(tool.name for tool in listed.tools) == TOOLS
    assert (await client.call_tool("add", {"a": 1, "b": 2})).structured_content == {"total": 3}
    assert (await client.call_tool("fail", {})).is_error
    steps: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        steps.append(progress)

    await client.call_tool("steps", {}, progress_callback=note)
    assert steps == [1, 2, 3]
    assert (await client.read_resource("mem://a")).contents[0].text == "A"
    assert (await client.get_prompt("greet", {"who": "Ada"})).messages[0].content.text == "Hello Ada"
    assert (await client.call_tool("name", {})).content[0].text == "Ada"


async def answer(context: Any, params: Any) -> Any:
    import mcp_types

    return mcp_types.ElicitResult(action="accept", content={"name": "Ada"})


@pytest.mark.filterwarnings("ignore:.*deprecated.*")
async def test_over_http_sse() -> None:
    import mcp
    from mcp.client.sse import sse_client

    served = serve(declared(), path=None, sse_path="/sse")
    async with served as url, mcp.Client(sse_client(url), mode="legacy", elicitation_callback=answer) as client:
        await everything(client)


@pytest.mark.parametrize("mode", ["legacy", STATELESS.version])
async def test_over_stdio(mode: str) -> None:
    import mcp

    own = str(pathlib.Path(__file__).parents[1] / "interop" / "run.py")
    with starting():
        parameters = mcp.StdioServerParameters(command=sys.executable, args=[own, "--serve"])
        async with mcp.Client(parameters, mode=mode, elicitation_callback=answer) as client:
            await everything(client)
