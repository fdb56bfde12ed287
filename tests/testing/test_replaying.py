"""A client that sends again what it has sent: which handlers bear that, and how the others are named.

Citations: basic/patterns/mrtr#basic-workflow, server/tools#tool-annotations.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from mcp_anyrev import Exchange, Registry, elicit, testing
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter

PUSHING = [version for version, adapter in AdapterSet.default().by_version.items() if adapter.can_push_ask]


class Shop:
    """What an application does, and how often."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.counted = itertools.count()
        self.registry = made = Registry("shop", "1.0")

        @made.tool
        async def after(ex: Exchange) -> str:
            """Does its work after the last question."""
            return await self.ordered(ex)

        @made.tool(once=True)
        async def once(ex: Exchange) -> str:
            """The same, and its state is used up."""
            return await self.ordered(ex)

        @made.tool(once=True)
        async def before(ex: Exchange) -> str:
            """Does its work before it asks."""
            self.done.append("reserved")
            return "taken" if (await ex.ask("sure", elicit("Sure?"))).accepted else "left"

        @made.tool(once=True)
        async def remembered(ex: Exchange) -> str:
            """The same, once."""
            await ex.remember("reserved", lambda: self.done.append("reserved"))
            return "taken" if (await ex.ask("sure", elicit("Sure?"))).accepted else "left"

        @made.tool
        async def other_words(ex: Exchange) -> str:
            """Asks something else each time."""
            return str((await ex.ask("sure", elicit(f"Sure, number {next(self.counted)}?"))).accepted)

        @made.tool
        async def other_key(ex: Exchange) -> str:
            """Asks by another key each time."""
            return str((await ex.ask(f"sure{next(self.counted)}", elicit("Sure?"))).accepted)

        @made.tool
        async def other_result(ex: Exchange) -> str:
            """Gives something else each time."""
            sure = await ex.ask("sure", elicit("Sure?"))
            return f"{sure.accepted} {next(self.counted)}"

        @made.tool
        async def two(ex: Exchange) -> str:
            """Asks twice and does nothing."""
            first = await ex.ask("first", elicit("First?"))
            second = await ex.ask("second", elicit("Second?"))
            return f"{first.accepted} {second.accepted}"

        @made.tool
        def order() -> str:
            """Does something and says nothing of calling it again."""
            self.done.append("ordered")
            return f"{next(self.counted)}"

        @made.tool(read_only=True)
        def look() -> str:
            """Says that it changes nothing, and does not."""
            return "looked"

        @made.tool(read_only=True)
        def touch() -> str:
            """Says that it changes nothing, and does."""
            self.done.append("touched")
            return "touched"

        @made.tool(idempotent=True)
        def add_once() -> str:
            """Says that it can be called twice, and can."""
            if "added" not in self.done:
                self.done.append("added")
            return "added"

        @made.tool(idempotent=True)
        def add() -> str:
            """Says that it can be called twice, and cannot."""
            self.done.append("added")
            return "added"

        @made.resource("shop://counted")
        def counted() -> str:
            self.done.append("read")
            return "counted"

    async def ordered(self, ex: Exchange) -> str:
        if not (await ex.ask("sure", elicit("Sure?"))).accepted:
            return "stopped"
        self.done.append("ordered")
        return "ordered"

    def client(self, adapter: Adapter, **options: Any) -> Any:
        return testing.replaying_client(
            self.registry, adapter.version, effects=lambda: self.done, on_ask=lambda asked: True, rounds=4, **options
        )


@pytest.mark.parametrize(
    ("tool", "gives"),
    [
        ("once", "ordered"),
        ("remembered", "taken"),
        ("two", "True True"),
        ("order", "0"),
        ("look", "looked"),
        ("add_once", "added"),
    ],
)
async def test_handlers_that_bear_it_do_their_work_once(tool: str, gives: str, adapter: Adapter) -> None:
    shop = Shop()
    async with shop.client(adapter) as client:
        assert (await client.call_tool(tool)).text == gives
    # Before its first question nothing has been kept yet, so a first attempt that comes twice is two calls.
    assert set(shop.done) <= {"ordered", "reserved", "added"}
    assert shop.done.count("ordered") <= 1


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("after", "the tool 'after' did 'ordered' once more when the same answers came a second time.*`once=True`"),
        ("before", "the tool 'before' did again.*'reserved'.*remember"),
        ("other_words", "the tool 'other_words' asked 'sure' in other words.*number 0.*number 1"),
        ("other_key", "the tool 'other_key' asked 'sure0', and 'sure1' when the same was sent again"),
        ("other_result", "the tool 'other_result' gave something else.*True 0.*True 1"),
    ],
)
async def test_handlers_that_do_not_bear_it_are_named_with_what_differs(
    tool: str, words: str, round_adapter: Adapter
) -> None:
    async with Shop().client(round_adapter) as client:
        with pytest.raises(testing.DoesNotBearReplay, match=rf"(?s){words}"):
            await client.call_tool(tool)


@pytest.mark.parametrize("tool", ["after", "before", "other_words", "other_key", "other_result"])
@pytest.mark.parametrize("version", PUSHING)
async def test_where_a_handler_waits_for_its_answer_nothing_is_sent_twice(tool: str, version: str) -> None:
    shop = Shop()
    async with shop.client(AdapterSet.default().by_version[version]) as client:
        await client.call_tool(tool)
    assert len(shop.done) <= 1


async def test_promises_are_looked_at_where_the_revision_has_them(adapter: Adapter) -> None:
    shop = Shop()
    async with shop.client(adapter) as client:
        (touch,) = [tool for tool in await client.list_tools() if tool.name == "touch"]
        if touch.annotations is None:
            assert (await client.call_tool("touch")).text == "touched"
            return
        with pytest.raises(testing.DoesNotBearReplay, match=r"'touch' is declared to change nothing .*'touched'"):
            await client.call_tool("touch")
        with pytest.raises(testing.DoesNotBearReplay, match=r"'add' is declared to bear being called twice .*'added'"):
            await client.call_tool("add")


async def test_reading_a_resource_changes_nothing(adapter: Adapter) -> None:
    async with Shop().client(adapter) as client:
        with pytest.raises(testing.DoesNotBearReplay, match=r"the resource 'shop://counted' is declared .*'read'"):
            await client.read_resource("shop://counted")


async def test_an_application_says_which_results_are_the_same(round_adapter: Adapter) -> None:
    async with Shop().client(round_adapter, same=lambda first, second: True) as client:
        assert (await client.call_tool("other_result")).text == "True 0"


async def test_a_client_of_any_server_can_replay(round_adapter: Adapter) -> None:
    shop = Shop()
    async with testing.serve(shop.registry) as url:
        replaying = testing.ReplayingClient(url, round_adapter, effects=lambda: shop.done, on_ask=lambda asked: True)
        async with replaying as client:
            with pytest.raises(testing.DoesNotBearReplay, match="'before'"):
                await client.call_tool("before")
