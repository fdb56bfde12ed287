"""The official SDK's client as the counterpart, on every revision that it speaks.

It is imported where it is used: every process that shares the tests imports this module, which would cost it half a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from mcp_anyrev import Exchange, Registry, Settings, elicit
from mcp_revisions.protocol import Adapter
from raw_client import serving

if TYPE_CHECKING:
    import mcp_types

FORM = {"type": "object", "properties": {"color": {"type": "string"}}, "required": ["color"]}


def registry() -> Registry:
    made = Registry("counterpart", "1.0")

    @made.tool
    async def add(a: int, b: int) -> dict[str, int]:
        """Adds."""
        return {"total": a + b}

    @made.tool
    async def paint(ex: Exchange) -> str:
        answer = await ex.ask("color", elicit("Which color?", FORM))
        sure = await ex.ask("sure", elicit("Sure?"))
        return f"{answer.content} {sure.accepted}"

    return made


async def answer(context: Any, params: Any) -> mcp_types.ElicitResult:
    import mcp_types

    if params.message == "Sure?":
        return mcp_types.ElicitResult(action="accept", content={})
    return mcp_types.ElicitResult(action="accept", content={"color": "red"})


def mode_for(adapter: Adapter) -> str:
    """How it is told to speak a revision; the test is skipped where it cannot."""
    from mcp_types.version import SUPPORTED_PROTOCOL_VERSIONS

    if adapter.version not in SUPPORTED_PROTOCOL_VERSIONS:
        pytest.skip("it does not speak the revision")
    return "legacy" if adapter.has_handshake else adapter.version


async def test_it_lists_calls_and_is_asked(adapter: Adapter) -> None:
    import mcp

    mode = mode_for(adapter)
    async with (
        serving(registry(), Settings(revisions=[adapter.version])) as url,
        mcp.Client(url, mode=mode, elicitation_callback=answer) as client,
    ):
        assert client.protocol_version == adapter.version
        tools = [tool.name for tool in (await client.list_tools()).tools]
        total = await client.call_tool("add", {"a": 1, "b": 2})
        painted = await client.call_tool("paint", {})
    assert tools == ["add", "paint"]
    assert total.content[0].text == '{"total":3}'  # type: ignore[union-attr]  # it is a text block
    if adapter.asks_in_arguments:
        assert "mcpAnswers" in painted.content[0].text  # type: ignore[union-attr]  # as above
    else:
        assert painted.content[0].text == "{'color': 'red'} True"  # type: ignore[union-attr]  # as above


async def test_it_finds_out_which_revision_to_speak(binding: str) -> None:
    import mcp

    async with serving(registry(), binding=binding) as url, mcp.Client(url) as client:
        assert (await client.call_tool("add", {"a": 1, "b": 2})).is_error in (None, False)


async def test_an_unknown_tool_is_an_error_to_it(adapter: Adapter) -> None:
    import mcp

    settings = Settings(revisions=[adapter.version])
    async with serving(registry(), settings) as url, mcp.Client(url, mode=mode_for(adapter)) as client:
        with pytest.raises(mcp.MCPError):
            await client.call_tool("absent", {})


async def test_it_speaks_the_old_transport_as_well() -> None:
    from mcp.client.session import ClientSession
    from mcp.client.sse import sse_client
    from mcp_anyrev.testing import serve

    async with (
        serve(registry(), sse_path="/sse") as url,
        sse_client(url.replace("/mcp", "/sse")) as (read, write),
        ClientSession(read, write, elicitation_callback=answer) as session,
    ):
        await session.initialize()
        assert [tool.name for tool in (await session.list_tools()).tools] == ["add", "paint"]
        painted = await session.call_tool("paint", {})
    assert painted.content[0].text == "{'color': 'red'} True"  # type: ignore[union-attr]  # it is a text block
