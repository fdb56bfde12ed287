"""Sessions: what a handshake agreed on and what has been set since, under an unguessable name.

Rule: a session belongs to the principal that opened it; for everybody else it does not exist. What is in it is changed only in
place of what was read, so that of changes at the same time none is lost.
Specification: basic/transports#session-management
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING

from mcp_contract import Busy, Declaration, Json, JsonObject
from pydantic_core import from_json, to_json

from mcp_anyrev.conversation.declarations import kept_declaration
from mcp_anyrev.storage.keys import key
from mcp_anyrev.storage.protocols import IN_USE_SECONDS

if TYPE_CHECKING:
    from mcp_anyrev.storage.protocols import SessionStore

SESSION = "session"
"""What workers tell each other where something was set in a session: its name."""

_KIND = "session"

_VALUES = "values"

_PARTS = 4
"""A client's capabilities, and what it is, take up such a part of a session each at most; the rest is for what it sets."""


class Session:
    """What was agreed, and what has been set, at the time of reading.

    Args:
        name: its unguessable name, visible ASCII.
        kept: what the store has of it.
        sessions: where it is read again and changed.

    Attributes:
        version: the agreed revision; an empty text before the handshake.
        principal: whose it is.
        owner: whose budget it counts against, and what belongs to it.
        declaration: what the client said of itself.
        is_connection: is it one connection, which carries everything that the server says?
    """

    __slots__ = ("_kept", "_sessions", "declaration", "is_connection", "name", "owner", "principal", "version")

    def __init__(self, name: str, kept: JsonObject, sessions: Sessions) -> None:
        self.name = name
        self.version: str = kept["version"]
        self.principal: str | None = kept["principal"]
        self.owner: str = kept["owner"]
        self.is_connection = "connection" in kept
        self.declaration = Declaration(kept["capabilities"], kept["information"])
        self._kept = kept
        self._sessions = sessions

    @property
    def ready(self) -> bool:
        """Has the client said that it is ready?"""
        return "ready" in self._kept

    @property
    def scopes(self) -> frozenset[str] | None:
        """The scopes that whose it is had when it was last used; None for nobody in particular."""
        scopes: list[str] | None = self._kept.get("scopes")
        return None if scopes is None else frozenset(scopes)

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
        values: JsonObject = self._kept.get(_VALUES, {})
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
        most: how many bytes are kept of one, beside what handlers keep in it.
    """

    def __init__(self, store: SessionStore, *, ttl: float, most: int) -> None:
        self._store = store
        self._ttl = ttl
        self._most = most

    async def open(
        self, version: str, principal: str | None, owner: str, declaration: Declaration, **more: Json
    ) -> Session:
        """Open a session.

        Args:
            version: the revision that was agreed on.
            principal: whose it is.
            owner: whose budget it counts against.
            declaration: what the client said of itself, of which as much is kept as there is room for.
            more: more members.

        Raises:
            Busy: there is no room for one more of this owner.
            Unavailable: there is no room for any, or the store cannot be reached.
        """
        name = secrets.token_urlsafe(32)
        agreed = self.agreed(version, declaration)
        kept: JsonObject = {"principal": principal, "owner": owner, **agreed, **more}
        await self._store.put_if(key(_KIND, name), None, self._written(kept), self._ttl, owner=owner)
        return Session(name, kept, self)

    def agreed(self, version: str, declaration: Declaration) -> JsonObject:
        """What a session keeps of a handshake: the revision, and what the client said of itself."""
        kept = kept_declaration(declaration, self._most // _PARTS)
        return {"version": version, "capabilities": kept.capabilities, "information": kept.information}

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
        if stored.seconds < self._ttl - min(
            self._ttl / 4, IN_USE_SECONDS / 4
        ):  # not on every request: a store may be far away
            await self._store.touch(under, self._ttl)
        return Session(name, kept, self)

    async def change(self, name: str, change: Callable[[Session], JsonObject]) -> Session | None:
        """See `Session.change`."""
        under = key(_KIND, name)
        while (stored := await self._store.get(under)) is not None:
            kept = from_json(stored.value)
            kept |= change(Session(name, kept, self))
            written, owner = self._written(kept), kept["owner"]
            if await self._store.put_if(under, stored.version, written, self._ttl, owner=owner) is not None:
                return Session(name, kept, self)
        return None

    async def end(self, session: Session) -> None:
        """End a session."""
        await self._store.delete(key(_KIND, session.name))

    def _written(self, kept: JsonObject) -> bytes:
        """A session as it is kept.

        Raises:
            Busy: it is too large, beside what handlers keep in it.
        """
        written = to_json(kept)
        if len(written) > self._most:
            size = len(to_json({name: value for name, value in kept.items() if name != _VALUES}))
            if size > self._most:
                raise Busy(f"at most {self._most} bytes are kept of what a client sets in its session")
        return written
