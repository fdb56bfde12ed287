"""Listening to a server that does not keep to it: that ends, too, in time and with a typed error.

Specification: basic/patterns/subscriptions, basic/lifecycle#timeouts
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from descriptions import ADAPTERS, description, finished
from mcp_anyrev import Client, ClientError, Limits, NoAnswer, RequestRefused, WrongAnswer
from mcp_revisions.protocol import Adapter
from scripted import Message, Scripted, error, result

LISTENING = [one for one in ADAPTERS.by_version.values() if one.listens]


def server(adapter: Adapter, listened: Callable[[Message], list[Any]]) -> Scripted:
    """A server that answers whoever wants to listen like that."""

    def script(message: Message) -> list[Any]:
        if message.get("method") == adapter.description_method:
            return [result(message, description(adapter))]
        return listened(message) if "id" in message else []

    return Scripted(script)


@pytest.mark.parametrize("adapter", LISTENING, ids=lambda one: one.version)
@pytest.mark.parametrize(
    ("answer", "raised"),
    [
        (lambda message: [], NoAnswer),
        (lambda message: [result(message, {})], ClientError),
        (lambda message: [result(message, None)], WrongAnswer),
        (lambda message: [error(message, -32602)], RequestRefused),
        (lambda message: [error(message, -32603)], ClientError),
    ],
    ids=["nothing", "a result", "no result", "a refusal", "a failure"],
)
async def test_what_is_not_acknowledged_is_not_listened_to(
    adapter: Adapter, answer: Callable[[Message], list[Any]], raised: type[Exception]
) -> None:
    async with Client(server(adapter, answer), adapter, timeout_seconds=0.1) as client:
        async with asyncio.timeout(2):
            with pytest.raises(raised):
                async with client.listen("tools"):
                    pass


@pytest.mark.parametrize("adapter", LISTENING, ids=lambda one: one.version)
async def test_a_stream_that_ends_before_it_begins_is_a_wrong_answer(adapter: Adapter) -> None:
    def answer(message: Message) -> list[Any]:
        return [result(message, finished(adapter, "subscriptions/listen", {}))]

    async with Client(server(adapter, answer), adapter) as client, asyncio.timeout(2):
        with pytest.raises(WrongAnswer, match="had not acknowledged"):
            async with client.listen("tools"):
                pass


async def test_a_subscription_that_is_not_answered_is_given_up(session_adapter: Adapter) -> None:
    heard = server(session_adapter, lambda message: [])
    async with Client(heard, session_adapter, timeout_seconds=0.1) as client, asyncio.timeout(2):
        with pytest.raises(NoAnswer):
            async with client.listen(uris=["mem://a"]):
                pass


async def test_a_server_that_takes_nothing_holds_nobody_up(adapter: Adapter) -> None:
    """Not even those whose requests find no room any longer."""
    never = asyncio.Event()

    async def script(message: Message) -> list[Any]:
        if message.get("method") == adapter.description_method:
            return [result(message, description(adapter))]
        await never.wait()
        return []

    async with Client(Scripted(script), adapter, timeout_seconds=0.2) as client, asyncio.timeout(4):
        await client.initialize()
        for _ in range(4):  # of which two fill what may wait
            call = client.call_tool("t", {"text": "x" * (Limits().queue_bytes // 2 + 1)})
            with pytest.raises(NoAnswer):
                await call
