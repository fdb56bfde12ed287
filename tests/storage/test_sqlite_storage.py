"""Store and hub in a SQLite file do what every store and every hub has to do, by a clock that is handed in."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp_anyrev.storage.bounds import HubBounds, StoreBounds
from mcp_anyrev.storage.protocols import Hub, SessionStore
from mcp_anyrev.storage.sqlite.backend import SqliteBackend
from mcp_anyrev.storage.urls import StorageUrl
from mcp_anyrev.testing.storage import HubContract, SessionStoreContract


class InAFile:
    url: StorageUrl
    passed = 0.0

    @pytest.fixture(autouse=True)
    def _file(self, tmp_path: Path) -> None:
        self.url = StorageUrl(f"sqlite://{tmp_path}/shared.db")

    def now(self) -> float:
        return time.time() + self.passed

    async def pass_time(self, seconds: float) -> None:
        await asyncio.sleep(0.003)  # what has begun gets to the file first
        self.passed += seconds

    @asynccontextmanager
    async def workers(self, store: StoreBounds, hub: HubBounds) -> AsyncIterator[tuple[SqliteBackend, SqliteBackend]]:
        one, other = (SqliteBackend(self.url, "x", store, hub, self.now) for _ in range(2))
        await one.open()
        await other.open()
        try:
            yield one, other
        finally:
            await one.close()
            await other.close()


class TestSqliteStore(InAFile, SessionStoreContract):
    in_use_seconds = 5.0

    @asynccontextmanager
    async def stores(self, total_bytes: int, owner_bytes: int) -> AsyncIterator[tuple[SessionStore, SessionStore]]:
        bounds = StoreBounds(total_bytes=total_bytes, owner_bytes=owner_bytes, in_use_seconds=self.in_use_seconds)
        async with self.workers(bounds, HubBounds()) as (one, other):
            yield one.store, other.store
            await self.pass_time(100_000)
            await one.store.sweep()
            left = await one._database.read(
                lambda transaction: transaction.run("SELECT * FROM $value_shares").fetchall()
            )
            assert left == [("", 0)] or not left


class TestSqliteHub(InAFile, HubContract):
    @asynccontextmanager
    async def hubs(self, **options: Any) -> AsyncIterator[tuple[Hub, Hub]]:
        async with self.workers(StoreBounds(), HubBounds(**options)) as (one, other):
            yield one.hub, other.hub
            await self.pass_time(100_000)
            await other.hub.renew()
            await one.hub.renew()
            left = await one._database.read(
                lambda transaction: transaction.run("SELECT * FROM $topic_shares").fetchall()
            )
            assert left == [("", 0)] or not left
            for table in ("messages", "waits", "news"):
                assert await one._database.read(lambda made, table=table: made.row(f"SELECT 1 FROM ${table}")) is None
