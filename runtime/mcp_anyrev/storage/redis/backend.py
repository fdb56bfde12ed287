"""The connections to Valkey or Redis of one process, and what it does on its own.

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
from mcp_anyrev.storage.reachability import Reachability
from mcp_anyrev.storage.redis.connection import FAILED, Connection
from mcp_anyrev.storage.redis.hub import RedisHub
from mcp_anyrev.storage.redis.store import RedisStore

if TYPE_CHECKING:
    from redis.asyncio.client import PubSub

    from mcp_anyrev.storage.bounds import HubBounds, StoreBounds
    from mcp_anyrev.storage.urls import StorageUrl

log = logging.getLogger("mcp_anyrev.storage")

_SCHEMA = 1
"""Another number each time what the keys hold is changed, so that old and new workers never read each other's."""

_SILENCE_SECONDS = 15.0
"""After so much silence the server is asked whether it is still there, and it has as long to answer."""

_RENEW_SECONDS = 10.0
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 5.0
_OLDEST_VERSION = 7
_KEEPS_ALL = "noeviction"


class RedisBackend:
    """Both on Valkey or Redis; see `Backend`."""

    def __init__(self, url: StorageUrl, namespace: str, store: StoreBounds, hub: HubBounds) -> None:
        prefix = f"{{mcp-anyrev:{_SCHEMA}:{namespace}}}"
        self._url = url
        self._reachability = Reachability(url)
        self._connection = Connection(url, self._reachability)
        self.store = RedisStore(self._connection, prefix, store)
        self.hub = RedisHub(self._connection, prefix, hub)
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def fault(self) -> str | None:
        """See `Backend`."""
        return self._reachability.fault

    async def open(self) -> None:
        """See `Backend.open`."""
        if not self._tasks:
            self._connection.open()
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
                await self._look_at_the_server()
                async with self._connection.client.pubsub() as heard:
                    await heard.subscribe(self.hub.channel)
                    while True:
                        await self._heard(await self._next(heard))
                        pause = _FIRST_PAUSE_SECONDS
            except FAILED as error:
                self._reachability.lost(error)
            except Exception:
                log.exception("what others say on %s is not understood", self._url.shown)
            await asyncio.sleep(pause * random.uniform(0.5, 1))
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    async def _next(self, heard: PubSub) -> dict[str, Any]:
        """What comes next.

        Raises:
            RedisError, OSError: the connection is lost, or nothing comes although it was asked for.
        """
        message: dict[str, Any] | None = await heard.get_message(timeout=_SILENCE_SECONDS)
        if message is None:
            await heard.ping()
            message = await heard.get_message(timeout=_SILENCE_SECONDS)
        if message is None:
            raise TimeoutError("it does not answer")
        return message

    async def _heard(self, message: dict[str, Any]) -> None:
        if message["type"] == "message":
            self.hub.readers.wake(Key(message["data"].decode()))
        elif message["type"] == "subscribe":
            self._reachability.found()
            self.hub.readers.wake_all()

    async def _look_at_the_server(self) -> None:
        """Say so where the server is not as it has to be."""
        found = await self._connection.client.info()
        version = str(found.get("redis_version", _OLDEST_VERSION))
        if int(version.partition(".")[0]) < _OLDEST_VERSION:
            log.error("%s is of version %s; %d is the oldest that serves", self._url.shown, version, _OLDEST_VERSION)
        if found.get("maxmemory") and found.get("maxmemory_policy") != _KEEPS_ALL:
            log.warning(
                "%s gives up what it likes when its memory is full; set maxmemory-policy to %s",
                self._url.shown,
                _KEEPS_ALL,
            )

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
