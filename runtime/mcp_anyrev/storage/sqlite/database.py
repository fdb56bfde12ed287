"""One SQLite file, as one process uses it.

Rule: one thread has the one connection and does what it is handed, one thing after the other; no event loop ever waits for the file.
Where it has nothing to do it asks from time to time whether another process has changed anything, and more seldom the longer nothing
has happened. What finds the file locked tries again for a while; while nothing can be written, it tries once.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import queue
import random
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from mcp_contract import Unavailable

from mcp_anyrev.storage.reachability import Reachability
from mcp_anyrev.storage.sqlite.location import check_file_system

Given = TypeVar("Given")

_SCHEMA = 1
"""Another number each time `schema.sql` is changed, so that old and new workers never read each other's tables."""

_TEXT = files(__package__).joinpath("schema.sql").read_text("utf-8")

_LOCKED_SECONDS = 2.0
_SHORTEST_PAUSE_SECONDS = 0.0005
_LONGEST_PAUSE_SECONDS = 0.01

_SOONEST_LOOK_SECONDS = 0.01
_LATEST_LOOK_SECONDS = 0.1
_LESS_OFTEN = 1.5

_STALLED_SECONDS = 20.0
"""After so long without a look, what others have said may be gone already."""

_SETTINGS = (
    "PRAGMA synchronous = NORMAL",  # what was kept survives the end of any process, and all but the newest that of the machine
    "PRAGMA journal_size_limit = 16777216",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA trusted_schema = OFF",
)
_READING, _WRITING = "BEGIN", "BEGIN IMMEDIATE"
_creating = threading.Lock()
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_KEEPS_CONNECTION = {*_BUSY, sqlite3.SQLITE_FULL}


class Untidy:
    """Told where something is to be changed before it can be read."""


class Transaction:
    """What a transaction works on.

    Args:
        connection: to the file.
        prefix: what the names of the tables begin with; `$` stands for it in statements.
        now: the time, in microseconds since the epoch.
    """

    __slots__ = ("_connection", "_prefix", "now")

    def __init__(self, connection: sqlite3.Connection, prefix: str, now: int) -> None:
        self._connection = connection
        self._prefix = prefix
        self.now = now

    def run(self, statement: str, *values: object) -> sqlite3.Cursor:
        """Run a statement."""
        return self._connection.execute(statement.replace("$", self._prefix), values)

    def row(self, statement: str, *values: object) -> Any:
        """The first row that a statement gives; None where there is none."""
        return self.run(statement, *values).fetchone()


def _create(path: Path) -> None:
    """Have a file be there that nobody else may read.

    One that is there is not opened: closing it again would let go of the locks that other connections of this process hold on it.
    """
    with _creating, contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


