"""Nobody hears of what they may not see: neither of a change of it nor that it came or went.

Citations: server/resources#subscriptions, server/tools#list-changed-notification, basic/patterns/subscriptions#opening-a-stream.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import test_http_sse as http_sse
from event_streams import EventStream, listening, posting
from mcp_anyrev import Head, Principal, Registry, Settings
from mcp_anyrev.storage.memory import MemoryHub, MemoryStore
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving

SECRET = "test://secret"
ADMIN = {"X-Scopes": "admin"}
NOBODY = {"X-Scopes": "none"}


def recognise(head: Head) -> Principal:
    return Principal("ann", scopes=head.headers.get("x-scopes", "").split())


SETTINGS: dict[str, Any] = {"principal": recognise}


def registry() -> Registry:
    made = Registry("secretive", "1.0")

    @made.tool
    async def plain() -> str:
        return "fine"

    @made.resource("test://open")
    def everybody() -> str:
        return "open"

    return made


def add_secret(made: Registry, visible: Any = ("admin",)) -> None:
    @made.resource(SECRET, visible=visible)
    def secret() -> str:
        return "secret"


@contextlib.asynccontextmanager
async def told(client: RawClient, *uris: str) -> AsyncIterator[EventStream]:
    """The stream on which a client is told of changes of its resources, and of these in particular."""
    client.http.headers.update(client.extra)
    if client.adapter.listens:
        wanted = {"notifications": {"resourceSubscriptions": list(uris), "resourcesListChanged": True}}
        async with posting(client, "subscriptions/listen", wanted) as stream:
            await stream.message()
            yield stream
        return
    for uri in uris:
        assert (await client.call("resources/subscribe", {"uri": uri})).result == {}
    async with listening(client) as stream:
        yield stream


async def next_method(stream: EventStream) -> Any:
    message = await stream.message()
    assert message is not None
    return message["method"], message["params"].get("uri")


async def test_who_may_not_read_an_address_hears_nothing_of_it(adapter: Adapter, binding: str) -> None:
    """It was not there yet when they subscribed."""
    made = registry()
    async with (
        serving(made, Settings(**SETTINGS), binding) as url,
        RawClient(url, adapter, headers=NOBODY) as client,
        RawClient(url, adapter, headers=ADMIN) as admin,
        told(client, SECRET, "test://open") as stream,
        told(admin, SECRET) as seen,
    ):
        add_secret(made)
        made.updated(SECRET)
        made.updated("test://open")
        assert await next_method(stream) == ("notifications/resources/updated", "test://open")
        assert await stream.silent()
        assert await next_method(seen) == ("notifications/resources/list_changed", None)
        assert await next_method(seen) == ("notifications/resources/updated", SECRET)


async def test_nobody_is_told_that_what_they_cannot_see_came_or_went(adapter: Adapter, binding: str) -> None:
    made = registry()

    def only_admins(principal: Principal | None) -> bool:
        return principal is not None and "admin" in principal.scopes

    async with (
        serving(made, Settings(**SETTINGS), binding) as url,
        RawClient(url, adapter, headers=NOBODY) as client,
        RawClient(url, adapter, headers=ADMIN) as admin,
        told(client) as stream,
        told(admin) as seen,
    ):
        for visible in (("admin",), only_admins):
            add_secret(made, visible)
            assert await next_method(seen) == ("notifications/resources/list_changed", None)
            made.remove_resource(SECRET)
            assert await next_method(seen) == ("notifications/resources/list_changed", None)
        assert await stream.silent()
        made.changed("resources")
        for each in (seen, stream):
            assert await next_method(each) == ("notifications/resources/list_changed", None)


async def test_a_session_that_lost_a_scope_hears_nothing_more(session_adapter: Adapter, binding: str) -> None:
    """On whichever worker its stream is, and whichever its last request came to."""
    made, shared = registry(), {"store": MemoryStore(), "hub": MemoryHub()}
    add_secret(made)
    async with (
        serving(made, Settings(**SETTINGS, **shared), binding) as url,
        serving(registry(), Settings(**SETTINGS, **shared), binding) as other,
        RawClient(url, session_adapter, headers=ADMIN) as client,
        RawClient(other, session_adapter, headers=NOBODY) as elsewhere,
        told(client, SECRET, "test://open") as stream,
    ):
        made.updated(SECRET)
        assert await next_method(stream) == ("notifications/resources/updated", SECRET)
        elsewhere.session = client.session
        assert (await elsewhere.tool("plain")).text == "fine"
        made.updated(SECRET)
        made.updated("test://open")
        assert await next_method(stream) == ("notifications/resources/updated", "test://open")


async def test_it_is_the_same_on_http_sse(session_adapter: Adapter, binding: str) -> None:
    made = registry()
    async with (
        http_sse.serving(made, Settings(**SETTINGS), binding) as url,
        http_sse.SseClient(url, session_adapter, headers=NOBODY) as client,
    ):
        await client.shake_hands()
        for uri in (SECRET, "test://open"):
            assert (await client.call("resources/subscribe", {"uri": uri}))["result"] == {}
        add_secret(made)
        made.updated(SECRET)
        made.updated("test://open")
        assert await client.text("plain") == "fine"
        updated = client.sent("notifications/resources/updated")
        assert [message["params"]["uri"] for message in updated] == ["test://open"]
        assert not client.sent("notifications/resources/list_changed")


async def test_a_connection_that_lost_a_scope_hears_nothing_more(session_adapter: Adapter, binding: str) -> None:
    made = registry()
    add_secret(made)
    async with (
        http_sse.serving(made, Settings(**SETTINGS), binding) as url,
        http_sse.SseClient(url, session_adapter, headers=ADMIN) as client,
    ):
        await client.shake_hands()
        for uri in (SECRET, "test://open"):
            assert (await client.call("resources/subscribe", {"uri": uri}))["result"] == {}
        made.updated(SECRET)
        assert await client.text("plain") == "fine"
        assert [said["params"]["uri"] for said in client.sent("notifications/resources/updated")] == [SECRET]
        await client.post({"jsonrpc": "2.0", "id": "last", "method": "ping"}, **NOBODY)
        made.updated(SECRET)
        made.updated("test://open")
        assert await client.text("plain") == "fine"
        told_of = [said["params"]["uri"] for said in client.sent("notifications/resources/updated")]
        assert told_of == [SECRET, "test://open"]
