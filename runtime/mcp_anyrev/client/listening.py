"""Hearing of changes, whichever way a revision has them told.

Rule: one stream of changes for who asks, whether a request opens it or they come unasked. It is opened again when it breaks, and says so
as if everything had changed, since nobody knows what was missed. A change that waits to be read is not kept twice.
Specification: basic/patterns/subscriptions, server/resources#subscriptions
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from mcp_contract import Json, JsonObject, member

from mcp_anyrev.client.errors import CannotConnect, ClientError, NotOffered

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
        self._holding: asyncio.Task[None] | None = None
        self._failure: Exception | None = None
        self._ended = False

    async def __aenter__(self) -> Listening:
        """Begin; nothing that is told from then on is missed.

        Raises:
            ClientError: it cannot be listened to.
        """
        adapter = (await self._session.open()).adapter
        self._connection = connection = self._session.connection
        connection.heard.append(self._hear)
        try:
            if adapter.listens:
                self._opened = asyncio.get_running_loop().create_future()
                self._holding = asyncio.create_task(self._hold(connection))
                await self._opened
            elif self._uris and SUBSCRIBE not in adapter.client_requests:
                raise NotOffered(f"{adapter.version} has no request {SUBSCRIBE!r}")
            else:
                for uri in self._uris:
                    await self._session.request(SUBSCRIBE, {"uri": uri})
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        """Listen no longer."""
        await self._stop()
        if self._holding is None and not any(error):
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

    async def _hold(self, connection: Connection) -> None:
        """Have a request hold a stream open, again and again."""
        pause, attempts, first = 0.0, 0, True
        while True:
            try:
                self._identifier = connection.new_identifier()
                await connection.request(
                    LISTEN, self._wanted(connection.adapter), None, None, self._identifier, encoded=True
                )
                self._ended = True
                break
            except CannotConnect as reason:
                if self._opened is not None and self._opened.done() and not first:
                    attempts += 1
                first = self._opened is not None and not self._opened.done()
                if first or attempts >= _ATTEMPTS or connection.transport.failure is not None:
                    self._failed(reason)
                    break
                log.info("a stream of changes broke, and is opened again: %s", reason)
                self._miss()
            except Exception as reason:
                self._failed(reason)
                break
            await asyncio.sleep(pause)
            pause = min(max(2 * pause, _FIRST_PAUSE_SECONDS), _LONGEST_PAUSE_SECONDS)
        self._come.set()

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
        if method == _ACKNOWLEDGED and self._opened is not None and not self._opened.done():
            self._opened.set_result(None)
        for one in self._lists:
            if method == _LISTS[one][0]:
                self._note(Change(one))
        uri = member(message, "params", "uri")
        if method == _UPDATED and uri in self._uris:
            self._note(Change("contents", uri))

    async def _stop(self) -> None:
        if self._connection is not None and self._hear in self._connection.heard:
            self._connection.heard.remove(self._hear)
        if self._holding is not None:
            self._holding.cancel()
            await asyncio.gather(self._holding, return_exceptions=True)


def _same(identifier: Json, other: Json) -> bool:
    return identifier is not None and identifier == other and type(identifier) is type(other)
