"""Messages in a SQLite file.

Rule: readers of the process that publishes are woken at once; those of another one when its thread sees that the file has changed,
and finds in the news of which topics. On which topics this process waits stands in the file for a limited time, which is renewed, so
that one that was killed keeps nothing.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from typing import TYPE_CHECKING, Any

from mcp_contract import Busy, Unavailable

from mcp_anyrev.storage.keys import Key, name_of
from mcp_anyrev.storage.protocols import Message, Reading
from mcp_anyrev.storage.readers import Readers
from mcp_anyrev.storage.sqlite.database import Database, Transaction, Untidy

if TYPE_CHECKING:
    from mcp_anyrev.storage.bounds import HubBounds

_TOPIC_BYTES = 1_024
_MESSAGE_BYTES = 256
"""What a topic, as the schema has it, and a message take up beside their own bytes, roughly."""

_POSITION = re.compile(r"([0-9a-f]{16})-(0|[1-9][0-9]{0,17})", re.ASCII)

_WAIT_SECONDS = 60.0
"""For how long it is taken that a worker waits which does not say so again."""

_NEWS_SECONDS = 60.0

_READ_BYTES = 1024 * 1024
_READ_MESSAGES = 256

_COARSE = 20
"""A read is noted as a use where the last one is longer ago than this part of the time for which an unused topic is kept."""


class SqliteHub:
    """A hub; see `Hub`.

    Args:
        database: the file.
        bounds: how much it keeps.

    Attributes:
        readers: who waits in this process.
    """

    def __init__(self, database: Database, bounds: HubBounds) -> None:
        self.readers = Readers()
        self._database = database
        self._bounds = bounds
        self._kept = round(1_000_000 * bounds.seconds)
        self._worker = secrets.token_hex(8)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._heard = 0
        database.on_change = self._hear

    def start(self) -> None:
        """Begin, in the running event loop."""
        self._loop = asyncio.get_running_loop()

    async def open(self, topic: Key, *, owner: str) -> str:
        """See `Hub.open`."""
        begun, whose = secrets.token_hex(8), name_of(owner)

        def work(transaction: Transaction) -> str:
            found = self._in_use(transaction, topic)
            if found is None:
                self._make_room(transaction, topic, whose, _TOPIC_BYTES)
                transaction.run(
                    "INSERT INTO $topics (name, begun, owner, used) VALUES (?, ?, ?, ?)",
                    *(topic, begun, whose, transaction.now),
                )
                return _position(begun, 0)
            return _position(found.begun, found.last)

        return await self._database.change(work)

    async def publish(self, topic: Key, message: bytes) -> str | None:
        """See `Hub.publish`."""
        size, most = len(message) + _MESSAGE_BYTES, self._bounds.topic_bytes

        def work(transaction: Transaction) -> str | None:
            found = self._in_use(transaction, topic)
            if found is None:
                return None
            if size > most:
                raise Busy(f"at most {most} bytes of a stream are kept")
            while found.messages >= self._bounds.topic_messages or found.bytes + size > most:
                _drop_oldest(transaction, topic)
                found = _topic(transaction, topic) or found
            self._make_room(transaction, topic, found.owner, size)
            number = max(found.last + 1, transaction.now)
            transaction.run(
                "INSERT INTO $messages (topic, number, body, size, came) VALUES (?, ?, ?, ?, ?)",
                *(topic, number, message, size, transaction.now),
            )
            self._tell(transaction, topic)
            return _position(found.begun, number)

        position = await self._database.change(work)
        self.readers.wake(topic)
        return position

    async def read(self, topic: Key, after: str, seconds: float) -> Reading | None:
        """See `Hub.read`."""
        waits = seconds > 0

        async def look() -> Reading | None:
            return await self._database.read_or_change(
                lambda transaction: self._look(transaction, topic, after, waits),
                lambda transaction: self._read(transaction, topic, after, waits),
            )

        return await self.readers.read(topic, seconds, look) if waits else await look()

    async def close(self, topic: Key) -> None:
        """See `Hub.close`."""

        def work(transaction: Transaction) -> None:
            self._tell(transaction, topic)
            transaction.run("DELETE FROM $topics WHERE name = ?", topic)

        await self._database.change(work)
        self.readers.wake(topic)

    async def renew(self) -> None:
        """Note on which topics readers wait here, and let go of what has expired."""
        waiting = list(self.readers.topics)

        def work(transaction: Transaction) -> None:
            _set_right(transaction)
            for topic in waiting:
                self._note(transaction, topic)
            for (topic,) in transaction.run("SELECT topic FROM $waits WHERE worker = ?", self._worker).fetchall():
                if topic not in self.readers.topics:  # one that comes now looks after this, and notes it anew
                    transaction.run("DELETE FROM $waits WHERE topic = ? AND worker = ?", topic, self._worker)
            transaction.run("DELETE FROM $waits WHERE until <= ?", transaction.now)
            transaction.run("DELETE FROM $messages WHERE came <= ?", transaction.now - self._kept)
            transaction.run("DELETE FROM $news WHERE came <= ?", transaction.now - round(1_000_000 * _NEWS_SECONDS))
            self._expire(transaction)

        await self._database.change(work)

    def _hear(self, transaction: Transaction, stalled: bool) -> None:
        """Have those look again whose topics have news; in the thread of the database."""
        news = transaction.run(
            "SELECT number, topic FROM $news WHERE number > ? ORDER BY number", self._heard
        ).fetchall()
        if news:
            self._heard = news[-1][0]
        if self._loop is None or self._loop.is_closed():
            return
        if stalled:
            self._loop.call_soon_threadsafe(self.readers.wake_all)
        elif news:
            self._loop.call_soon_threadsafe(self._wake, {topic for _, topic in news})

    def _wake(self, topics: set[Key]) -> None:
        for topic in topics:
            self.readers.wake(topic)

    def _tell(self, transaction: Transaction, topic: Key) -> None:
        """Have the workers look on which somebody waits; this one is woken without that."""
        transaction.run(
            "INSERT INTO $news (topic, came) SELECT ?, ?"
            " WHERE EXISTS (SELECT 1 FROM $waits WHERE topic = ? AND worker <> ? AND until > ?)",
            *(topic, transaction.now, topic, self._worker, transaction.now),
        )

    def _noted(self, transaction: Transaction, topic: Key) -> bool:
        """Does it stand in the file, for long enough, that this worker waits on a topic?"""
        soon = transaction.now + round(1_000_000 * _WAIT_SECONDS / 2)
        noted = "SELECT 1 FROM $waits WHERE topic = ? AND worker = ? AND until > ?"
        return transaction.row(noted, topic, self._worker, soon) is not None

    def _note(self, transaction: Transaction, topic: Key) -> None:
        until = transaction.now + round(1_000_000 * _WAIT_SECONDS)
        transaction.run("UPDATE $topics SET used = ? WHERE name = ?", transaction.now, topic)
        transaction.run(
            "INSERT INTO $waits SELECT name, ?, ? FROM $topics WHERE name = ?"
            " ON CONFLICT (topic, worker) DO UPDATE SET until = excluded.until",
            *(self._worker, until, topic),
        )

    def _look(self, transaction: Transaction, topic: Key, after: str, waits: bool) -> Reading | Untidy | None:
        """What there is to read, where nothing is to be changed for that."""
        found = _topic(transaction, topic)
        if found is None:
            return None
        if waits and not self._noted(transaction, topic):
            return Untidy()
        oldest = transaction.row("SELECT came FROM $messages WHERE topic = ? ORDER BY number LIMIT 1", topic)
        used_since = transaction.now - self._kept // _COARSE
        if not used_since < found.used <= transaction.now or (
            oldest is not None and not transaction.now - self._kept < oldest[0] <= transaction.now
        ):
            return Untidy()
        return _reading(transaction, topic, found, after)

    def _read(self, transaction: Transaction, topic: Key, after: str, waits: bool) -> Reading | None:
        """What there is to read; what has expired goes first."""
        if waits:
            self._note(transaction, topic)
        found = self._in_use(transaction, topic)
        return None if found is None else _reading(transaction, topic, found, after)

    def _in_use(self, transaction: Transaction, topic: Key) -> _Topic | None:
        """A topic, which is in use now; what has been there for too long goes."""
        self._expire(transaction)
        if transaction.run("UPDATE $topics SET used = ? WHERE name = ?", transaction.now, topic).rowcount == 0:
            return None
        transaction.run("DELETE FROM $messages WHERE topic = ? AND came <= ?", topic, transaction.now - self._kept)
        return _topic(transaction, topic)

    def _expire(self, transaction: Transaction) -> None:
        transaction.run(
            "DELETE FROM $topics WHERE used <= ?"
            " AND NOT EXISTS (SELECT 1 FROM $waits WHERE topic = name AND until > ?)",
            *(transaction.now - self._kept, transaction.now),
        )

    def _make_room(self, transaction: Transaction, topic: Key, owner: str, size: int) -> None:
        """Let go of what has to go for so many bytes more of a topic.

        Raises:
            Busy, Unavailable: not enough may go; then the transaction has to end.
        """
        while _held(transaction, owner) + size > self._bounds.owner_bytes:
            if not (_forget_unused(transaction, owner, topic) or _drop_oldest(transaction, topic)):
                raise Busy(f"at most {self._bounds.owner_bytes} bytes of streams are kept for one client")
        while _held(transaction, "") + size > self._bounds.total_bytes:
            largest = transaction.run(
                "SELECT owner FROM $topic_shares WHERE owner <> '' ORDER BY bytes DESC"
            ).fetchall()
            if not (
                any(_forget_unused(transaction, each, topic) for (each,) in largest) or _drop_oldest(transaction, topic)
            ):
                raise Unavailable("nothing more can be kept now")


class _Topic:
    """A row of the topics."""

    __slots__ = ("begun", "bytes", "dropped", "last", "messages", "owner", "used")

    def __init__(self, begun: str, owner: str, last: int, dropped: int, messages: int, size: int, used: int) -> None:
        self.begun = begun
        self.owner = owner
        self.last = last
        self.dropped = dropped
        self.messages = messages
        self.bytes = size
        self.used = used


def _topic(transaction: Transaction, topic: Key) -> _Topic | None:
    row = transaction.row(
        "SELECT begun, owner, last, dropped, messages, bytes, used FROM $topics WHERE name = ?", topic
    )
    return None if row is None else _Topic(*row)


def _reading(transaction: Transaction, topic: Key, found: _Topic, after: str) -> Reading:
    """What is kept after a position."""
    number = _number(transaction, topic, found, after)
    missed = number is None or (number == 0 and found.dropped > 0)
    reached, size, messages = number or 0, 0, []
    rows: Any = transaction.run(
        "SELECT number, body FROM $messages WHERE topic = ? AND number > ? ORDER BY number LIMIT ?",
        *(topic, reached, _READ_MESSAGES),
    )
    for reached, body in rows:
        messages.append(Message(_position(found.begun, reached), bytes(body)))
        size += len(body)
        if size > _READ_BYTES:
            break
    rows.close()
    return Reading(messages, _position(found.begun, reached if messages or not missed else found.last), missed)


def _number(transaction: Transaction, topic: Key, found: _Topic, position: str) -> int | None:
    """The number in a position; None where it was never given out, or what came after it is gone."""
    if not position:
        return 0
    parts = _POSITION.fullmatch(position)
    if parts is None or parts[1] != found.begun:
        return None
    number = int(parts[2])
    known = number in (0, found.last, found.dropped) or transaction.row(
        "SELECT 1 FROM $messages WHERE topic = ? AND number = ?", topic, number
    )
    return number if known else None


def _drop_oldest(transaction: Transaction, topic: Key) -> bool:
    """Let go of the oldest message; False where there is none."""
    dropped = transaction.run(
        "DELETE FROM $messages WHERE topic = ?"
        " AND number = (SELECT number FROM $messages WHERE topic = ? ORDER BY number LIMIT 1)",
        *(topic, topic),
    )
    return dropped.rowcount > 0


def _forget_unused(transaction: Transaction, owner: str, besides: Key) -> bool:
    """Let go of the longest unused topic of an owner, on which nobody waits; False where there is none."""
    forgotten = transaction.run(
        "DELETE FROM $topics WHERE name = (SELECT name FROM $topics WHERE owner = ? AND name <> ?"
        " AND NOT EXISTS (SELECT 1 FROM $waits WHERE topic = name AND until > ?) ORDER BY used LIMIT 1)",
        *(owner, besides, transaction.now),
    )
    return forgotten.rowcount > 0


def _held(transaction: Transaction, owner: str) -> int:
    share = transaction.row("SELECT bytes FROM $topic_shares WHERE owner = ?", owner)
    return 0 if share is None else int(share[0])


def _set_right(transaction: Transaction) -> None:
    """Where the clock was set back, what is said to have happened later than now has happened now."""
    now = transaction.now
    transaction.run("UPDATE $topics SET used = ? WHERE used > ?", now, now)
    transaction.run("UPDATE $messages SET came = ? WHERE came > ?", now, now)
    transaction.run("UPDATE $news SET came = ? WHERE came > ?", now, now)
    most = now + round(1_000_000 * _WAIT_SECONDS)
    transaction.run("UPDATE $waits SET until = ? WHERE until > ?", most, most)


def _position(begun: str, number: int) -> str:
    return f"{begun}-{number}"
