"""Every transport by every revision by every feature: the same results everywhere, and only what the revision has."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable

import pytest
from features import FEATURES, Told, callbacks, declared, expected
from mcp_anyrev import Client, Settings
from mcp_anyrev.server.core import Core
from mcp_anyrev.transports.memory import MemoryTransport
from mcp_revisions.protocol import Adapter

Connected = Callable[[Adapter, Told], contextlib.AbstractAsyncContextManager[Client]]


@contextlib.asynccontextmanager
async def in_memory(adapter: Adapter, told: Told) -> AsyncIterator[Client]:
    core = Core(declared(), Settings())
    await core.start()
    try:
        async with Client(lambda: MemoryTransport(core), adapter, **callbacks(told)) as client:
            yield client
    finally:
        await core.close()


TRANSPORTS: dict[str, Connected] = {"memory": in_memory}


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_every_feature_gives_the_same(adapter: Adapter, transport: str) -> None:
    told, found = Told(), {}
    async with TRANSPORTS[transport](adapter, told) as client:
        await client.initialize()
        for feature in FEATURES:
            found[feature.__name__] = await feature(client, told)
    assert found == expected(adapter)
