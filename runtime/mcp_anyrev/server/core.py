"""One server: what messages mean, whatever transport brought them.

Rule: no I/O, no revision, no number: the adapter says what is asked of a message and what goes back. A notification never runs
anything of the application.
"""

from __future__ import annotations

import asyncio
import logging
import time
import weakref
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any

from mcp_contract import Declaration, InvalidParams, InvalidRequest, JsonObject, MethodNotFound, without
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter

from mcp_anyrev.conversation.across_workers import InFlightAcrossWorkers
from mcp_anyrev.conversation.amounts import Amount
from mcp_anyrev.conversation.bus import Bus
from mcp_anyrev.conversation.conversation import CANCELLED, Conversation, Watch
from mcp_anyrev.conversation.outcomes import Outcome, Prepared, Result
from mcp_anyrev.conversation.requests import Request
from mcp_anyrev.conversation.sessions import SESSION, Session, Sessions
from mcp_anyrev.declaring.changes import Change
from mcp_anyrev.declaring.kinds import TOOLS
from mcp_anyrev.declaring.lifespans import Lifespans
from mcp_anyrev.declaring.registry import Registry
from mcp_anyrev.declaring.threads import Threads
from mcp_anyrev.principal import Principal, name_of, scopes_of
from mcp_anyrev.server import request_log, startup
from mcp_anyrev.server.asking.attempts import Attempts
from mcp_anyrev.server.audience import ENDED, Audience
from mcp_anyrev.server.deprecations import Deprecations
from mcp_anyrev.server.methods import Method, Methods
from mcp_anyrev.server.offers import Offer, announced
from mcp_anyrev.server.quota import Quota
from mcp_anyrev.server.rate import Rate
from mcp_anyrev.server.shared import Shared
from mcp_anyrev.server.subscriptions import Subscriptions
from mcp_anyrev.server.tasks.requests import TaskRequests
from mcp_anyrev.server.tasks.tasks import Tasks
from mcp_anyrev.settings import Settings

NOT_AGREED = ""
"""The revision of a session that has had no handshake yet."""

_PING = "ping"
_LAST_SECONDS = 2.0
"""How long it may take to end beside what calls may take."""


