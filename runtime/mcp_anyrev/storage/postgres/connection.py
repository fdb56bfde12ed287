"""Calling functions on a server that may go and come back.

Rule: an application has a schema of its own, which the first who needs it makes, while others wait; one that has gone is made anew.
"""

from __future__ import annotations

import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import asyncpg
from mcp_contract import Busy, Unavailable

from mcp_anyrev.storage.attempts import Attempts

if TYPE_CHECKING:
    from mcp_anyrev.storage.reachability import Reachability
    from mcp_anyrev.storage.urls import StorageUrl

_SCHEMA = 1
"""Another number each time `schema.sql` is changed, so that old and new workers never read each other's tables."""

_TEXT = files(__package__).joinpath("schema.sql").read_text("utf-8")

_CONNECTIONS = 8
_CONNECT_SECONDS = 2.0
_ANSWER_SECONDS = 3.0
_IDLE_SECONDS = 60.0

LOST = (
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,  # it shuts down, or has not started up yet
    asyncpg.TooManyConnectionsError,
    asyncpg.ReadOnlySQLTransactionError,  # another one has taken its place
    asyncpg.DeadlockDetectedError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # it is being ended, just when something is asked of it
    OSError,
)
"""What is raised where the connection was lost, or there was none, or another attempt may do better."""

FAILED = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)
"""What is raised where the server cannot be used."""

_NOT_THERE = (
    asyncpg.UndefinedFunctionError,
    asyncpg.UndefinedTableError,
    asyncpg.InvalidSchemaNameError,
    asyncpg.InvalidCachedStatementError,
)


class Connection:
    """The connections of one process to a server.

    Args:
        url: where it is.
        namespace: whose schema on it.
        reachability: what is known of it.

    Raises:
        ValueError: the URL names no place.
    """

    def __init__(self, url: StorageUrl, namespace: str, reachability: Reachability) -> None:
        self._url = url
        self._namespace = namespace
        self._schema = f"mcp_anyrev_{_SCHEMA}_{hashlib.sha256(namespace.encode()).hexdigest()[:16]}"
        self._attempts = Attempts(reachability, LOST, FAILED)
        self._pool: asyncpg.Pool[asyncpg.Record] | None = None
        self._prepared = False
        try:
            urlsplit(url.text).port  # noqa: B018  # which is looked at only now
        except ValueError:
            # What the library says of it has the credentials in it.
            raise ValueError(
                f"{url.shown} names no place: {url.scheme}://[user:password@]host[:port]/database"
            ) from None

    async def open(self) -> None:
        """Begin, in the running event loop; nothing is connected to yet."""
        self._prepared = False
        self._pool = await asyncpg.create_pool(
            self._url.text,
            min_size=0,
            max_size=_CONNECTIONS,
            max_inactive_connection_lifetime=_IDLE_SECONDS,
            reset=_leave,
            **self._options(),
        )

    async def close(self) -> None:
        """Let go of all connections."""
        await self._attempts.finish()
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.terminate()

    async def listening(self) -> asyncpg.Connection[asyncpg.Record]:
        """A connection of its own, on which nothing else is asked.

        Raises:
            PostgresError, InterfaceError, OSError: there is none to be had.
        """
        connection: asyncpg.Connection[asyncpg.Record] = await asyncpg.connect(self._url.text, **self._options())
        try:
            await self._prepare(connection)
        except BaseException:
            connection.terminate()
            raise
        return connection

    async def call(self, function: str, *arguments: object, again: bool = True) -> list[Any]:
        """The rows that a function gives.

        Args:
            function: its name.
            arguments: what it is given.
            again: may it be called again where it may have been carried out, and only the answer was lost?

        Raises:
            Unavailable: the server cannot be reached, or does not do it.
        """
        places = ", ".join(f"${number}" for number in range(1, len(arguments) + 1))
        statement = f"SELECT * FROM {function}({places})"
        return await self._attempts.make(lambda attempt: self._ask(statement, arguments), again=again)

    async def value(self, function: str, *arguments: object, again: bool = True) -> Any:
        """The one value that a function gives; see `call`."""
        ((value,),) = await self.call(function, *arguments, again=again)
        return value

    async def _ask(self, statement: str, arguments: tuple[object, ...]) -> list[Any]:
        if self._pool is None:
            raise Unavailable("this server has not been started")
        async with self._pool.acquire(timeout=_ANSWER_SECONDS) as connection:
            if not self._prepared:
                await self._prepare(connection)
            try:
                return list(await connection.fetch(statement, *arguments))
            except asyncpg.InternalClientError:  # nobody is to be given it again
                connection.terminate()
                raise
            except _NOT_THERE:  # somebody has taken it away
                await connection.reload_schema_state()
                await self._prepare(connection)
                return list(await connection.fetch(statement, *arguments))

    async def _prepare(self, connection: Any) -> None:
        """Have the schema be there."""
        async with connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", self._schema)
            found = await connection.fetchrow(
                "SELECT to_regnamespace($1) IS NOT NULL, to_regclass($1 || '.waits') IS NOT NULL", self._schema
            )
            if not found[0]:
                await connection.execute(f'CREATE SCHEMA "{self._schema}"')
            if not found[1]:
                await connection.execute(_TEXT)
                words = "mcp-anyrev: sessions and streams of the application " + self._namespace
                await connection.execute(f'COMMENT ON SCHEMA "{self._schema}" IS $words${words}$words$')
        self._prepared = True

    def _options(self) -> dict[str, Any]:
        return {
            "timeout": _CONNECT_SECONDS,
            "command_timeout": _ANSWER_SECONDS,
            "server_settings": {"search_path": self._schema, "application_name": "mcp-anyrev", "jit": "off"},
        }


def granted(answer: str | None, owner_bytes: int, topic_bytes: int = 0) -> str | None:
    """What a function gives.

    Raises:
        Busy, Unavailable: it refuses.
    """
    match answer:
        case "!busy":
            raise Busy(f"at most {owner_bytes} bytes are kept for one client")
        case "!large":
            raise Busy(f"at most {topic_bytes} bytes of a stream are kept")
        case "!full":
            raise Unavailable("nothing more can be kept now")
    return answer


async def _leave(connection: object) -> None:
    """Nothing that is done on a connection has to be undone for the next who uses it."""
