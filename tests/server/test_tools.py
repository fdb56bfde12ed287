"""Tools: what is listed, what is checked, what comes back.

Citations: server/tools.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
import threading
from typing import Annotated, Any

import pytest
from mcp_anyrev import Registry, Settings, ToolError
from mcp_revisions import AdapterSet
from mcp_revisions.canonical import AudioContent, CallToolResult, Icon, ResourceLink, TextContent
from mcp_revisions.protocol import Adapter
from pydantic import BaseModel, Field
from raw_client import RawClient, serving


class Sum(BaseModel):
    total: int


@dataclasses.dataclass
class Point:
    x: int


def registry() -> Registry:
    made = Registry("tools", "1.0", title="All kinds", instructions="Try them.")

    @made.tool(
        title="Adder",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=False,
        icons=[Icon(src="https://a.example/i.png")],
    )
    async def add(a: int, b: int = 1) -> Sum:
        """Adds."""
        return Sum(total=a + b)

    @made.tool
    def threaded(word: str) -> str:
        return f"{word} {threading.current_thread() is threading.main_thread()}"

    @made.tool(
        input_schema={"type": "object", "properties": {"n": {"type": "integer", "minimum": 3}}, "required": ["n"]},
        output_schema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
        name="raw.schema-1",
        description="Raw.",
    )
    async def raw(arguments: dict[str, Any]) -> Any:
        return {"n": arguments["n"]} if arguments["n"] != 5 else {"m": 5}

    @made.tool
    async def numbers() -> list[int]:
        return [1, 2]

    @made.tool
    async def nothing() -> None:
        return None

    @made.tool
    async def point() -> Point:
        return Point(1)

    @made.tool
    async def wrong() -> Sum:
        return "no sum"  # type: ignore[return-value]  # what this tests

    @made.tool
    async def infinite() -> dict[str, float]:
        return {"a": float("inf")}

    @made.tool
    async def no_json() -> Any:
        return object()

    @made.tool
    async def blocks() -> list[TextContent | ResourceLink | AudioContent]:
        return [
            TextContent(type="text", text="see"),
            ResourceLink(type="resource_link", uri="mx://note", name="note"),
            AudioContent(type="audio", data="AAAA", mime_type="audio/wav"),
        ]

    @made.tool
    async def whole() -> CallToolResult:
        return CallToolResult(
            content=[TextContent(type="text", text="bad")], is_error=True, structured_content={"a": 1}
        )

    @made.tool
    async def breaks() -> str:
        raise RuntimeError("password=hunter2")

    @made.tool
    async def complains() -> str:
        raise ToolError("the shop is closed")

    @made.tool
    async def header(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
        return region

    @made.tool(min_revision=AdapterSet.default().versions[0])
    async def newest() -> str:
        return "new"

    return made


async def test_wrong_arguments_are_a_tool_error_that_names_the_member(adapter: Adapter) -> None:
    """server/tools#error-handling: the model can correct itself only if it is told."""
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        for arguments, named in (
            ({"a": "5"}, "/a "),
            ({}, "/a is missing"),
            ({"a": 1, "c": 2}, "/c is not allowed"),
            ({"a": 1.5}, "/a "),
            ({"a": True}, "/a "),
            ({"a": None}, "/a "),
        ):
            reply = await client.tool("add", arguments)
            assert reply.result["isError"] is True and named in reply.text, (arguments, reply.text)
        assert json.loads((await client.tool("add", {"a": 1.0})).text) == {"total": 2}
        reply = await client.tool("raw.schema-1", {"n": 2})
        assert reply.result["isError"] is True and reply.text.startswith("wrong arguments: /n ")


