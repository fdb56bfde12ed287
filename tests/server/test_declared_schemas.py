"""Input schemas that are sent as they are, what is said of tools that a revision does not get, and what a registry says for its tools.

Citations: server/tools#tool.
"""

from __future__ import annotations

import json
import logging
from typing import Any, Literal

import pytest
from mcp_anyrev import Exchange, RegistrationError, Registry, Settings, elicit
from mcp_anyrev.principal import Principal
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from pydantic import BaseModel
from raw_client import RawClient, serving


class Circle(BaseModel):
    radius: int


class Square(BaseModel):
    side: int


async def shape(shape: Circle | Square) -> str:
    """Two forms of object, which one plain schema cannot say."""
    return type(shape).__name__


async def asking(shape: Circle | Square, ex: Exchange) -> str:
    return "yes" if (await ex.ask("sure", elicit("Sure?"))).accepted else "no"


def withheld_on() -> list[str]:
    return [adapter.version for adapter in AdapterSet.default().by_version.values() if simplifies(adapter)]


def simplifies(adapter: Adapter) -> bool:
    from mcp_contract import NotSimplifiable

    made = Registry("shapes", "1.0")
    made.tool(shape)
    try:
        adapter.input_schema(made.tools["shape"].description["inputSchema"], False)
    except NotSimplifiable:
        return True
    return False


Where = Literal["tool", "registry", "outer", "settings"]


@pytest.mark.parametrize("where", ["tool", "registry", "outer", "settings"])
async def test_a_declared_schema_is_sent_as_it_is(adapter: Adapter, where: Where) -> None:
    registry = Registry("shapes", "1.0", schemas="declared" if where == "registry" else None)
    options: Any = {"schemas": "declared"} if where == "tool" else {}
    registry.tool(**options)(shape)
    registry.tool(**options)(asking)
    outer = Registry("outer", "1.0", schemas="declared" if where == "outer" else None)
    outer.include(registry)
    settings = Settings(schemas="declared") if where == "settings" else Settings()
    declared = registry.tools["shape"].description["inputSchema"]
    async with serving(outer, settings) as url, RawClient(url, adapter) as client:
        listed = {tool["name"]: tool for tool in (await client.call("tools/list")).result["tools"]}
        assert listed["shape"]["inputSchema"] == declared
        assert listed["asking"]["inputSchema"]["properties"]["shape"] == declared["properties"]["shape"]
        assert (await client.tool("shape", {"shape": {"side": 1}})).text == "Square"


async def test_the_tool_says_more_than_the_registry_and_the_registry_more_than_the_settings(adapter: Adapter) -> None:
    registry = Registry("shapes", "1.0", schemas="plain")

    class Whole(BaseModel):
        circle: Circle

    @registry.tool
    async def as_registry(args: Whole) -> str:
        return "fine"

    @registry.tool(schemas="declared")
    async def as_tool(args: Whole) -> str:
        return "fine"

    async with serving(registry, Settings(schemas="declared")) as url, RawClient(url, adapter) as client:
        listed = {tool["name"]: tool["inputSchema"] for tool in (await client.call("tools/list")).result["tools"]}
    simplified = adapter.input_schema(registry.tools["as_registry"].description["inputSchema"], True).schema
    assert listed["as_registry"] == simplified
    assert "$ref" in json.dumps(listed["as_tool"])


async def test_a_tool_that_is_not_offered_is_named_at_start_and_when_it_is_called(
    adapter: Adapter, caplog: pytest.LogCaptureFixture
) -> None:
    registry = Registry("shapes", "1.0")
    registry.tool(shape)
    registry.tool(visible=["secret"], name="hidden")(shape)

    @registry.tool
    async def fine(word: str) -> str:
        return word

    revisions = withheld_on()
    assert revisions and len(revisions) < len(AdapterSet.default().versions)
    with caplog.at_level(logging.WARNING, "mcp_anyrev.server"):
        async with serving(registry) as url, RawClient(url, adapter) as client:
            reply = await client.tool("shape", {"shape": {"side": 1}})
            hidden = await client.tool("hidden", {"shape": {"side": 1}})
            unknown = await client.tool("unknown")
    lines = [record.getMessage() for record in caplog.records if "'shape'" in record.getMessage()]
    assert len(lines) == 1 and "\n" not in lines[0]
    assert all(version in lines[0] for version in revisions) and 'schemas="declared"' in lines[0]
    assert not [record for record in caplog.records if "'fine'" in record.getMessage()]
    if adapter.version in revisions:
        told = reply.error["message"]
        assert adapter.version in told and "/properties/shape/anyOf" in told and 'schemas="declared"' in told
    else:
        assert reply.text == "Square"
    assert hidden.error["message"] == "there is no tool 'hidden'"
    assert unknown.error["message"] == "there is no tool 'unknown'"


async def test_who_sees_a_tool_is_told_that_it_is_not_offered(adapter: Adapter) -> None:
    registry = Registry("shapes", "1.0")
    registry.tool(visible=["secret"], name="hidden")(shape)
    settings = Settings(principal=lambda head: Principal("ann", ["secret"]))
    async with serving(registry, settings) as url, RawClient(url, adapter) as client:
        reply = await client.tool("hidden", {"shape": {"side": 1}})
    if adapter.version in withheld_on():
        assert "'hidden' is not offered on" in reply.error["message"]
    else:
        assert reply.text == "Square"


async def test_wrapping_can_be_said_of_a_registry(adapter: Adapter) -> None:
    registry = Registry("numbers", "1.0", wrap_output=True)

    @registry.tool
    async def wrapped() -> list[int]:
        return [1]

    @registry.tool(wrap_output=False)
    async def bare() -> list[int]:
        return [1]

    outer = Registry("outer", "1.0", wrap_output=False)
    outer.include(registry)
    async with serving(outer) as url, RawClient(url, adapter) as client:
        structured = (await client.tool("wrapped")).result.get("structuredContent")
        assert structured in ((({"result": [1]}, None)) if adapter.wraps_output else ([1], None))
        assert (await client.tool("bare")).result.get("structuredContent") in (None, [1])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"schemas": "fancy"}, "server 'a': schemas is one of 'plain', 'declared', or not given, not 'fancy'"),
        ({"wrap_output": "yes"}, "server 'a': wrap_output is true or false"),
    ],
)
def test_what_a_registry_cannot_say(options: Any, words: str) -> None:
    with pytest.raises(RegistrationError) as raised:
        Registry("a", "1.0", **options)
    assert str(raised.value) == words