class Core:
    """One server, as far as it does not depend on a transport.

    Args:
        registry: what it offers.
        settings: how it is run.
        clock: seconds since the epoch, as all workers see them.
    """

    def __init__(self, registry: Registry, settings: Settings, clock: Callable[[], float] = time.time) -> None:
        limits = settings.limits
        self.running = False
        """Has it been started, and not closed since?"""
        self.recognising = Threads(limits.threads)
        """Where it is found out who sends a request, apart from the handlers, so that these cannot hold that up."""
        self.watch: Watch | None = None
        self.registry = registry
        self.settings = settings
        self.adapters = AdapterSet.default() if settings.revisions is None else AdapterSet(settings.revisions)
        self.shared = Shared(settings, registry.name)
        """What it has in common with other workers."""
        self.store = self.shared.store
        self.hub = self.shared.hub
        self.sessions = Sessions(self.store, ttl=settings.session_ttl_seconds, most=limits.session_bytes)
        self.bus = Bus(self.hub, registry.name)
        self.unread = Amount(limits.queue_bytes_of_all)
        """What waits for slow readers."""
        self.in_flight = InFlightAcrossWorkers(self.bus, limits, settings.session_ttl_seconds)
        self.quota = Quota(limits.streams_of_principal)
        self._rate = None if limits.calls_per_minute is None else Rate(limits.calls_per_minute)
        self.audience = Audience(
            self.bus, self.sessions, self.adapters.by_version, registry, self.offer, settings.session_ttl_seconds
        )
        self._lifespans = Lifespans(registry)
        self._offers: dict[str, Offer] = {}
        self._deprecations = Deprecations()
        self._attempts = Attempts(registry.name, settings, self.store, clock, self._deprecations)
        self._threads = Threads(limits.threads)
        self._tasks = Tasks(settings, self.store, self.bus, clock)
        self._task_requests = TaskRequests(self._tasks, settings.page_size, limits.subscriptions)
        self._subscriptions = Subscriptions(
            self.audience, self.bus, self.offer, self.quota, limits, self._task_requests, listen=settings.listen
        )
        self.bus.hear(ENDED, self._heard_end)
        weakref.finalize(self.bus, registry.watch(_passing_on(weakref.ref(self.audience), registry, settings)))

    def build(self) -> None:
        """Make everything now that would otherwise be made when it is first needed."""
        for adapter in self.adapters.by_version.values():
            adapter.build()
            self.offer(adapter).build()

    async def start(self) -> None:
        """Make everything ready, and enter the lifespans of the registry.

        Raises:
            Exception: what a lifespan raised.
        """
        self.build()
        self.watch = request_log.watch if request_log.log.isEnabledFor(logging.INFO) else None
        startup.tell(self.registry, [self.offer(adapter) for adapter in self.adapters.by_version.values()])
        for adapter in self.adapters.by_version.values():
            parts = (part for kind in self.registry.kinds for part in self.registry.parts(kind).values())
            self._deprecations.declared(adapter, parts)
        self.audience.ending = False
        await self.shared.open()
        try:
            await self._lifespans.start()
        except BaseException:
            await self.shared.close()
            raise
        self.running = True

    async def close(self) -> None:
        """End every stream in good order and every call, within `Settings.shutdown_seconds` and a little more.

        Raises:
            Exception: what a lifespan raised.
            TimeoutError: the lifespans took longer than what was left of the time.
        """
        seconds = self.settings.shutdown_seconds
        end = time.monotonic() + seconds + _LAST_SECONDS
        await self.audience.close()
        await asyncio.gather(self.in_flight.wind_up(seconds), self._tasks.wind_up(seconds))
        self.running = False
        try:
            await self.bus.stop()
        finally:
            try:
                await self._lifespans.stop(max(0.0, end - time.monotonic()))
            finally:
                await self.shared.close()

    def offer(self, adapter: Adapter) -> Offer:
        """What a revision gets of the registry as it is now."""
        offer = self._offers.get(adapter.version)
        if offer is None or offer.edition != self.registry.edition:
            offer = Offer(self.registry, adapter, tuple(self.adapters.versions), self.settings, offer)
            offer.methods = self._methods_of(offer)
            self._offers[adapter.version] = offer
        return offer

    def respond(self, request: Request) -> Coroutine[Any, Any, Outcome]:
        """See `Handler.respond`.

        Raises:
            ProtocolError: it cannot be carried out.
        """
        conversation, method = request.conversation, request.method
        adapter, session = conversation.adapter, conversation.session
        offer = self.offer(adapter)
        for name in adapter.ignored_params:
            if name in request.params and not (offer.answers_later and offer.uses.get(method) is TOOLS):
                request.params = without(request.params, name)
                request.message = {**request.message, "params": request.params}
        answer = offer.methods.get(method)
        if answer is None or method not in adapter.client_requests:
            adapter.check_meta(request.message)
            if answer is None:
                raise MethodNotFound(f"this server has no method {method!r}")
        else:
            adapter.check_request(request.message)
        if self._rate is not None and (method in offer.uses or method in adapter.task_methods.values()):
            self._rate.count(conversation.owner)
        request.signature = offer.server
        if session is None:
            request.client = adapter.client_declaration(request.params, None)
        else:
            if session.is_connection:
                _check_agreement(adapter, session, method)
            request.client = adapter.client_declaration(request.params, session.declaration)
        return answer(request)

    async def take_notification(self, conversation: Conversation, message: JsonObject) -> None:
        """See `Handler.take_notification`; one of an unknown kind, and a cancellation of nothing that there can be, is left alone."""
        adapter, session, method = conversation.adapter, conversation.session, message["method"]
        if method not in adapter.client_notifications:
            return
        try:
            adapter.check_notification(message)
        except InvalidParams as error:
            if method == CANCELLED:
                return
            raise InvalidRequest(error.message) from None
        if method == CANCELLED:
            await conversation.cancel(message["params"].get("requestId"))
        elif method == adapter.ready_notification and session is not None and not session.ready:
            await session.change(lambda _: {"ready": True})
            await self.bus.say({SESSION: session.name})

    async def note_scopes(self, session: Session, principal: Principal) -> None:
        """Whoever a session belongs to has other scopes now than when it was last used."""
        await session.change(lambda _: {"scopes": scopes_of(principal)})
        await self.bus.say({SESSION: session.name})

    async def end_session(self, session: Session) -> None:
        """End a session, its calls and its streams."""
        await self._heard_end(session.name)
        await self.sessions.end(session)
        await self.bus.say({ENDED: session.name})

    async def _heard_end(self, session: str) -> None:
        self.in_flight.end_session(session)
        self.audience.end_session(session)

    def _methods_of(self, offer: Offer) -> Mapping[str, Method]:
        """What answers requests, by their methods. Hooks stand around all but a ping and the handshake."""
        declared = Methods(self.registry, offer, self._attempts, self._lifespans, self._threads, self._tasks)
        others = {**self._subscriptions.methods, **dict.fromkeys(offer.subscribing, self._subscriptions.change)}
        tasks = self._task_requests.methods(offer.adapter) if offer.answers_later else {}
        if self.registry.hooks:
            tasks = {name: partial(declared.surrounded, answer) for name, answer in tasks.items()}
            others = {name: partial(declared.surrounded, answer) for name, answer in others.items()}
        own = {**others, _PING: self._ping, offer.adapter.description_method: self._describe}
        return {
            **{name: answer for name, answer in own.items() if name in offer.adapter.client_requests},
            **tasks,
            **dict.fromkeys(offer.listings, declared.list),
            **dict.fromkeys(offer.uses, declared.use),
        }

    async def _ping(self, request: Request) -> Outcome:
        return Result({})

    async def _describe(self, request: Request) -> Outcome:
        conversation = request.conversation
        adapter = conversation.adapter
        if adapter.has_handshake:
            await self._agree(conversation, adapter.client_declaration(request.params, None))
        return Prepared(self.offer(adapter).description)

    async def _agree(self, conversation: Conversation, said: Declaration) -> None:
        """Note in the session what a handshake has agreed on; it opens one where there is none."""
        version = conversation.adapter.version
        if conversation.session is None:
            principal, owner = name_of(conversation.principal), conversation.owner
            scopes = scopes_of(conversation.principal)
            conversation.session = await self.sessions.open(version, principal, owner, said, scopes=scopes)
            return
        agreed = self.sessions.agreed(version, said)

        def agree(session: Session) -> JsonObject:
            if session.version != NOT_AGREED:
                raise _agreed_already()
            return agreed

        conversation.session = await conversation.session.change(agree)
        if conversation.session is not None:
            await self.bus.say({SESSION: conversation.session.name})


def _check_agreement(adapter: Adapter, session: Session, method: str) -> None:
    """See that the handshake comes first, and once."""
    if method == adapter.description_method:
        if session.version != NOT_AGREED:
            raise _agreed_already()
    elif session.version == NOT_AGREED and adapter.has_handshake and method != _PING:
        raise InvalidRequest(f"the handshake comes first: {adapter.description_method}")


def _agreed_already() -> InvalidRequest:
    return InvalidRequest("this connection has had its handshake; open another for another one")


def _passing_on(audience: weakref.ref[Audience], registry: Registry, settings: Settings) -> Callable[[Change], None]:
    """A registry may outlive its server, so it does not keep it."""

    def pass_on(change: Change) -> None:
        found = audience()
        if found is not None and change.kind in announced(registry.kinds, settings):
            found.pass_on(change)

    return pass_on
