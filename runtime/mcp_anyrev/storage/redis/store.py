"""Values on Valkey or Redis.

Rule: a version is made here, unguessable, and not by the server; so an attempt that is made again, since its answer was lost, is known
to be the same one.
"""

from __future__ import annotations

import math
import secrets
from typing import TYPE_CHECKING, Any

from mcp_contract import Busy, Unavailable

from mcp_anyrev.storage.keys import Key, name_of
from mcp_anyrev.storage.protocols import Stored
from mcp_anyrev.storage.redis.connection import Connection, Script

if TYPE_CHECKING:
    from mcp_anyrev.storage.bounds import StoreBounds

_SCRIPT = Script("store.lua")


class RedisStore:
    """A session store; see `SessionStore`.

    Args:
        connection: reaches the server.
        prefix: what its keys begin with.
        bounds: how much it keeps.
    """

    def __init__(self, connection: Connection, prefix: str, bounds: StoreBounds) -> None:
        self._connection = connection
        self._prefix = f"{prefix}:store:"
        self._bounds = bounds

    async def get(self, key: Key) -> Stored | None:
        """See `SessionStore.get`."""
        at = f"{self._prefix}value:{key}"

        async def ask(attempt: int) -> Any:
            async with self._connection.client.pipeline(transaction=True) as pipeline:
                pipeline.hmget(at, ("value", "version"))
                pipeline.pttl(at)
                return await pipeline.execute()

        (value, version), milliseconds = await self._connection.attempt(ask, again=True)
        if value is None or version is None or milliseconds <= 0:
            return None
        return Stored(value, version.decode(), milliseconds / 1000)

    async def put_if(
        self, key: Key, version: str | None, value: bytes, seconds: float, *, owner: str, in_flight: bool = False
    ) -> str | None:
        """See `SessionStore.put_if`."""
        bounds = self._bounds
        answer = await self._run(
            "put_if",
            key,
            version or "",
            secrets.token_urlsafe(12),
            value,
            math.ceil(1000 * seconds),
            name_of(owner),
            int(in_flight),
            bounds.owner_bytes,
            bounds.total_bytes,
            round(1_000_000 * bounds.in_use_seconds),
        )
        match answer:
            case [b"busy"]:
                raise Busy(f"at most {bounds.owner_bytes} bytes are kept for one client")
            case [b"full"]:
                raise Unavailable("nothing more can be kept now")
        return None if answer is None else answer.decode()

    async def touch(self, key: Key, seconds: float) -> bool:
        """See `SessionStore.touch`."""
        return bool(await self._run("touch", key, math.ceil(1000 * seconds)))

    async def consume(self, key: Key) -> bytes | None:
        """See `SessionStore.consume`."""
        value: bytes | None = await self._run("consume", key, again=False)
        return value

    async def delete(self, key: Key) -> None:
        """See `SessionStore.delete`."""
        await self._run("delete", key)

    async def sweep(self) -> None:
        """Count no longer what has expired."""
        await self._run("sweep", "")

    async def _run(self, command: str, key: str, *arguments: Any, again: bool = True) -> Any:
        return await self._connection.run(_SCRIPT, self._prefix, lambda _: (command, key, *arguments), again=again)
