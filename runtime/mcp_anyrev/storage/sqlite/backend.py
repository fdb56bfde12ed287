"""A SQLite file of one process, and what it does on its own.

Rule: what has expired is let go of from time to time, also when nobody asks for anything.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from mcp_contract import Unavailable

from mcp_anyrev.storage.reachability import Reachability
from mcp_anyrev.storage.sqlite.database import Database
from mcp_anyrev.storage.sqlite.hub import SqliteHub
from mcp_anyrev.storage.sqlite.location import path_of
from mcp_anyrev.storage.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from mcp_anyrev.storage.bounds import HubBounds, StoreBounds
    from mcp_anyrev.storage.urls import StorageUrl

log = logging.getLogger("mcp_anyrev.storage")

_RENEW_SECONDS = 10.0
_FIRST_PAUSE_SECONDS = 0.1


class SqliteBackend:
    """Both in a SQLite file; see `Backend`."""

    def __init__(
        self,
        url: StorageUrl,
        namespace: str,
        store: StoreBounds,
        hub: HubBounds,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._url = url
        self._reachability = Reachability(url)
        self._database = Database(path_of(url), namespace, self._reachability, clock)
        self.store = SqliteStore(self._database, store)
        self.hub = SqliteHub(self._database, hub)
        self._renewing: asyncio.Task[None] | None = None

    @property
    def fault(self) -> str | None:
        """See `Backend`."""
        return self._reachability.fault

    async def open(self) -> None:
        """See `Backend.open`."""
        if self._renewing is None:
            self._database.open()
            self.hub.start()
            self._renewing = asyncio.ensure_future(self._renew())

    async def close(self) -> None:
        """See `Backend.close`."""
        renewing, self._renewing = self._renewing, None
        if renewing is not None:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
        self.hub.readers.wake_all()
        await self._database.close()

    async def _renew(self) -> None:
        pause = _FIRST_PAUSE_SECONDS
        while True:
            try:
                await self.store.sweep()
                await self.hub.renew()
                pause = _RENEW_SECONDS
            except Unavailable:  # the log has been told
                pause = min(2 * pause, _RENEW_SECONDS)
            except Exception:
                log.exception("what has expired in %s cannot be let go of", self._url.shown)
                pause = _RENEW_SECONDS
            await asyncio.sleep(pause * random.uniform(0.75, 1))
