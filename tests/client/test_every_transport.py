"""Every transport by every revision by every feature: the same results everywhere, and only what the revision has."""

from __future__ import annotations

import contextlib
import pathlib
import sys
from collections.abc import AsyncIterator, Callable

import pytest
from bounds import starting
from features import FEATURES, SETTINGS, Told, callbacks, declared, expected, lacks
from hosting import on_uvicorn
from mcp_anyrev import Client, asgi, serve
from mcp_anyrev.server.core import Core
from mcp_anyrev.transports.memory import MemoryTransport
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter

Connected = Callable[[Adapter, Told], contextlib.AbstractAsyncContextManager[Client]]


@contextlib.asynccontextmanager
async def in_memory(adapter: Adapter, told: Told) -> AsyncIterator[Client]:
    core = Core(declared(), SETTINGS)
    await core.start()
    try:
        async with Client(lambda: MemoryTransport(core), adapter, **callbacks(told)) as client:
            yield client
    finally:
        await core.close()


@contextlib.asynccontextmanager
async def over_aiohttp(adapter: Adapter, told: Told) -> AsyncIterator[Client]:
    async with serve(declared(), SETTINGS) as url, Client(url, adapter, transport="http", **callbacks(told)) as client:
        yield client


@contextlib.asynccontextmanager
async def over_asgi(adapter: Adapter, told: Told) -> AsyncIterator[Client]:
    async with (
        on_uvicorn(asgi(declared(), SETTINGS)) as url,
        Client(url, adapter, transport="http", **callbacks(told)) as client,
    ):
        yield client


@contextlib.asynccontextmanager
async def over_http_sse(adapter: Adapter, told: Told) -> AsyncIterator[Client]:
    served = serve(declared(), SETTINGS, path=None, sse_path="/sse")
    async with served as url, Client(url, adapter, transport="sse", **callbacks(told)) as client:
        yield client


@contextlib.asynccontextmanager
async def over_stdio(adapter: Adapter, told: Told) -> AsyncIterator[Client]:
    command = [sys.executable, str(pathlib.Path(__file__).with_name("features.py"))]
    with starting():
        client = Client(command, adapter, **callbacks(told))
        await client.initialize()
    async with client:
        yield client


TRANSPORTS: dict[str, Connected] = {
    "memory": in_memory,
    "aiohttp": over_aiohttp,
    "asgi": over_asgi,
    "http_sse": over_http_sse,
    "stdio": over_stdio,
}
EACH = [
    (version, transport)
    for version, adapter in AdapterSet.default().by_version.items()
    for transport in TRANSPORTS
    if transport != "http_sse" or adapter.served_on_http_sse
]
"""All that there is, which is tried for long in any order."""

_OF_A_KIND = {
    (adapter.can_ask, adapter.can_push_ask, adapter.asks_in_arguments): version
    for version, adapter in AdapterSet.default().by_version.items()
}
SAMPLE = [(version, transport) for version, transport in EACH if transport != "stdio" or version in _OF_A_KIND.values()]
"""A process takes long to start, so there is one for each way to ask."""


@pytest.mark.parametrize(("revision", "transport"), SAMPLE)
async def test_every_feature_gives_the_same(revision: str, transport: str) -> None:
    adapter = AdapterSet.default().by_version[revision]
    told, found = Told(), {}
    async with TRANSPORTS[transport](adapter, told) as client:
        await client.initialize()
        for feature in (one for one in FEATURES if not lacks(adapter, one.__name__)):
            found[feature.__name__] = await feature(client, told)
    assert found == expected(adapter)