class Database:
    """A file.

    Args:
        path: which.
        namespace: whose tables in it.
        reachability: what is known of it.
        clock: seconds since the epoch, as all workers see them.

    Attributes:
        on_change: is run in the thread when another process may have changed something; told whether what was said may be gone.
    """

    def __init__(
        self, path: Path, namespace: str, reachability: Reachability, clock: Callable[[], float] = time.time
    ) -> None:
        self.on_change: Callable[[Transaction, bool], None] | None = None
        self._path = path
        self._prefix = f"mcp_anyrev_{_SCHEMA}_{hashlib.sha256(namespace.encode()).hexdigest()[:16]}_"
        self._reachability = reachability
        self._clock = clock
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._connection: sqlite3.Connection | None = None
        self._file = (0, 0)
        self._version: int | None = None

    def open(self) -> None:
        """Begin."""
        self._jobs = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, args=(self._jobs,), name="mcp-anyrev-sqlite", daemon=True)
        self._thread.start()

    async def close(self) -> None:
        """Let go of the file, once what was asked for has been done."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._jobs.put(None)
            await asyncio.to_thread(thread.join)

    async def read(self, work: Callable[[Transaction], Given]) -> Given:
        """What is found in a transaction that changes nothing.

        Raises:
            Unavailable: the file cannot be read.
        """
        return await self._ask(lambda: self._do(work, _READING))

    async def change(self, work: Callable[[Transaction], Given]) -> Given:
        """What a transaction gives that may change something; where it raises anything, nothing has happened.

        Raises:
            Unavailable: the file cannot be written.
            Exception: what `work` raises.
        """
        return await self._ask(lambda: self._do(work, _WRITING))

    async def read_or_change(
        self, look: Callable[[Transaction], Given | Untidy], work: Callable[[Transaction], Given]
    ) -> Given:
        """What `look` finds, as `read` has it, or, where it says that something is to be changed for that, what `work` gives; nothing
        else that this process wants comes between the two.

        Raises:
            Unavailable: see `read`, `change`.
            Exception: what `work` raises.
        """

        def both() -> Given:
            found = self._do(look, _READING)
            return self._do(work, _WRITING) if isinstance(found, Untidy) else found

        return await self._ask(both)

    async def _ask(self, work: Callable[[], Given]) -> Given:
        if self._thread is None:
            raise Unavailable("this server has not been started")
        answer: Future[Given] = Future()

        def job() -> None:
            if answer.set_running_or_notify_cancel():  # else whoever asked was cancelled before it began
                try:
                    answer.set_result(work())
                except Exception as error:
                    answer.set_exception(error)

        self._jobs.put(job)
        return await asyncio.wrap_future(answer)

    # What follows runs in the thread.

    def _work(self, jobs: queue.SimpleQueue[Callable[[], None] | None]) -> None:
        pause, looked = _SOONEST_LOOK_SECONDS, time.monotonic()
        while True:
            try:
                job = jobs.get(timeout=max(looked + pause - time.monotonic(), 0))
            except queue.Empty:
                pass
            else:
                if job is None:
                    break
                job()
                pause = _SOONEST_LOOK_SECONDS  # where there is something to do, more may come
            now = time.monotonic()
            if now >= looked + pause:
                changed = self._look(stalled=now > looked + _STALLED_SECONDS)
                pause = _SOONEST_LOOK_SECONDS if changed else min(_LESS_OFTEN * pause, _LATEST_LOOK_SECONDS)
                looked = time.monotonic()
        self._disconnect()

    def _do(self, work: Callable[[Transaction], Given], begin: str) -> Given:
        end = time.monotonic() + (0 if self._reachability.fault is not None else _LOCKED_SECONDS)
        pause = _SHORTEST_PAUSE_SECONDS
        while True:
            try:
                given = self._attempt(work, begin)
            except (sqlite3.Error, OSError, ValueError) as error:
                if not self._failed(error) or time.monotonic() > end:
                    raise self._reachability.lost(error) from error
            else:
                if begin is _WRITING:  # what can be read may be locked, or the disk full, all the same
                    self._reachability.found()
                return given
            time.sleep(pause * random.uniform(0.5, 1))
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    def _attempt(self, work: Callable[[Transaction], Given], begin: str) -> Given:
        connection = self._connected()
        connection.execute(begin)
        try:
            given = work(Transaction(connection, self._prefix, int(1_000_000 * self._clock())))
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return given

    def _connected(self) -> sqlite3.Connection:
        """The connection, made anew where there is none.

        Raises:
            sqlite3.Error, OSError, ValueError: there can be none.
        """
        if self._connection is None:
            check_file_system(self._path)
            _create(self._path)
            found = os.stat(self._path)
            connection = sqlite3.connect(self._path, timeout=0, isolation_level=None)
            try:
                (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
                if mode != "wal":
                    raise OSError(f"it cannot be shared by several processes there (journal mode {mode})")
                for setting in _SETTINGS:
                    connection.execute(setting)
                connection.executescript(f"BEGIN IMMEDIATE; {_TEXT.replace('$', self._prefix)} COMMIT;")
            except BaseException:
                connection.close()
                raise
            self._connection, self._file, self._version = connection, (found.st_dev, found.st_ino), None
        return self._connection

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _look(self, *, stalled: bool) -> bool:
        """Has another process changed something? Then `on_change` is run."""
        try:
            self._see_that_it_is_the_same_file()
            connection = self._connected()
            (version,) = connection.execute("PRAGMA data_version").fetchone()
            if version == self._version and not stalled:
                return False
            if self.on_change is not None:
                lost = stalled or self._version is None
                self.on_change(Transaction(connection, self._prefix, int(1_000_000 * self._clock())), lost)
        except (sqlite3.Error, OSError, ValueError) as error:
            self._failed(error)
            return False
        self._version = version
        return True

    def _see_that_it_is_the_same_file(self) -> None:
        """Let go of a file that somebody has removed or replaced: other processes use another one."""
        if self._connection is not None:
            try:
                found = os.stat(self._path)
            except FileNotFoundError:
                self._disconnect()
            else:
                if (found.st_dev, found.st_ino) != self._file:
                    self._disconnect()

    def _failed(self, error: Exception) -> bool:
        """Note that something failed; may it be tried again?"""
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code not in _KEEPS_CONNECTION:
            self._disconnect()
        return code in _BUSY
