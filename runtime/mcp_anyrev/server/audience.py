"""Who is told of a change on this worker: subscriptions that a request opened, and the streams of sessions.

Rule: a subscription gets what it asked for. A session gets a message once, on the newest of its streams that somebody reads, on
whichever worker that is; nothing of one session ever goes to another.
Specification: basic/transports#multiple-connections
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from mcp_contract import Json, JsonObject
from pydantic_core import to_json

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.server.sessions import Session

UPDATED = "notifications/resources/updated"


class Subscription:
    """A stream of changes that a request opened.

    Args:
        adapter: the revision.
        identifier: the id of the request.
        kinds: the lists whose changes it wants.
        uris: the resources whose updates it wants.
        send: puts a message on it.
        end: ends it in good order.
    """

    __slots__ = ("_adapter", "_identifier", "_kinds", "_uris", "end", "send")

    def __init__(
        self,
        adapter: Adapter,
        identifier: Json,
        kinds: Collection[str],
        uris: Collection[str],
        send: Callable[[bytes], None],
        end: Callable[[], None],
    ) -> None:
        self._adapter = adapter
        self._identifier = identifier
        self._kinds = frozenset(kinds)
        self._uris = frozenset(uris)
        self.send = send
        self.end = end

    def tell(self, change: JsonObject) -> None:
        """Send a change, if it is wanted."""
        if change.get("changed") in self._kinds or change.get("updated") in self._uris:
            self.send_notification(*notification_of(change))

    def send_notification(self, method: str, params: JsonObject) -> None:
        """Send a notification that says which subscription it belongs to."""
        message = self._adapter.encode_notification(method, params)
        self.send(to_json(self._adapter.tagged_notification(message, self._identifier)))


class SessionStream:
    """A stream of a session as a whole: what a transport makes of it, `send` and `end` say.

    Args:
        session: the session as it is now.
        adapter: the revision.
        send: puts a message on it.
        end: ends it.
        connected: is somebody reading it?
    """

    __slots__ = ("_adapter", "connected", "end", "name", "newer", "send", "session")

    def __init__(
        self,
        session: Session,
        adapter: Adapter,
        send: Callable[[bytes], None],
        end: Callable[[], None],
        connected: Callable[[], bool],
    ) -> None:
        self.session = session
        self.name = secrets.token_urlsafe(9)
        self.newer: set[str] = set()
        """The newer streams of the session that somebody reads on other workers."""
        self.send = send
        self.end = end
        self.connected = connected
        self._adapter = adapter

    def tell(self, change: JsonObject) -> None:
        """Send a change, if the session may hear of it."""
        if self._adapter.waits_for_ready and not self.session.ready:
            return
        uri = change.get("updated")
        method, params = notification_of(change)
        if (uri is None or uri in self.session.subscriptions) and method in self._adapter.server_notifications:
            self.send(to_json(self._adapter.encode_notification(method, params)))


class Audience:
    """Everybody on this worker who hears of changes."""

    def __init__(self) -> None:
        self._subscriptions: set[Subscription] = set()
        self._streams: dict[str, list[SessionStream]] = {}

    def tell(self, change: JsonObject) -> None:
        """Tell everybody of a change: `{"changed": list}` or `{"updated": uri}`."""
        for subscription in self._subscriptions:
            subscription.tell(change)
        for streams in self._streams.values():
            stream = _chosen(streams)
            if stream is not None:
                stream.tell(change)

    def subscribe(self, subscription: Subscription) -> None:
        """Tell a subscription, too."""
        self._subscriptions.add(subscription)

    def unsubscribe(self, subscription: Subscription) -> None:
        """Tell a subscription no longer."""
        self._subscriptions.discard(subscription)

    def join(self, stream: SessionStream) -> None:
        """Tell a session on this stream, as its newest."""
        self._streams.setdefault(stream.session.name, []).append(stream)

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

    @property
    def sizes(self) -> tuple[int, int]:
        """How many subscriptions and how many sessions with streams there are."""
        return len(self._subscriptions), len(self._streams)

    def end(self) -> None:
        """End everything in good order."""
        for subscription in list(self._subscriptions):
            subscription.end()
        for streams in list(self._streams.values()):
            for stream in list(streams):
                stream.end()


def _chosen(streams: list[SessionStream]) -> SessionStream | None:
    """The stream that a message for the session goes to: the newest that is read; one that may be taken up again, if none is."""
    newest = [stream for stream in streams if not stream.newer]
    return next((stream for stream in reversed(newest) if stream.connected()), newest[-1] if newest else None)


def notification_of(change: JsonObject) -> tuple[str, JsonObject]:
    """A change → the method and the params of the notification that tells it."""
    if "updated" in change:
        return UPDATED, {"uri": change["updated"]}
    return f"notifications/{change['changed']}/list_changed", {}
