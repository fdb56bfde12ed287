"""Requests that nobody would send, in short; `make soak` has the long form."""

from __future__ import annotations

import asyncio
import json
import time

import pytest
from fuzz_run import ANSWER_SECONDS, fuzz, fuzzed_server
from fuzzing import ADAPTERS, Fuzzer, Request
from mcp_anyrev import Registry
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving

pytestmark = pytest.mark.long

SEED = 20
REQUESTS = 600


async def test_every_answer_is_a_refusal_or_a_valid_one(binding: str) -> None:
    findings = await fuzz(binding, SEED, REQUESTS)
    assert not findings.faults, "\n".join(findings.faults[:10])
    assert findings.slowest < ANSWER_SECONDS
    assert sum(findings.statuses.values()) >= REQUESTS
    assert {200, 202, 400, 403, 404, 405} <= findings.statuses.keys()


def test_a_seed_gives_the_same_requests_again() -> None:
    assert bodies(1) == bodies(1) != bodies(2)


def bodies(seed: int) -> list[bytes]:
    fuzzer = Fuzzer(seed)
    return [fuzzer.request().body for _ in range(50)]


def registry() -> Registry:
    made = Registry("s", "1")

    @made.tool
    async def plain() -> str:
        return "fine"

    return made


BROKEN = {
    "brackets that are never closed": b"[" * 1_000_000,
    "deep arrays": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep objects": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001,
    "an id of many digits": b'{"jsonrpc":"2.0","id":' + b"9" * 100_000 + b',"method":"ping","params":{}}',
    "invalid UTF-8": b'{"jsonrpc":"2.0","id":"\xff\xfe","method":"ping"}',
    "half a pair of surrogates": b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
    "NaN": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}',
    "an infinity": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":-Infinity}}',
    "UTF-16": '{"jsonrpc":"2.0","id":1,"method":"ping"}'.encode("utf-16"),
    "nothing": b"",
}


@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN)
async def test_a_broken_body_is_refused_in_clear_words_and_at_once(adapter: Adapter, body: bytes) -> None:
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        begun = time.process_time()  # client and server are one process; what others do on the machine is not counted
        reply = await client.post(body, like=client.request("ping"))
        assert time.process_time() - begun < 1
        refusals = [adapter.error_statuses[kind] for kind in ("parse_error", "invalid_request")]
        assert reply.status in refusals and len(reply.error["message"]) > 10
        assert (await client.call("tools/list")).status == 200


async def test_a_body_of_100_megabytes_is_refused_and_not_kept(binding: str) -> None:
    async with fuzzed_server(binding) as (url, _):
        host, port = url.removeprefix("http://").removesuffix("/mcp").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        adapter = next(iter(ADAPTERS.values()))
        request = Request(adapter, "POST", [(b"Content-Type", b"application/json")], b"", None, length=100_000_000)
        writer.write(request.written("/mcp", f"{host}:{port}"))
        sending = asyncio.ensure_future(_pour(writer, 100_000_000))
        async with asyncio.timeout(ANSWER_SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
            body = await reader.readuntil(b"}}")
        sending.cancel()
        writer.close()
    assert head.split()[1] in (b"400", b"413")
    assert "bytes" in json.loads(body)["error"]["message"]


async def _pour(writer: asyncio.StreamWriter, size: int) -> None:
    for _ in range(size // 100_000):
        writer.write(b"x" * 100_000)
        await writer.drain()
