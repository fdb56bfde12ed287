"""What a client makes of tools and their results. Specification: server/tools, basic/transports/streamable-http#client-behavior"""

from __future__ import annotations

import logging
import socket
from typing import Any

import pytest
from descriptions import description, finished
from mcp_anyrev import Client, ErrorAnswer, NotOffered, RequestRefused, ServerFailed, WrongAnswer
from mcp_contract import MethodNotFound
from mcp_revisions import AdapterSet
from mcp_revisions.canonical import TextContent
from mcp_revisions.protocol import Adapter
from scripted import Message, Scripted, error, replied, result, scripted_http

OBJECT = {"type": "object"}
MIRRORING = [one.version for one in AdapterSet.default().by_version.values() if one.parameter_header is not None]


@pytest.fixture(params=MIRRORING)
def mirroring_adapter(request: pytest.FixtureRequest) -> Adapter:
    """Each revision that repeats arguments in headers."""
    return AdapterSet.default().by_version[request.param]


def server(adapter: Adapter, tools: Any = (), given: Any = None) -> Any:
    """A server with these tools, whose calls give this."""

    def script(message: Message) -> list[Any]:
        answers = {
            adapter.description_method: description(adapter, tools={}),
            "tools/list": finished(adapter, "tools/list", {}) | {"tools": list(tools)},
            "tools/call": given,
        }
        if "id" not in message:
            return []
        return [result(message, answers[message["method"]])]

    return script


def text(adapter: Adapter, **more: Any) -> dict[str, Any]:
    return finished(adapter, "tools/call", {"content": [{"type": "text", "text": "ok"}]}) | more


