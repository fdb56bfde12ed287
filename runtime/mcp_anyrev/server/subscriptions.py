"""The requests by which a client says what it wants to hear of.

Rule: only what is declared is honoured, and what was not asked for is not sent. A client holds a bounded number of subscriptions.
Specification: basic/patterns/subscriptions#opening-a-stream
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from mcp_contract import InvalidParams, InvalidRequest, JsonObject, MethodNotFound

from mcp_anyrev.conversation.outcomes import Outcome, Result
from mcp_anyrev.principal import name_of
from mcp_anyrev.server.audience import SESSION, Subscription

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.conversation.bus import Bus
    from mcp_anyrev.conversation.requests import Request
    from mcp_anyrev.conversation.sessions import Session
    from mcp_anyrev.server.audience import Audience
    from mcp_anyrev.server.offers import Offer
    from mcp_anyrev.server.quota import Quota
    from mcp_anyrev.settings import Limits

ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_LISTS = ("tools", "prompts", "resources")


class Subscriptions:
    """Answers them.

    Args:
        audience: who is told of changes.
        bus: tells other workers what was set in a session.
        offer: what a revision gets of the registry as it is now.
        quota: how many streams a principal holds.
        limits: what one client may use up.
        listen: may clients hold streams open to be told of changes?
    """

    def __init__(
        self,
        audience: Audience,
        bus: Bus,
        offer: Callable[[Adapter], Offer],
        quota: Quota,
        limits: Limits,
        *,
        listen: bool,
    ) -> None:
        self._audience = audience
        self._bus = bus
        self._offer = offer
        self._limits = limits
        self._quota = quota
        methods: dict[str, Callable[[Request], Coroutine[Any, Any, Outcome]]] = {
            "resources/subscribe": self._subscribe,
            "resources/unsubscribe": self._unsubscribe,
            "logging/setLevel": self._set_log_level,
        }
        if listen:
            methods["subscriptions/listen"] = self._listen
        self.methods: Mapping[str, Callable[[Request], Coroutine[Any, Any, Outcome]]] = methods

    async def _listen(self, request: Request) -> Outcome:
        """Hold a stream of changes open, until either side ends it."""
        adapter = request.conversation.adapter
        wanted = request.params["notifications"]
        if len(wanted.get("resourceSubscriptions", ())) > self._limits.subscriptions:
            raise InvalidParams(f"at most {self._limits.subscriptions} resources in one subscription")
        honoured = self._honoured(adapter, wanted)
        kinds = [kind for kind in _LISTS if f"{kind}ListChanged" in honoured]
        ended = asyncio.get_running_loop().create_future()
        subscription = Subscription(
            request,
            kinds,
            honoured.get("resourceSubscriptions", ()),
            lambda: None if ended.done() else ended.set_result(None),
        )
        request.endless = True
        with self._quota.one_more(name_of(request.conversation.principal)):
            await self._bus.ready()
            subscription.send_notification(ACKNOWLEDGED, {"notifications": honoured})
            if honoured and not self._audience.ending:
                self._audience.subscribe(subscription)
                try:
                    await ended
                finally:
                    self._audience.unsubscribe(subscription)
        return Result(adapter.listening_result(request.identifier))

    async def _subscribe(self, request: Request) -> Outcome:
        """Have a session told of the updates of a resource."""
        self._check_declared(request, "resources", "subscribe")
        uri, most = request.params["uri"], self._limits.subscriptions

        def more(session: Session) -> JsonObject:
            if len(session.subscriptions) >= most and uri not in session.subscriptions:
                raise InvalidParams(f"a session subscribes to at most {most} resources")
            return {"subscriptions": [*(one for one in session.subscriptions if one != uri), uri]}

        return await self._changed(request, more)

    async def _unsubscribe(self, request: Request) -> Outcome:
        """Have a session told no longer; nothing happens where it was not."""
        self._check_declared(request, "resources", "subscribe")
        uri = request.params["uri"]
        return await self._changed(
            request, lambda session: {"subscriptions": [one for one in session.subscriptions if one != uri]}
        )

    async def _set_log_level(self, request: Request) -> Outcome:
        """Set from which level on a session gets log messages."""
        self._check_declared(request, "logging")
        return await self._changed(request, lambda session: {"level": request.params["level"]})

    async def _changed(self, request: Request, change: Callable[[Session], JsonObject]) -> Outcome:
        session = request.conversation.session
        if session is None:
            raise InvalidRequest(f"{request.method} is for a session, and there is none")
        await session.change(change)
        await self._bus.say({SESSION: session.name})
        return Result({})

    def _check_declared(self, request: Request, *path: str) -> None:
        declared: Any = self._offer(request.conversation.adapter).capabilities
        for member in path:
            declared = declared.get(member) if isinstance(declared, dict) else None
        if declared is None:
            raise MethodNotFound(f"this server does not offer {request.method}")

    def _honoured(self, adapter: Adapter, wanted: JsonObject) -> JsonObject:
        declared = self._offer(adapter).capabilities
        honoured: JsonObject = {}
        for kind in _LISTS:
            if wanted.get(f"{kind}ListChanged") and declared.get(kind, {}).get("listChanged"):
                honoured[f"{kind}ListChanged"] = True
        if wanted.get("resourceSubscriptions") and declared.get("resources", {}).get("subscribe"):
            honoured["resourceSubscriptions"] = wanted["resourceSubscriptions"]
        return honoured
