"""A server on its standard streams. Specification: basic/transports#stdio"""

from __future__ import annotations

import asyncio
import os
import pathlib
import signal
import socket
import sys
import threading
from typing import Any

import pytest
from bounds import starting
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp_anyrev import Registry, Server, Settings
from mcp_contract import Declaration
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from pydantic_core import from_json, to_json
from talking import BUFFERED, SERVER, Message, Talk, talking

NEWEST = AdapterSet.default().newest
NOBODY = Declaration({}, {"name": "test", "version": "1"})


async def test_a_conversation_goes_its_way(adapter: Adapter) -> None:
    """One process for all that a revision has: concurrent calls, cancellation, noise, long and broken lines, and its end.

    Specification: basic/lifecycle#initialization (a ping needs no handshake)
    """
    async with talking(adapter, pings=adapter.has_handshake) as talk:
        # stdout carries messages alone, whatever handlers print; and nobody but the server reads stdin
        assert await talk.text(talk.call("loud")) == "said"
        assert await talk.text(talk.call("hungry")) == "b''"

        # calls at the same time, in whatever order they end; ids keep their types
        slow, quick = talk.call("wait", 7, seconds=0.05), talk.call("echo", "7", text="quick")
        found = [await talk.read(), await talk.read()]
        assert [one["id"] for one in found] == [quick, slow]

        # a call is given up by a notification, and what races with its end does no harm
        given_up = talk.call("wait", seconds=0.05)
        for identifier in (given_up, given_up, "nope", None):
            talk.send(method="notifications/cancelled", params={} if identifier is None else {"requestId": identifier})
        later = talk.call("wait", seconds=0.1)
        assert (await talk.read())["id"] == later

        # lines of any length up to the bound, in either direction; a longer one is refused and the next is read
        assert await talk.text(talk.call("echo", text="x" * 150_000)) == "x" * 150_000
        talk.write(b'{"jsonrpc":"2.0","id":5,"method":"ping","params":{"a":"' + b"x" * 300_000 + b'"}}\n')
        refused = await talk.read()
        assert refused.get("id") is None
        assert refused["error"]["code"] == adapter.error_codes["too_large"]
        assert await talk.text(talk.call("echo", text="a\nb\r\n\u2028")) == "a\nb\r\n\u2028"

        # what cannot be read is answered, and the next line is read
        parse_error = adapter.error_codes["parse_error"]
        for line in (b"no json\n", b"Content-Length: 40\r\n", b"\xff\xfe\n", b'{"a":\n'):
            talk.write(line)
            assert (await talk.read())["error"]["code"] == parse_error
        for line in (
            b'{"jsonrpc":"2.0","id":null,"method":"ping"}\n',
            b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}\n',
            b"7\n",
        ):
            talk.write(line)
            answer = await talk.read()
            assert answer["error"]["code"] == adapter.error_codes["invalid_request"] and answer.get("id") is None
        talk.write(b'{"jsonrpc":"2.0","method":7}\n{"jsonrpc":"2.0","id":1.5,"result":{}}\n')  # which want no answer
        talk.write(b"\n\r\n  \n")
        talk.write(b'{"jsonrpc":"2.0","id":"crlf","method":"nope"}\r\n')
        assert (await talk.read())["id"] == "crlf"

        if adapter.has_handshake:
            await _questions(talk)
            await _batches(talk)

        # when nothing more comes, calls that go on are answered, and the process ends
        last = talk.call("wait", seconds=0.1)
        talk.end()
        assert [one["id"] for one in await talk.rest() if "id" in one] == [last]
        assert await talk.process.wait() == 0


async def _questions(talk: Talk) -> None:
    """They come on the pipe, or in the arguments."""
    call = talk.call("ask")
    message = await talk.read()
    if talk.adapter.asks_in_arguments:
        assert message["id"] == call
        return
    assert message["method"] == "elicitation/create"
    talk.send(id=message["id"], result={"action": "decline"})
    assert await talk.text(call) == "decline"


async def _batches(talk: Talk) -> None:
    talk.write(b'[{"jsonrpc":"2.0","id":3,"method":"ping"},{"jsonrpc":"2.0","id":4,"method":"ping"}]\n')
    line = await talk.process.stdout.readline()  # type: ignore[union-attr]
    assert line.startswith(b"[") is _takes_batches(talk.adapter)


async def test_a_server_writes_no_request_where_it_must_not() -> None:
    """Specification: basic/transports/stdio#receiving-messages"""
    adapters = [one for one in AdapterSet.default().by_version.values() if not one.stdio_server_requests]
    for adapter in adapters:
        async with talking(adapter) as talk:
            assert adapter.read_questions((await talk.answer(talk.call("ask")))["result"]) is not None


