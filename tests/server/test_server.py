"""One server behind any number of addresses: started once, closed in good order, started again, and asked how it does."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from hosting import on_aiohttp, on_uvicorn
from mcp_anyrev import ProtectedResource, Registry, Server, Settings
from mcp_anyrev.storage.memory import MemoryStore
from mcp_anyrev.testing import serve
from mcp_contract import Unavailable
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving
from starlette.applications import Starlette
from starlette.routing import Mount

ADAPTER = AdapterSet.default().newest_with_handshake


def registry(events: list[str] | None = None) -> Registry:
    @contextlib.asynccontextmanager
    async def lifespan(registry: Registry) -> AsyncIterator[str]:
        if events is not None:
            events.append("enter")
        yield "value"
        if events is not None:
            events.append("leave")

    made = Registry("many", "1.0", lifespan=lifespan)

    @made.tool
    async def plain() -> str:
        return "fine"

    return made


@contextlib.asynccontextmanager
async def on_routes(*routes: Any, server: Server) -> AsyncIterator[str]:
    """Routes of a server in an application that starts and closes it."""
    application = web.Application()
    for each in routes:
        application.add_routes(each)
    application.on_startup.append(server.start)
    application.on_shutdown.append(server.close)
    async with on_aiohttp(application) as root:
        yield root


async def fine(url: str, adapter: Adapter) -> bool:
    async with RawClient(url, adapter) as client:
        return (await client.tool("plain")).text == "fine"


async def test_two_addresses_are_one_server_with_one_lifespan(session_adapter: Adapter) -> None:
    events: list[str] = []
    server = Server(registry(events))
    async with on_routes(server.routes("/one"), server.routes("/two"), server=server) as root:
        async with RawClient(f"{root}/one", session_adapter) as client:
            client.url = f"{root}/two"
            assert (await client.tool("plain")).text == "fine"
        assert events == ["enter"]
    assert events == ["enter", "leave"]


async def test_http_sse_stands_beside_streamable_http() -> None:
    server = Server(registry())
    async with on_routes(server.routes("/mcp", sse_path="/sse"), server=server) as root:
        assert await fine(f"{root}/mcp", ADAPTER)
        async with RawClient(f"{root}/mcp", ADAPTER) as client, client.http.get(f"{root}/sse") as stream:
            assert (await stream.content.readline()).startswith(b"event: endpoint")


async def test_starlette_runs_it_with_its_lifespan(adapter: Adapter) -> None:
    events: list[str] = []
    server = Server(registry(events))
    application = Starlette(routes=server.starlette_routes("/models"), lifespan=server.lifespan)
    async with on_uvicorn(application) as root:
        assert events == ["enter"]
        assert await fine(f"{root}/models", adapter)
    assert events == ["enter", "leave"]


async def test_an_application_answers_on_every_path_and_at_the_well_known_address(adapter: Adapter) -> None:
    resource = ProtectedResource(resource="http://localhost/any/path", authorization_servers=["https://login.example"])
    server = Server(registry(), Settings(protected_resource=resource))
    async with on_uvicorn(server.asgi()) as root, RawClient(f"{root}/any/path", adapter) as client:
        assert (await client.tool("plain")).text == "fine"
        async with client.http.get(f"{root}{resource.path}") as response:
            assert (await response.json())["resource"] == resource.resource


async def test_a_closed_server_answers_that_it_is_and_can_be_started_again(binding: str) -> None:
    events: list[str] = []
    server = Server(registry(events))
    if binding == "aiohttp":
        running: Any = on_routes(server.routes(), server=server)
    else:
        running = on_uvicorn(server.asgi())
    async with running as root:
        await server.close()
        async with RawClient(
            f"{root}/mcp", AdapterSet.default().by_version[AdapterSet.default().versions[0]]
        ) as client:
            reply = await client.tool("plain")
            assert reply.status == client.adapter.error_statuses["unavailable"] and "Retry-After" in reply.headers
            await server.start()
            assert (await client.tool("plain")).text == "fine"
        assert await fine(f"{root}/mcp", ADAPTER)
    assert events == ["enter", "leave", "enter", "leave"]


async def test_whoever_closes_it_waits_until_it_is_closed() -> None:
    """A signal and a framework may both say that it ends; neither may go on while a lifespan still has something to do."""
    left: list[str] = []
    waiting = asyncio.Event()

    @contextlib.asynccontextmanager
    async def lifespan(registry: Registry) -> AsyncIterator[None]:
        yield
        await asyncio.sleep(0.2)
        left.append("left")

    made = Registry("ending", "1.0", lifespan=lifespan)

    @made.tool
    async def hang() -> str:
        waiting.set()
        await asyncio.sleep(60)
        return "never"

    server = Server(made, Settings(shutdown_seconds=0.2))

    async def close() -> list[str]:
        await server.close()
        return list(left)

    async with on_routes(server.routes(), server=server) as root, RawClient(f"{root}/mcp", ADAPTER) as client:
        calling = asyncio.ensure_future(client.tool("hang"))
        await waiting.wait()
        async with asyncio.timeout(1):
            assert await asyncio.gather(close(), close()) == [["left"], ["left"]]
        assert (await calling).error["code"] == ADAPTER.error_codes["internal_error"]


async def test_it_says_how_it_does() -> None:
    server = Server(registry())
    assert (await server.health())["running"] is False
    async with server:
        health = await server.health()
        assert health["running"] and health["store"] and health["hub"] and health["requests"] == 0
        assert health["revisions"] == list(AdapterSet.default().versions) and health["faults"] == {}


async def test_a_store_that_cannot_be_reached_is_told() -> None:
    class Gone(MemoryStore):
        async def get(self, key: Any) -> Any:
            raise ConnectionRefusedError("user:s3cret@host does not answer")

    async with Server(registry(), Settings(store=Gone())) as server:
        health = await server.health()
        assert health["running"] and not health["store"] and health["hub"]
        assert health["faults"] == {"store": "it cannot be reached (ConnectionRefusedError)"}


async def test_a_call_that_the_store_cannot_be_reached_for_is_told_so_with_its_id(
    session_adapter: Adapter, binding: str
) -> None:
    class Leaving(MemoryStore):
        away = False

        async def get(self, key: Any) -> Any:
            if self.away:
                raise Unavailable("out of reach")
            return await super().get(key)

    store = Leaving()
    async with serving(registry(), Settings(store=store), binding) as url, RawClient(url, session_adapter) as client:
        store.away = True
        request = client.request("tools/call", {"name": "plain", "arguments": {}})
        reply = await client.post(request)
        assert reply.status == session_adapter.error_statuses["unavailable"] and "Retry-After" in reply.headers
        assert reply.message["id"] == request["id"]


def test_a_server_without_a_revision_for_it_has_no_http_sse() -> None:
    newest = AdapterSet.default().versions[0]
    with pytest.raises(ValueError, match=r"HTTP\+SSE"):
        Server(registry(), Settings(revisions=[newest])).routes(sse_path="/sse")


@pytest.mark.parametrize(
    "paths", [{"path": "mcp"}, {"sse_path": "sse"}, {"sse_path": "/mcp"}, {"sse_path": "/sse", "message_path": "/sse"}]
)
def test_a_path_that_is_none_or_stands_for_two_addresses_is_refused(paths: dict[str, str]) -> None:
    server = Server(registry())
    for give in (server.routes, server.starlette_routes):
        with pytest.raises(ValueError, match="/"):
            give(**paths)
    with pytest.raises(ValueError, match="/"):
        serve(registry(), **paths)
    assert server.routes("/mcp", sse_path="/sse")


async def test_it_is_mounted_below_a_path(adapter: Adapter) -> None:
    resource = ProtectedResource(resource="http://localhost/below/mcp", authorization_servers=["https://login.example"])
    server = Server(registry(), Settings(protected_resource=resource))
    mounted = Mount("/below", server.asgi(sse_path="/sse"))
    application = Starlette(routes=[*server.starlette_routes(None), mounted], lifespan=server.lifespan)
    async with on_uvicorn(application) as root, RawClient(f"{root}/below/mcp", adapter) as client:
        assert (await client.tool("plain")).text == "fine"
        for where in (resource.path, f"/below{resource.path}"):
            async with client.http.get(f"{root}{where}") as response:
                assert (await response.json())["resource"] == resource.resource
        async with client.http.get(f"{root}/below/sse") as stream:
            await stream.content.readline()
            assert (await stream.content.readline()).startswith(b"data: /below/messages?")
