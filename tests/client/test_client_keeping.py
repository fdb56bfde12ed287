"""Results that are used again. Specification: server/utilities/caching"""

from __future__ import annotations

from typing import Any

import pytest
from descriptions import description, finished
from mcp_anyrev import Client
from mcp_anyrev.client.kept_results import KeptResults
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from scripted import Message, Scripted, notification, result

CACHING = [one.version for one in AdapterSet.default().by_version.values() if one.cache_lifetime is not None]


@pytest.fixture(params=CACHING)
def caching_adapter(request: pytest.FixtureRequest) -> Adapter:
    """Each revision whose results say how long they may be kept."""
    return AdapterSet.default().by_version[request.param]


def server(adapter: Adapter, lifetime: Any) -> Scripted:
    def script(message: Message) -> list[Any]:
        if message["method"] == adapter.description_method:
            return [result(message, description(adapter))]
        content: dict[str, Any] = {"tools": []} if message["method"] == "tools/list" else {"contents": []}
        given = finished(adapter, message["method"], content) | {"ttlMs": lifetime}
        return [result(message, given)]

    return Scripted(script)


async def test_a_list_is_asked_for_once_until_it_changes(caching_adapter: Adapter) -> None:
    heard = server(caching_adapter, 60_000)
    async with Client(heard, caching_adapter, keep_results=True) as client:
        await client.list_tools()
        await client.list_tools()
        assert heard.methods.count("tools/list") == 1
        heard.say(notification("notifications/tools/list_changed"))
        await client.request("prompts/list")  # what was said before has been heard by then
        await client.list_tools()
        assert heard.methods.count("tools/list") == 2


@pytest.mark.parametrize("lifetime", [-5, 0, None, "60000", True, float("1e-9")])
async def test_what_may_not_be_kept_is_not(caching_adapter: Adapter, lifetime: Any) -> None:
    heard = server(caching_adapter, lifetime)
    async with Client(heard, caching_adapter, keep_results=True) as client:
        await client.list_tools()
        await client.list_tools()
    assert heard.methods.count("tools/list") == 2


async def test_nothing_is_kept_unless_it_is_asked_for(caching_adapter: Adapter) -> None:
    heard = server(caching_adapter, 60_000)
    async with Client(heard, caching_adapter) as client:
        await client.list_tools()
        await client.list_tools()
    assert heard.methods.count("tools/list") == 2


async def test_one_resource_is_not_another(caching_adapter: Adapter) -> None:
    heard = server(caching_adapter, 60_000)
    async with Client(heard, caching_adapter, keep_results=True) as client:
        for uri in ("mem://a", "mem://b", "mem://a", "mem://b"):
            await client.read_resource(uri)
        assert heard.methods.count("resources/read") == 2
        heard.say(notification("notifications/resources/updated", uri="mem://a"))
        await client.list_tools()
        for uri in ("mem://a", "mem://b"):
            await client.read_resource(uri)
        assert heard.methods.count("resources/read") == 3


async def test_what_took_an_answer_is_not_kept(caching_adapter: Adapter) -> None:
    asked = {
        "method": "elicitation/create",
        "params": {"message": "?", "requestedSchema": {"type": "object", "properties": {}}},
    }

    def script(message: Message) -> list[Any]:
        if message["method"] == caching_adapter.description_method:
            return [result(message, description(caching_adapter))]
        if not caching_adapter.read_answers(message["params"]).answers:
            return [result(message, caching_adapter.questions_result({"k": asked}, "s", message["params"]))]
        return [result(message, finished(caching_adapter, "resources/read", {"contents": []}) | {"ttlMs": 60_000})]

    heard = Scripted(script)
    async with Client(heard, caching_adapter, on_ask=lambda asked: True, keep_results=True) as client:
        await client.read_resource("mem://a")
        await client.read_resource("mem://a")
    assert heard.methods.count("resources/read") == 4


def test_what_is_kept_is_bounded_and_goes_with_time() -> None:
    now = [0.0]
    kept = KeptResults(1_000, lambda: now[0])
    for number in range(100):
        kept.keep("resources/read", {"uri": str(number)}, {"ttlMs": 1_000, "text": "x" * 100})
    found = [number for number in range(100) if kept.find("resources/read", {"uri": str(number)}) is not None]
    assert found == list(range(100 - len(found), 100))
    assert 5 < len(found) < 10
    now[0] = 1.5
    assert kept.find("resources/read", {"uri": "99"}) is None
    kept.keep("resources/read", {"uri": "large"}, {"ttlMs": 1_000, "text": "x" * 2_000})
    assert kept.find("resources/read", {"uri": "large"}) is None
