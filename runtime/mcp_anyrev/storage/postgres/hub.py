"""Messages on PostgreSQL.

Rule: nobody polls. One connection of this process hears which topics have something new, for as many readers as wait, and readers look
then; a notice never has the message in it. On which topics this process waits the server knows for a limited time, which is renewed, so
that one that was killed keeps nothing.
"""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING

from mcp_anyrev.storage.keys import Key, name_of
from mcp_anyrev.storage.postgres.connection import Connection, granted
from mcp_anyrev.storage.protocols import Message, Reading
from mcp_anyrev.storage.readers import Readers

if TYPE_CHECKING:
    from mcp_anyrev.storage.bounds import HubBounds

_POSITION = re.compile(r"([0-9a-f]{16})-(0|[1-9][0-9]{0,17})", re.ASCII)

_WAIT_SECONDS = 60.0
"""For how long the server takes it that a worker waits which does not say so again."""


class PostgresHub:
    """A hub; see `Hub`.

    Args:
        connection: reaches the server.
        bounds: how much it keeps.

    Attributes:
        readers: who waits in this process.
        channel: on which the server says which topics have something new for this worker.
    """

    def __init__(self, connection: Connection, bounds: HubBounds) -> None:
        self.readers = Readers()
        self._connection = connection
        self._bounds = bounds
        self._kept = round(1_000_000 * bounds.seconds)
        self._wait = round(1_000_000 * _WAIT_SECONDS)
        self._worker = secrets.token_hex(8)
        self.channel = f"mcp_anyrev_{self._worker}"

    async def open(self, topic: Key, *, owner: str) -> str:
        """See `Hub.open`."""
        bounds = self._bounds
        answer = await self._connection.value(
            "open_topic",
            topic,
            name_of(owner),
            secrets.token_hex(8),
            self._kept,
            bounds.owner_bytes,
            bounds.total_bytes,
        )
        return granted(answer, bounds.owner_bytes) or ""

    async def publish(self, topic: Key, message: bytes) -> str | None:
        """See `Hub.publish`."""
        bounds = self._bounds
        answer = await self._connection.value(
            "publish",
            topic,
            message,
            secrets.token_urlsafe(12),
            bounds.topic_messages,
            bounds.topic_bytes,
            self._kept,
            bounds.owner_bytes,
            bounds.total_bytes,
        )
        return granted(answer, bounds.owner_bytes, bounds.topic_bytes)

    async def read(self, topic: Key, after: str, seconds: float) -> Reading | None:
        """See `Hub.read`."""
        found = _POSITION.fullmatch(after)
        begun, number = ("", 0) if not after else ("unknown", 0) if found is None else (found[1], int(found[2]))
        worker = self._worker if seconds > 0 else None

        async def look() -> Reading | None:
            rows = await self._connection.call("read_topic", topic, begun, number, worker, self._kept, self._wait)
            if not rows:
                return None
            messages = [Message(f"{began}-{at}", body) for began, _, at, body in rows[1:]]
            began, missed, at, _ = rows[-1]
            return Reading(messages, f"{began}-{at}", missed)

        return await self.readers.read(topic, seconds, look) if worker else await look()

    async def close(self, topic: Key) -> None:
        """See `Hub.close`."""
        await self._connection.value("close_topic", topic)

    async def renew(self) -> None:
        """Have the server know on which topics readers wait here, and let go of what has expired."""
        waiting = list(self.readers.topics)
        for (topic,) in await self._connection.call("renew", self._worker, waiting, self._kept, self._wait):
            self.readers.wake(topic)  # who has come meanwhile says so anew
