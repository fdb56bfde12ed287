"""The two things that workers of one server share.

Rule: small enough that a database, a broker or a dictionary can be either. Values are JSON, so that they can leave the process;
what is put is never changed afterwards.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Protocol, runtime_checkable

from mcp_contract import Json, JsonObject


@runtime_checkable
class SessionStore(Protocol):
    """Values under unguessable keys, each for a limited time."""

    async def get(self, key: str) -> JsonObject | None:
        """The value under a key; None where there is none or its time is over."""
        ...

    async def put(self, key: str, value: JsonObject, ttl: float) -> None:
        """Keep a value for so many seconds, in place of what the key held."""
        ...

    async def replace(self, key: str, held: JsonObject, value: JsonObject, ttl: float) -> bool:
        """Keep a value in place of another; False, and nothing happens, where the key does not hold that other one."""
        ...

    async def delete(self, key: str) -> None:
        """Forget a key; nothing happens where there is none."""
        ...

    async def consume(self, key: str) -> JsonObject | None:
        """Take a value out: of callers at the same time exactly one gets it, the others None."""
        ...


class Listener(Protocol):
    """A place in a topic, from which what follows is read."""

    async def next(self, seconds: float) -> Json | None:
        """The next message; None where none came within so many seconds."""
        ...


@runtime_checkable
class Hub(Protocol):
    """Messages from any worker to whoever listens on any worker."""

    async def publish(self, topic: str, message: Json) -> None:
        """Hand a message to all listeners of a topic. A topic without any keeps nothing."""
        ...

    def listen(self, topic: str) -> AbstractAsyncContextManager[Listener]:
        """Take a position in a topic: once entered, no message that is published from then on is missed."""
        ...


__all__ = ["Hub", "Listener", "SessionStore"]
