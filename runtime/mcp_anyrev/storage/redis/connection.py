"""Running scripts on a server that may go and come back.

Rule: what failed because a connection was lost is tried again, since each script can tell that it is the same attempt once more; what
cannot says so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from mcp_contract import Unavailable
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as Lost
from redis.exceptions import NoScriptError, RedisError
from redis.exceptions import TimeoutError as Late

from mcp_anyrev.storage.attempts import Attempts

if TYPE_CHECKING:
    from mcp_anyrev.storage.reachability import Reachability
    from mcp_anyrev.storage.urls import StorageUrl

_CONNECTIONS = 32
_CONNECT_SECONDS = 2.0
_ANSWER_SECONDS = 3.0
_SAME = {"valkey": "redis", "valkeys": "rediss"}
"""A scheme → by which name the client library knows it."""

LOST = (Lost, Late, OSError)
"""What is raised where the connection was lost, or there was none."""

FAILED = (RedisError, OSError)
"""What is raised where the server cannot be used."""


class Script:
    """A script beside this module.

    Args:
        name: the name of its file.
    """

    def __init__(self, name: str) -> None:
        self.text = files(__package__).joinpath(name).read_bytes()
        self.digest = hashlib.sha1(self.text).hexdigest()  # by which the server knows it


class Connection:
    """The connections of one process to a server.

    Args:
        url: where it is.
        reachability: what is known of it.

    Raises:
        ValueError: the URL names no place.
    """

    def __init__(self, url: StorageUrl, reachability: Reachability) -> None:
        self._text = f"{_SAME.get(url.scheme, url.scheme)}:{url.text.partition(':')[2]}"
        self._attempts = Attempts(reachability, LOST, FAILED)
        self._client: Redis | None = None
        try:
            self._pool().make_connection()  # type: ignore[no-untyped-call]  # which does not connect, but takes the options that the URL has
        except (ValueError, TypeError):
            # What the library says of it has the credentials in it.
            raise ValueError(
                f"{url.shown} names no place: {url.scheme}://[user:password@]host[:port][/number], or unix:///path"
            ) from None

    @property
    def client(self) -> Redis:
        """The client.

        Raises:
            Unavailable: it has not been opened.
        """
        if self._client is None:
            raise Unavailable("this server has not been started")
        return self._client

    def open(self) -> None:
        """Begin, in the running event loop; nothing is connected to yet."""
        self._client = Redis.from_pool(self._pool())

    async def close(self) -> None:
        """Let go of all connections."""
        await self._attempts.finish()
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _pool(self) -> BlockingConnectionPool:
        options: dict[str, Any] = {} if self._text.startswith("unix:") else {"socket_keepalive": True}
        return BlockingConnectionPool.from_url(
            self._text,
            max_connections=_CONNECTIONS,
            timeout=_ANSWER_SECONDS,
            socket_connect_timeout=_CONNECT_SECONDS,
            socket_timeout=_ANSWER_SECONDS,
            retry=Retry(NoBackoff(), 0),
            **options,
        )

    async def run(self, script: Script, prefix: str, arguments: Callable[[int], Sequence[Any]], *, again: bool) -> Any:
        """What a script gives back.

        Args:
            script: which.
            prefix: what its keys begin with.
            arguments: its arguments, by how often it has been tried before.
            again: may it be tried again where it may have been run, and only the answer was lost?

        Raises:
            Unavailable: the server cannot be reached, or does not run it.
        """
        return await self.attempt(lambda attempt: self._run(script, prefix, arguments(attempt)), again=again)

    async def attempt(self, ask: Callable[[int], Any], *, again: bool) -> Any:
        """What the server answers; see `Attempts.make`.

        Raises:
            Unavailable: the server cannot be reached, or does not do it.
        """
        return await self._attempts.make(ask, again=again)

    async def _run(self, script: Script, prefix: str, arguments: Sequence[Any]) -> Any:
        try:
            return await self.client.evalsha(script.digest, 1, prefix, *arguments)
        except NoScriptError:  # it is new to this server, or to this start of it
            return await self.client.eval(script.text.decode(), 1, prefix, *arguments)
