"""The example of the documentation over raw HTTP, on every revision and both bindings."""

from __future__ import annotations

import importlib.util
import pathlib
from types import ModuleType

import pytest
from mcp_anyrev import Registry
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, call_answering, declares, serving

EXAMPLE = pathlib.Path(__file__).parents[2] / "examples" / "gates.py"


def load() -> ModuleType:
    specification = importlib.util.spec_from_file_location("gates_example", EXAMPLE)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def gates() -> Registry:
    registry: Registry = load().registry
    return registry


async def test_accepting_goes_ahead_and_declining_stops(gates: Registry, adapter: Adapter, binding: str) -> None:
    async with serving(gates, binding=binding) as url, RawClient(url, adapter) as client:
        accepted = await call_answering(client, "gate", {}, {"Go ahead?": {"action": "accept", "content": {}}})
        declined = await call_answering(client, "gate", {}, {"Go ahead?": {"action": "decline"}})
        plain = await client.tool("plain")
    assert [accepted.text, declined.text, plain.text] == ["went ahead", "stopped", "fine"]
    assert accepted.streamed == adapter.can_push_ask


async def test_only_a_tool_that_asks_carries_the_two_extra_arguments_and_only_where_they_are_needed(
    gates: Registry, adapter: Adapter
) -> None:
    async with serving(gates) as url, RawClient(url, adapter) as client:
        tools = {tool["name"]: tool for tool in (await client.call("tools/list")).result["tools"]}
    extra = {"mcpAnswers", "mcpState"}
    assert extra & set(tools["gate"]["inputSchema"]["properties"]) == (extra if adapter.asks_in_arguments else set())
    assert not extra & set(tools["plain"]["inputSchema"].get("properties", {}))
    assert [*tools] == ["gate", "plain"]


async def test_the_server_describes_itself(gates: Registry, adapter: Adapter) -> None:
    async with serving(gates) as url, RawClient(url, adapter) as client:
        params = adapter.description_params(client.declaration)
        reply = await client.call(adapter.description_method, params)
    assert adapter.version in adapter.described_versions(reply.result)
    described = adapter.encode_implementation({"name": "gates", "version": "1.0"})
    assert adapter.described_server(reply.result) == described
    assert declares(adapter, reply.result["capabilities"], {"tools": {}})
