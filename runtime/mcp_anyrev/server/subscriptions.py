"""The requests by which a client says what it wants to hear of.

Rule: only what is declared is honoured, and what was not asked for is not sent. A client holds a bounded number of subscriptions.
Specification: basic/patterns/subscriptions#opening-a-stream
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from mcp_contract import (
    Busy,
    InvalidParams,
    InvalidRequest,
    JsonObject,
    MethodNotFound,
    ResourceNotFound,
    TooLarge,
)
from mcp_contract.tasks import LISTENED_TO

from mcp_anyrev.conversation.conversation import CANCELLED
from mcp_anyrev.conversation.outcomes import Outcome, Result
from mcp_anyrev.conversation.sessions import SESSION
from mcp_anyrev.declaring.uri_templates import normalized
from mcp_anyrev.principal import seconds_left
from mcp_anyrev.server.asking.capabilities import undeclared
from mcp_anyrev.server.audience import Subscription

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.conversation.bus import Bus
    from mcp_anyrev.conversation.requests import Request
    from mcp_anyrev.conversation.sessions import Session
    from mcp_anyrev.server.audience import Audience
    from mcp_anyrev.server.methods import Method
    from mcp_anyrev.server.offers import Offer
    from mcp_anyrev.server.quota import Quota
    from mcp_anyrev.server.tasks.requests import TaskRequests
    from mcp_anyrev.settings import Limits

log = logging.getLogger("mcp_anyrev.server")


class Subscriptions:
    """Answers them.

    Args:
        audience: who is told of changes.
        bus: tells other workers what was set in a session.
        offer: what a revision gets of the registry as it is now.
        quota: how many streams a principal holds.
        limits: what one client may use up.
        tasks: tells of tasks.
        listen: may clients hold streams open to be told of changes?
    """

    def __init__(
        self,
        audience: Audience,
        bus: Bus,
        offer: Callable[[Adapter], Offer],
        quota: Quota,
        limits: Limits,
        tasks: TaskRequests,
        *,
        listen: bool,
    ) -> None:
        self._audience = audience
        self._bus = bus
        self._offer = offer
        self._limits = limits
        self._quota = quota
        self._tasks = tasks
        methods: dict[str, Method] = {"logging/setLevel": self._set_log_level}
        if listen:
            methods["subscriptions/listen"] = self._listen
        self.methods: Mapping[str, Method] = methods

    async def _listen(self, request: Request) -> Outcome:
        """Hold a stream of changes open, until either side ends it."""
        adapter = request.conversation.adapter
        offer = self._offer(adapter)
        honoured = self._honoured(offer, request)
        tasks = await self._tasks.listened_to(request) if offer.answers_later else []
        lists = {one.change for _, one in offer.announcements if one.wanted in honoured and not one.of_one}
        uris = {uri for _, one in offer.announcements if one.of_one for uri in honoured.get(one.wanted, ())}
        ended = asyncio.get_running_loop().create_future()
        subscription = Subscription(request, lists, uris, lambda: None if ended.done() else ended.set_result(None))
        request.endless = True

        def lost() -> None:
            if not ended.done():
                ended.set_exception(InvalidRequest("changes are told on a stream of events, and none is read here"))

        outbox = request.conversation.outbox
        with self._quota.one_more(request.conversation.owner):
            await self._bus.ready()
            # What an extension wants to be told, no schema knows, so no adapter lets it through.
            by_extensions = {one.wanted for kind, one in offer.announcements if kind.extension is not None}
            by_extensions &= honoured.keys()
            if tasks:
                honoured[LISTENED_TO] = tasks
                by_extensions.add(LISTENED_TO)
            subscription.acknowledge(honoured, by_extensions)
            if honoured and not self._audience.ending:
                self._audience.subscribe(subscription)
                telling = [asyncio.create_task(self._tasks.tell(request, one, subscription.notify)) for one in tasks]
                outbox.watch(lost)
                principal = request.conversation.principal
                try:
                    async with asyncio.timeout(seconds_left(principal)):
                        await asyncio.shield(ended)
                except TimeoutError:
                    log.info("a stream of %s was ended, since what it was opened with has expired", principal)
                finally:
                    for told in telling:
                        told.cancel()
                    outbox.unwatch(lost)
                    self._audience.unsubscribe(subscription)
        if request.conversation.cancels_listening:
            request.conversation.tell(CANCELLED, {"requestId": request.identifier, "reason": "the server ends this"})
        return Result(adapter.listening_result(request.identifier))

    async def change(self, request: Request) -> Outcome:
        """Have a session told of the changes of one thing, or no longer."""
        conversation = request.conversation
        offer = self._offer(conversation.adapter)
        uri, most = normalized(request.params["uri"]), self._limits.subscriptions
        subscribing = offer.subscribing[request.method].subscribing
        wants = subscribing is not None and request.method == subscribing[0]
        if wants and offer.view(conversation.principal).hides(uri):
            raise ResourceNotFound(request.params["uri"])

        def changed(session: Session) -> JsonObject:
            others = [one for one in session.subscriptions if one != uri]
            if wants and len(others) >= most:
                raise Busy(f"a session subscribes to at most {most} resources")
            return {"subscriptions": [*others, uri] if wants else others}

        return await self._changed(request, changed)

    async def _set_log_level(self, request: Request) -> Outcome:
        """Set from which level on a session gets log messages."""
        if "logging" not in self._offer(request.conversation.adapter).capabilities:
            raise MethodNotFound(f"this server does not offer {request.method}")
        return await self._changed(request, lambda session: {"level": request.params["level"]})

    async def _changed(self, request: Request, change: Callable[[Session], JsonObject]) -> Outcome:
        session = request.conversation.session
        if session is None:
            raise InvalidRequest(f"{request.method} is for a session, and there is none")
        await session.change(change)
        await self._bus.say({SESSION: session.name})
        return Result({})

    def _honoured(self, offer: Offer, request: Request) -> JsonObject:
        """What of what a client wants to be told of it will be.

        Raises:
            InvalidParams: it wants to be told of too many things, or not of things where an extension has them.
        """
        adapter, wanted, most = offer.adapter, request.params["notifications"], self._limits.subscriptions
        view = offer.view(request.conversation.principal)
        honoured: JsonObject = {}
        for kind, announcement in offer.announcements:
            value = wanted.get(announcement.wanted)
            if not value:
                continue
            if kind.extension is not None and undeclared(
                adapter, request.client.capabilities, ("extensions", kind.extension)
            ):
                continue
            if announcement.of_one:
                if not isinstance(value, list) or not all(isinstance(uri, str) for uri in value):
                    raise InvalidParams(f"notifications.{announcement.wanted}: an array of text is wanted")
                if len(value) > most:
                    raise TooLarge(f"at most {most} resources in one subscription")
                if sum(map(len, value)) > self._limits.session_bytes:
                    raise TooLarge(f"at most {self._limits.session_bytes} letters of addresses in one subscription")
                value = [uri for uri in value if not view.hides(uri)]
            if value:
                honoured[announcement.wanted] = value
        return honoured
