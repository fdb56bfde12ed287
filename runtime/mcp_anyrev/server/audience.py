"""Who is told of a change on this worker: subscriptions that a request opened, and the streams of sessions.

Rule: a subscription gets what it asked for, and nobody hears of what they may not see at that time. A session gets a message once, on the newest of its streams that somebody reads, on
whichever worker that is; nothing of one session ever goes to another. A stream is told of what is said after its worker has heard that
it is there, by the worker that was the last to say so: all workers hear everything in the same order, so nothing is told twice or not
at all.
Specification: basic/transports#multiple-connections
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cachetools import LRUCache
from mcp_contract import Json, JsonObject, Unavailable
from pydantic_core import to_json

from mcp_anyrev.conversation.bus import MISSED
from mcp_anyrev.conversation.sessions import SESSION
from mcp_anyrev.declaring.changes import UPDATES, Change
from mcp_anyrev.declaring.kinds import RESOURCES
from mcp_anyrev.declaring.uri_templates import normalized
from mcp_anyrev.declaring.visibility import Condition, holds
from mcp_anyrev.storage.keys import new_name
from mcp_anyrev.storage.protocols import IN_USE_SECONDS

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.conversation.bus import Bus
    from mcp_anyrev.conversation.requests import Request
    from mcp_anyrev.conversation.sessions import Session, Sessions
    from mcp_anyrev.declaring.kinds import Announcement
    from mcp_anyrev.declaring.registry import Registry
    from mcp_anyrev.principal import Principal
    from mcp_anyrev.server.offers import Offer, View

CHANGED, CHANGED_FOR, UPDATED, TOLD = "changed", "changed for", "updated", "told"
"""What every worker hears: the list that is another now, the same with what it takes to see what came or went (some scopes, and what the
worker that says so calls all of it), the address of a resource whose contents are others, and what an extension tells, with its params."""

ENDED = "ended"
"""A session has ended: its name."""

_STREAM = "stream"
"""A stream of a session has got a reader, or has lost it: the session, the stream, the worker, and which of the two."""

_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"

_MOST_CONDITIONS = 1_024
"""How many changes are remembered with what it takes to see them, until this worker hears of them; a scope counts even then."""

_IN_USE_AGAIN_SECONDS = IN_USE_SECONDS / 2

Send = Callable[[bytes, str | None], None]
"""Puts a message on a stream; of those with the same text only one waits there."""


class Subscription:
    """A stream of changes that a request opened.

    Args:
        request: the request, on whose stream they go.
        lists: the changes of lists that it wants, by what `Announcement.change` calls them.
        uris: the addresses of the things whose changes it wants.
        end: ends it in good order.
    """

    __slots__ = ("_identifier", "_lists", "_outbox", "_uris", "adapter", "end", "principal")

    def __init__(
        self, request: Request, lists: Collection[str], uris: Collection[str], end: Callable[[], None]
    ) -> None:
        self.adapter = request.conversation.adapter
        self.principal = request.conversation.principal
        self._outbox = request.conversation.outbox
        self._identifier: Json = request.identifier
        self._lists = frozenset(lists)
        self._uris = {normalized(uri): uri for uri in uris}
        self.end = end

    def acknowledge(self, honoured: JsonObject, unknown: Collection[str]) -> None:
        """Say what the client will be told of.

        Args:
            honoured: what it will be, of what it wanted.
            unknown: the members of this that no schema of a revision knows.
        """
        message = self.adapter.encode_notification(_ACKNOWLEDGED, {"notifications": honoured})
        message["params"]["notifications"] |= {member: honoured[member] for member in unknown}
        self._send(message, _ACKNOWLEDGED)

    def tell(self, announcement: Announcement, uri: str | None, params: JsonObject | None = None) -> None:
        """Tell a change, if that is wanted, with params of an extension's own where there are any."""
        if uri in self._uris if announcement.of_one else announcement.change in self._lists:
            told = params or ({} if uri is None else {"uri": self._uris[uri]})
            message = self.adapter.encode_notification(announcement.notification, told)
            self._send(message, f"{announcement.notification} {to_json(told).decode()}")

    def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification that no schema of a revision knows."""
        message: JsonObject = {"jsonrpc": "2.0", "method": method, "params": params}
        self._send(message, f"{method} {to_json(params).decode()}")

    def tell_all(self, announcements: Collection[Announcement], view: View) -> None:
        """Say that everything that is seen is another now."""
        for announcement in announcements:
            for uri in self._uris if announcement.of_one else (None,):
                if uri is None or not view.hides(uri):
                    self.tell(announcement, uri)

    def _send(self, message: JsonObject, of: str) -> None:
        told = to_json(self.adapter.tagged_notification(message, self._identifier))
        self._outbox.send(told, f"{of} {to_json(self._identifier).decode()}")  # several may share a connection


class SessionStream:
    """A stream of a session as a whole.

    Args:
        session: the session as it is now.
        adapter: the revision.
        principal: who listens.
        send: puts a message on it.
        end: ends it.
        connected: is somebody reading it?
        name: names it within its session; None for a new name.
    """

    __slots__ = ("_principal", "adapter", "connected", "end", "joined", "name", "newer", "send", "session")

    def __init__(
        self,
        session: Session,
        adapter: Adapter,
        principal: Principal | None,
        send: Send,
        end: Callable[[], None],
        connected: Callable[[], bool],
        name: str | None = None,
    ) -> None:
        self.session = session
        self.adapter = adapter
        self._principal = principal
        self.name = secrets.token_urlsafe(9) if name is None else name
        self.newer: set[str] = set()
        """The newer streams of the session that somebody reads on other workers."""
        self.joined: asyncio.Future[None] | None = None
        """Waits until this worker has heard that it tells it."""
        self.send = send
        self.end = end
        self.connected = connected

    @property
    def principal(self) -> Principal | None:
        """Who listens, with the scopes that they have now, as far as the session knows."""
        principal, scopes = self._principal, self.session.scopes
        if principal is None or scopes is None or scopes == principal.scopes:
            return principal
        return replace(principal, scopes=scopes)

    def tell(self, announcement: Announcement, uri: str | None, params: JsonObject | None = None) -> None:
        """Tell a change, if the session may hear of it, and of one thing if it wants to. An extension's own no session hears of."""
        if announcement.of_one and uri not in self.session.subscriptions:
            return
        if not self.session.version:
            return
        method = announcement.notification
        if method in self.adapter.server_notifications:
            params = {} if uri is None else {"uri": uri}
            self.send(to_json(self.adapter.encode_notification(method, params)), f"{method} {uri}")

    def tell_all(self, announcements: Collection[Announcement], view: View) -> None:
        """Say that everything that is seen is another now."""
        for announcement in announcements:
            for uri in self.session.subscriptions if announcement.of_one else (None,):
                if uri is None or not view.hides(uri):
                    self.tell(announcement, uri)


