"""HTTP+SSE on both bindings: one stream down, one address up, and the connection is the session.

Citations: basic/transports#http-with-sse.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from hosting import on_aiohttp, on_uvicorn
from mcp_anyrev import Exchange, Limits, Registry, Settings, SseEndpoint, elicit, sample
from mcp_anyrev.storage.memory import MemoryHub, MemoryStore
from mcp_anyrev.testing import serve
from mcp_contract import Declaration
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from raw_client import INFORMATION
from yarl import URL

ACCEPT: dict[str, Any] = {"action": "accept", "content": {}}
SAMPLED = {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"}
LEVELS = ("error", "info")


def registry(fate: dict[str, str] | None = None) -> Registry:
    made = Registry("old", "1.0")
    fate = {} if fate is None else fate

    @made.tool
    async def plain() -> str:
        return "fine"

    @made.tool
    async def gate(ex: Exchange) -> str:
        return "went ahead" if (await ex.ask("go", elicit("Go ahead?"))).accepted else "stopped"

    @made.tool
    async def model(ex: Exchange) -> str:
        return str((await ex.ask("text", sample("Hello?", max_tokens=5))).accepted)

    @made.tool
    async def chatty(ex: Exchange) -> str:
        for level in LEVELS:
            await ex.log(level, f"a word of {level}")
        await ex.progress(1, 2)
        return "said"

    @made.tool
    async def slow(seconds: float) -> str:
        fate["slow"] = "running"
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            fate["slow"] = "cancelled"
            raise
        fate["slow"] = "finished"
        return "slept"

    return made


class SseClient:
    """Speaks one revision over one stream."""

    def __init__(self, url: str, adapter: Adapter, *, post_at: str | None = None, headers: Any = None) -> None:
        self.url = url
        self.adapter = adapter
        self.post_at = post_at
        self.extra = headers or {}
        self.events: list[tuple[str, Any]] = []
        self.answers: dict[str, Any] = {}
        self.address = ""
        self._ids = itertools.count(1)
        self._waiting: dict[Any, asyncio.Future[Any]] = {}

    async def __aenter__(self) -> SseClient:
        self.http = aiohttp.ClientSession(headers=self.extra)
        self.stream = await self.http.get(self.url)
        assert self.stream.status == 200 and self.stream.content_type == "text/event-stream"
        opened = asyncio.get_running_loop().create_future()
        self.reading = asyncio.ensure_future(self._read(opened))
        self.address = str(URL(self.post_at or self.url).join(URL(await opened, encoded=True)))
        return self

    async def __aexit__(self, *_: object) -> None:
        self.reading.cancel()
        self.stream.close()
        await self.http.close()

    async def _read(self, opened: asyncio.Future[str]) -> None:
        event, answering = "", set()
        async for line in self.stream.content:
            if line.startswith(b"event: "):
                event = line.removeprefix(b"event: ").decode().strip()
            elif line.startswith(b"data: "):
                data = line.removeprefix(b"data: ")
                if not opened.done():
                    self.events.append((event, data.decode().strip()))
                    opened.set_result(data.decode().strip())
                    continue
                message = json.loads(data)
                self.events.append((event, message))
                waited_for = self._waiting.pop(_key(message), None)
                if waited_for is not None:
                    waited_for.set_result(message)
                elif isinstance(message, dict) and message.get("method") in self.answers:
                    said = {"jsonrpc": "2.0", "id": message["id"], "result": self.answers[message["method"]]}
                    task = asyncio.ensure_future(self.post(said))
                    answering.add(task)

    def sent(self, method: str) -> list[dict[str, Any]]:
        """The messages of a method that the server has sent."""
        return [data for _, data in self.events if isinstance(data, dict) and data.get("method") == method]

    async def post(self, message: Any, address: str | None = None, **headers: str) -> tuple[int, Any]:
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        async with self.http.post(address or self.address, data=body, headers=headers) as response:
            text = await response.text()
            return response.status, json.loads(text) if text else None

    async def call(
        self, method: str, params: dict[str, Any] | None = None, answered_by: Adapter | None = None
    ) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params or {}}
        waited_for = self._waiting[message["id"]] = asyncio.get_running_loop().create_future()
        status, body = await self.post(message)
        assert (status, body) == ((answered_by or self.adapter).accepted_status, None), body
        answer: dict[str, Any] = await waited_for
        return answer

    async def text(self, tool: str, arguments: dict[str, Any] | None = None, **meta: Any) -> str:
        params: dict[str, Any] = {"name": tool, "arguments": arguments or {}}
        answer = await self.call("tools/call", {**params, "_meta": meta} if meta else params)
        return str(answer["result"]["content"][0]["text"])

    async def shake_hands(self, capabilities: dict[str, Any] | None = None) -> dict[str, Any]:
        declared = self.adapter.required_to_ask("form") if capabilities is None else capabilities
        params = self.adapter.description_params(Declaration(declared, INFORMATION))
        answer = await self.call(self.adapter.description_method, params)
        await self.post({"jsonrpc": "2.0", "method": self.adapter.ready_notification})
        result: dict[str, Any] = answer["result"]
        return result


def _key(message: Any) -> Any:
    if isinstance(message, list):
        return tuple(one.get("id") for one in message)
    return message.get("id") if "method" not in message else None


@contextlib.asynccontextmanager
async def serving(made: Registry, settings: Settings | None = None, binding: str = "aiohttp") -> AsyncIterator[str]:
    """A server on a binding, mounted below a path; gives the URL that opens a stream."""
    endpoint = SseEndpoint(made, settings)
    if binding == "aiohttp":
        inner, outer = web.Application(), web.Application()
        inner.add_routes(endpoint.routes())
        outer.add_subapp("/old", inner)
        outer.on_shutdown.append(lambda _: endpoint.close())
        async with on_aiohttp(outer, shutdown_timeout=1) as root:
            yield f"{root}/old/sse"
        return
    from starlette.applications import Starlette
    from starlette.routing import Mount

    async with on_uvicorn(Starlette(routes=[Mount("/old", endpoint)]), timeout_graceful_shutdown=2) as root:
        try:
            yield f"{root}/old/sse"
        finally:
            await endpoint.close()  # which a signal does otherwise


async def test_every_handshake_can_be_had_and_shapes_the_answers(session_adapter: Adapter, binding: str) -> None:
    async with serving(registry(), binding=binding) as url, SseClient(url, session_adapter) as client:
        assert (await client.shake_hands())["protocolVersion"] == session_adapter.version
        assert await client.text("plain") == "fine"
        listed = await client.call("tools/list")
        session_adapter.check_result("tools/list", listed["result"])
        asks = next(tool for tool in listed["result"]["tools"] if tool["name"] == "gate")
        assert ("mcpAnswers" in asks["inputSchema"]["properties"]) == session_adapter.asks_in_arguments
    names = [name for name, _ in client.events]
    assert names[0] == session_adapter.http_sse_endpoint_event
    assert set(names[1:]) == {session_adapter.http_sse_message_event}


async def test_the_address_to_post_to_is_unguessable_and_each_stream_has_its_own(binding: str) -> None:
    adapter = AdapterSet.default().newest_with_handshake
    async with (
        serving(registry(), binding=binding) as url,
        SseClient(url, adapter) as one,
        SseClient(url, adapter) as two,
    ):
        assert one.address != two.address and len(URL(one.address).query["session"]) >= 40
        assert one.address.startswith(url.removesuffix("/sse"))
        await one.shake_hands()
        stray = one.address[:-5] + "AAAAA"
        for address in (stray, one.address.partition("?")[0], one.address.partition("=")[0] + "="):
            status, body = await one.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}, address)
            assert status == adapter.error_statuses["session_unknown"] and "error" in body


async def test_questions_are_asked_and_answered(session_adapter: Adapter, binding: str) -> None:
    async with serving(registry(), binding=binding) as url, SseClient(url, session_adapter) as client:
        await client.shake_hands({**session_adapter.required_to_ask("form"), "sampling": {}})
        client.answers = {"elicitation/create": ACCEPT, "sampling/createMessage": SAMPLED}
        assert await client.text("model") == "True"
        if session_adapter.can_push_ask:
            assert await client.text("gate") == "went ahead"
        else:
            assert "Go ahead?" in await client.text("gate")


async def test_what_a_session_did_not_declare_it_is_not_asked(push_adapter: Adapter) -> None:
    async with serving(registry()) as url, SseClient(url, push_adapter) as client:
        await client.shake_hands({})
        client.answers = {"elicitation/create": ACCEPT}
        assert "cannot" in await client.text("gate") or "not declared" in await client.text("gate")


async def test_an_answer_on_another_stream_does_not_count(push_adapter: Adapter) -> None:
    async with (
        serving(registry(), Settings(ask_timeout_seconds=0.5)) as url,
        SseClient(url, push_adapter) as asked,
        SseClient(url, push_adapter) as stranger,
    ):
        await asked.shake_hands()
        await stranger.shake_hands()
        calling = asyncio.ensure_future(asked.text("gate"))
        while not any(isinstance(data, dict) and data.get("method") for _, data in asked.events):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        question = next(data for _, data in asked.events if isinstance(data, dict) and data.get("method"))
        await stranger.post({"jsonrpc": "2.0", "id": question["id"], "result": ACCEPT})
        assert await calling == "stopped"


async def test_a_post_is_taken_before_its_answer_is_there(session_adapter: Adapter) -> None:
    async with serving(registry()) as url, SseClient(url, session_adapter) as client:
        await client.shake_hands()
        params = {"name": "slow", "arguments": {"seconds": 1.0}}
        async with asyncio.timeout(0.7):
            status, _ = await client.post({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": params})
        assert status == session_adapter.accepted_status
        assert await client.text("plain") == "fine"  # and nothing waits behind it


async def test_a_call_is_given_up_by_a_notification(session_adapter: Adapter) -> None:
    fate: dict[str, str] = {}
    async with serving(registry(fate)) as url, SseClient(url, session_adapter) as client:
        await client.shake_hands()
        params = {"name": "slow", "arguments": {"seconds": 5}}
        await client.post({"jsonrpc": "2.0", "id": "it", "method": "tools/call", "params": params})
        while fate.get("slow") != "running":  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        told = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "it"}}
        await client.post(told)
        await asyncio.sleep(0.05)
        assert fate["slow"] == "cancelled" and await client.text("plain") == "fine"
        assert not any(isinstance(data, dict) and data.get("id") == "it" for _, data in client.events)


async def test_a_cancelled_call_cancels_the_question_it_has_out(push_adapter: Adapter, binding: str) -> None:
    """basic/utilities/cancellation#cancellation-flow"""
    async with serving(registry(), binding=binding) as url, SseClient(url, push_adapter) as client:
        await client.shake_hands()
        params = {"name": "gate", "arguments": {}}
        await client.post({"jsonrpc": "2.0", "id": "it", "method": "tools/call", "params": params})
        while not (asked := client.sent("elicitation/create")):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await client.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "it"}})
        assert await client.text("plain") == "fine"
        assert [one["params"]["requestId"] for one in client.sent("notifications/cancelled")] == [asked[0]["id"]]


