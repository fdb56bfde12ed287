"""Values on PostgreSQL.

Rule: a version is made here, unguessable, and not by the server; so an attempt that is made again, since its answer was lost, is known
to be the same one.
"""

from __future__ import annotations

import math
import secrets
from typing import TYPE_CHECKING

from mcp_anyrev.storage.keys import Key, name_of
from mcp_anyrev.storage.postgres.connection import Connection, granted
from mcp_anyrev.storage.protocols import Stored

if TYPE_CHECKING:
    from mcp_anyrev.storage.bounds import StoreBounds


class PostgresStore:
    """A session store; see `SessionStore`.

    Args:
        connection: reaches the server.
        bounds: how much it keeps.
    """

    def __init__(self, connection: Connection, bounds: StoreBounds) -> None:
        self._connection = connection
        self._bounds = bounds

    async def get(self, key: Key) -> Stored | None:
        """See `SessionStore.get`."""
        for value, version, microseconds in await self._connection.call("get_stored", key):
            return Stored(value, version, microseconds / 1_000_000)
        return None

    async def put_if(
        self, key: Key, version: str | None, value: bytes, seconds: float, *, owner: str, in_flight: bool = False
    ) -> str | None:
        """See `SessionStore.put_if`."""
        bounds = self._bounds
        answer = await self._connection.value(
            "put_if",
            key,
            version,
            secrets.token_urlsafe(12),
            value,
            _microseconds(seconds),
            name_of(owner),
            in_flight,
            bounds.owner_bytes,
            bounds.total_bytes,
            _microseconds(bounds.in_use_seconds),
        )
        return granted(answer, bounds.owner_bytes)

    async def touch(self, key: Key, seconds: float) -> bool:
        """See `SessionStore.touch`."""
        return bool(await self._connection.value("touch", key, _microseconds(seconds)))

    async def consume(self, key: Key) -> bytes | None:
        """See `SessionStore.consume`."""
        value: bytes | None = await self._connection.value("consume", key, again=False)
        return value

    async def delete(self, key: Key) -> None:
        """See `SessionStore.delete`."""
        await self._connection.value("consume", key)

    async def sweep(self) -> None:
        """Let go of what has expired."""
        await self._connection.value("sweep_stored")


def _microseconds(seconds: float) -> int:
    return math.ceil(1_000_000 * seconds)