async def test_changes_are_told_to_a_session() -> None:
    async with talking(AdapterSet.default().newest_with_handshake) as talk:
        call = talk.call("grow")
        methods = {(await talk.read()).get("method") for _ in range(2)}
        assert methods == {None, "notifications/tools/list_changed"}
        assert call


async def test_two_streams_of_changes_are_kept_apart(adapter: Adapter) -> None:
    """Ids that only their types keep apart; one is given up, and the other goes on. Its end is told before its result."""
    if not adapter.listens:
        return
    async with talking(adapter) as talk:
        for identifier in (1, "1"):
            talk.request("subscriptions/listen", identifier, notifications={"toolsListChanged": True})
        acknowledged = [adapter.notified_subscription(await talk.read()) for _ in range(2)]
        assert sorted(map(repr, acknowledged)) == ["'1'", "1"]
        talk.send(method="notifications/cancelled", params={"requestId": 1})
        await talk.text(talk.call("echo", text="given up"))
        call = talk.call("grow")
        told: list[Message] = [await talk.read(), await talk.read()]
        assert [adapter.notified_subscription(one) for one in told if "method" in one] == ["1"]
        assert [one["id"] for one in told if "method" not in one] == [call]
        talk.end()
        rest = await talk.rest()
        ends = [one for one in rest if one.get("id") == "1" or one.get("method") == "notifications/cancelled"]
        if adapter.stdio_cancels_listening:
            assert ends[0]["params"]["requestId"] == "1"
        assert ends[-1]["id"] == "1" and "result" in ends[-1]


async def test_both_ways_of_beginning_work_on_one_pipe() -> None:
    adapters = AdapterSet.default()
    async with talking(adapters.newest_with_handshake) as talk:
        talk.adapter = NEWEST
        one = talk.call("echo", text="without")
        assert await talk.text(one) == "without"
        talk.adapter = adapters.newest_with_handshake
        assert await talk.text(talk.call("echo", text="with")) == "with"


def _takes_batches(adapter: Adapter) -> bool:
    try:
        return len(adapter.batching([{"jsonrpc": "2.0", "id": 1, "method": "ping"}])) == 1
    except Exception:
        return False


async def test_it_ends_when_it_is_asked_to() -> None:
    """SIGTERM ends it in time, also with a handler at work that cannot be cancelled."""
    async with talking(NEWEST) as talk:
        talk.call("stuck")
        await talk.text(talk.call("echo", text="under way"))
        begun = asyncio.get_running_loop().time()
        talk.process.send_signal(signal.SIGTERM)
        assert await talk.process.wait() == 0
        assert asyncio.get_running_loop().time() - begun < 0.5 + 3


async def test_a_signal_while_it_winds_up_ends_the_calls_in_good_order() -> None:
    """A client that has said its last and waits no longer: handlers are cancelled, lifespans left, and that is no failure.

    Specification: basic/lifecycle#stdio
    """
    async with talking(NEWEST) as talk:
        talk.call("wait", seconds=30)
        await talk.text(talk.call("last_words", text="left in good order"))
        talk.end()
        await asyncio.sleep(0.05)
        begun = asyncio.get_running_loop().time()
        talk.process.send_signal(signal.SIGTERM)
        assert await talk.process.wait() == 0
        assert asyncio.get_running_loop().time() - begun < 0.5 + 3
        assert talk.process.stderr is not None
        said = await talk.process.stderr.read()
        assert b"left in good order" in said and b"Traceback" not in said


async def test_it_ends_at_once_with_a_second_interruption() -> None:
    async with talking(NEWEST) as talk:
        talk.call("stuck")
        await talk.text(talk.call("echo", text="under way"))
        for _ in range(2):
            talk.process.send_signal(signal.SIGINT)
            await asyncio.sleep(0.1)
        assert await talk.process.wait() == -signal.SIGINT


async def test_what_goes_on_may_still_be_answered_when_it_is_to_end() -> None:
    """Also what waits for the client."""
    async with talking(next(one for one in AdapterSet.default().by_version.values() if one.can_push_ask)) as talk:
        call = talk.call("ask")
        question = await talk.read()
        talk.process.send_signal(signal.SIGTERM)
        await asyncio.sleep(0.1)
        talk.send(id=question["id"], result={"action": "decline"})
        assert await talk.text(call) == "decline"
        assert await talk.process.wait() == 0


async def test_it_ends_although_nobody_reads_what_it_prints() -> None:
    async with talking(NEWEST) as talk:
        talk.look_away()
        for _ in range(3):
            talk.call("flood")
        await asyncio.sleep(0.2)
        talk.end()
        assert await talk.ends(8)


async def test_it_ends_although_a_lifespan_does_not() -> None:
    """It blocks the event loop, too: nobody reads what it prints."""
    async with talking(NEWEST) as talk:
        await talk.text(talk.call("last_words", text="x" * 150_000))
        talk.look_away()
        talk.end()
        assert await talk.ends(8)
        assert talk.process.returncode == 1