async def test_log_messages_and_progress_travel_on_the_stream(session_adapter: Adapter) -> None:
    async with serving(registry()) as url, SseClient(url, session_adapter) as client:
        await client.shake_hands()
        assert "result" in await client.call("logging/setLevel", {"level": "error"})
        assert await client.text("chatty", progressToken="p") == "said"
    told = [data for _, data in client.events if isinstance(data, dict) and "method" in data]
    logged = [one["params"]["level"] for one in told if one["method"] == "notifications/message"]
    assert logged == ["error"]
    assert [one["params"]["progressToken"] for one in told if one["method"] == "notifications/progress"] == ["p"]


async def test_changes_are_told_on_the_stream_in_the_agreed_revision(session_adapter: Adapter, binding: str) -> None:
    made = registry()
    async with serving(made, binding=binding) as url, SseClient(url, session_adapter) as client:
        await client.shake_hands()
        await client.text("plain")
        made.changed("tools")
        await asyncio.sleep(0.2)
    told = [data["method"] for _, data in client.events if isinstance(data, dict) and "method" in data]
    assert told == ["notifications/tools/list_changed"]


async def test_batches_only_where_the_agreed_revision_has_them(session_adapter: Adapter) -> None:
    async with serving(registry()) as url, SseClient(url, session_adapter) as client:
        await client.shake_hands()
        batch = [
            {"jsonrpc": "2.0", "id": "a", "method": "ping"},
            {"jsonrpc": "2.0", "method": "notifications/nothing"},
            {"jsonrpc": "2.0", "id": "b", "method": "tools/call", "params": {"name": "plain", "arguments": {}}},
        ]
        answered = client._waiting["a", "b"] = asyncio.get_running_loop().create_future()
        status, body = await client.post(batch)
        try:
            session_adapter.batching(batch)
        except Exception:
            assert status == session_adapter.error_statuses["invalid_request"] and "error" in body
        else:
            assert status == session_adapter.accepted_status and len(await answered) == 2
            status, body = await client.post(
                [{"jsonrpc": "2.0", "id": number, "method": "ping"} for number in range(101)]
            )
            assert status == session_adapter.error_statuses["too_large"] and "error" in body


