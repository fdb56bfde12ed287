"""How long a client waits: a server that waits for a person is not one that says nothing.

Citations: basic/lifecycle#timeouts, client/elicitation#user-interaction-model.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp_anyrev import Client, Exchange, NoAnswer, Registry, Server, elicit
from mcp_revisions.protocol import Adapter

SECONDS = 0.15


def registry() -> Registry:
    made = Registry("patient", "1.0")

    @made.tool
    async def gate(ex: Exchange) -> str:
        return "went ahead" if (await ex.ask("go", elicit("Go?"))).accepted else "stopped"

    @made.tool
    async def silent(after: float) -> str:
        await asyncio.sleep(after)
        return "spoke"

    @made.tool
    async def gate_and_silence(ex: Exchange) -> str:
        await ex.ask("go", elicit("Go?"))
        await asyncio.sleep(10)
        return "too late"

    return made


async def slow_person(asked: Any) -> bool:
    await asyncio.sleep(2 * SECONDS)
    return True


async def test_a_person_may_take_longer_than_a_server_may_say_nothing(adapter: Adapter) -> None:
    async with (
        Server(registry()) as server,
        Client(server.connect, adapter, on_ask=slow_person, timeout_seconds=SECONDS) as client,
    ):
        assert (await client.call_tool("gate")).text == "went ahead"


async def test_a_server_that_says_nothing_is_not_waited_for(adapter: Adapter) -> None:
    async with (
        Server(registry()) as server,
        Client(server.connect, adapter, on_ask=slow_person, timeout_seconds=SECONDS) as client,
    ):
        with pytest.raises(NoAnswer):
            await client.call_tool("silent", {"after": 10})
        with pytest.raises(NoAnswer):  # once the person has answered, time passes again
            await client.call_tool("gate_and_silence")
