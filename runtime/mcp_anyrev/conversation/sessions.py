"""Sessions: what a handshake agreed on and what has been set since, under an unguessable name.

Rule: a session belongs to the principal that opened it; for everybody else it does not exist. What is in it is changed only in
place of what was read, so that of changes at the same time none is lost.
Specification: basic/transports#session-management
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING

from mcp_contract import Declaration, Json, JsonObject
from pydantic_core import from_json, to_json

from mcp_anyrev.principal import owner_of
from mcp_anyrev.storage.keys import key

if TYPE_CHECKING:
    from mcp_anyrev.storage.protocols import SessionStore

_KIND = "session"

_STILL_FRESH = 3 / 4
"""Which part of its time a session has left while it need not be noted that it is in use."""


class Session:
    """What was agreed, and what has been set, at the time of reading.

    Args:
        name: its unguessable name, visible ASCII.
        kept: what the store has of it.
        sessions: where it is read again and changed.

    Attributes:
        version: the agreed revision; an empty text before the handshake.
        principal: whose it is.
        declaration: what the client said of itself.
        is_connection: is it one connection, which carries everything that the server says?
    """

    __slots__ = ("_kept", "_sessions", "declaration", "is_connection", "name", "principal", "version")

    def __init__(self, name: str, kept: JsonObject, sessions: Sessions) -> None:
        self.name = name
        self.version: str = kept["version"]
        self.principal: str | None = kept["principal"]
        self.is_connection = "connection" in kept
        self.declaration = Declaration(kept["capabilities"], kept["information"])
        self._kept = kept
        self._sessions = sessions

    @property
    def ready(self) -> bool:
        """Has the client said that it is ready?"""
        return "ready" in self._kept

    @property
    def log_level(self) -> str | None:
        """The level that the client set for log messages."""
        level: str | None = self._kept.get("level")
        return level

    @property
    def subscriptions(self) -> list[str]:
        """The addresses of the resources whose updates the client wants."""
        subscriptions: list[str] = self._kept.get("subscriptions", [])
        return subscriptions

    @property
    def values(self) -> JsonObject:
        """What handlers keep in it."""
        values: JsonObject = self._kept.get("values", {})
        return values

    async def now(self) -> Session | None:
        """The session as it is now; None where it has ended."""
        return await self._sessions.find(self.name, self.principal)

    async def change(self, change: Callable[[Session], JsonObject]) -> Session | None:
        """Change what is in it.

        Args:
            change: from what is in it to the members that are to be set. It runs again where somebody else changed the session
                meanwhile, so it must do nothing but that.

        Returns:
            The session as changed; None where it has ended.
        """
        return await self._sessions.change(self.name, change)


class Sessions:
    """Opens, finds, changes and ends sessions.

    Args:
        store: where they are.
        ttl: for how many seconds an unused one is kept.
    """

    def __init__(self, store: SessionStore, ttl: float) -> None:
        self._store = store
        self._ttl = ttl

    async def open(self, version: str, principal: str | None, declaration: Declaration, **more: Json) -> Session:
        """Open a session, with more members in it if given.

        Raises:
            Busy: there is no room for one more of this principal.
            Unavailable: there is no room for any, or the store cannot be reached.
        """
        name = secrets.token_urlsafe(32)
        kept = {
            "version": version,
            "principal": principal,
            "capabilities": declaration.capabilities,
            "information": declaration.information,
            **more,
        }
        await self._store.put_if(key(_KIND, name), None, to_json(kept), self._ttl, owner=owner_of(principal))
        return Session(name, kept, self)

    async def find(self, name: str, principal: str | None) -> Session | None:
        """The session of this name, if it is this principal's; it is in use again.

        Raises:
            Unavailable: the store cannot be reached.
        """
        try:
            under = key(_KIND, name)
        except ValueError:
            return None
        stored = await self._store.get(under)
        if stored is None:
            return None
        kept: JsonObject = from_json(stored.value)
        if kept["principal"] != principal:
            return None
        if stored.seconds < self._ttl * _STILL_FRESH:  # not on every request: a store may be far away
            await self._store.touch(under, self._ttl)
        return Session(name, kept, self)

    async def change(self, name: str, change: Callable[[Session], JsonObject]) -> Session | None:
        """See `Session.change`."""
        under = key(_KIND, name)
        while (stored := await self._store.get(under)) is not None:
            kept = from_json(stored.value)
            kept |= change(Session(name, kept, self))
            owner = owner_of(kept["principal"])
            if await self._store.put_if(under, stored.version, to_json(kept), self._ttl, owner=owner) is not None:
                return Session(name, kept, self)
        return None

    async def end(self, session: Session) -> None:
        """End a session."""
        await self._store.delete(key(_KIND, session.name))
