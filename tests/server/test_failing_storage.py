"""A store or a hub that fails: whoever asks gets a JSON-RPC error of its own kind, and what can go on does.

Citations: basic/transports#sending-messages-to-the-server, basic/transports#resumability-and-redelivery.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from event_streams import listening, posting
from mcp_anyrev import Exchange, Registry, Settings
from mcp_anyrev.storage.memory import MemoryHub, MemoryStore
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving


class Breaking:
    """A store or a hub that works until it is broken.

    Args:
        works: does the work.
        broken: the methods that fail from now on.
    """

    def __init__(self, works: Any, *broken: str) -> None:
        self._works = works
        self.broken = set(broken)

    def __getattr__(self, name: str) -> Any:
        work = getattr(self._works, name)

        async def do(*args: Any, **named: Any) -> Any:
            if name in self.broken:
                raise OSError(f"{name} is broken")
            return await work(*args, **named)

        return do


EVERYTHING = {"get", "put_if", "touch", "consume", "delete", "open", "publish", "read", "close"}


def registry() -> Registry:
    made = Registry("failing", "1.0")

    @made.tool
    async def talk(ex: Exchange) -> str:
        await ex.progress(1)
        await asyncio.sleep(0.1)
        return "said"

    return made


TALK: dict[str, Any] = {"name": "talk", "arguments": {}, "_meta": {"progressToken": 1}}


async def test_a_store_that_fails_is_told_as_an_error(session_adapter: Adapter, binding: str) -> None:
    store = Breaking(MemoryStore())
    async with (
        serving(registry(), Settings(store=store), binding) as url,
        RawClient(url, session_adapter) as client,
    ):
        store.broken = EVERYTHING
        for method in ("tools/list", session_adapter.description_method):
            params = session_adapter.description_params(client.declaration) if method != "tools/list" else {}
            reply = await client.call(method, params)
            assert reply.status == session_adapter.error_statuses["unavailable"]
            assert reply.error["code"] == session_adapter.error_codes["unavailable"]
            assert "broken" not in str(reply.error)
        async with listening(client) as stream:
            assert stream.response.status == session_adapter.error_statuses["unavailable"]
        store.broken = set()
        assert (await client.tool("talk")).text == "said"


async def test_a_hub_that_fails_leaves_the_answer_of_a_call(adapter: Adapter, binding: str) -> None:
    hub = Breaking(MemoryHub())
    async with serving(registry(), Settings(hub=hub), binding) as url, RawClient(url, adapter) as client:
        hub.broken = EVERYTHING
        reply = await client.call("tools/call", TALK)
        assert reply.text == "said" and reply.streamed
        assert [message["method"] for message in reply.earlier] == ["notifications/progress"]


async def test_a_hub_that_fails_opens_no_stream(
    adapter: Adapter, binding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_anyrev.conversation.bus._READY_SECONDS", 0.3)
    hub = Breaking(MemoryHub())
    async with serving(registry(), Settings(hub=hub), binding) as url, RawClient(url, adapter) as client:
        hub.broken = EVERYTHING
        wanted = {"notifications": {"toolsListChanged": True}}
        opened = posting(client, "subscriptions/listen", wanted) if adapter.listens else listening(client)
        async with opened as stream:
            assert stream.response.status == adapter.error_statuses["unavailable"]
            error = (await stream.response.json())["error"]
            assert error["code"] == adapter.error_codes["unavailable"]


async def test_a_hub_that_fails_under_a_stream_ends_it(
    session_adapter: Adapter, binding: str, caplog: pytest.LogCaptureFixture
) -> None:
    hub = Breaking(MemoryHub())
    settings = Settings(hub=hub, keep_alive_seconds=0.2)
    async with serving(registry(), settings, binding) as url, RawClient(url, session_adapter) as client:
        async with listening(client) as stream:
            hub.broken = EVERYTHING
            assert await stream.messages() == []
        assert "a stream was ended" in caplog.text
        hub.broken = set()
        async with listening(client) as stream:
            assert stream.response.status == 200


async def test_a_change_waits_until_the_hub_can_be_reached(session_adapter: Adapter) -> None:
    hub, made = Breaking(MemoryHub()), registry()
    async with (
        serving(made, Settings(hub=hub)) as url,
        RawClient(url, session_adapter) as client,
        listening(client) as stream,
    ):
        hub.broken = {"publish"}
        made.changed("tools")
        assert await stream.silent(0.1)
        hub.broken = set()
        message = await stream.message()
        assert message is not None and message["method"] == "notifications/tools/list_changed"
