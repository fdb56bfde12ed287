"""What passes, in the log: each message both ways with its head, and nothing that lets somebody act as somebody else."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from typing import Any

import pytest
from mcp_anyrev import Principal, Server, Settings
from mcp_anyrev.cli import logs
from mcp_anyrev.wire_log import LONGEST, Passed
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving
from test_logs import shop

Log = pytest.LogCaptureFixture


def passed(caplog: Log) -> list[Passed]:
    found: list[Passed] = []
    for record in caplog.records:
        if record.name == "mcp_anyrev.wire":
            assert isinstance(record.args, tuple) and isinstance(record.args[0], Passed)
            found.append(record.args[0])
    return found


async def test_each_message_is_shown_both_ways_with_its_head(adapter: Adapter, binding: str, caplog: Log) -> None:
    caplog.set_level(logging.DEBUG, "mcp_anyrev.wire")
    async with serving(shop(), binding=binding) as url, RawClient(url, adapter) as client:
        caplog.clear()
        await client.tool("price", {"article": "apple"})
    told = [one.to_json() for one in passed(caplog)]
    assert [one["direction"] for one in told] == ["in", "in", "out", "out"]
    assert len({one["request"] for one in told}) == 1 and told[0]["line"] == "POST /mcp" and told[2]["line"] == "200"
    assert told[1]["message"]["params"]["arguments"] == {"article": "apple"}
    assert told[3]["message"]["result"]["content"][0]["text"] == "90"


async def test_nothing_secret_is_shown(adapter: Adapter, caplog: Log) -> None:
    caplog.set_level(logging.DEBUG, "mcp_anyrev.wire")
    settings = Settings(principal=lambda head: Principal("ada"))
    async with serving(shop(), settings) as url, RawClient(url, adapter) as client:
        reply = await client.post(
            client.request("tools/call", {"name": "order", "arguments": {"api_key": "s3cret"}}),
            change={"Authorization": "Bearer s3cret.of.ada"},
            on_message=_decline(client) if adapter.can_push_ask else None,
        )
    text = "\n".join([*map(str, passed(caplog)), *(json.dumps(one.to_json()) for one in passed(caplog))])
    assert "Bearer •••" in text and "s3cret" not in text
    session = client.session
    assert session is None or session not in text
    state = reply.result.get("requestState")
    assert state is None or state not in text


def _decline(client: RawClient) -> Any:
    async def decline(message: dict[str, Any]) -> None:
        if message["method"] == "elicitation/create":
            await client.post({"jsonrpc": "2.0", "id": message["id"], "result": {"action": "decline"}})

    return decline


@pytest.mark.parametrize("content", [b"x" * 1_000_000, b"[" + b"1," * 400_000 + b"1]", b"\xff" * 100_000, b""])
def test_what_is_shown_of_one_message_is_bounded(content: bytes) -> None:
    assert len(str(Passed(True, 1, content=content))) < LONGEST + 100
    assert len(json.dumps(Passed(False, content=content).to_json(), ensure_ascii=False)) < 2 * LONGEST


def test_events_of_a_stream_are_shown_as_their_messages() -> None:
    told = Passed(True, 3, content=b'id: 7\ndata: {"jsonrpc": "2.0", "method": "x"}\n\n')
    assert str(told) == '← 3 id: 7\n{"jsonrpc": "2.0", "method": "x"}'


async def test_nothing_passes_the_log_unless_somebody_wants_it(adapter: Adapter, caplog: Log) -> None:
    async with serving(shop()) as url, RawClient(url, adapter) as client:
        await client.tool("price", {"article": "apple"})
    assert not passed(caplog)


async def test_lines_on_standard_streams_are_shown_as_well(caplog: Log) -> None:
    caplog.set_level(logging.DEBUG, "mcp_anyrev.wire")
    read, write = os.pipe()
    out, into = os.pipe()
    async with Server(shop()) as server:
        serves = asyncio.ensure_future(server.stdio(read, into))
        os.write(write, b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        await asyncio.to_thread(os.read, out, 10_000)
        os.close(write)
        await serves
    for descriptor in (read, out, into):
        os.close(descriptor)
    assert [one.to_json()["direction"] for one in passed(caplog)] == ["in", "out"]


def test_a_line_of_json_can_be_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    record = logging.LogRecord(logs.WIRE, logging.DEBUG, "", 0, "%s", (Passed(False, 1, content=b'{"a": 1}'),), None)
    told = json.loads(logs._Lines("json").format(record))
    assert {name: told[name] for name in ("direction", "request", "message")} == {
        "direction": "in",
        "request": 1,
        "message": {"a": 1},
    }
    assert logs._Lines("text").format(record).endswith('→ 1 {"a": 1}')
