"""Sessions: what a handshake agreed on, under an unguessable name.

Rule: a session belongs to the principal that opened it; for everybody else it does not exist.
Specification: basic/transports#session-management
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING

from mcp_contract import Declaration, JsonObject

if TYPE_CHECKING:
    from mcp_anyrev.storage import SessionStore

_LONGEST_NAME = 128


class Session:
    """What was agreed.

    Args:
        name: its unguessable name, visible ASCII.
        kept: what the store has of it.
    """

    __slots__ = ("_kept", "name")

    def __init__(self, name: str, kept: JsonObject) -> None:
        self.name = name
        self._kept = kept

    @property
    def version(self) -> str:
        """The agreed revision."""
        version: str = self._kept["version"]
        return version

    @property
    def declaration(self) -> Declaration:
        """What the client said of itself."""
        return Declaration(self._kept["capabilities"], self._kept["information"])


class Sessions:
    """Opens, finds and ends sessions.

    Args:
        store: where they are.
        ttl: for how many seconds an unused one is kept.
        clock: seconds since the epoch, as all workers see them.
    """

    def __init__(self, store: SessionStore, ttl: float, clock: Callable[[], float]) -> None:
        self._store = store
        self._ttl = ttl
        self._clock = clock

    async def open(self, version: str, principal: str | None, declaration: Declaration) -> str:
        """Open a session; gives its name."""
        name = secrets.token_urlsafe(32)
        kept = {
            "version": version,
            "principal": principal,
            "capabilities": declaration.capabilities,
            "information": declaration.information,
        }
        await self._keep(name, kept)
        return name

    async def find(self, name: str, principal: str | None) -> Session | None:
        """The session of this name, if it is this principal's; it is in use again."""
        if len(name) > _LONGEST_NAME:
            return None
        kept = await self._store.get(f"session/{name}")
        if kept is None or kept["principal"] != principal:
            return None
        if self._clock() > kept["used"] + self._ttl / 4:  # not on every request: a store may be far away
            await self._keep(name, kept)
        return Session(name, kept)

    async def end(self, session: Session) -> None:
        """End a session."""
        await self._store.delete(f"session/{session.name}")

    async def _keep(self, name: str, kept: JsonObject) -> None:
        await self._store.put(f"session/{name}", {**kept, "used": self._clock()}, self._ttl)
