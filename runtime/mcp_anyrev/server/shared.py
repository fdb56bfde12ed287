"""What a server shares with other workers: its store and its hub, as the settings say.

Rule: opened and closed with the server. One that is away keeps no server from starting; what needs it fails until it is there, and the
health report says why.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable

from mcp_contract import JsonObject

from mcp_anyrev.server.guarded_storage import GuardedHub, GuardedStore
from mcp_anyrev.settings import Settings
from mcp_anyrev.storage.backends import Backend, backend, is_shared
from mcp_anyrev.storage.bounds import HubBounds, StoreBounds
from mcp_anyrev.storage.keys import key
from mcp_anyrev.storage.protocols import Hub, SessionStore

log = logging.getLogger("mcp_anyrev.server")

_IN_MEMORY = "memory:"
_HEALTH_SECONDS = 2.0

_QUEUES_KEPT = 4
"""How many times as much as may be unread a stream keeps, for a reader that has lost what it was just sent."""


class Shared:
    """The store and the hub of a server.

    Args:
        settings: which they are.
        application: the name of the server, which alone sees what it keeps.

    Attributes:
        store: the session store.
        hub: the hub.
    """

    def __init__(self, settings: Settings, application: str) -> None:
        store = _IN_MEMORY if settings.store is None else settings.store
        hub = (store if isinstance(store, str) else _IN_MEMORY) if settings.hub is None else settings.hub
        self._backends: dict[str, Backend] = {
            url: backend(url, application, _store_bounds(settings), _hub_bounds(settings))
            for url in dict.fromkeys((store, hub))
            if isinstance(url, str)
        }
        self._store_at = store if isinstance(store, str) else ""
        self._hub_at = hub if isinstance(hub, str) else ""
        self.store: SessionStore = self._backends[store].store if isinstance(store, str) else store
        self.hub: Hub = self._backends[hub].hub if isinstance(hub, str) else hub
        if not isinstance(store, str) or is_shared(store):
            self.store = GuardedStore(self.store)
        if not isinstance(hub, str) or is_shared(hub):
            self.hub = GuardedHub(self.hub)

    async def open(self) -> None:
        """Begin, in the running event loop."""
        for each in self._backends.values():
            await each.open()

    async def close(self) -> None:
        """Let go of what is far away."""
        for each in self._backends.values():
            await each.close()

    async def health(self) -> JsonObject:
        """Can the store and the hub be reached, and if not, why?"""
        at = key("health", "check")
        faults = {
            "store": await self._fault(self._store_at, self.store.get(at)),
            "hub": await self._fault(self._hub_at, self.hub.read(at, "", 0)),
        }
        return {
            **{name: fault is None for name, fault in faults.items()},
            "faults": {name: fault for name, fault in faults.items() if fault is not None},
        }

    async def _fault(self, url: str, asked: Awaitable[object]) -> str | None:
        try:
            async with asyncio.timeout(_HEALTH_SECONDS):
                await asked
        except Exception as error:
            log.exception("what the workers share cannot be reached")
            # Of a store of the application's own no more is told than that: its words may have credentials in them.
            fault = self._backends[url].fault if url else None
            return fault or f"it cannot be reached ({type(error.__cause__ or error).__name__})"
        return None


def _store_bounds(settings: Settings) -> StoreBounds:
    limits = settings.limits
    return StoreBounds(total_bytes=limits.stored_bytes, owner_bytes=limits.stored_bytes_of_principal)


def _hub_bounds(settings: Settings) -> HubBounds:
    limits = settings.limits
    return HubBounds(
        topic_messages=_QUEUES_KEPT * limits.queue,
        topic_bytes=_QUEUES_KEPT * limits.queue_bytes,
        seconds=settings.kept_seconds,
        total_bytes=limits.kept_bytes,
        owner_bytes=limits.kept_bytes_of_principal,
    )
