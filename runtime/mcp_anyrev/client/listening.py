"""Hearing of changes, whichever way a revision has them told.

Rule: one stream of changes for who asks, whether a request opens it or they come unasked. It is opened again when it breaks, and so is
the connection where the revision has that; then it is as if everything had changed, since nobody knows what was missed. A change that
waits to be read is not kept twice.
Specification: basic/patterns/subscriptions, server/resources#subscriptions
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from mcp_contract import Json, JsonObject, member

from mcp_anyrev.client.errors import CannotConnect, ClientError, NoAnswer, NotOffered, WrongAnswer

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.client.connection import Connection
    from mcp_anyrev.client.session import ClientSession

log = logging.getLogger("mcp_anyrev.client")

LISTEN, SUBSCRIBE, UNSUBSCRIBE = "subscriptions/listen", "resources/subscribe", "resources/unsubscribe"
_ACKNOWLEDGED, _CANCELLED = "notifications/subscriptions/acknowledged", "notifications/cancelled"
_LISTS = {
    "tools": ("notifications/tools/list_changed", "toolsListChanged"),
    "prompts": ("notifications/prompts/list_changed", "promptsListChanged"),
    "resources": ("notifications/resources/list_changed", "resourcesListChanged"),
}
_UPDATED, _UPDATES = "notifications/resources/updated", "resourceSubscriptions"
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.1, 30.0
_RESULT_SECONDS = 1.0
_ATTEMPTS = 8
"""How often in a row a stream is opened in vain."""
_LASTING_SECONDS = 10.0
"""For how long a stream goes on that was not opened in vain."""


class Change(NamedTuple):
    """Something has changed, so look again.

    Attributes:
        of: `tools`, `prompts` or `resources` for a list, `contents` for what a resource holds.
        uri: the address of the resource; None for a list.
    """

    of: str
    uri: str | None = None


class Listening:
    """Changes as they are told; to be entered, and iterated over.

    Args:
        session: the session with the server.
        lists: which lists are listened to.
        uris: the addresses of the resources whose contents are.
        wanted: what extensions want asked for besides, by its members. It is told to `on_notification`.

    Raises:
        ValueError: there is nothing to listen to, or a list is none that there is.
    """

    def __init__(
        self,
        session: ClientSession,
        lists: Iterable[str],
        uris: Iterable[str],
        wanted: Mapping[str, Any] | None = None,
    ) -> None:
        self._session = session
        self._lists = tuple(lists)
        self._uris = tuple(uris)
        self._more = dict(wanted or {})
        unknown = sorted(set(self._lists) - set(_LISTS))
        if unknown or not (self._lists or self._uris or self._more):
            found = f"{', '.join(unknown)} is no list" if unknown else "there is nothing to listen to"
            raise ValueError(f"{found}; lists: {', '.join(_LISTS)}, or addresses of resources")
        self._connection: Connection | None = None
        self._changes: dict[Change, None] = {}
        self._come = asyncio.Event()
        self._opened: asyncio.Future[None] | None = None
        self._identifier: Json = None
        self._subscribed = False
        self._holding: asyncio.Task[None] | None = None
        self._failure: Exception | None = None
        self._ended = False

    async def __aenter__(self) -> Listening:
        """Begin; nothing that is told from then on is missed.

        Raises:
            ClientError: it cannot be listened to.
        """
        connection = await self._connected()
        adapter = connection.adapter
        try:
            if adapter.listens:
                self._opened = asyncio.get_running_loop().create_future()
                self._holding = asyncio.create_task(self._hold(self._ask))
                await self._acknowledged(self._opened)
            elif self._uris and SUBSCRIBE not in adapter.client_requests:
                raise NotOffered(f"{adapter.version} has no request {SUBSCRIBE!r}")
            else:
                for uri in self._uris:
                    await self._session.request(SUBSCRIBE, {"uri": uri})
                self._subscribed = True
                self._holding = asyncio.create_task(self._hold(_gone))
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        """Listen no longer."""
        await self._stop()
        if self._subscribed and self._failure is None and not any(error):
            for uri in self._uris:
                try:
                    await self._session.request(UNSUBSCRIBE, {"uri": uri})
                except ClientError as reason:
                    log.warning("the server may go on telling of %s: %s", uri, reason)

    async def __aiter__(self) -> AsyncIterator[Change]:
        """The changes, as they are told; ends where the server has ended it in good order.

        Raises:
            ClientError: it broke, and cannot be opened again.
        """
        while True:
            while self._changes:
                change = next(iter(self._changes))
                del self._changes[change]
                yield change
            if self._failure is not None:
                raise self._failure
            if self._ended:
                return
            self._come.clear()
            await self._come.wait()

    async def _connected(self) -> Connection:
        """The connection that changes are told on; another one, where the last has ended and may be replaced.

        Raises:
            ClientError: there is none.
        """
        await self._session.open()
        connection = self._session.connection
        if connection is not self._connection:
            if self._subscribed:
                self._miss()
            self._leave()
            self._connection = connection
            connection.heard.append(self._hear)
        return connection

    async def _hold(self, held: Callable[[Connection], Awaitable[None]]) -> None:
        """Have a stream held open, again and again.

        Args:
            held: returns where it has ended in good order, and raises `CannotConnect` where it broke.
        """
        loop = asyncio.get_running_loop()
        attempts = 0
        while True:
            begun = loop.time()
            try:
                await held(await self._connected())
                self._ended = True
                if self._opened is not None and not self._opened.done():
                    self._failed(WrongAnswer("the server has ended a stream of changes that it had not acknowledged"))
                break
            except CannotConnect as reason:
                attempts = 1 if loop.time() - begun > _LASTING_SECONDS else attempts + 1
                waits_to_begin = self._opened is not None and not self._opened.done()
                if waits_to_begin or attempts > _ATTEMPTS or not self._may_go_on():
                    self._failed(reason)
                    break
                log.info("a stream of changes broke, and is opened again: %s", reason)
            except Exception as reason:
                self._failed(reason)
                break
            pause = _FIRST_PAUSE_SECONDS * 2 ** (attempts - 2) if attempts > 1 else 0.0
            await asyncio.sleep(min(pause, _LONGEST_PAUSE_SECONDS))
        self._come.set()

    async def _acknowledged(self, opened: asyncio.Future[None]) -> None:
        """Wait until the server says that it tells of changes.

        Raises:
            ClientError: it does not.
        """
        seconds = self._session.seconds
        try:
            async with asyncio.timeout(seconds):
                await opened
        except TimeoutError:
            raise NoAnswer(f"{LISTEN}: not acknowledged within {seconds:g} seconds") from None

    async def _ask(self, connection: Connection) -> None:
        """Have a request hold it open."""
        self._identifier = connection.new_identifier()
        await connection.request(LISTEN, self._wanted(connection.adapter), None, None, self._identifier, encoded=True)

    def _may_go_on(self) -> bool:
        connection = self._connection
        assert connection is not None  # there was one to break
        return connection.transport.failure is None or connection.transport.reopens(connection.adapter)

    def _wanted(self, adapter: Adapter) -> JsonObject:
        """The params of the request, in the words of the revision; what extensions want, no schema of it knows."""
        wanted: JsonObject = {_LISTS[one][1]: True for one in self._lists}
        if self._uris:
            wanted[_UPDATES] = list(self._uris)
        params = adapter.encode_params(LISTEN, {"notifications": wanted})
        params["notifications"] |= self._more
        return params

    def _failed(self, reason: Exception) -> None:
        self._failure = reason
        if self._opened is not None and not self._opened.done():
            self._opened.set_exception(reason)
            self._opened.exception()  # whoever entered raises it

    def _miss(self) -> None:
        """Nobody knows what was missed."""
        for one in self._lists:
            self._note(Change(one))
        for uri in self._uris:
            self._note(Change("contents", uri))

    def _note(self, change: Change) -> None:
        self._changes[change] = None
        self._come.set()

    def _hear(self, method: str, message: JsonObject) -> None:
        connection = self._connection
        assert connection is not None  # it is the one that tells this
        if method == _CANCELLED and _same(member(message, "params", "requestId"), self._identifier):
            # A result may follow, which says that it ends in good order.
            gone = CannotConnect("the server has ended the stream of changes")
            asyncio.get_running_loop().call_later(_RESULT_SECONDS, connection.fail, self._identifier, gone)
        subscription = connection.adapter.notified_subscription(message)
        if subscription is not None and not _same(subscription, self._identifier):
            return
        if method == _ACKNOWLEDGED and self._opened is not None:
            if self._opened.done():
                self._miss()
            else:
                self._opened.set_result(None)
        for one in self._lists:
            if method == _LISTS[one][0]:
                self._note(Change(one))
        uri = member(message, "params", "uri")
        if method == _UPDATED and uri in self._uris:
            self._note(Change("contents", uri))

    def _leave(self) -> None:
        if self._connection is not None and self._hear in self._connection.heard:
            self._connection.heard.remove(self._hear)

    async def _stop(self) -> None:
        self._leave()
        if self._holding is not None:
            self._holding.cancel()
            await asyncio.gather(self._holding, return_exceptions=True)


async def _gone(connection: Connection) -> None:
    """Wait until nothing arrives any longer.

    Raises:
        CannotConnect: that is so.
    """
    lost = asyncio.Event()
    connection.transport.watch(lost.set)
    try:
        await lost.wait()
    finally:
        connection.transport.unwatch(lost.set)
    raise CannotConnect(str(connection.transport.failure or "the connection has ended"))


def _same(identifier: Json, other: Json) -> bool:
    return identifier is not None and identifier == other and type(identifier) is type(other)