async def test_a_tool_with_an_illegal_annotation_is_left_out_and_the_others_stay(
    mirroring_adapter: Adapter, caplog: pytest.LogCaptureFixture
) -> None:
    tools = [
        {"name": "good", "inputSchema": OBJECT},
        {"name": "far", "inputSchema": {**OBJECT, "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "string", "x-mcp-header": "A"}}}},
        {"name": "twice", "inputSchema": {**OBJECT, "properties": {
            "a": {"type": "string", "x-mcp-header": "A"},
            "n": {"type": "object", "properties": {"c": {"type": "string", "x-mcp-header": "a"}}},
        }}},
    ]  # fmt: skip
    script = server(mirroring_adapter, tools)
    async with scripted_http(lambda message, headers: replied(script(message)[0])) as (url, _), Client(url) as client:
        with caplog.at_level(logging.WARNING, "mcp_anyrev.client"):
            assert [tool.name for tool in await client.list_tools()] == ["good"]
    assert all(name in caplog.text for name in ("'far'", "'twice'"))
    async with Client(Scripted(script), mirroring_adapter) as client:  # without headers nothing has to be repeated
        assert [tool.name for tool in await client.list_tools()] == ["good", "far", "twice"]


async def test_annotated_arguments_are_repeated_once_the_tool_is_known(mirroring_adapter: Adapter) -> None:
    """A call that the server refuses for its headers is repeated once, after a look at the tools."""
    schema = {**OBJECT, "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
    script = server(mirroring_adapter, [{"name": "hdr", "inputSchema": schema}], text(mirroring_adapter))
    header = f"{mirroring_adapter.parameter_header}Region".lower()

    def answer(message: Message, headers: dict[str, str]) -> Any:
        if message["method"] == "tools/call" and header not in headers:
            return replied(error(message, mirroring_adapter.error_codes["header_mismatch"]), 400)
        return replied(script(message)[0])

    async with scripted_http(answer) as (url, said), Client(url) as client:
        assert (await client.call_tool("hdr", {"region": "eu"})).text == "ok"
        tools = [method for method in said.methods if method != mirroring_adapter.description_method]
        assert tools == ["tools/call", "tools/list", "tools/call"]
        assert said.headers[-1][header] == "eu"
        await client.call_tool("hdr", {"region": "eu"})
        assert said.methods[-1] == "tools/call"
        assert said.methods.count("tools/list") == 1


async def test_a_call_is_repeated_no_more_than_once(mirroring_adapter: Adapter) -> None:
    script = server(mirroring_adapter, [{"name": "hdr", "inputSchema": OBJECT}])

    def answer(message: Message, headers: dict[str, str]) -> Any:
        if message["method"] == "tools/call":
            return replied(error(message, mirroring_adapter.error_codes["header_mismatch"]), 400)
        return replied(script(message)[0])

    async with scripted_http(answer) as (url, said), Client(url) as client:
        with pytest.raises(RequestRefused):
            await client.call_tool("hdr")
    assert said.methods.count("tools/call") == 2


async def test_nothing_is_fetched_for_a_schema(adapter: Adapter) -> None:
    """Specification: basic/index#ref-resolution"""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        away = {"$ref": f"http://127.0.0.1:{listening.getsockname()[1]}/x.json"}
        tools = [
            {"name": "good", "inputSchema": OBJECT},
            {"name": "bad", "inputSchema": {**OBJECT, "properties": {"a": away}}},
            {"name": "worse", "inputSchema": OBJECT, "outputSchema": {**OBJECT, "properties": {"a": away}}},
        ]
        heard = Scripted(server(adapter, tools, text(adapter)))
        async with Client(heard, adapter) as client:
            await client.list_tools()
            assert (await client.call_tool("good")).text == "ok"
            for name in ("bad", "worse"):
                with pytest.raises(NotOffered, match=name):
                    await client.call_tool(name)
        assert heard.methods.count("tools/call") == 1
        with pytest.raises(BlockingIOError):
            listening.accept()


@pytest.mark.parametrize("structured", [{"sum": "3"}, {}, None])
async def test_what_a_tool_gives_fits_what_it_promises(adapter: Adapter, structured: Any) -> None:
    """Specification: server/tools#output-schema"""
    schema = {**OBJECT, "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
    tools = [{"name": "add", "inputSchema": OBJECT, "outputSchema": schema}]
    given = text(adapter) if structured is None else text(adapter, structuredContent=structured)
    async with Client(Scripted(server(adapter, tools, given)), adapter) as client:
        assert (await client.call_tool("add")).text == "ok"  # nothing is known of it
        await client.list_tools()
        with pytest.raises(WrongAnswer, match="'add'"):
            await client.call_tool("add")
    failed = text(adapter, isError=True)
    async with Client(Scripted(server(adapter, tools, failed)), adapter) as client:
        await client.list_tools()
        assert (await client.call_tool("add")).is_error  # what failed promises nothing


async def test_a_block_that_nobody_knows_is_kept_as_it_came(adapter: Adapter) -> None:
    unknown = {"type": "hologram", "data": "x", "inner": {"a": [1]}}
    blocks = [{"type": "text", "text": "a"}, unknown, {"type": "text", "text": "b"}]
    async with Client(Scripted(server(adapter, (), text(adapter, content=blocks))), adapter) as client:
        given = await client.call_tool("t")
    assert [block.text if isinstance(block, TextContent) else block for block in given.content] == ["a", unknown, "b"]
    assert given.text == "a\nb"
    assert given.model_dump(by_alias=True, exclude_unset=True)["content"] == blocks


async def test_structured_content_alone_is_text_as_well(adapter: Adapter) -> None:
    given = text(adapter, content=[], structuredContent={"a": 1})
    async with Client(Scripted(server(adapter, (), given)), adapter) as client:
        found = await client.call_tool("t")
    assert (found.structured_content, found.text) == ({"a": 1}, '{"a":1}')


@pytest.mark.parametrize(
    "given",
    [
        5,
        [],
        None,
        {"content": 5},
        {"content": [5]},
        {"content": [{"type": "text"}]},
        {"content": [{"type": "text", "text": 5}]},
        {"content": [], "isError": "no"},
    ],
)
async def test_a_result_of_another_form_is_the_fault_of_the_server(adapter: Adapter, given: Any) -> None:
    async with Client(Scripted(server(adapter, (), given)), adapter) as client:
        with pytest.raises(WrongAnswer):
            await client.call_tool("t")


async def test_errors_are_told_by_whose_fault_they_are(adapter: Adapter) -> None:
    for kind, raised in (
        ("invalid_params", RequestRefused),
        ("method_not_found", RequestRefused),
        ("internal_error", ServerFailed),
    ):
        code = adapter.error_codes[kind]

        def script(message: Message, code: int = code) -> list[Any]:
            if message["method"] == "tools/call":
                return [error(message, code, {"more": 1})]
            return server(adapter)(message)  # type: ignore[no-any-return]

        async with Client(Scripted(script), adapter) as client:
            with pytest.raises(raised) as found:
                await client.call_tool("t")
        assert (found.value.code, found.value.kind, found.value.message, found.value.data) == (
            code,
            kind,
            "no",
            {"more": 1},
        )
        assert isinstance(found.value, ErrorAnswer)


async def test_an_error_of_a_servers_own_is_told_as_it_is(adapter: Adapter) -> None:
    def script(message: Message) -> list[Any]:
        return [error(message, 17)] if message["method"] == "tools/call" else server(adapter)(message)

    async with Client(Scripted(script), adapter) as client:
        with pytest.raises(ErrorAnswer) as found:
            await client.call_tool("t")
    assert (type(found.value), found.value.code, found.value.kind) == (ErrorAnswer, 17, None)


@pytest.mark.parametrize("said", [5, {}, {"code": "x", "message": "no"}, {"code": True, "message": "no"}, {"code": 1}])
async def test_an_error_that_is_none_is_the_fault_of_the_server(adapter: Adapter, said: Any) -> None:
    def script(message: Message) -> list[Any]:
        if message["method"] == "tools/call":
            return [{"jsonrpc": "2.0", "id": message["id"], "error": said}]
        return server(adapter)(message)  # type: ignore[no-any-return]

    async with Client(Scripted(script), adapter) as client:
        with pytest.raises(WrongAnswer):
            await client.call_tool("t")


async def test_what_the_revision_lacks_is_not_sent(adapter: Adapter) -> None:
    heard = Scripted(server(adapter))
    async with Client(heard, adapter) as client:
        await client.initialize()
        before = len(heard.sent)
        for method in (
            "no/such",
            "ping",
            "resources/subscribe",
            "logging/setLevel",
            "subscriptions/listen",
            "initialize",
            "server/discover",
        ):
            if method not in adapter.client_requests:
                with pytest.raises(NotOffered, match=method):
                    await client.request(method)
        assert len(heard.sent) == before
    assert MethodNotFound.kind in adapter.error_codes


async def test_a_list_that_has_no_end_is_an_error(adapter: Adapter) -> None:
    """Specification: server/utilities/pagination#pagination-model"""

    def script(message: Message) -> list[Any]:
        if message["method"] == "tools/list":
            return [result(message, finished(adapter, "tools/list", {"tools": []}) | {"nextCursor": "again"})]
        return server(adapter)(message)  # type: ignore[no-any-return]

    heard = Scripted(script)
    async with Client(heard, adapter) as client:
        with pytest.raises(WrongAnswer, match="no end"):
            await client.list_tools()
    assert heard.methods.count("tools/list") == 2


async def test_pages_are_put_together_and_a_broken_item_is_left_out(
    adapter: Adapter, caplog: pytest.LogCaptureFixture
) -> None:
    pages = {
        None: ([{"name": "a", "inputSchema": OBJECT}, {"name": 5}], "2"),
        "2": ([{"name": "b", "inputSchema": OBJECT}], None),
    }

    def script(message: Message) -> list[Any]:
        if message["method"] == "tools/list":
            tools, cursor = pages[message.get("params", {}).get("cursor")]
            more = {} if cursor is None else {"nextCursor": cursor}
            return [result(message, finished(adapter, "tools/list", {}) | {"tools": tools} | more)]
        return server(adapter)(message)  # type: ignore[no-any-return]

    async with Client(Scripted(script), adapter) as client:
        assert [tool.name for tool in await client.list_tools()] == ["a", "b"]
    assert "item 1" in caplog.text


async def test_an_empty_cursor_is_the_end_where_it_is(adapter: Adapter) -> None:
    def script(message: Message) -> list[Any]:
        if message["method"] == "tools/list":
            more = {} if message.get("params", {}).get("cursor") == "" else {"nextCursor": ""}
            return [result(message, finished(adapter, "tools/list", {"tools": []}) | more)]
        return server(adapter)(message)  # type: ignore[no-any-return]

    heard = Scripted(script)
    async with Client(heard, adapter) as client:
        await client.list_tools()
    assert heard.methods.count("tools/list") == (1 if adapter.empty_cursor_ends else 2)


async def test_what_a_server_does_not_offer_is_not_asked_of_it(adapter: Adapter) -> None:
    """Specification: basic/lifecycle#capability-negotiation"""

    def script(message: Message) -> list[Any]:
        if message.get("method") == adapter.description_method:
            return [result(message, description(adapter, tools={}))]
        return [error(message, adapter.error_codes["method_not_found"])] if "id" in message else []

    heard = Scripted(script)
    async with Client(heard, adapter) as client:
        if adapter.insists_on_agreement:
            assert await client.list_prompts() == []
            for asked in (client.read_resource("mem://a"), client.complete("a", "b", prompt="p")):
                with pytest.raises(NotOffered, match="capabilities lack"):
                    await asked
            assert not {"prompts/list", "resources/read", "completion/complete"} & set(heard.methods)
        else:
            with pytest.raises(RequestRefused):
                await client.list_prompts()
    async with Client(heard, adapter, sends_all=True) as client:
        with pytest.raises(RequestRefused):
            await client.list_prompts()