async def test_the_handshake_comes_first_and_once(session_adapter: Adapter) -> None:
    async with serving(registry()) as url, SseClient(url, session_adapter) as client:
        assert (await client.call("ping"))["result"] == {}
        assert "error" in await client.call("tools/list")
        await client.shake_hands()
        params = session_adapter.description_params(Declaration({}, INFORMATION))
        assert "error" in await client.call(session_adapter.description_method, params)
        assert await client.text("plain") == "fine"


async def test_a_revision_without_a_handshake_is_refused_as_one_that_is_not_served(result_adapter: Adapter) -> None:
    older = AdapterSet.default().newest_with_handshake
    async with serving(registry()) as url, SseClient(url, older) as client:
        declared = result_adapter.declared_params({}, Declaration({}, INFORMATION))
        answer = await client.call("tools/list", declared, result_adapter)
        assert answer["error"]["code"] == result_adapter.error_codes["unsupported_version"]
        assert result_adapter.version not in answer["error"]["data"]["supported"]
        params = {**older.description_params(Declaration({}, INFORMATION)), "protocolVersion": result_adapter.version}
        answer = await client.call(older.description_method, params)
        assert answer["result"]["protocolVersion"] == older.version
    with pytest.raises(ValueError, match=r"^none of the served revisions"):
        SseEndpoint(registry(), Settings(revisions=[result_adapter.version]))


