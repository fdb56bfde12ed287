"""Messages on Valkey or Redis.

Rule: nobody polls. One connection of this process hears which topics have something new, for as many readers as wait, and readers look
then. On which topics this process waits the server knows for a limited time, which is renewed, so that one that was killed keeps nothing.
"""

from __future__ import annotations

import json
import re
import secrets
from typing import TYPE_CHECKING, Any

from mcp_contract import Busy, Unavailable

from mcp_anyrev.storage.keys import Key, name_of
from mcp_anyrev.storage.protocols import Message, Reading
from mcp_anyrev.storage.readers import Readers
from mcp_anyrev.storage.redis.connection import Connection, Script

if TYPE_CHECKING:
    from mcp_anyrev.storage.bounds import HubBounds

_SCRIPT = Script("hub.lua")
_POSITION = re.compile(r"([0-9a-f]{16})-((?:0|[1-9][0-9]{0,15})-(?:0|[1-9][0-9]{0,15}))", re.ASCII)

_WAIT_SECONDS = 60.0
"""For how long the server takes it that a worker waits which does not say so again."""

_AT_ONCE = 500
"""How many topics are named to the server at once."""


class RedisHub:
    """A hub; see `Hub`.

    Args:
        connection: reaches the server.
        prefix: what its keys begin with.
        bounds: how much it keeps.

    Attributes:
        readers: who waits in this process.
    """

    def __init__(self, connection: Connection, prefix: str, bounds: HubBounds) -> None:
        self.readers = Readers()
        self._connection = connection
        self._prefix = f"{prefix}:hub:"
        self._bounds = bounds
        self._worker = secrets.token_hex(8)
        self._told: set[Key] = set()
        """On which topics the server takes it that this worker waits."""
        self._limits = json.dumps(
            {
                "topic_messages": bounds.topic_messages,
                "topic_bytes": bounds.topic_bytes,
                "kept_ms": round(1000 * bounds.seconds),
                "total_bytes": bounds.total_bytes,
                "owner_bytes": bounds.owner_bytes,
                "wait_ms": round(1000 * _WAIT_SECONDS),
            }
        )

    @property
    def channel(self) -> str:
        """On which the server says which topics have something new for this worker."""
        return f"{self._prefix}wake:{self._worker}"

    async def open(self, topic: Key, *, owner: str) -> str:
        """See `Hub.open`."""
        position: str = self._granted(await self._run("open", topic, name_of(owner), secrets.token_hex(8))).decode()
        return position

    async def publish(self, topic: Key, message: bytes) -> str | None:
        """See `Hub.publish`."""
        token = secrets.token_urlsafe(12)
        answer = self._granted(
            await self._connection.run(
                _SCRIPT,
                self._prefix,
                lambda attempt: ("publish", self._limits, topic, token, message, attempt),
                again=True,
            )
        )
        return None if answer is None else answer.decode()

    async def read(self, topic: Key, after: str, seconds: float) -> Reading | None:
        """See `Hub.read`."""
        found = _POSITION.fullmatch(after)
        begun, last = ("", "") if not after else ("unknown", "") if found is None else found.groups()
        worker = self._worker if seconds > 0 else ""
        if worker:
            self._told.add(topic)

        async def look() -> Reading | None:
            answer = await self._run("read", topic, begun, last, worker)
            if answer is None:
                return None
            missed, position, flat = answer
            messages = [Message(at.decode(), body) for at, body in zip(flat[::2], flat[1::2], strict=True)]
            return Reading(messages, position.decode(), bool(missed))

        return await self.readers.read(topic, seconds, look) if worker else await look()

    async def close(self, topic: Key) -> None:
        """See `Hub.close`."""
        await self._run("close", topic)

    async def renew(self) -> None:
        """Have the server know on which topics readers wait here, and let go of what has expired."""
        waiting = list(self.readers.topics)
        left = list(self._told.difference(waiting))
        for start in range(0, max(len(waiting), len(left), 1), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            await self._run("keep", self._worker, json.dumps(waiting[part]), json.dumps(left[part]))
            self._told.difference_update(set(left[part]).difference(self.readers.topics))

    async def _run(self, command: str, *arguments: Any) -> Any:
        return await self._connection.run(
            _SCRIPT, self._prefix, lambda _: (command, self._limits, *arguments), again=True
        )

    def _granted(self, answer: Any) -> Any:
        match answer:
            case [b"busy"]:
                raise Busy(f"at most {self._bounds.owner_bytes} bytes of streams are kept for one client")
            case [b"large"]:
                raise Busy(f"at most {self._bounds.topic_bytes} bytes of a stream are kept")
            case [b"full"]:
                raise Unavailable("nothing more can be kept now")
        return answer
