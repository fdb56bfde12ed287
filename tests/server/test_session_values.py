"""What handlers keep in a session: for that session alone, on any worker, and no change is lost.

Citations: basic/transports#session-management.
"""

from __future__ import annotations

import asyncio
from typing import Any

from mcp_anyrev import Exchange, Registry, Settings
from mcp_anyrev.storage.memory import MemoryHub, MemoryStore
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving


def registry() -> Registry:
    made = Registry("keeping", "1.0")

    @made.tool
    async def count(ex: Exchange) -> str:
        if ex.session is None:
            return "no session"
        return str(await ex.session.update("count", lambda count: count + 1, 0))

    @made.tool
    async def keep(ex: Exchange, value: dict[str, Any] | None = None) -> str:
        assert ex.session is not None
        before = await ex.session.get("value", "nothing")
        if value is None:
            await ex.session.delete("value")
        else:
            await ex.session.set("value", value)
        return f"{before} -> {await ex.session.get('value', 'nothing')}"

    return made


async def test_what_a_handler_gets_is_a_copy(session_adapter: Adapter) -> None:
    """Changing it changes nothing until it is set."""
    made = Registry("copying", "1.0")

    @made.tool
    async def mutate(ex: Exchange) -> str:
        assert ex.session is not None
        given: dict[str, Any] = {"list": [1]}
        await ex.session.set("value", given)
        given["list"].append("after set")
        for _ in range(2):
            got: Any = await ex.session.get("value")
            got["list"].append("after get")

        def change(value: Any) -> Any:
            value["list"].append(2)
            return value

        updated: Any = await ex.session.update("value", change)
        updated["list"].append("after update")
        return str(await ex.session.get("value"))

    async with serving(made) as url, RawClient(url, session_adapter) as client:
        assert (await client.tool("mutate")).text == "{'list': [1, 2]}"


class SlowStore(MemoryStore):
    """Far away, so that calls at the same time meet in it."""

    async def get(self, key: str) -> Any:
        await asyncio.sleep(0)
        return await super().get(key)

    async def replace(self, key: str, held: Any, value: Any, ttl: float) -> bool:
        await asyncio.sleep(0)
        return await super().replace(key, held, value, ttl)


async def test_values_are_kept_for_one_session(session_adapter: Adapter) -> None:
    async with (
        serving(registry()) as url,
        RawClient(url, session_adapter) as one,
        RawClient(url, session_adapter) as two,
    ):
        texts = [(await client.tool("count")).text for client in (one, one, two, one)]
        assert texts == ["1", "2", "1", "3"]
        assert (await one.tool("keep", {"value": {"a": [1, None]}})).text == "nothing -> {'a': [1, None]}"
        assert (await one.tool("keep")).text == "{'a': [1, None]} -> nothing"


async def test_of_changes_at_the_same_time_none_is_lost(session_adapter: Adapter) -> None:
    shared = Settings(store=SlowStore(), hub=MemoryHub())
    async with (
        serving(registry(), shared) as url,
        serving(registry(), shared) as other,
        RawClient(url, session_adapter) as client,
        RawClient(other, session_adapter) as elsewhere,
    ):
        elsewhere.session = client.session
        calls = [each.tool("count") for each in (client, elsewhere) for _ in range(20)]
        texts = [reply.text for reply in await asyncio.gather(*calls)]
        assert sorted(map(int, texts)) == list(range(1, 41))


async def test_there_is_none_where_there_are_no_sessions(result_adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, result_adapter) as client:
        assert (await client.tool("count", None)).text == "no session"
