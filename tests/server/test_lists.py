"""Lists in pages, and what a server declares. Citations: server/utilities/pagination, basic/lifecycle#capability-negotiation."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_anyrev import Exchange, Registry, Settings
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving

LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}


def lists_of(adapter: Adapter) -> dict[str, str]:
    return {method: member for method, member in LISTS.items() if method in adapter.client_requests}


async def none() -> str:
    return ""


async def of_number(number: int) -> str:
    return str(number)


def registry(count: int) -> Registry:
    made = Registry("lists", "1.0")
    for number in range(count):
        made.tool(name=f"t{number}")(none)
        made.prompt(name=f"p{number}")(none)
        made.resource(f"mx://{number}", name=f"r{number}")(none)
        made.resource(f"mx://{number}/{{number}}", name=f"x{number}")(of_number)
    return made


async def pages_of(client: RawClient, method: str) -> list[dict[str, Any]]:
    pages, cursor = [], None
    while True:
        reply = await client.call(method, {} if cursor is None else {"cursor": cursor})
        pages.append(reply.result)
        cursor = reply.result.get("nextCursor")
        if cursor is None:
            return pages


async def test_pages_come_one_after_the_other_and_the_last_has_no_cursor(adapter: Adapter) -> None:
    async with serving(registry(7), Settings(page_size=3)) as url, RawClient(url, adapter) as client:
        for method, member in lists_of(adapter).items():
            pages = await pages_of(client, method)
            assert [len(page[member]) for page in pages] == [3, 3, 1]
            assert [one["name"][1:] for page in pages for one in page[member]] == [str(number) for number in range(7)]
            assert "nextCursor" not in pages[-1]
            assert len({page.get("cacheScope") for page in pages}) == 1


@pytest.mark.parametrize("count", [3, 6])
async def test_a_full_last_page_is_the_last(adapter: Adapter, count: int) -> None:
    async with serving(registry(count), Settings(page_size=3)) as url, RawClient(url, adapter) as client:
        assert [len(page["tools"]) for page in await pages_of(client, "tools/list")] == [3] * (count // 3)


async def test_a_cursor_that_is_none_is_refused(adapter: Adapter) -> None:
    """server/utilities/pagination#error-handling"""
    async with serving(registry(4), Settings(page_size=3)) as url, RawClient(url, adapter) as client:
        for method in lists_of(adapter):
            reply = await client.call(method, {"cursor": "bogus"})
            assert reply.error["code"] == adapter.error_codes["invalid_params"]
        empty = await client.call("tools/list", {"cursor": ""})
        if adapter.empty_cursor_ends:
            assert len(empty.result["tools"]) == 3
        else:
            assert empty.error["code"] == adapter.error_codes["invalid_params"]


async def test_a_change_before_a_cursor_makes_it_invalid_and_one_after_it_does_not(adapter: Adapter) -> None:
    made = registry(4)
    async with serving(made, Settings(page_size=2)) as url, RawClient(url, adapter) as client:
        cursor = (await client.call("tools/list")).result["nextCursor"]
        made.tool(name="later")(none)
        listed = (await client.call("tools/list", {"cursor": cursor})).result["tools"]
        assert [tool["name"] for tool in listed] == ["t2", "t3"]
        made.remove_tool("t0")
        reply = await client.call("tools/list", {"cursor": cursor})
        assert reply.error["code"] == adapter.error_codes["invalid_params"]


async def described(adapter: Adapter, made: Registry, settings: Settings | None = None) -> dict[str, Any]:
    async with serving(made, settings) as url, RawClient(url, adapter) as client:
        reply = await client.call(adapter.description_method, adapter.description_params(client.declaration))
    capabilities: dict[str, Any] = reply.result["capabilities"]
    return capabilities


async def test_a_server_declares_what_it_has_and_which_changes_it_announces(adapter: Adapter) -> None:
    made = registry(1)

    @made.completion("number", template="mx://0/{number}")
    async def numbers(value: str) -> list[str]:
        return [value]

    @made.tool
    async def logs(ex: Exchange) -> str:
        return ""

    announced = {"listChanged": True}
    whole = {
        "tools": announced,
        "prompts": announced,
        "resources": {**announced, "subscribe": True},
        "completions": {},
        "logging": {},
    }
    assert await described(adapter, made) == adapter.encode_server_capabilities(whole)
    silent: dict[str, Any] = {**whole, "tools": {}, "prompts": {}, "resources": {}}
    assert await described(adapter, made, Settings(announce=())) == adapter.encode_server_capabilities(silent)
    some = {**silent, "tools": announced, "resources": {"subscribe": True}}
    chosen = await described(adapter, made, Settings(announce=("updates", "tools")))
    assert chosen == adapter.encode_server_capabilities(some)


async def test_a_server_without_anything_declares_nothing(adapter: Adapter) -> None:
    assert await described(adapter, Registry("bare", "1.0")) == {}
    async with serving(Registry("bare", "1.0")) as url, RawClient(url, adapter) as client:
        assert (await client.call("tools/list")).error["code"] == adapter.error_codes["method_not_found"]
