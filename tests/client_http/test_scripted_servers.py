"""Streamable HTTP against servers that answer anything: every call ends with its answer or a typed error, and closing never takes long.

Citations: basic/transports/streamable-http, basic/transports#resumability-and-redelivery.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import time
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Any

import pytest
from answering_anything import EVENTS, JSON, Received, Reply, Script, Scripted, event, for_ever, result, scripted
from mcp_anyrev import Limits
from mcp_anyrev.client.errors import CannotConnect, ClientError, HttpRefused, WrongAnswer
from mcp_anyrev.http.client import refusals, streamable, transport
from mcp_anyrev.http.client.exchange import Answer, Request
from mcp_anyrev.http.client.options import HttpOptions
from mcp_anyrev.transports.aiohttp_client import streamable_http
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from multidict import CIMultiDict
from receiving import Receiving
from yarl import URL

ADAPTERS = AdapterSet.default()
WITH_SESSION = ADAPTERS.newest_with_handshake
WITHOUT = next(one for one in ADAPTERS.by_version.values() if not one.has_handshake)
LIMITS = Limits(body_bytes=100_000)
SESSION = "an-unguessable-name"
NOTE = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}


@contextlib.asynccontextmanager
async def connected(
    script: Script, adapter: Adapter = WITHOUT, options: HttpOptions | None = None
) -> AsyncIterator[tuple[Receiving, Scripted]]:
    """A transport that is open to a scripted server."""
    async with scripted(script) as server:
        client = Receiving(streamable_http(server.url, LIMITS, options or HttpOptions()), adapter)
        await client.open()
        try:
            yield client, server
        finally:
            begun = time.monotonic()
            await client.transport.close()
            assert time.monotonic() - begun < 2


async def refused(script: Script, adapter: Adapter = WITHOUT, seconds: float = 5) -> Exception:
    """What a call ends with that has no answer."""
    async with connected(script, adapter) as (client, _):
        with pytest.raises((ClientError, TimeoutError)) as caught:
            await client.call("tools/list", seconds=seconds)
        return caught.value


def answering(body: bytes, status: int = 200, **headers: str) -> Script:
    async def script(received: Received, reply: Reply) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        await reply.body(status, {**JSON, **named}, body)

    return script


# --- What is no answer ---


@pytest.mark.parametrize(
    "body", [b'{"jsonrpc":"2.0","id":99,"result":{}}', b'{"jsonrpc":"2.0","id":"1","result":{}}', b"[]", b"{}", b"null"]
)
async def test_json_that_does_not_answer_the_request_is_a_wrong_answer(body: bytes) -> None:
    assert isinstance(await refused(answering(body)), (WrongAnswer))


@pytest.mark.parametrize("kind", ["text/html", "application/jsonp", ""])
async def test_a_body_of_another_kind_is_a_wrong_answer(kind: str) -> None:
    error = await refused(answering(b"<html>", content_type=kind))
    assert isinstance(error, WrongAnswer) and "application/json" in str(error)


async def test_a_request_that_is_only_taken_has_a_wrong_answer() -> None:
    assert isinstance(await refused(answering(b"", WITHOUT.accepted_status, content_type="")), WrongAnswer)


async def test_what_is_no_http_is_a_wrong_answer() -> None:
    async def script(received: Received, reply: Reply) -> None:
        await reply.raw(b"SSH-2.0-OpenSSH\r\n\r\n")

    assert isinstance(await refused(script), WrongAnswer)


async def test_a_connection_that_closes_at_once_cannot_be_connected_to() -> None:
    async def script(received: Received, reply: Reply) -> None:
        reply.cut()

    assert isinstance(await refused(script), CannotConnect)


async def test_json_that_breaks_off_cannot_be_connected_to() -> None:
    async def script(received: Received, reply: Reply) -> None:
        await reply.head(200, {**JSON, "content-length": "100"})
        await reply.raw(b'{"jsonrpc"')

    assert isinstance(await refused(script), CannotConnect)


async def test_a_server_that_never_answers_is_the_callers_timeout() -> None:
    async def script(received: Received, reply: Reply) -> None:
        await for_ever()

    assert isinstance(await refused(script, seconds=0.1), TimeoutError)


async def test_an_answer_that_never_ends_is_the_callers_timeout() -> None:
    async def script(received: Received, reply: Reply) -> None:
        await reply.stream()
        while True:
            await reply.raw(b": still there\n\n")
            await asyncio.sleep(0.01)

    assert isinstance(await refused(script, seconds=0.2), TimeoutError)


# --- Statuses ---


@pytest.mark.parametrize("status", [HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED, HTTPStatus.INTERNAL_SERVER_ERROR])
@pytest.mark.parametrize(
    "body", [b"", b"<html>no</html>", b'{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}']
)
async def test_a_status_that_is_no_success_is_told_with_what_came(status: HTTPStatus, body: bytes) -> None:
    error = await refused(answering(body, status, www_authenticate='Bearer scope="x"', retry_after="7"))
    assert isinstance(error, HttpRefused)
    assert (error.status, error.challenge, error.retry_after_seconds) == (status, 'Bearer scope="x"', 7)
    assert (error.body is not None) == body.startswith(b"{")
    assert status.phrase in str(error)


async def test_retry_after_may_be_a_date() -> None:
    error = await refused(answering(b"", 503, retry_after="Wed, 21 Oct 2015 07:28:00 GMT"))
    assert isinstance(error, HttpRefused) and error.retry_after_seconds == 0


async def test_a_refusal_without_an_end_is_still_one() -> None:
    async def script(received: Received, reply: Reply) -> None:
        await reply.head(500, JSON)
        while True:
            await reply.raw(b" " * 10_000)

    error = await refused(script)
    assert isinstance(error, HttpRefused) and error.body is None


async def test_a_refusal_whose_body_does_not_come_is_still_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusals, "_READ_SECONDS", 0.05)

    async def script(received: Received, reply: Reply) -> None:
        await reply.head(HTTPStatus.UNAUTHORIZED, {**JSON, "content-length": "100"})
        await for_ever()

    assert isinstance(await refused(script), HttpRefused)


# --- Bounds ---


async def test_a_body_that_is_too_large_is_a_wrong_answer() -> None:
    error = await refused(answering(b" " * (LIMITS.body_bytes + 1)))
    assert isinstance(error, WrongAnswer) and f"{LIMITS.body_bytes} bytes" in str(error)


async def test_an_event_that_is_too_large_is_a_wrong_answer() -> None:
    async def script(received: Received, reply: Reply) -> None:
        await reply.stream("data: ")
        while True:
            await reply.raw(b"x" * 10_000)

    assert isinstance(await refused(script), WrongAnswer)


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
@pytest.mark.parametrize("head", [JSON, EVENTS])
async def test_what_decompresses_to_too_much_is_a_wrong_answer(coding: str, head: dict[str, str]) -> None:
    bomb = gzip.compress(b"data: " + bytes(50_000_000))

    async def script(received: Received, reply: Reply) -> None:
        await reply.body(200, {**head, "content-encoding": coding}, bomb)

    begun = time.process_time()
    assert isinstance(await refused(script), WrongAnswer)
    assert time.process_time() - begun < 1


async def test_what_is_compressed_comes_in_small_pieces() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield gzip.compress(bytes(5_000_000))

    request = Request("GET", URL("http://127.0.0.1/"), CIMultiDict())
    answer = Answer(request, 200, {"content-encoding": "gzip"}, pieces(), LIMITS.body_bytes)
    sizes = [len(piece) async for piece in answer.pieces()]
    assert sum(sizes) == 5_000_000 and max(sizes) <= 65_536


async def test_what_was_compressed_without_being_asked_for_is_read() -> None:
    async def script(received: Received, reply: Reply) -> None:
        assert received.headers["accept-encoding"] == "identity"
        packed = gzip.compress(f'{{"jsonrpc":"2.0","id":1,"result":{{"x":"{"y" * 90_000}"}}}}'.encode())
        await reply.body(200, {**JSON, "content-encoding": "gzip"}, packed)

    async with connected(script) as (client, _):
        assert len((await client.call("tools/list"))["result"]["x"]) == 90_000


@pytest.mark.parametrize(("coding", "error"), [("br", WrongAnswer), ("gzip", WrongAnswer)])
async def test_what_is_not_compressed_as_it_says_is_a_wrong_answer(coding: str, error: type[Exception]) -> None:
    assert isinstance(await refused(answering(b"{}", content_encoding=coding)), error)


async def test_compressed_json_that_breaks_off_cannot_be_connected_to() -> None:
    assert isinstance(await refused(answering(gzip.compress(b"{}")[:-6], content_encoding="gzip")), CannotConnect)


# --- Streams ---


async def test_a_stream_brings_messages_and_the_answer_and_may_stay_open() -> None:
    async def script(received: Received, reply: Reply) -> None:
        await reply.stream(event(NOTE), "event: other\ndata: {}\n\n", event(result(received)))
        await for_ever()

    async with connected(script) as (client, _):
        assert (await client.call("tools/list"))["result"] == {}
        assert client.seen[0] == (NOTE, 1) and len(client.seen) == 2


async def test_a_stream_that_stays_open_behind_the_answer_is_closed_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(streamable, "_LAST_SECONDS", 0.05)
    closed = asyncio.Event()

    async def script(received: Received, reply: Reply) -> None:
        await reply.stream(event(result(received)))
        try:
            while True:
                await reply.raw(b":\n\n")
                await asyncio.sleep(0.01)
        finally:
            closed.set()

    async with connected(script) as (client, _):
        await client.call("tools/list")
        await asyncio.wait_for(closed.wait(), 2)


async def test_a_stream_that_ends_without_the_answer_is_a_wrong_answer_where_it_has_no_ids() -> None:
    async def script(received: Received, reply: Reply) -> None:
        await reply.stream(event(NOTE))

    assert isinstance(await refused(script, WITH_SESSION), WrongAnswer)


async def test_a_stream_is_never_taken_up_in_a_revision_without_event_ids() -> None:
    # basic/transports/streamable-http#receiving-messages
    async def script(received: Received, reply: Reply) -> None:
        await reply.stream(event(NOTE, "7"))

    async with connected(script) as (client, server):
        with pytest.raises(WrongAnswer, match="without answering"):
            await client.call("tools/list")
        assert not server.of("GET")


@pytest.mark.parametrize("broken", [False, True])
async def test_a_stream_that_breaks_is_taken_up_where_it_broke(broken: bool, session_adapter: Adapter) -> None:
    # basic/transports#resumability-and-redelivery: by GET, with the id of the last event, after the time that the server gave.
    times: list[float] = []

    async def script(received: Received, reply: Reply) -> None:
        times.append(time.monotonic())
        if received.method == "POST":
            await reply.stream("id: 1\nretry: 100\ndata:\n\n", event(NOTE, "2"))
            if broken:
                await asyncio.sleep(0.02)
                reply.cut()
        elif len(times) == 2:
            await reply.stream(event(NOTE, "3"))
        else:
            await reply.stream(event({"jsonrpc": "2.0", "id": 1, "result": {"at": "last"}}, "4"))

    async with connected(script, session_adapter) as (client, server):
        assert (await client.call("tools/list"))["result"] == {"at": "last"}
        header = str(session_adapter.resumption_header).lower()
        assert [one.headers.get(header) for one in server.received] == [None, "2", "3"]
        assert all(on == 1 for _, on in client.seen)
        assert times[1] - times[0] >= 0.1


@pytest.mark.parametrize("behind", ["", ":\n\n", event(NOTE), event(NOTE, "1")])
async def test_a_stream_that_comes_no_further_is_given_up(behind: str) -> None:
    async def script(received: Received, reply: Reply) -> None:
        await reply.stream("retry: 0\nid: 1\ndata:\n\n" if received.method == "POST" else behind)

    async with connected(script, WITH_SESSION) as (client, server):
        with pytest.raises(CannotConnect, match="does not come any further"):
            await client.call("tools/list")
        assert len(server.of("GET")) == 5


@pytest.mark.parametrize("status", [HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED])
async def test_a_stream_that_may_not_be_taken_up_is_no_lost_session(status: HTTPStatus) -> None:
    # What was asked may have been done, so nobody is to believe that it can be asked again.
    async def script(received: Received, reply: Reply) -> None:
        if received.method == "POST":
            await reply.stream("retry: 0\nid: 1\ndata:\n\n")
        else:
            await reply.json({}, status)

    error = await refused(script, WITH_SESSION)
    assert isinstance(error, WrongAnswer) and status.phrase in str(error)


async def test_what_nobody_waits_for_is_not_taken_up() -> None:
    async def script(received: Received, reply: Reply) -> None:
        await reply.stream("retry: 100\nid: 1\ndata:\n\n")

    async with connected(script, WITH_SESSION) as (client, server):
        with pytest.raises(TimeoutError):
            await client.call("tools/list", seconds=0.05)
        await asyncio.sleep(0.15)
        assert not server.of("GET")


# --- The session and its stream ---


def with_session(listening: Script) -> Script:
    """A server with a session, and a stream of what it says of its own accord."""

    async def script(received: Received, reply: Reply) -> None:
        if received.method == "GET":
            await listening(received, reply)
        elif received.method == "DELETE":
            await reply.body(204, {}, b"")
        elif "id" in received.message:
            await reply.json(result(received), headers={str(WITH_SESSION.session_header): SESSION})
        else:
            await reply.body(WITH_SESSION.accepted_status, {}, b"")

    return script


async def no_stream(received: Received, reply: Reply) -> None:
    await reply.json({}, HTTPStatus.METHOD_NOT_ALLOWED)


async def test_the_session_is_named_on_everything_behind_the_handshake(session_adapter: Adapter) -> None:
    # basic/transports#session-management
    header, opens = str(session_adapter.session_header).lower(), session_adapter.description_method
    async with connected(with_session(no_stream), session_adapter) as (client, server):
        for _ in range(2):
            await client.handshake()
            await client.call("tools/list")
    for received in server.received:
        opening = received.method == "POST" and received.message["method"] == opens
        assert received.headers.get(header) == (None if opening else SESSION)
    (ended,) = server.of("DELETE")
    if session_adapter.version_header is not None:
        assert ended.headers[session_adapter.version_header.lower()] == session_adapter.version


async def test_the_name_of_a_session_that_no_header_can_hold_is_a_wrong_answer() -> None:
    async def script(received: Received, reply: Reply) -> None:
        await reply.json(result(received), headers={str(WITH_SESSION.session_header): "a b"})

    async with connected(script, WITH_SESSION) as (client, _):
        with pytest.raises(WrongAnswer, match="session"):
            await client.handshake()


async def test_a_server_without_a_stream_of_its_own_is_asked_for_it_once() -> None:
    async with connected(with_session(no_stream), WITH_SESSION) as (client, server):
        await client.handshake()
        await client.call("tools/list")
        await asyncio.sleep(0.1)
        assert len(server.of("GET")) == 1


async def test_the_stream_of_the_session_is_opened_again_where_it_broke() -> None:
    opened: list[str | None] = []
    thrice = asyncio.Event()

    async def listening(received: Received, reply: Reply) -> None:
        opened.append(received.headers.get(str(WITH_SESSION.resumption_header).lower()))
        if len(opened) == 1:
            await reply.stream("retry: 1\n\n", event(NOTE, "a"))
        elif len(opened) == 2:
            await reply.json({}, HTTPStatus.BAD_GATEWAY)
        else:
            thrice.set()
            await reply.stream()
            await for_ever()

    async with connected(with_session(listening), WITH_SESSION) as (client, _):
        await client.handshake()
        await asyncio.wait_for(thrice.wait(), 3)
        assert opened == [None, "a", "a"]
        assert (NOTE, None) in client.seen


async def test_a_client_that_does_not_want_to_listen_opens_no_stream() -> None:
    async with connected(with_session(no_stream), WITH_SESSION, HttpOptions(listens=False)) as (client, server):
        await client.handshake()
        await client.call("tools/list")
        assert not server.of("GET")


async def test_a_request_waits_until_what_was_said_before_has_been_taken() -> None:
    order: list[str] = []

    async def script(received: Received, reply: Reply) -> None:
        if received.method == "POST" and "id" not in received.message:
            await asyncio.sleep(0.05)
            order.append(received.message["method"])
            await reply.body(WITH_SESSION.accepted_status, {}, b"")
        elif received.method == "POST":
            order.append(received.message["method"])
            await reply.json(result(received))

    async with connected(script, WITH_SESSION, HttpOptions(listens=False)) as (client, _):
        client.tell("notifications/initialized")
        client.tell("notifications/roots/list_changed")
        await client.call("tools/list")
        assert order == ["notifications/initialized", "notifications/roots/list_changed", "tools/list"]


async def test_what_is_never_taken_holds_nothing_up_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_TAKEN_SECONDS", 0.05)

    async def script(received: Received, reply: Reply) -> None:
        if "id" not in received.message:
            await for_ever()
        await reply.json(result(received))

    async with connected(script, WITH_SESSION, HttpOptions(listens=False)) as (client, _):
        client.tell("notifications/roots/list_changed")
        assert (await client.call("tools/list"))["result"] == {}


async def test_requests_do_not_wait_for_each_other() -> None:
    released = asyncio.Event()

    async def script(received: Received, reply: Reply) -> None:
        if received.message["method"] == "tools/list":
            await released.wait()
        await reply.json(result(received))
        released.set()

    async with connected(script) as (client, _):
        await asyncio.gather(client.call("tools/list"), client.call("prompts/list"))


async def test_what_is_given_up_before_it_is_sent_is_not_sent() -> None:
    async def script(received: Received, reply: Reply) -> None:
        await asyncio.sleep(0.1)
        await reply.body(WITH_SESSION.accepted_status, {}, b"")

    async with connected(script, WITH_SESSION, HttpOptions(listens=False)) as (client, server):
        client.tell("notifications/roots/list_changed")
        with pytest.raises(TimeoutError):
            await client.call("tools/list", seconds=0.02)
        await asyncio.sleep(0.15)
        assert len(server.received) == 1


async def test_what_was_sent_before_closing_arrives() -> None:
    async def script(received: Received, reply: Reply) -> None:
        await asyncio.sleep(0.05)
        await reply.body(WITH_SESSION.accepted_status, {}, b"")

    async with connected(script, WITH_SESSION) as (client, server):
        client.tell("notifications/roots/list_changed")
        client.tell("notifications/roots/list_changed")
    assert len(server.received) == 2


async def test_closing_does_not_wait_for_a_server_that_does_not_answer_that() -> None:
    async def script(received: Received, reply: Reply) -> None:
        if received.method == "POST" and "id" in received.message:
            await reply.json(result(received), headers={str(WITH_SESSION.session_header): SESSION})
        else:
            await for_ever()

    async with connected(script, WITH_SESSION, HttpOptions(listens=False)) as (client, server):
        await client.handshake()
    assert server.of("DELETE")


async def test_a_server_is_told_beside_a_message_what_is_to_be_told(adapter: Adapter) -> None:
    async def script(received: Received, reply: Reply) -> None:
        await reply.json(result(received))

    async with connected(script, adapter, HttpOptions(headers={"X-Own": "mine"})) as (client, server):
        client.beside = {"x-beside": "said"}
        params: dict[str, Any] = {"name": "plain", "arguments": {}}
        await client.call("tools/call", params)
        (received,) = server.received
        assert received.headers["x-beside"] == "said" and received.headers["x-own"] == "mine"
        assert {"application/json", "text/event-stream"} <= set(received.headers["accept"].replace(",", " ").split())
        sent = adapter.request_headers({"method": "tools/call", "params": params}, None)
        assert {name: received.headers[name.lower()] for name in sent} == sent
        adapter.check_headers(received.headers, received.message)
