"""Values in a SQLite file.

Rule: what there is to do is done in one transaction, so what is refused halfway has not happened.
"""

from __future__ import annotations

import math
import secrets
from typing import TYPE_CHECKING

from mcp_contract import Busy, Unavailable

from mcp_anyrev.storage.keys import Key, name_of
from mcp_anyrev.storage.protocols import Stored
from mcp_anyrev.storage.sqlite.database import Database, Transaction

if TYPE_CHECKING:
    from mcp_anyrev.storage.bounds import StoreBounds

_VALUE_BYTES = 512
"""What a value takes up beside its own bytes, roughly."""


class SqliteStore:
    """A session store; see `SessionStore`.

    Args:
        database: the file.
        bounds: how much it keeps.
    """

    def __init__(self, database: Database, bounds: StoreBounds) -> None:
        self._database = database
        self._bounds = bounds

    async def get(self, key: Key) -> Stored | None:
        """See `SessionStore.get`."""

        def work(transaction: Transaction) -> Stored | None:
            held = transaction.row("SELECT value, version, ends FROM $values WHERE key = ?", key)
            if held is None or held[2] <= transaction.now:
                return None
            return Stored(held[0], held[1], (held[2] - transaction.now) / 1_000_000)

        return await self._database.read(work)

    async def put_if(
        self, key: Key, version: str | None, value: bytes, seconds: float, *, owner: str, in_flight: bool = False
    ) -> str | None:
        """See `SessionStore.put_if`."""
        made, whose, size = secrets.token_urlsafe(12), name_of(owner), len(value) + _VALUE_BYTES

        def work(transaction: Transaction) -> str | None:
            now = transaction.now
            transaction.run("DELETE FROM $values WHERE ends <= ?", now)
            held = transaction.row("SELECT version FROM $values WHERE key = ?", key)
            if version != (None if held is None else held[0]):
                return None
            transaction.run("DELETE FROM $values WHERE key = ?", key)
            self._make_room(transaction, whose, size)
            if seconds > 0:
                row = (
                    key,
                    value,
                    made,
                    whose,
                    size,
                    in_flight,
                    now if held else None,
                    now,
                    now + _microseconds(seconds),
                )
                transaction.run(
                    "INSERT INTO $values (key, value, version, owner, size, in_flight, used, since, ends)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    *row,
                )
            return made

        return await self._database.change(work)

    async def touch(self, key: Key, seconds: float) -> bool:
        """See `SessionStore.touch`."""

        def work(transaction: Transaction) -> bool:
            now = transaction.now
            touched = transaction.run(
                "UPDATE $values SET used = ?, since = ?, ends = ? WHERE key = ? AND ends > ?",
                *(now, now, now + _microseconds(seconds), key, now),
            )
            return touched.rowcount > 0

        return await self._database.change(work)

    async def consume(self, key: Key) -> bytes | None:
        """See `SessionStore.consume`."""

        def work(transaction: Transaction) -> bytes | None:
            held = transaction.row("SELECT value FROM $values WHERE key = ? AND ends > ?", key, transaction.now)
            transaction.run("DELETE FROM $values WHERE key = ?", key)
            return None if held is None else bytes(held[0])

        return await self._database.change(work)

    async def delete(self, key: Key) -> None:
        """See `SessionStore.delete`."""
        await self._database.change(lambda transaction: transaction.run("DELETE FROM $values WHERE key = ?", key))

    async def sweep(self) -> None:
        """Let go of what has expired. Where the clock was set back, nothing is kept for longer than it was put for."""

        def work(transaction: Transaction) -> None:
            now = transaction.now
            transaction.run("UPDATE $values SET ends = ends - since + ?, since = ? WHERE since > ?", now, now, now)
            transaction.run("DELETE FROM $values WHERE ends <= ?", now)

        await self._database.change(work)

    def _make_room(self, transaction: Transaction, owner: str, size: int) -> None:
        """Let go of what has to go, so that so many bytes more can be kept of an owner.

        Raises:
            Busy, Unavailable: not enough may go; then the transaction has to end.
        """
        if self._excess(transaction, owner, _kept(transaction, owner) + size - self._bounds.owner_bytes) > 0:
            raise Busy(f"at most {self._bounds.owner_bytes} bytes are kept for one client")
        excess = _kept(transaction, "") + size - self._bounds.total_bytes
        if excess > 0:  # then whoever has most of all gives up
            for (largest,) in transaction.run(
                "SELECT owner FROM $value_shares WHERE owner <> '' ORDER BY bytes DESC"
            ).fetchall():
                excess = self._excess(transaction, largest, excess)
                if excess <= 0:
                    return
            raise Unavailable("nothing more can be kept now")

    def _excess(self, transaction: Transaction, owner: str, excess: int) -> int:
        """Let go of so many bytes of an owner, in the order in which they go; gives how many are too many even then."""
        if excess <= 0:
            return 0
        now = transaction.now
        going = transaction.run(
            "SELECT key, size FROM $values WHERE owner = ? AND in_flight = 0"
            " AND (used IS NULL OR used <= ? OR used > ?) ORDER BY used, number",  # what was never used first
            *(owner, now - _microseconds(self._bounds.in_use_seconds), now),
        )
        gone = []
        for key, size in going:
            gone.append(key)
            excess -= size
            if excess <= 0:
                break
        going.close()
        for key in gone:
            transaction.run("DELETE FROM $values WHERE key = ?", key)
        return excess


def _kept(transaction: Transaction, owner: str) -> int:
    share = transaction.row("SELECT bytes FROM $value_shares WHERE owner = ?", owner)
    return 0 if share is None else int(share[0])


def _microseconds(seconds: float) -> int:
    return math.ceil(1_000_000 * seconds)
