"""A stream that broke, or was closed to be polled, is taken up again where it broke, and nothing else is.

Citations: basic/transports#resumability-and-redelivery, basic/transports#sending-messages-to-the-server.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from event_streams import Event, EventStream, listening, posting
from mcp_anyrev import Exchange, Registry, Settings
from mcp_anyrev.storage.memory import MemoryHub, MemoryStore
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving

ADAPTERS = [adapter for adapter in AdapterSet.default().by_version.values() if adapter.event_ids]


@pytest.fixture(params=ADAPTERS, ids=lambda adapter: adapter.version)
def resuming_adapter(request: pytest.FixtureRequest) -> Adapter:
    """Each revision whose events carry ids."""
    adapter: Adapter = request.param
    return adapter


def registry() -> Registry:
    made = Registry("breaking", "1.0")

    @made.tool
    async def steps(ex: Exchange, steps: int = 5, pause: float = 0.1) -> str:
        for step in range(1, steps + 1):
            await ex.progress(step, steps)
            await asyncio.sleep(pause)
        return "stepped"

    @made.tool
    async def released(ex: Exchange, retry: float = 0.05) -> str:
        await ex.progress(1, 2)
        ex.release_stream(retry)
        await asyncio.sleep(0.3)
        await ex.progress(2, 2)
        return "released"

    @made.tool
    async def released_at_once(ex: Exchange) -> str:
        ex.release_stream(retry=0.02)
        await asyncio.sleep(0.2)
        return "released"

    return made


def call(name: str = "steps", **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments, "_meta": {"progressToken": "t"}}


async def until_broken(stream: EventStream, count: int) -> Event:
    """Read so many messages and drop the connection; gives the last event."""
    seen: list[Event] = []
    while len(seen) < count:
        event = await stream.event()
        assert event is not None
        if event.data:
            seen.append(event)
    stream.response.close()
    return seen[-1]


def progress(messages: list[dict[str, Any]]) -> list[float]:
    return [message["params"]["progress"] for message in messages if "method" in message]


async def test_a_call_whose_stream_broke_is_followed_to_its_answer(resuming_adapter: Adapter, binding: str) -> None:
    async with serving(registry(), binding=binding) as url, RawClient(url, resuming_adapter) as client:
        async with posting(client, "tools/call", call(), id="broken") as stream:
            last = await until_broken(stream, 2)
        for pause in (0.0, 0.6):  # while it goes on, and once more after its end
            await asyncio.sleep(pause)
            async with listening(client, last.identifier) as rest:
                messages = await rest.messages()
            assert progress(messages) == [3, 4, 5]
            assert messages[-1]["id"] == "broken" and messages[-1]["result"]["content"][0]["text"] == "stepped"


async def test_ids_are_unique_in_the_session_and_one_stream_is_not_mixed_with_another(
    resuming_adapter: Adapter,
) -> None:
    async with serving(registry()) as url, RawClient(url, resuming_adapter) as client:
        async with (
            posting(client, "tools/call", call(steps=3)) as one,
            posting(client, "tools/call", call(steps=4)) as two,
        ):
            last = await until_broken(one, 1)
            await two.messages()
        async with listening(client, last.identifier) as rest:
            assert progress(await rest.messages()) == [2, 3]
        identifiers = [event.identifier for stream in (one, two, rest) for event in stream.seen if event.identifier]
        replayed = {event.identifier for event in rest.seen}
        assert len(set(identifiers) - replayed) + len(replayed) == len(set(identifiers))
        assert all(event.identifier for event in two.seen if not event.comment)


async def test_whoever_takes_a_stream_up_again_gets_it_alone(resuming_adapter: Adapter) -> None:
    async with (
        serving(registry()) as url,
        RawClient(url, resuming_adapter) as client,
        posting(client, "tools/call", call(steps=6)) as first,
    ):
        event = await first.event()
        while event is not None and not event.data:
            event = await first.event()
        assert event is not None
        async with listening(client, event.identifier) as second:
            again = await second.messages()
        before = await first.messages()
        assert again[-1]["result"]["content"][0]["text"] == "stepped"
        assert all("result" not in message for message in before)


@pytest.mark.parametrize(
    "change", [lambda i: f"{i}999", lambda i: f"x{i}", lambda i: "nonsense", lambda i: f"{i[:-1]}²"]
)
async def test_an_id_that_was_never_given_out_opens_a_fresh_stream(resuming_adapter: Adapter, change: Any) -> None:
    made = registry()
    async with serving(made) as url, RawClient(url, resuming_adapter) as client:
        async with posting(client, "tools/call", call(steps=2)) as stream:
            last = await until_broken(stream, 1)
        async with listening(client, change(last.identifier).encode().decode("latin-1")) as fresh:
            assert fresh.response.status == 200
            made.changed("tools")
            assert (await fresh.message() or {}).get("method") == "notifications/tools/list_changed"


async def test_the_id_of_another_session_replays_nothing(resuming_adapter: Adapter) -> None:
    async with (
        serving(registry()) as url,
        RawClient(url, resuming_adapter) as client,
        RawClient(url, resuming_adapter) as other,
    ):
        async with posting(client, "tools/call", call(steps=2)) as stream:
            last = await until_broken(stream, 1)
        async with listening(other, last.identifier) as fresh:
            assert await fresh.silent()


async def test_the_stream_of_a_session_is_taken_up_with_what_came_meanwhile(resuming_adapter: Adapter) -> None:
    made = registry()
    async with serving(made) as url, RawClient(url, resuming_adapter) as client:
        async with listening(client) as stream:
            made.changed("tools")
            last = await until_broken(stream, 1)
        await asyncio.sleep(0.4)

        @made.prompt
        def greet() -> str:
            return "hello"

        async with listening(client, last.identifier) as rest:
            assert (await rest.message() or {})["method"] == "notifications/prompts/list_changed"
            made.changed("tools")
            assert (await rest.message() or {})["method"] == "notifications/tools/list_changed"


async def test_a_stream_opens_with_an_event_without_data_only_where_it_may_be_polled(adapter: Adapter) -> None:
    async with (
        serving(registry(), Settings(retry_seconds=0.75)) as url,
        RawClient(url, adapter) as client,
        posting(client, "tools/call", call(steps=1)) as stream,
    ):
        await stream.messages()
    first = stream.seen[0]
    if adapter.closes_to_be_polled:
        assert first.data == "" and first.identifier and first.retry == 750
        assert all(event.data for event in stream.seen[1:])
    else:
        assert all(event.data and event.retry is None for event in stream.seen)
    assert all(bool(event.identifier) is adapter.event_ids for event in stream.seen)


@pytest.mark.parametrize("name", ["released", "released_at_once"])
async def test_a_released_stream_is_polled_for_the_rest(adapter: Adapter, binding: str, name: str) -> None:
    async with serving(registry(), binding=binding) as url, RawClient(url, adapter) as client:
        async with posting(client, "tools/call", call(name), id=7) as stream:
            if stream.response.content_type == "application/json":
                assert not adapter.closes_to_be_polled
                return
            messages = await stream.messages()
        if not adapter.closes_to_be_polled:
            assert messages[-1]["result"]["content"][0]["text"] == "released"
            return
        assert all("result" not in message for message in messages)
        assert stream.seen[-1].retry == (20 if name == "released_at_once" else 50)
        last = [event.identifier for event in stream.seen if event.identifier][-1]
        async with listening(client, last) as rest:
            messages = await rest.messages()
        assert messages[-1]["id"] == 7 and messages[-1]["result"]["content"][0]["text"] == "released"


async def test_another_worker_takes_a_stream_up_again(resuming_adapter: Adapter) -> None:
    shared = Settings(store=MemoryStore(), hub=MemoryHub())
    async with (
        serving(registry(), shared) as url,
        serving(registry(), shared) as other,
        RawClient(url, resuming_adapter) as client,
        RawClient(other, resuming_adapter) as elsewhere,
        RawClient(other, resuming_adapter) as stranger,
    ):
        elsewhere.session = client.session
        async with posting(client, "tools/call", call(), id="broken") as stream:
            last = await until_broken(stream, 2)
        async with listening(stranger, last.identifier) as fresh:
            assert await fresh.silent()
        async with listening(elsewhere, last.identifier) as rest:
            messages = await rest.messages()
        assert progress(messages) == [3, 4, 5] and messages[-1]["id"] == "broken"
