"""What a revision gets of a tool's schemas, and what becomes of calls that were made for it.

Citations: server/tools#tool, server/tools#output-schema, basic/transports/streamable-http#custom-headers-from-tool-parameters.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import pytest
from mcp_anyrev import Exchange, Registry, Settings, elicit
from mcp_anyrev.declaring.kinds import TOOLS
from mcp_anyrev.declaring.output_schemas import wrapped_schema
from mcp_anyrev.schemas import JsonValidator
from mcp_anyrev.server.core import Core
from mcp_anyrev.server.offers import Offer
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from pydantic import BaseModel, Field
from raw_client import RawClient, call_answering, serving


class Node(BaseModel):
    label: str
    children: list[Node] = []


class Circle(BaseModel):
    kind: Literal["circle"]
    radius: int


class Square(BaseModel):
    kind: Literal["square"]
    side: int


class Inner(BaseModel):
    label: str


class Outer(BaseModel):
    inner: Inner


Region = Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]

NEEDS_NULL = {
    "type": "object",
    "properties": {"day": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "n": {"type": "integer"}},
    "required": ["day", "n"],
}


def registry() -> Registry:
    made = Registry("schemas", "1.0")

    @made.tool
    async def tree(root: Node) -> str:
        return root.label

    @made.tool
    async def shape(shape: Annotated[Circle | Square, Field(discriminator="kind")]) -> str:
        return shape.kind

    @made.tool
    async def inner(args: Outer) -> str:
        return args.inner.label

    @made.tool(schemas="plain")
    async def plain_inner(args: Outer) -> str:
        return args.inner.label

    @made.tool(input_schema=NEEDS_NULL)
    async def needs_null(arguments: dict[str, Any]) -> str:
        return json.dumps(arguments)

    @made.tool
    async def route(region: Region, count: int = 0) -> str:
        return f"{region} {count}"

    @made.tool(ask_in_arguments=False)
    async def asks_elsewhere(ex: Exchange) -> str:
        return "yes" if (await ex.ask("go", elicit("Go?"))).accepted else "no"

    @made.tool(wrap_output=True)
    async def numbers() -> list[int]:
        return [1, 2]

    @made.tool(wrap_output=True)
    async def optional(give: bool) -> Inner | None:
        return Inner(label="given") if give else None

    @made.tool(wrap_output=True, output_schema={"type": "object"})
    async def already() -> dict[str, int]:
        return {"a": 1}

    @made.tool
    async def bare() -> list[int]:
        return [1, 2]

    return made


def offer(adapter: Adapter, made: Registry) -> Offer:
    return Core(made, Settings()).offer(adapter)


async def test_what_cannot_be_simplified_is_not_offered_alone_and_not_callable(adapter: Adapter) -> None:
    """One recursive model must not take the whole list with it."""
    made = registry()
    offered = offer(adapter, made)
    async with serving(made) as url, RawClient(url, adapter) as client:
        listed = [tool["name"] for tool in (await client.call("tools/list")).result["tools"]]
        assert listed == list(offered.offered[TOOLS])
        assert {*offered.offered[TOOLS], *offered.withheld[TOOLS]} == set(made.tools)
        for name, withheld in offered.withheld[TOOLS].items():
            reply = await client.tool(name, {})
            assert reply.error["code"] == adapter.error_codes["invalid_params"]
            assert withheld.reason and hasattr(adapter, withheld.concern or "")
        if "shape" in listed:
            assert (await client.tool("shape", {"shape": {"kind": "circle", "radius": 1}})).text == "circle"
        assert (await client.tool("inner", {"inner": {"label": "oak"}})).text == "oak"


def test_why_a_tool_is_withheld_is_known() -> None:
    """Somewhere each of these is withheld, and nowhere without the concern that decided."""
    concerns: dict[str, set[str | None]] = {}
    for adapter in AdapterSet.default().by_version.values():
        offered = offer(adapter, registry())
        for name, withheld in offered.withheld[TOOLS].items():
            concerns.setdefault(name, set()).add(withheld.concern)
        assert ("asks_elsewhere" in offered.withheld[TOOLS]) == adapter.asks_in_arguments
    assert concerns == {"tree": {"input_schema"}, "shape": {"input_schema"}, "asks_elsewhere": {"asks_in_arguments"}}


async def test_what_is_lost_on_the_way_is_kept_with_the_reason(adapter: Adapter) -> None:
    offered = offer(adapter, registry())
    simplified = {name for name, one in offered.offered[TOOLS].items() if one.losses}
    annotated = adapter.header_annotations({"properties": {"a": {"x-mcp-header": "A"}}}).losses
    assert ("route" in simplified) == bool(annotated)
    for one in offered.offered[TOOLS].values():
        assert all(loss.pointer and loss.what and loss.why for loss in one.losses)


async def test_the_plain_form_can_be_asked_for(adapter: Adapter) -> None:
    offered = offer(adapter, registry())
    listed = offered.offered[TOOLS]["plain_inner"].listed["inputSchema"]
    declared = offered.offered[TOOLS]["plain_inner"].part.description["inputSchema"]
    assert listed == adapter.input_schema(declared, True).schema
    assert "$ref" in json.dumps(declared)


async def test_calls_are_checked_against_the_declared_schema(adapter: Adapter) -> None:
    """A client that was shown no null leaves the member out; one that was shown it must send it."""
    made = registry()
    required = offer(adapter, made).offered[TOOLS]["needs_null"].listed["inputSchema"]["required"]
    async with serving(made) as url, RawClient(url, adapter) as client:
        assert json.loads((await client.tool("needs_null", {"day": None, "n": 1})).text) == {"day": None, "n": 1}
        left_out = await client.tool("needs_null", {"n": 1})
        if "day" in required:
            assert left_out.result["isError"] is True
        else:
            assert json.loads(left_out.text) == {"day": None, "n": 1}
        assert (await client.tool("needs_null", {"day": 1, "n": 1})).result["isError"] is True
        assert (await client.tool("needs_null", {"day": "x"})).result["isError"] is True


async def test_arguments_that_are_repeated_in_headers_must_agree_where_the_revision_has_such_headers(
    adapter: Adapter,
) -> None:
    made = registry()
    schema = made.tools["route"].description["inputSchema"]
    arguments = {"region": "Zürich", "count": 7}
    headers = adapter.param_headers(arguments, schema)
    async with serving(made) as url, RawClient(url, adapter) as client:
        assert (await client.tool("route", arguments, change=dict(headers))).text == "Zürich 7"
        region = f"{adapter.parameter_header or 'Mcp-Param-'}Region"
        for wrong in ({}, {region: "Bern"}, {region: "=?base64?%%%?="}):
            reply = await client.tool("route", arguments, change=dict(wrong))
            if headers:
                assert reply.error["code"] == adapter.error_codes["header_mismatch"]
                assert reply.status == adapter.error_statuses["header_mismatch"]
            else:
                assert reply.text == "Zürich 7"


async def test_a_result_that_is_no_object_is_wrapped_where_only_an_object_can_be_sent(adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        listed = {tool["name"]: tool for tool in (await client.call("tools/list")).result["tools"]}
        for name, arguments, value in (
            ("numbers", {}, [1, 2]),
            ("optional", {"give": True}, {"label": "given"}),
            ("optional", {"give": False}, None),
            ("already", {}, {"a": 1}),
            ("bare", {}, [1, 2]),
        ):
            reply = await client.tool(name, arguments)
            assert json.loads(reply.text) == value
            wraps = adapter.wraps_output and name not in ("already", "bare")
            sent = {"result": value} if wraps else value
            expected = adapter.encode_result(
                "tools/call", {"content": [], "structuredContent": sent}, {"name": "x", "version": "1"}
            )
            assert ("structuredContent" in reply.result) == ("structuredContent" in expected), name
            assert reply.result.get("structuredContent") == expected.get("structuredContent")
            if "outputSchema" in listed[name]:
                assert JsonValidator(listed[name]["outputSchema"]).accepts(reply.result["structuredContent"])
            if wraps:
                assert listed[name]["outputSchema"]["type"] == "object"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "integer"}},
        {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}], "$defs": {"A": {"type": "integer"}}},
        {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"$ref": "#"}]}},
        {"type": ["array", "integer"], "items": {"$ref": "#/items/not"}},
        {
            "$id": "https://a.example/s",
            "type": "array",
            "items": {"$ref": "#/$defs/A"},
            "$defs": {"A": {"type": "integer"}},
        },
    ],
)
def test_a_wrapped_schema_says_of_the_wrapped_value_what_it_said_of_the_value(schema: dict[str, Any]) -> None:
    if schema.get("items") == {"$ref": "#/items/not"}:
        schema = {"type": "array", "prefixItems": [{"type": "integer"}], "items": {"$ref": "#/prefixItems/0"}}
    bare, wrapped = JsonValidator(schema), JsonValidator(wrapped_schema(schema))
    for value in ([1], [1, "a"], [[1], 2], ["a"], None, 3, "a", {}, []):
        assert bare.accepts(value) == wrapped.accepts({"result": value}), value
    assert not wrapped.accepts({})


async def test_a_tool_without_parameters_has_a_schema_that_every_client_reads(adapter: Adapter) -> None:
    listed = offer(adapter, registry()).offered[TOOLS]["numbers"].listed["inputSchema"]
    assert (listed["type"], listed["properties"]) == ("object", {})


async def test_what_a_revision_does_not_define_is_not_listed(adapter: Adapter) -> None:
    made = Registry("whole", "1.0")

    @made.tool(title="A", read_only=True, icons=[{"src": "https://a.example/i.png"}], meta={"example.com/k": 1})
    async def a() -> Inner:
        return Inner(label="a")

    async with serving(made) as url, RawClient(url, adapter) as client:
        (listed,) = (await client.call("tools/list")).result["tools"]
    assert (
        listed == adapter.encode_result("tools/list", {"tools": [made.tools["a"].description]}, made.server)["tools"][0]
    )
    assert {"name", "inputSchema"} <= listed.keys()


async def test_a_tool_that_asks_is_asked_about_its_own_schema_alone(round_adapter: Adapter) -> None:
    made = Registry("asking", "1.0")

    @made.tool
    async def asks(word: str, ex: Exchange) -> str:
        return f"{word} {(await ex.ask('go', elicit('Go?'))).accepted}"

    async with serving(made) as url, RawClient(url, round_adapter) as client:
        reply = await call_answering(client, "asks", {"word": "w"}, {"Go?": {"action": "accept", "content": {}}})
    assert reply.text == "w True"
