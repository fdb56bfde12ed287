"""What must arrive does, however much else there is to say, and changes that say the same are told once.

Citations: basic/utilities/cancellation#behavior-requirements, server/resources#subscriptions, basic/patterns/subscriptions#opening-a-stream.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import urllib.parse
from typing import Any

import pytest
from event_streams import listening, posting
from mcp_anyrev import Exchange, Limits, Registry, Settings, elicit
from mcp_anyrev.conversation.amounts import Amount
from mcp_anyrev.conversation.bus import MISSED, Bus
from mcp_anyrev.conversation.outbox import Queue
from mcp_anyrev.http.streams import Stream
from mcp_anyrev.storage.keys import Key, key, new_name
from mcp_anyrev.storage.memory import MemoryHub
from mcp_anyrev.transports.answers import Answers
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, needs, serving

MANY = 900
FEW = Settings(limits=Limits(queue=50))
"""A queue that is much shorter than what there is to say."""


def registry() -> Registry:
    made = Registry("talkative", "1.0")

    @made.tool
    async def gate(ex: Exchange, reports: int = MANY) -> str:
        for number in range(1, reports + 1):
            await ex.progress(number)
        return "went ahead" if (await ex.ask("go", elicit("Go ahead?"))).accepted else "stopped"

    @made.resource("test://{number}")
    def numbered(number: int) -> str:
        return str(number)

    return made


async def test_a_question_arrives_after_more_reports_than_may_wait(push_adapter: Adapter) -> None:
    async with serving(registry(), FEW) as url, RawClient(url, push_adapter) as client:
        seen: list[Any] = []

        async def on_message(message: dict[str, Any]) -> None:
            seen.append(message.get("params", {}).get("progress", message["method"]))
            if "id" in message:
                answer = {"action": "accept", "content": {}}
                await client.post({"jsonrpc": "2.0", "id": message["id"], "result": answer})

        request = client.request("tools/call", {"name": "gate", "arguments": {}, "_meta": {"progressToken": 1}})
        reply = await client.post(request, on_message=on_message)
        assert reply.text == "went ahead" and seen == [*range(1, MANY + 1), "elicitation/create"]


@pytest.mark.parametrize("reports", [999, 1_000, 1_001])
async def test_a_question_arrives_after_as_many_reports_as_may_wait(
    push_adapter: Adapter, binding: str, reports: int
) -> None:
    async with serving(registry(), None, binding) as url, RawClient(url, push_adapter) as client:
        request = client.request(
            "tools/call", {"name": "gate", "arguments": {"reports": reports}, "_meta": {"progressToken": 1}}
        )

        async def on_message(message: dict[str, Any]) -> None:
            if "id" in message:
                accepted = {"action": "accept", "content": {}}
                await client.post({"jsonrpc": "2.0", "id": message["id"], "result": accepted})

        reply = await client.post(request, on_message=on_message)
        assert reply.text == "went ahead" and len(reply.earlier) == reports + 1


SIZE, TIMES = 250_000, 120


async def test_who_reads_slowly_gets_everything_and_costs_little(adapter: Adapter, binding: str) -> None:
    """A client that reads nothing for a while is not sent more than fits; the handler waits, and then all of it comes."""
    needs(adapter, "notifications/message")
    made, said = Registry("large", "1.0"), [0]

    @made.tool
    async def large(ex: Exchange) -> str:
        for number in range(1, TIMES + 1):
            await ex.log("error", "x" * SIZE)
            said[0] = number
        return "said"

    limits = Limits(queue_bytes=1_000_000)
    async with serving(made, Settings(limits=limits), binding) as url, RawClient(url, adapter) as client:
        whole = client.adapter.declared_params({"name": "large", "arguments": {}}, client.declaration)
        whole = adapter.log_level_params(whole, "error")
        async with posting(client, "tools/call", whole) as stream:
            before = -1
            while before != said[0]:
                before = said[0]
                await asyncio.sleep(0.3)
            assert 0 < said[0] < TIMES / 2, "it waits for whoever reads"
            messages = await stream.messages()
        assert len(messages) == TIMES + 1 and "result" in messages[-1]


async def test_a_handler_whose_reports_nobody_reads_lets_others_in(binding: str) -> None:
    made, turns, gone = Registry("talkative", "1.0"), [0], asyncio.Event()
    reported: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    @made.tool
    async def reports(ex: Exchange) -> str:
        await ex.progress(1)
        await gone.wait()
        before = turns[0]
        for number in range(2, TIMES):
            await ex.progress(number)
        reported.set_result(turns[0] - before)
        return "reported"

    async def others() -> None:
        while True:
            turns[0] += 1
            await asyncio.sleep(0)

    adapter = AdapterSet.default().newest_with_handshake
    async with serving(made, Settings(limits=Limits(queue=3)), binding) as url, RawClient(url, adapter) as client:
        async with posting(client, "tools/call", {"name": "reports", "_meta": {"progressToken": 1}}) as stream:
            await stream.message()
        await asyncio.sleep(0.3)  # till it has been noticed
        working = asyncio.ensure_future(others())
        gone.set()
        assert await reported > TIMES / 2
        working.cancel()


def test_what_has_to_arrive_and_does_not_fit_ends_the_stream_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    limits, unread = Limits(queue_bytes=1_000), Amount(1_000_000)

    async def test() -> None:
        hub = MemoryHub()
        bus = Bus(hub, "test")
        topic = key("stream", new_name())
        await hub.open(topic, owner="a")
        for outbox in (Queue(limits, unread), Stream(hub, bus, topic, limits, unread, 60)):
            caplog.clear()
            lost: list[str] = []
            outbox.watch(lambda lost=lost: lost.append("told"))
            for number in range(30):
                outbox.send(b"%d" % number + bytes(100), str(number))
            assert outbox.closed and lost == ["told"] and "a stream was ended" in caplog.text
            outbox.watch(lambda lost=lost: lost.append("at once"))
            assert lost == ["told", "at once"]
            assert unread.bytes == unread.count == 0, "what goes nowhere waits no longer"
        await asyncio.sleep(0.01)
        assert await hub.read(topic, "", 0) is None, "whoever reads it sees its end"

    asyncio.run(test())


async def test_what_nobody_reads_any_longer_is_left_to_the_hub() -> None:
    """There it counts, and goes when its time is over; here it would stay, with as much again for every stream that was left."""
    limits, unread = Limits(queue_bytes=1_000), Amount(1_000_000)
    hub = MemoryHub()
    topic = key("stream", new_name())
    await hub.open(topic, owner="a")
    stream = Stream(hub, Bus(hub, "test"), topic, limits, unread, 60)
    for number in range(20):
        stream.send(b"%d" % number + bytes(100))
    await asyncio.sleep(0.01)
    assert unread.bytes > 500, "as long as somebody reads, it waits for that"
    stream.attend(False)
    await asyncio.sleep(0.01)
    assert unread.bytes == 0
    assert not await stream.room()
    stream.end(b"answer")
    await asyncio.sleep(0.01)
    reading = await hub.read(topic, "", 0)
    assert reading is not None and not reading.missed
    bodies = [message.body for message in reading.messages]
    assert bodies[:20] == [b"%d" % number + bytes(100) for number in range(20)] and bodies[20] == b"answer"


async def test_what_a_client_takes_comes_whole_and_who_takes_nothing_makes_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mcp_anyrev.transports.answers._STUCK_SECONDS", 0.05)
    unread = Amount(1_000_000)
    answers, part, got, sizes = Answers(unread), bytes(range(256)) * 1_500, bytearray(), set()

    async def taking(piece: bytes) -> None:
        await asyncio.sleep(0.02)
        got.extend(piece)
        sizes.add(len(piece))

    async def stuck(piece: bytes) -> None:
        await asyncio.Event().wait()

    slow = asyncio.ensure_future(answers.write(part, taking))
    waiting = [asyncio.ensure_future(answers.write(part, stuck)) for _ in range(2)]
    await asyncio.sleep(0.1)
    assert not any(each.done() for each in waiting), "so much may wait"
    waiting += [asyncio.ensure_future(answers.write(part, stuck)) for _ in range(2)]
    with pytest.raises(ConnectionResetError):
        await waiting[0]
    await slow
    assert bytes(got) == part and max(sizes) < len(part) / 5
    assert not waiting[-1].done() and unread.bytes == len(part) * sum(not each.done() for each in waiting)
    for each in waiting:
        each.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert unread.bytes == unread.count == 0


async def test_who_takes_nothing_loses_the_connection_when_there_is_no_room(
    monkeypatch: pytest.MonkeyPatch, adapter: Adapter, binding: str
) -> None:
    """Whether it is a single answer or a stream that is not read; who reads gets all of it."""
    monkeypatch.setattr("mcp_anyrev.transports.answers._STUCK_SECONDS", 0.05)
    made = Registry("large", "1.0")

    @made.tool
    async def large(bytes_: int) -> str:
        return "x" * bytes_

    settings = Settings(limits=Limits(queue_bytes_of_all=1_000_000))
    async with serving(made, settings, binding) as url, RawClient(url, adapter) as client:
        request = json.dumps(
            client.request("tools/call", {"name": "large", "arguments": {"bytes_": 30_000_000}})
        ).encode()
        parts = urllib.parse.urlsplit(url)
        fields = {**client.headers(json.loads(request)), "Host": parts.netloc, "Content-Type": "application/json"}
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=1_000)
        writer.write(f"POST {parts.path} HTTP/1.1\r\n{lines}Content-Length: {len(request)}\r\n\r\n".encode() + request)
        await reader.readline()
        await asyncio.sleep(0.2)
        assert len((await client.tool("large", {"bytes_": 3_000_000})).text) == 3_000_000
        with contextlib.suppress(ConnectionError):
            assert len(await reader.read(-1)) < 30_000_000
        writer.close()


async def test_a_question_that_cannot_be_delivered_fails_at_once(
    push_adapter: Adapter, binding: str, caplog: pytest.LogCaptureFixture
) -> None:
    made, fate = Registry("asking", "1.0"), asyncio.get_running_loop().create_future()
    hub = MemoryHub()
    publish, broken = hub.publish, [False]

    async def breaking(topic: Key, message: bytes) -> str | None:
        if broken[0] and topic.startswith("stream/"):
            raise OSError("broken")
        return await publish(topic, message)

    hub.publish = breaking  # type: ignore[method-assign]

    @made.tool
    async def gate(ex: Exchange) -> str:
        await ex.progress(1)
        await asyncio.sleep(0.2)
        broken[0] = True
        answer = await ex.ask("go", elicit("Go ahead?"))
        fate.set_result(answer.action)
        return "stopped"

    async with serving(made, Settings(hub=hub), binding) as url, RawClient(url, push_adapter) as client:
        params = {"name": "gate", "arguments": {}, "_meta": {"progressToken": 1}}
        async with posting(client, "tools/call", params) as stream:
            messages = await stream.messages()
            assert [message.get("method") for message in messages] == ["notifications/progress"]
        assert await asyncio.wait_for(fate, 3) is None
    assert "a stream was ended" in caplog.text and "a question was not asked" in caplog.text


async def test_more_changes_than_can_wait_are_told_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then everything may be another now, and all that is wanted is told."""
    monkeypatch.setattr("mcp_anyrev.conversation.bus._MOST_PENDING", 100)
    bus, heard = Bus(MemoryHub(), "test"), asyncio.Queue[Any]()

    async def hear(said: Any) -> None:
        heard.put_nowait(said)

    bus.hear("updated", hear)
    bus.hear(MISSED, hear)
    await bus.ready()
    for number in range(1_500):
        bus.say_soon({"updated": f"test://{number}"})
    assert await heard.get() is None
    bus.say_soon({"updated": "test://1"})
    assert await heard.get() == "test://1" and heard.empty()
    await bus.stop()


async def test_changes_of_many_resources_at_once_are_all_told(adapter: Adapter) -> None:
    made = registry()
    uris = [f"test://{number}" for number in range(MANY)]
    async with serving(made, FEW) as url, RawClient(url, adapter) as client:
        wanted = {"notifications": {"resourceSubscriptions": uris}}
        if not adapter.listens:
            for start in range(0, MANY, 100):
                replies = [client.call("resources/subscribe", {"uri": uri}) for uri in uris[start : start + 100]]
                await asyncio.gather(*replies)
        opened = posting(client, "subscriptions/listen", wanted) if adapter.listens else listening(client)
        async with opened as stream:
            if adapter.listens:
                await stream.message()
            for uri in [*uris, *uris]:
                made.updated(uri)
            told: set[str] = set()
            while len(told) < MANY:
                message = await stream.message()
                assert message is not None and message["method"] == "notifications/resources/updated"
                told.add(message["params"]["uri"])
            assert await stream.silent()
        assert told == set(uris)
