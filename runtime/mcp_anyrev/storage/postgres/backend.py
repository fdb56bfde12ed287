"""The connections to PostgreSQL of one process, and what it does on its own.

Rule: one connection listens; whenever it has been made anew, everybody looks, since nobody knows what was said meanwhile. What has
expired is let go of from time to time, also when nobody asks for anything.
"""

from __future__ import annotations

import asyncio
import logging
import random
from typing import TYPE_CHECKING, Any

from mcp_contract import Unavailable

from mcp_anyrev.storage.endings import ended
from mcp_anyrev.storage.keys import Key
from mcp_anyrev.storage.postgres.connection import FAILED, Connection
from mcp_anyrev.storage.postgres.hub import PostgresHub
from mcp_anyrev.storage.postgres.store import PostgresStore
from mcp_anyrev.storage.reachability import Reachability

if TYPE_CHECKING:
    from mcp_anyrev.storage.bounds import HubBounds, StoreBounds
    from mcp_anyrev.storage.urls import StorageUrl

log = logging.getLogger("mcp_anyrev.storage")

_SILENCE_SECONDS = 15.0
"""After so much silence the server is asked whether it is still there."""

_RENEW_SECONDS = 10.0
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 5.0


class PostgresBackend:
    """Both on PostgreSQL; see `Backend`."""

    def __init__(self, url: StorageUrl, namespace: str, store: StoreBounds, hub: HubBounds) -> None:
        self._url = url
        self._reachability = Reachability(url)
        self._connection = Connection(url, namespace, self._reachability)
        self.store = PostgresStore(self._connection, store)
        self.hub = PostgresHub(self._connection, hub)
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def fault(self) -> str | None:
        """See `Backend`."""
        return self._reachability.fault

    async def open(self) -> None:
        """See `Backend.open`."""
        if not self._tasks:
            await self._connection.open()
            self._tasks = [asyncio.ensure_future(self._listen()), asyncio.ensure_future(self._renew())]

    async def close(self) -> None:
        """See `Backend.close`."""
        tasks, self._tasks = self._tasks, []
        await ended(tasks)
        self.hub.readers.wake_all()
        await self._connection.close()

    async def _listen(self) -> None:
        pause = _FIRST_PAUSE_SECONDS
        while True:
            try:
                connection = await self._connection.listening()
                try:
                    ended = asyncio.Event()
                    connection.add_termination_listener(lambda _, ended=ended: ended.set())
                    await connection.add_listener(self.hub.channel, self._heard)
                    self._reachability.found()
                    self.hub.readers.wake_all()
                    pause = _FIRST_PAUSE_SECONDS
                    await self._until(ended, connection)
                finally:
                    connection.terminate()
            except FAILED as error:
                self._reachability.lost(error)
            except Exception:
                log.exception("what others say on %s is not understood", self._url.shown)
            await asyncio.sleep(pause * random.uniform(0.5, 1))
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    async def _until(self, ended: asyncio.Event, connection: Any) -> None:
        """Return when a connection has ended.

        Raises:
            PostgresError, InterfaceError, OSError: nothing comes although it was asked for.
        """
        while not ended.is_set():
            try:
                async with asyncio.timeout(_SILENCE_SECONDS):
                    await ended.wait()
            except TimeoutError:
                await connection.fetchval("SELECT 1")
        raise ConnectionError("the connection that listens has ended")

    def _heard(self, connection: object, process: int, channel: str, topic: object) -> None:
        self.hub.readers.wake(Key(str(topic)))

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(_RENEW_SECONDS * random.uniform(0.75, 1))
            try:
                await self.store.sweep()
                await self.hub.renew()
            except Unavailable:  # who listens says so, and finds out when it is there again
                continue
            except Exception:
                log.exception("what has expired on %s cannot be let go of", self._url.shown)
