"""Stores and hubs that others have written, held to what the protocols say of failing.

Rule: the only place that knows that they may do otherwise. Whatever one raises, or that it does not answer, is that it cannot be
reached: whoever asked learns no more than that, and the log learns what it was.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

from mcp_contract import Busy, Unavailable

from mcp_anyrev.storage.keys import Key
from mcp_anyrev.storage.protocols import Hub, Reading, SessionStore, Stored
from mcp_anyrev.user_code import awaited, raised

log = logging.getLogger("mcp_anyrev.server")

Asked = ParamSpec("Asked")
Given = TypeVar("Given")

ANSWER_SECONDS = 5.0
"""How long a store or a hub may take to answer, beside what it was asked to wait."""


class GuardedStore:
    """A session store; see `SessionStore`.

    Args:
        store: what keeps the values.
        seconds: how long it may take to answer.
    """

    def __init__(self, store: SessionStore, seconds: float = ANSWER_SECONDS) -> None:
        self._store = store
        self._seconds = seconds

    async def get(self, key: Key) -> Stored | None:
        """See `SessionStore.get`."""
        return await _answered(self._seconds, self._store.get, key)

    async def put_if(
        self, key: Key, version: str | None, value: bytes, seconds: float, *, owner: str, in_flight: bool = False
    ) -> str | None:
        """See `SessionStore.put_if`."""
        put_if = self._store.put_if
        return await _answered(self._seconds, put_if, key, version, value, seconds, owner=owner, in_flight=in_flight)

    async def touch(self, key: Key, seconds: float) -> bool:
        """See `SessionStore.touch`."""
        return await _answered(self._seconds, self._store.touch, key, seconds)

    async def consume(self, key: Key) -> bytes | None:
        """See `SessionStore.consume`."""
        return await _answered(self._seconds, self._store.consume, key)

    async def delete(self, key: Key) -> None:
        """See `SessionStore.delete`."""
        await _answered(self._seconds, self._store.delete, key)


class GuardedHub:
    """A hub; see `Hub`.

    Args:
        hub: what carries the messages.
        seconds: how long it may take to answer.
    """

    def __init__(self, hub: Hub, seconds: float = ANSWER_SECONDS) -> None:
        self._hub = hub
        self._seconds = seconds

    async def open(self, topic: Key, *, owner: str) -> str:
        """See `Hub.open`."""
        return await _answered(self._seconds, self._hub.open, topic, owner=owner)

    async def publish(self, topic: Key, message: bytes) -> str | None:
        """See `Hub.publish`."""
        return await _answered(self._seconds, self._hub.publish, topic, message)

    async def read(self, topic: Key, after: str, seconds: float) -> Reading | None:
        """See `Hub.read`."""
        return await _answered(self._seconds + seconds, self._hub.read, topic, after, seconds)

    async def close(self, topic: Key) -> None:
        """See `Hub.close`."""
        await _answered(self._seconds, self._hub.close, topic)


async def _answered(
    seconds: float, ask: Callable[Asked, Awaitable[Given]], *args: Asked.args, **named: Asked.kwargs
) -> Given:
    """What a store or a hub answers.

    Raises:
        Busy: as the protocols have it.
        Unavailable: the same, or it failed, or has not answered in time.
    """

    async def asked() -> Given:
        return await ask(*args, **named)

    try:
        async with asyncio.timeout(seconds):
            return await awaited(asked(), raised)
    except (Busy, Unavailable):
        raise
    except Exception as error:
        log.exception("what the workers share does not answer")
        raise Unavailable("what the workers of this server share cannot be reached now") from error
