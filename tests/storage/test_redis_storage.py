"""Store and hub on a real Valkey do what every store and every hub has to do, whatever becomes of the server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from backends_under_test import two_workers
from mcp_anyrev.storage.bounds import HubBounds, StoreBounds
from mcp_anyrev.storage.protocols import Hub, SessionStore
from mcp_anyrev.testing.storage import HubContract, SessionStoreContract


class OnValkey:
    url: str

    @pytest.fixture(autouse=True)
    def _server(self, valkey_url: str) -> None:
        self.url = valkey_url


class TestRedisStore(OnValkey, SessionStoreContract):
    in_use_seconds = 1.0

    @asynccontextmanager
    async def stores(self, total_bytes: int, owner_bytes: int) -> AsyncIterator[tuple[SessionStore, SessionStore]]:
        bounds = StoreBounds(total_bytes=total_bytes, owner_bytes=owner_bytes, in_use_seconds=self.in_use_seconds)
        async with two_workers(self.url, store=bounds) as (one, other):
            yield one.store, other.store


class TestRedisHub(OnValkey, HubContract):
    @asynccontextmanager
    async def hubs(self, **options: Any) -> AsyncIterator[tuple[Hub, Hub]]:
        async with two_workers(self.url, hub=HubBounds(**options)) as (one, other):
            yield one.hub, other.hub
