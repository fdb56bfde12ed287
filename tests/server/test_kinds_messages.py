"""Kinds of faults in messages and results: each was met by users of other libraries as one input."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, call_answering, needs, serving
from wire_fixture import wire_registry

LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")


def lists_of(adapter: Adapter) -> list[str]:
    return [method for method in LISTS if method in adapter.client_requests]


async def test_what_cannot_be_read_is_answered_with_no_id_that_a_request_could_have(
    adapter: Adapter, binding: str
) -> None:
    async with serving(wire_registry(), binding=binding) as url, RawClient(url, adapter) as client:
        for body in (b"{", b"", b"[", b'{"jsonrpc":"2.0","id":', b"\xff", b"null", b'"x"', b"7"):
            reply = await client.post(body, like=client.request("ping"))
            refusals = [adapter.error_statuses[kind] for kind in ("parse_error", "invalid_request")]
            assert reply.status in refusals, body
            assert reply.message.get("id", None) is None, body
            assert ("id" in reply.message) is adapter.unreadable_id_is_null, body


async def test_a_notification_is_taken_without_a_word(adapter: Adapter, binding: str) -> None:
    async with serving(wire_registry(), binding=binding) as url, RawClient(url, adapter) as client:
        for notification in (
            {"method": "notifications/cancelled", "params": {"requestId": 999}},
            {"method": "notifications/what", "params": {}},
            {"method": "notifications/what"},
            {"method": "what"},
        ):
            reply = await client.post({"jsonrpc": "2.0", **notification})
            assert (reply.status, reply.message) == (adapter.accepted_status, None), notification


async def test_a_session_that_nobody_knows_is_one_to_start_anew(session_adapter: Adapter) -> None:
    async with serving(wire_registry()) as url, RawClient(url, session_adapter) as client:
        for name in ("dead-0000", "", "x" * 500):
            reply = await client.call("tools/list", change={str(session_adapter.session_header): name})
            assert reply.status == session_adapter.error_statuses["session_unknown"], name


async def test_what_belongs_to_sessions_means_nothing_where_there_are_none(result_adapter: Adapter) -> None:
    async with serving(wire_registry()) as url, RawClient(url, result_adapter) as client:
        for junk in ({"Mcp-Session-Id": "junk"}, {"Last-Event-ID": "7"}):
            reply = await client.call("tools/list", change=junk)
            assert reply.status == 200 and "Mcp-Session-Id" not in reply.headers


async def test_progress_has_the_token_that_was_given_to_the_type(adapter: Adapter) -> None:
    async with serving(wire_registry()) as url, RawClient(url, adapter) as client:
        for token in ("abc", "", 7, 0, -1, 2**53):
            request = client.request("tools/call", {"name": "slow", "arguments": {"ms": 3}})
            request["params"].setdefault("_meta", {})["progressToken"] = token
            reply = await client.post(request)
            told = [one["params"] for one in reply.earlier if one["method"] == "notifications/progress"]
            assert [json.dumps(one["progressToken"]) for one in told] == [json.dumps(token)] * 3
            assert [one["progress"] for one in told] == [1, 2, 3], token


async def test_without_a_token_there_is_no_progress(adapter: Adapter) -> None:
    async with serving(wire_registry()) as url, RawClient(url, adapter) as client:
        reply = await client.tool("slow", {"ms": 3})
    assert (reply.text, reply.earlier) == ("done", [])


async def test_a_change_inside_a_call_spoils_neither_the_call_nor_its_stream(adapter: Adapter, binding: str) -> None:
    async with serving(wire_registry(), binding=binding) as url, RawClient(url, adapter) as client:
        grown = await client.tool("grow")
        tools = [tool["name"] for tool in (await client.call("tools/list")).result["tools"]]
    assert grown.text == "grown" and "grown" in tools
    assert adapter.has_handshake or not grown.earlier


@pytest.mark.parametrize("declared", [None, "yes", True, 1, []])
async def test_a_capability_of_the_wrong_shape_is_refused_and_crashes_nothing(
    result_adapter: Adapter, declared: object
) -> None:
    async with serving(wire_registry()) as url, RawClient(url, result_adapter) as client:
        request = client.request("tools/call", {"name": "ask_name", "arguments": {}})
        key = next(key for key in request["params"]["_meta"] if key.endswith("clientCapabilities"))
        request["params"]["_meta"][key] = {"elicitation": declared}
        reply = await client.post(request)
    kinds = ("missing_client_capability", "invalid_params")
    assert reply.error["code"] in [result_adapter.error_codes[kind] for kind in kinds]
    assert reply.status == 400


async def test_one_handler_asks_each_revision_in_its_own_way(adapter: Adapter, binding: str) -> None:
    said = {"What is your name?": {"action": "accept", "content": {"name": "Ann"}}}
    async with serving(wire_registry(), binding=binding) as url, RawClient(url, adapter) as client:
        reply = await call_answering(client, "ask_name", {}, said)
        first = await client.tool("ask_name") if not adapter.can_push_ask else None
    assert reply.text == "Hello Ann"
    requests = [one for one in reply.earlier if "id" in one]
    assert bool(requests) is adapter.can_push_ask
    assert first is None or adapter.can_ask is not adapter.finished(first.result)


async def test_a_suspended_call_goes_on_where_it_may_and_ends_where_it_must(adapter: Adapter) -> None:
    async with serving(wire_registry()) as url, RawClient(url, adapter) as client:
        reply = await client.tool("wait_state")
        if adapter.can_ask:
            kept = adapter.read_questions(reply.result)
            assert kept is not None and kept.questions == {} and "content" not in reply.result
            params = adapter.answer_params({"name": "wait_state", "arguments": {}}, {}, kept.state)
            reply = await client.call("tools/call", params)
    assert reply.text == "resumed"


async def test_cache_hints_are_there_where_the_revision_has_them_and_nowhere_else(adapter: Adapter) -> None:
    async with serving(wire_registry()) as url, RawClient(url, adapter) as client:
        cacheable = [*((method, {}) for method in lists_of(adapter)), ("resources/read", {"uri": "mem://a"})]
        for method, params in cacheable:
            result = (await client.call(method, params)).result
            if adapter.cache_lifetime is None:
                assert not {"ttlMs", "cacheScope", "resultType"} & result.keys()
            else:
                assert (result["ttlMs"], result["cacheScope"]) == (adapter.cache_lifetime, adapter.cache_scope)
        called = (await client.tool("echo")).result
    assert not {"ttlMs", "cacheScope"} & called.keys()


@pytest.mark.parametrize("method", LISTS)
async def test_the_last_page_has_no_cursor_and_an_invented_one_is_refused(adapter: Adapter, method: str) -> None:
    needs(adapter, method)
    async with serving(wire_registry()) as url, RawClient(url, adapter) as client:
        assert "nextCursor" not in (await client.call(method)).result
        for cursor in ("bogus", "0", "é", "x" * 10_000):
            reply = await client.call(method, {"cursor": cursor})
            assert reply.error["code"] == adapter.error_codes["invalid_params"]


async def test_a_value_that_is_no_object_is_sent_as_the_revision_can(adapter: Adapter) -> None:
    async with serving(wire_registry()) as url, RawClient(url, adapter) as client:
        scores, nothing = (await client.tool("scores")).result, (await client.tool("nothing")).result
        listed = {tool["name"]: tool for tool in (await client.call("tools/list")).result["tools"]}
    assert json.loads(scores["content"][0]["text"]) == [1.5, 2]
    text = {"type": "text", "text": ""}
    for name, result, value in (("scores", scores, [1.5, 2]), ("nothing", nothing, None)):
        whole = adapter.encode_result("tools/call", {"content": [text], "structuredContent": value}, {})
        assert result.get("structuredContent", "absent") == whole.get("structuredContent", "absent"), name
        tool = {"name": name, "inputSchema": {}, "outputSchema": {"type": "array"}}
        published = adapter.encode_result("tools/list", {"tools": [tool]}, {})["tools"][0]
        assert ("outputSchema" in listed[name]) == ("outputSchema" in published)


@pytest.mark.parametrize(
    ("tool", "arguments", "member"),
    [
        ("echo", {"text": None}, "text"),
        ("echo", {"text": 7}, "text"),
        ("echo_strict", {"txt": "x"}, "txt"),
        ("add", {"a": 1}, "b"),
    ],
)
async def test_wrong_arguments_are_a_tool_error_that_names_the_member(
    adapter: Adapter, tool: str, arguments: dict[str, Any], member: str
) -> None:
    async with serving(wire_registry()) as url, RawClient(url, adapter) as client:
        reply = await client.tool(tool, arguments)
    assert reply.result["isError"] is True and member in reply.text


async def test_arguments_that_a_schema_leaves_open_are_taken(adapter: Adapter) -> None:
    async with serving(wire_registry()) as url, RawClient(url, adapter) as client:
        assert (await client.tool("echo", {"text": "x", "more": 1})).text == "x"