class Audience:
    """Everybody on this worker who hears of changes.

    Args:
        bus: what every worker hears.
        sessions: where sessions are.
        adapters: the revisions, by name.
        registry: what is offered, whose changes are told.
        offer: what a revision gets of it as it is now.
        ttl: for how many seconds an unused session is kept.
    """

    def __init__(
        self,
        bus: Bus,
        sessions: Sessions,
        adapters: Mapping[str, Adapter],
        registry: Registry,
        offer: Callable[[Adapter], Offer],
        ttl: float,
    ) -> None:
        self._bus = bus
        self._sessions = sessions
        self._adapters = adapters
        self._registry = registry
        self._offer = offer
        self._conditions: LRUCache[str, tuple[Condition, ...]] = LRUCache(_MOST_CONDITIONS)
        self._ttl = ttl
        self._subscriptions: set[Subscription] = set()
        self._streams: dict[str, list[SessionStream]] = {}
        self._joining: dict[str, SessionStream] = {}
        self._tending: asyncio.Task[None] | None = None
        self.ending = False
        bus.hear(CHANGED, self._heard_change)
        bus.hear(CHANGED_FOR, self._heard_change_for)
        bus.hear(UPDATED, self._heard_update)
        bus.hear(TOLD, self._heard_told)
        bus.hear(MISSED, self._missed_changes)
        bus.hear(SESSION, self.refresh)
        bus.hear(_STREAM, self._heard_stream)

    def pass_on(self, change: Change) -> None:
        """Tell everybody of a change who may see what it is about, on all workers; from any thread."""
        if change.params is not None:
            self._bus.say_soon({TOLD: [change.kind, change.params]})
        elif change.uri is not None:
            self._bus.say_soon({UPDATED: change.uri})
        elif not change.visible:
            self._bus.say_soon({CHANGED: change.kind})
        else:
            name = new_name()
            self._conditions[name] = change.visible
            scopes = [sorted(condition) for condition in change.visible if isinstance(condition, frozenset)]
            self._bus.say_soon({CHANGED_FOR: [change.kind, scopes, name]})

    def subscribe(self, subscription: Subscription) -> None:
        """Tell a subscription, too."""
        self._subscriptions.add(subscription)

    def unsubscribe(self, subscription: Subscription) -> None:
        """Tell a subscription no longer."""
        self._subscriptions.discard(subscription)

    async def join(self, stream: SessionStream) -> None:
        """Tell a session on this stream, as its newest, and return once nothing that is said from then on is missed."""
        if self.ending:
            stream.end()
            return
        await self._bus.ready()
        stream.joined = asyncio.get_running_loop().create_future()
        self._joining[stream.name] = stream
        try:
            await self._bus.say({_STREAM: [stream.session.name, stream.name, self._bus.worker, True]})
            await stream.joined
        finally:
            self._joining.pop(stream.name, None)
        if self._tending is None or self._tending.done():
            self._tending = asyncio.ensure_future(self._keep_in_use())

    async def lost_reader(self, stream: SessionStream) -> None:
        """Somebody read a stream, and does no longer; another one of the session may be told instead."""
        with contextlib.suppress(Unavailable):  # it is in the log, and nobody reads that stream on any other worker
            await self._bus.say({_STREAM: [stream.session.name, stream.name, self._bus.worker, False]})

    def leave(self, stream: SessionStream) -> None:
        """Use a stream no longer."""
        streams = self._streams.get(stream.session.name, [])
        if stream in streams:
            streams.remove(stream)
        if not streams:
            self._streams.pop(stream.session.name, None)

    def streams_of(self, session: str) -> list[SessionStream]:
        """The streams of a session on this worker, oldest first."""
        return list(self._streams.get(session, ()))

    async def refresh(self, name: str) -> None:
        """Something was set in a session, or time has passed."""
        streams = self.streams_of(name)
        if not streams:
            return
        session = await self._sessions.find(name, streams[0].session.principal)
        if session is None:
            self.end_session(name)
            return
        for stream in streams:
            stream.session = session
            stream.adapter = self._adapters.get(session.version, stream.adapter)

    def end_session(self, name: str) -> None:
        """A session is over, and so are its streams."""
        for stream in self.streams_of(name):
            stream.end()
            self.leave(stream)

    @property
    def sizes(self) -> tuple[int, int]:
        """How many subscriptions and how many sessions with streams there are."""
        return len(self._subscriptions), len(self._streams)

    async def close(self) -> None:
        """End everything in good order."""
        self.ending = True
        if self._tending is not None:
            self._tending.cancel()
            await asyncio.gather(self._tending, return_exceptions=True)
            self._tending = None
        for subscription in list(self._subscriptions):
            subscription.end()
        for streams in list(self._streams.values()):
            for stream in list(streams):
                stream.end()

    async def _heard_change(self, change: str) -> None:
        self._tell(change, None)

    async def _heard_update(self, uri: str) -> None:
        self._tell(UPDATES, uri)

    async def _heard_told(self, said: list[Any]) -> None:
        change, params = said
        self._tell(change, None, params=params)

    async def _heard_change_for(self, said: list[Any]) -> None:
        change, scopes, name = said
        conditions = self._conditions.get(name) or tuple(map(frozenset, scopes))
        self._tell(change, None, conditions)

    def _tell(
        self, change: str, uri: str | None, conditions: Collection[Condition] = (), params: JsonObject | None = None
    ) -> None:
        announcement = self._registry.announcements.get(change)
        if announcement is None:
            return
        for listener in self._listeners():
            if not all(holds(condition, listener.principal) for condition in conditions):
                continue
            if uri is None:
                listener.tell(announcement, None, params)
                continue
            view = self._offer(listener.adapter).view(listener.principal)
            address = view.indexes[RESOURCES].moved(uri, listener.adapter)
            if not view.hides(address):
                listener.tell(announcement, address)

    async def _missed_changes(self, said: None) -> None:
        """Anything may have changed: who listens is told to look at all of it again, and who is to be told is, from now on."""
        for coming in self._joining.values():
            self._welcome(coming)
        announcements = self._registry.announcements.values()
        for listener in self._listeners():
            listener.tell_all(announcements, self._offer(listener.adapter).view(listener.principal))
        for name in list(self._streams):
            await self.refresh(name)  # it may have ended

    def _listeners(self) -> Iterator[Subscription | SessionStream]:
        yield from self._subscriptions
        for streams in self._streams.values():
            stream = _chosen(streams)
            if stream is not None:
                yield stream

    async def _heard_stream(self, said: list[Json]) -> None:
        session, name, worker, joined = said
        if worker == self._bus.worker:
            coming = self._joining.get(name)
            if joined and coming is not None:
                self._welcome(coming)
        for other in self.streams_of(session):
            if other.name != name:
                other.newer.add(name) if joined and worker != self._bus.worker else other.newer.discard(name)
            elif joined and worker != self._bus.worker:
                self.leave(other)  # that worker tells it from now on

    def _welcome(self, stream: SessionStream) -> None:
        if stream.joined is None or stream.joined.done():
            return
        others = [one for one in self.streams_of(stream.session.name) if one.name != stream.name]
        self._streams[stream.session.name] = [*others, stream]
        stream.joined.set_result(None)

    async def _keep_in_use(self) -> None:
        """A session that somebody listens for is in use, and one that has ended elsewhere has no streams."""
        while self._streams:
            await asyncio.sleep(min(self._ttl / 4, _IN_USE_AGAIN_SECONDS))
            for name in list(self._streams):
                await self.refresh(name)


def _chosen(streams: list[SessionStream]) -> SessionStream | None:
    """The stream that a message for the session goes to: the newest that is read; one that may be taken up again, if none is."""
    newest = [stream for stream in streams if not stream.newer]
    return next((stream for stream in reversed(newest) if stream.connected()), newest[-1] if newest else None)