async def test_the_value_that_was_sent_is_not_repeated(adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        assert "hunter2" not in (await client.tool("add", {"a": "hunter2"})).text


async def test_structured_results_come_as_text_and_as_the_revision_allows(adapter: Adapter) -> None:
    """server/tools#structured-content"""
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        replies = {
            name: await client.tool(name, {"a": 2} if name == "add" else {}) for name in ("add", "numbers", "point")
        }
    values: dict[str, Any] = {"add": {"total": 3}, "numbers": [1, 2], "point": {"x": 1}}
    for name, reply in replies.items():
        assert json.loads(reply.text) == values[name]
        canonical = {"content": [], "structuredContent": values[name]}
        expected = adapter.encode_result("tools/call", canonical, {"name": "x", "version": "1"}).get(
            "structuredContent"
        )
        assert reply.result.get("structuredContent") == expected


async def test_a_result_that_does_not_fit_what_was_published_is_an_error_that_is_logged(
    adapter: Adapter, caplog: pytest.LogCaptureFixture
) -> None:
    """server/tools#output-schema: a server must give results that fit."""
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        for name, arguments in (("wrong", {}), ("infinite", {}), ("no_json", {}), ("raw.schema-1", {"n": 5})):
            caplog.clear()
            reply = await client.tool(name, arguments)
            assert reply.result["isError"] is True and "structuredContent" not in reply.result, name
            assert [record.levelno for record in caplog.records] == [logging.ERROR], name


async def test_what_a_handler_raises_stays_in_the_log(adapter: Adapter, caplog: pytest.LogCaptureFixture) -> None:
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        reply = await client.tool("breaks")
        assert reply.result["isError"] is True and "hunter2" not in json.dumps(reply.message)
        assert "hunter2" in caplog.text
        assert (await client.tool("complains")).text == "the shop is closed"


async def test_text_nothing_and_whole_results_pass(adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        assert (await client.tool("threaded", {"word": "w"})).text == "w False"
        assert (await client.tool("nothing")).result["content"] == []
        whole = (await client.tool("whole")).result
        assert whole["isError"] is True and "structuredContent" not in whole
        assert (await client.tool("raw.schema-1", {"n": 3})).text == '{"n":3}'


async def test_content_that_the_revision_lacks_is_replaced_and_never_dropped(adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        content = (await client.tool("blocks")).result["content"]
    assert content[0]["text"] == "see" and len(content) >= 3
    assert "mx://note" in json.dumps(content) and "AAAA" in json.dumps(content)


async def test_the_list_has_what_the_revision_defines_in_the_order_of_declaration(adapter: Adapter) -> None:
    made = registry()
    async with serving(made) as url, RawClient(url, adapter) as client:
        listed = (await client.call("tools/list")).result["tools"]
        again = (await client.call("tools/list")).result["tools"]
    assert listed == again
    offered = [name for name in made.tools if name != "newest" or adapter.version == AdapterSet.default().versions[0]]
    assert [tool["name"] for tool in listed] == offered
    add = listed[0]
    assert add["description"] == "Adds." and "title" not in add["inputSchema"]
    assert add["inputSchema"]["properties"] == {"a": {"type": "integer"}, "b": {"default": 1, "type": "integer"}}
    assert add["inputSchema"]["additionalProperties"] is False
    expected = adapter.encode_result("tools/list", {"tools": [made.tools["add"].description]}, made.server)
    assert add == expected["tools"][0]


async def test_a_tool_that_is_not_offered_cannot_be_called(adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        reply = await client.tool("newest")
    if adapter.version == AdapterSet.default().versions[0]:
        assert reply.text == "new"
    else:
        assert reply.error["code"] == adapter.error_codes["invalid_params"]


async def test_a_slow_tool_becomes_a_stream_and_a_quick_one_does_not(adapter: Adapter) -> None:
    made = Registry("slow", "1.0")

    @made.tool
    async def wait(seconds: float) -> str:
        await asyncio.sleep(seconds)
        return "done"

    settings = Settings(head_delay_seconds=0.1, keep_alive_seconds=0.1)
    async with serving(made, settings) as url, RawClient(url, adapter) as client:
        quick, slow = await client.tool("wait", {"seconds": 0.01}), await client.tool("wait", {"seconds": 0.5})
    assert (quick.text, quick.streamed, slow.text, slow.streamed) == ("done", False, "done", True)


async def test_every_result_fits_the_schema_of_its_revision(adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        for method, params in (
            (adapter.description_method, adapter.description_params(client.declaration)),
            ("tools/list", {}),
            *(("tools/call", {"name": name, "arguments": {}}) for name in ("add", "numbers", "blocks", "whole")),
        ):
            adapter.check_result(method, (await client.call(method, params)).result)


async def test_wrong_arguments_are_told_as_the_revision_says(adapter: Adapter, monkeypatch: pytest.MonkeyPatch) -> None:
    """server/tools#error-handling: in the result, or as an error."""
    made = Registry("tides", "1")

    @made.tool
    def height(n: int) -> int:
        return n

    for in_result in (True, False):
        monkeypatch.setattr(type(adapter), "wrong_arguments_in_result", in_result)
        async with serving(made) as url, RawClient(url, adapter) as client:
            reply = await client.call("tools/call", {"name": "height", "arguments": {"n": "x"}})
            if in_result:
                assert reply.result["isError"] is True
            else:
                assert reply.error["code"] == adapter.error_codes["invalid_params"]


@pytest.mark.parametrize("task", [{}, {"ttl": 5}, {"ttl": "long"}, "garbage", None, 5, []])
async def test_metadata_of_a_task_is_ignored_where_no_tasks_are_declared(adapter: Adapter, task: Any) -> None:
    """Citation: basic/utilities/tasks#task-support-and-handling; elsewhere nobody knows the member."""
    made = Registry("r", "1.0")

    @made.tool
    async def plain() -> str:
        return "fine"

    async with serving(made) as url, RawClient(url, adapter) as client:
        reply = await client.call("tools/call", {"name": "plain", "task": task})
        assert reply.text == "fine"
