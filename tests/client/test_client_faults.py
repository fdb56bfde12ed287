"""A server that answers anything: every call ends, in time, with its own result or a typed error."""

from __future__ import annotations

import asyncio
from typing import Any

from descriptions import ADAPTERS, description, finished
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_anyrev import Client, ClientError
from mcp_revisions.protocol import Adapter
from pydantic_core import to_json
from scripted import Message, Scripted, result

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
"""What comes in place of a message, or of a part of one."""

PARTS = st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "content", "resultType", "_meta"])
BROKEN = st.fixed_dictionaries(
    {
        "drop": st.lists(PARTS, max_size=2),
        "put": st.dictionaries(PARTS, JSON, max_size=2),
        "cut": st.none() | st.integers(0, 40),
    }
)
"""How an answer is broken: members that are left out, others that are put in, and where its bytes end."""


def broken(message: Message, how: dict[str, Any]) -> bytes:
    """An answer as it is broken."""
    put = dict(how["put"])
    if put.get("id") in (1, 2, 3, 4):
        del put["id"]  # who answers under the id of another request answers that one
    answer = {name: value for name, value in message.items() if name not in how["drop"]} | put
    if isinstance(answer.get("result"), dict):
        answer["result"] = {name: value for name, value in answer["result"].items() if name not in how["drop"]}
    written: bytes = to_json(answer)
    return written if how["cut"] is None else written[: how["cut"]]


@settings(max_examples=60)
@given(st.sampled_from(ADAPTERS.versions), st.lists(st.binary(max_size=20) | BROKEN | JSON.map(to_json), max_size=4))
def test_whatever_comes_a_call_ends_with_its_result_or_a_typed_error(version: str, answers: list[Any]) -> None:
    adapter = ADAPTERS.by_version[version]
    asyncio.run(asyncio.wait_for(calls(adapter, Scripted(answering(adapter, answers))), 5))


def answering(adapter: Adapter, answers: list[Any]) -> Any:
    """A server that answers calls with these: bytes as they are, and its right answer as it is broken."""

    def script(message: Message) -> list[Any]:
        if message.get("method") != "tools/call":
            return [result(message, description(adapter))] if "id" in message else []
        mark = str(message["params"]["arguments"]["mark"])
        right = result(message, finished(adapter, "tools/call", {"content": [{"type": "text", "text": mark}]}))
        return [broken(right, one) if isinstance(one, dict) else one for one in answers]

    return script


async def calls(adapter: Adapter, server: Scripted) -> None:
    """Call twice at once: no call gets what is another's."""
    async with Client(server, adapter, on_ask=lambda asked: None, rounds=2) as client:
        await client.initialize()
        both = (client.call_tool("t", {"mark": mark}, timeout_seconds=0.02) for mark in (1, 2))
        found = await asyncio.gather(*both, return_exceptions=True)
    for mark, one in enumerate(found, 1):
        if isinstance(one, BaseException):
            assert isinstance(one, ClientError), repr(one)
        elif one.text.isdecimal():
            assert one.text == str(mark)