async def test_headers_of_another_transport_mean_nothing(session_adapter: Adapter) -> None:
    async with serving(registry()) as url, SseClient(url, session_adapter) as client:
        await client.shake_hands()
        waited_for = client._waiting[9] = asyncio.get_running_loop().create_future()
        headers = {"MCP-Protocol-Version": "1999-01-01", "Mcp-Session-Id": "nobody", "Mcp-Method": "x"}
        status, _ = await client.post({"jsonrpc": "2.0", "id": 9, "method": "tools/list"}, **headers)
        assert status == session_adapter.accepted_status and "result" in await waited_for


async def test_what_cannot_be_read_or_is_too_large_is_refused_to_who_posts_it(
    session_adapter: Adapter, binding: str
) -> None:
    adapter = session_adapter
    settings = Settings(limits=Limits(body_bytes=300))
    async with serving(registry(), settings, binding) as url, SseClient(url, adapter) as client:
        await client.shake_hands({})
        for body in (b"{", b"\xff", b"[" * 150, b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', b" " * 400):
            status, answer = await client.post(body)
            assert 400 <= status < 500 and "error" in answer, body
            assert ("id" in answer) == adapter.unreadable_id_is_null, body
        assert (await client.call("ping"))["result"] == {}


async def test_a_stream_is_for_one_principal_alone(session_adapter: Adapter) -> None:
    settings = Settings(principal=lambda head: head.headers.get("x-principal"))
    async with (
        serving(registry(), settings) as url,
        SseClient(url, session_adapter, headers={"X-Principal": "ada"}) as client,
    ):
        await client.shake_hands()
        status, _ = await client.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}, **{"X-Principal": "eve"})
        assert status == session_adapter.error_statuses["session_unknown"]


async def test_a_session_of_another_transport_is_none_here(session_adapter: Adapter) -> None:
    from raw_client import RawClient

    async with (
        serve(registry(), sse_path="/sse") as url,
        RawClient(url, session_adapter) as other,
        SseClient(url.replace("/mcp", "/sse"), session_adapter) as client,
    ):
        address = client.address.partition("=")[0] + f"={other.session}"
        status, _ = await client.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}, address)
        assert status == session_adapter.error_statuses["session_unknown"]


