"""Everything of a server that outlives a request: calls in flight, streams, who hears of changes.

Rule: what concerns a session or everybody is said on the bus, so that it does not matter which worker has the stream or the call.
Specification: basic/transports#multiple-connections
"""

from __future__ import annotations

import weakref
from collections.abc import Awaitable, Callable, Collection
from typing import TYPE_CHECKING

from mcp_contract import JsonObject, MethodNotFound

from mcp_anyrev.conversation.running import Running
from mcp_anyrev.http.journals import Journals
from mcp_anyrev.http.relays import Relays
from mcp_anyrev.http.replies import Patience, Replies
from mcp_anyrev.http.session_streams import SessionStreams
from mcp_anyrev.server.audience import Audience
from mcp_anyrev.server.bus import Bus
from mcp_anyrev.server.quota import Quota
from mcp_anyrev.server.subscriptions import Subscriptions

if TYPE_CHECKING:
    from mcp_contract import ProtocolError
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.conversation.calls import Call, Context
    from mcp_anyrev.declaring.changes import Change
    from mcp_anyrev.declaring.registry import Registry
    from mcp_anyrev.http.wire import Response
    from mcp_anyrev.server.sessions import Session, Sessions
    from mcp_anyrev.settings import Settings
    from mcp_anyrev.storage import Hub

CANCELLED = "notifications/cancelled"

Answering = Callable[["Call", JsonObject], Awaitable[bytes]]


class Live:
    """One worker's part of it.

    Args:
        registry: what is offered, and says when it changes.
        settings: how the server is run.
        sessions: where sessions are.
        hub: reaches the other workers.
        capabilities: what is declared on a revision.
        server: who the server is, as a revision has it.
        refusal: words an error, for a revision and an id.
    """

    def __init__(
        self,
        registry: Registry,
        settings: Settings,
        sessions: Sessions,
        hub: Hub,
        capabilities: Callable[[Adapter], JsonObject],
        server: Callable[[Adapter], JsonObject],
        refusal: Callable[[Adapter, JsonObject, ProtocolError], Response],
    ) -> None:
        limits = settings.limits
        patience = Patience(
            settings.head_delay_seconds, settings.keep_alive_seconds, round(settings.retry_seconds * 1000)
        )
        self.quota = quota = Quota(limits.streams_of_principal)
        self.bus = Bus(hub, f"server/{registry.name}", self._hear)
        self.running = Running(self.bus.start, limits.call_seconds)
        self.audience = Audience()
        self.journals = Journals(
            limits.kept_streams,
            limits.streams_of_session,
            limits.kept_events,
            limits.queue,
            limits.kept_bytes,
            settings.kept_seconds,
        )
        self.replies = Replies(patience, self.running, self.journals, refusal)
        self._relays = Relays(hub, self.bus, self.journals, patience.silence, limits.kept_streams)
        self.streams = SessionStreams(
            self.audience,
            self.bus,
            self.journals,
            self._relays,
            sessions,
            quota,
            patience,
            limits,
            settings.session_ttl_seconds,
        )
        self.subscriptions = Subscriptions(self.audience, self.bus, capabilities, server, quota, limits)
        self._sessions = sessions
        self._settings = settings
        self._capabilities = capabilities
        weakref.finalize(self.bus, registry.watch(_passing_on(weakref.ref(self.bus), settings.announce)))

    def methods(self) -> dict[str, Answering]:
        """The requests that are answered here."""
        methods: dict[str, Answering] = {
            "resources/subscribe": self._declared("resources", "subscribe", self.subscriptions.subscribe),
            "resources/unsubscribe": self._declared("resources", "subscribe", self.subscriptions.unsubscribe),
            "logging/setLevel": self._declared("logging", None, self.subscriptions.set_log_level),
        }
        if self._settings.listen:
            methods["subscriptions/listen"] = self.subscriptions.listen
        return methods

    async def take_notification(self, context: Context, message: JsonObject) -> None:
        """Act on a notification that has been checked; most mean nothing here."""
        adapter, session, method = context.adapter, context.session, message["method"]
        if session is None:
            return
        if method == CANCELLED and adapter.cancels_by_notification:
            identifier = message["params"].get("requestId")
            if not self.running.cancel(session.name, identifier):
                await self.bus.say({"cancelled": [session.name, identifier]})
        elif method == adapter.ready_notification and not session.ready:
            await session.change(lambda session: {"ready": True})
            await self.bus.say({"session": session.name})

    async def end_session(self, session: Session) -> None:
        """End a session, its calls and its streams."""
        await self._sessions.end(session)
        self._end_session(session.name)
        await self.bus.say({"ended": session.name})

    async def close(self) -> None:
        """End every stream in good order, and every call: as soon as it is done, or after a while."""
        self.subscriptions.end()
        await self.streams.stop()
        self.audience.end()
        await self.running.wind_up(self._settings.shutdown_seconds)
        await self.bus.stop()

    async def _hear(self, message: JsonObject) -> None:
        if "changed" in message or "updated" in message:
            self.audience.tell(message)
        elif "cancelled" in message:
            self.running.cancel(*message["cancelled"])
        elif "session" in message:
            await self.streams.refresh(message["session"])
        elif "ended" in message:
            self._end_session(message["ended"])
        elif "stream" in message:
            self.streams.heard(*message["stream"])
        elif "resume" in message:
            self._relays.read_out(*message["resume"])
        elif "left" in message:
            self._relays.left(message["left"])

    def _end_session(self, name: str) -> None:
        self.running.cancel_session(name)
        self.streams.end(name)

    def _declared(self, capability: str, part: str | None, answering: Answering) -> Answering:
        async def answer(call: Call, params: JsonObject) -> bytes:
            declared = self._capabilities(call.context.adapter).get(capability)
            if declared is None or (part is not None and not declared.get(part)):
                raise MethodNotFound(f"this server does not offer {call.method}")
            return await answering(call, params)

        return answer


def _passing_on(bus: weakref.ref[Bus], announced: Collection[str]) -> Callable[[Change], None]:
    """A registry may outlive its server, so it does not keep it."""

    def pass_on(change: Change) -> None:
        found = bus()
        if found is not None and change.kind in announced:
            found.say_soon({"changed": change.kind} if change.uri is None else {"updated": change.uri})

    return pass_on
