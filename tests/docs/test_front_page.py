"""What the front page shows of the wire is what passes."""

from __future__ import annotations

import asyncio
import json
import types
from typing import Any

import pytest
from mcp_anyrev import Client, Registry, Server, WireHead, WireMessage
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from snippets import ROOT, blocks, of_these_revisions

pytestmark = of_these_revisions

PAGE = blocks(ROOT / "README.md")
ADAPTERS = AdapterSet.default().by_version.values()
SHOWN = [json.loads(block.text) for block in PAGE if block.language == "json"]


def registry() -> Registry:
    module = types.ModuleType("front_page")
    (text,) = [block.text for block in PAGE if block.text.startswith("# server.py\n")]
    exec(text, module.__dict__)
    declared: Registry = module.registry
    return declared


def fits(whole: Any, part: Any) -> bool:
    """Is all of a part in a value?"""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(name in whole and fits(whole[name], value) for name, value in part.items())
    return bool(whole == part)


async def received(adapter: Adapter) -> list[Any]:
    """What a client gets while it orders something."""
    passed: list[Any] = []

    def note(one: WireMessage | WireHead) -> None:
        if isinstance(one, WireMessage) and not one.sent:
            passed.append(json.loads(one.content))

    async with (
        Server(registry()) as server,
        Client(server.connect, adapter, on_ask=lambda asked: True, on_wire=note) as client,
    ):
        result = await client.call_tool("order", {"article": "pear"})
    assert result.text == "one pear ordered"
    return passed


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.version)
def test_the_form_that_is_shown_for_a_revision_is_what_a_client_of_it_gets(adapter: Adapter) -> None:
    passed = asyncio.run(received(adapter))
    found = [any(fits(each, shown) or fits(each.get("result"), shown) for each in passed) for shown in SHOWN]
    assert found == [adapter.can_ask, adapter.can_push_ask, adapter.asks_in_arguments]


def test_the_way_of_each_revision_is_shown_above_it() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    heads = text[text.index("<tr><th>") : text.index("</th></tr>")].split("</th><th>")
    for adapter in ADAPTERS:
        if not adapter.asks_in_arguments:
            assert adapter.version in heads[0 if adapter.can_ask else 1]