async def test_what_is_posted_to_one_worker_is_answered_on_the_stream_of_another(session_adapter: Adapter) -> None:
    settings = Settings(store=MemoryStore(), hub=MemoryHub())
    made = registry()
    async with serving(made, settings) as one, serving(registry(), settings) as two:
        async with SseClient(one, session_adapter, post_at=two) as client:
            assert (await client.shake_hands({"sampling": {}}))["protocolVersion"] == session_adapter.version
            client.answers = {"sampling/createMessage": SAMPLED}
            assert await client.text("model") == "True"
            made.changed("tools")
            await asyncio.sleep(0.2)
        told = [data.get("method") for _, data in client.events if isinstance(data, dict)]
        assert "notifications/tools/list_changed" in told


async def test_streams_and_calls_are_bounded() -> None:
    adapter = AdapterSet.default().newest_with_handshake
    settings = Settings(limits=Limits(streams_of_principal=1, calls_of_connection=2))
    async with serving(registry(), settings) as url, SseClient(url, adapter) as client:
        async with client.http.get(url) as response:
            assert response.status == adapter.error_statuses["busy"] and "Retry-After" in response.headers
        await client.shake_hands()
        params = {"name": "slow", "arguments": {"seconds": 0.3}}
        waited_for = [client._waiting.setdefault(name, asyncio.get_running_loop().create_future()) for name in "abc"]
        for name in "abc":
            await client.post({"jsonrpc": "2.0", "id": name, "method": "tools/call", "params": params})
        answers = await asyncio.gather(*waited_for)
        assert ["error" in answer for answer in answers] == [False, False, True]


async def test_only_the_right_methods_are_answered(binding: str) -> None:
    adapter = AdapterSet.default().newest_with_handshake
    async with serving(registry(), binding=binding) as url, SseClient(url, adapter) as client:
        for address, method, allowed in ((url, "POST", "GET"), (client.address, "GET", "POST")):
            async with client.http.request(method, address) as response:
                assert response.status == adapter.error_statuses["method_not_allowed"]
                assert response.headers["Allow"] == allowed
        async with client.http.get(url + "x") as response:
            assert response.status == 404


async def test_a_stream_that_is_gone_leaves_nothing_behind() -> None:
    adapter = AdapterSet.default().newest_with_handshake
    store, hub = MemoryStore(), MemoryHub()
    async with serving(registry(), Settings(store=store, hub=hub)) as url:
        async with SseClient(url, adapter) as client:
            await client.shake_hands()
        async with asyncio.timeout(5):
            while store._values or any(topic.startswith("connection/") for topic in hub._topics):  # noqa: ASYNC110
                await asyncio.sleep(0.05)


async def test_a_server_that_stops_answers_what_goes_on_and_ends_the_stream(binding: str) -> None:
    adapter = AdapterSet.default().newest_with_handshake
    async with asyncio.timeout(6), contextlib.AsyncExitStack() as stack:
        server = contextlib.AsyncExitStack()
        url = await server.enter_async_context(serving(registry(), binding=binding))
        client = await stack.enter_async_context(SseClient(url, adapter))
        await client.shake_hands()
        calling = asyncio.ensure_future(client.text("slow", {"seconds": 0.5}))
        await asyncio.sleep(0.1)
        await server.aclose()
        assert await calling == "slept"
        await client.reading


async def test_a_quiet_connection_is_pinged_and_ends_without_an_answer(
    session_adapter: Adapter, binding: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Citation: basic/utilities/ping#behavior-requirements. Before its handshake nobody is asked."""
    settings = Settings(ping_seconds=0.05, ping_timeout_seconds=0.2)
    async with serving(registry(), settings, binding) as url, SseClient(url, session_adapter) as client:
        client.answers = {"ping": {}}
        await asyncio.sleep(0.15)
        assert client.sent("ping") == []
        await client.shake_hands()
        await asyncio.sleep(0.3)
        assert len(client.sent("ping")) >= 2 and not client.reading.done()
        client.answers = {}
        async with asyncio.timeout(3):
            await client.reading
    assert "has not answered a ping" in caplog.text


async def test_who_calls_too_often_is_told_so_on_the_stream(session_adapter: Adapter, binding: str) -> None:
    """Citation: server/tools#security-considerations."""
    settings = Settings(limits=Limits(calls_per_minute=2))
    async with serving(registry(), settings, binding) as url, SseClient(url, session_adapter) as client:
        await client.shake_hands()
        for _ in range(2):
            assert await client.text("plain") == "fine"
        refused = await client.call("tools/call", {"name": "plain", "arguments": {}})
        assert refused["error"]["code"] == session_adapter.error_codes["busy"]
        assert "result" in await client.call("tools/list")