async def test_streams_that_are_missing_or_never_wait_are_borne() -> None:
    """Two ways of being started badly: a socket that was made not to wait, and no stderr. What was printed before is no message."""
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    ours.setblocking(False)
    command = ["/bin/sh", "-c", 'exec "$@" 2>&-', "sh", sys.executable, str(SERVER)]
    process = await asyncio.create_subprocess_exec(*command, stdin=theirs, stdout=theirs, env={**BUFFERED, "LOUD": "1"})
    theirs.close()
    reader, writer = await asyncio.open_connection(sock=ours, limit=2**20)
    text = "x" * 150_000
    with starting():
        for identifier in range(8):
            params = NEWEST.declared_params({"name": "echo", "arguments": {"text": text}}, NOBODY)
            message = {"jsonrpc": "2.0", "id": identifier, "method": "tools/call", "params": params}
            writer.write(to_json(message) + b"\n")
        answers = [from_json(await reader.readline()) for _ in range(8)]
        assert {one["id"] for one in answers} == set(range(8))
        assert all(one["result"]["content"][0]["text"] == text for one in answers)
        writer.write_eof()
        assert await reader.read() == b""
        assert await process.wait() == 0
    writer.close()


async def test_it_can_be_served_on_any_two_descriptors_and_cancelled() -> None:
    before = threading.active_count()
    (reads, sends), (receives, writes) = os.pipe(), os.pipe()
    serving = asyncio.create_task(Server(Registry("any", "1.0"), Settings()).stdio(reads, writes))
    os.write(sends, b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    assert b'"id":1' in await asyncio.to_thread(os.read, receives, 1000)
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving
    os.close(sends)
    for _ in range(50):
        if threading.active_count() <= before + 1:  # the one of `to_thread` stays
            break
        await asyncio.sleep(0.02)
    assert threading.active_count() <= before + 1
    for one in (reads, receives, writes):
        os.close(one)


async def test_it_ends_although_nobody_reads() -> None:
    async with talking(NEWEST) as talk:
        talk.look_away()
        for _ in range(20):
            talk.call("echo", text="x" * 100_000)
        await asyncio.sleep(0.2)
        talk.end()
        assert await talk.ends(8)


def test_nothing_between_messages_keeps_it_from_reading_the_next() -> None:
    """Random bytes between messages: each message is answered."""

    async def run() -> None:
        async with talking(NEWEST) as talk:
            pieces: list[bytes] = []

            @settings(max_examples=40, suppress_health_check=list(HealthCheck))
            @given(st.binary(max_size=60))
            def collect(piece: bytes) -> None:
                pieces.append(piece)

            collect()
            for piece in pieces:
                talk.write(piece.replace(b"\n", b" ") + b"\n")
                assert await talk.text(talk.call("echo", text="on")) == "on"

    asyncio.run(asyncio.wait_for(run(), 30))


async def test_a_process_that_is_killed_leaves_nothing() -> None:
    async with talking(NEWEST) as talk:
        talk.process.kill()
        assert await talk.process.wait() == -signal.SIGKILL
        found: Any = None
        try:
            os.kill(talk.process.pid, 0)
        except ProcessLookupError as gone:
            found = gone
        assert found is not None


async def test_what_a_module_prints_when_it_is_loaded_is_no_message() -> None:
    """Specification: basic/transports/stdio"""
    environment = {**os.environ, "LOUD": "1"}
    command = [
        str(pathlib.Path(sys.executable).with_name("mcp-anyrev")),
        "serve",
        f"{SERVER}:registry",
        "--transport",
        "stdio",
    ]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment)
    with starting():
        told, said = await process.communicate(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    assert from_json(told) == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert b"printed before it serves" in said
    assert process.returncode == 0


async def test_what_declares_nothing_lacks_what_every_request_declares() -> None:
    """basic/index#_meta: such a request is answered with -32602; on a pipe, there are no headers that it could lack."""
    adapters = [one for one in AdapterSet.default().by_version.values() if not one.has_handshake]
    for adapter in adapters:
        (reads, sends), (receives, writes) = os.pipe(), os.pipe()
        served = Server(Registry("any", "1.0"), Settings(revisions=[adapter.version])).stdio(reads, writes)
        serving = asyncio.create_task(served)
        for params in (b"", b',"params":{}', b',"params":{"_meta":{}}'):
            os.write(sends, b'{"jsonrpc":"2.0","id":1,"method":"tools/list"' + params + b"}\n")
            answer = from_json(await asyncio.to_thread(os.read, receives, 1000))
            assert (answer["id"], answer["error"]["code"]) == (1, adapter.error_codes["missing_request_meta"])
        serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serving
        for one in (sends, reads, receives, writes):
            os.close(one)
