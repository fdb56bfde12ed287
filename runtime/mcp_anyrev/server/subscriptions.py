"""The requests by which a client says what it wants to hear of.

Rule: only what is declared is honoured, and what was not asked for is not sent. A client holds a bounded number of subscriptions.
Specification: basic/patterns/subscriptions#opening-a-stream
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcp_contract import InvalidParams, InvalidRequest, JsonObject
from pydantic_core import to_json

from mcp_anyrev.principal import name_of
from mcp_anyrev.server.audience import Subscription

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.conversation.calls import Call
    from mcp_anyrev.server.audience import Audience
    from mcp_anyrev.server.bus import Bus
    from mcp_anyrev.server.quota import Quota
    from mcp_anyrev.server.sessions import Session
    from mcp_anyrev.settings import Limits

ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_LISTS = ("tools", "prompts", "resources")


class Subscriptions:
    """Answers them.

    Args:
        audience: who is told of changes.
        bus: tells other workers what was set in a session.
        capabilities: what a server declares on a revision.
        server: who the server is, as a revision has it.
        quota: how many streams a principal holds.
        limits: what one client may use up.
    """

    def __init__(
        self,
        audience: Audience,
        bus: Bus,
        capabilities: Callable[[Adapter], JsonObject],
        server: Callable[[Adapter], JsonObject],
        quota: Quota,
        limits: Limits,
    ) -> None:
        self._audience = audience
        self._bus = bus
        self._capabilities = capabilities
        self._server = server
        self._limits = limits
        self._quota = quota
        self._ending = False

    async def listen(self, call: Call, params: JsonObject) -> bytes:
        """Hold a stream of changes open, until either side ends it.

        Raises:
            InvalidParams: it asks for too many resources.
            InvalidRequest: the client holds too many streams.
        """
        adapter = call.context.adapter
        wanted = params["notifications"]
        if len(wanted.get("resourceSubscriptions", ())) > self._limits.subscriptions:
            raise InvalidParams(f"at most {self._limits.subscriptions} resources in one subscription")
        honoured = self._honoured(adapter, wanted)
        kinds = [kind for kind in _LISTS if f"{kind}ListChanged" in honoured]
        ended = asyncio.get_running_loop().create_future()
        subscription = Subscription(
            adapter,
            call.identifier,
            kinds,
            honoured.get("resourceSubscriptions", ()),
            call.context.send,
            lambda: None if ended.done() else ended.set_result(None),
        )
        call.context.endless = True
        with self._quota.one_more(name_of(call.context.principal)):
            await self._bus.ready()
            subscription.send_notification(ACKNOWLEDGED, {"notifications": honoured})
            if honoured and not self._ending:
                self._audience.subscribe(subscription)
                try:
                    await ended
                finally:
                    self._audience.unsubscribe(subscription)
        result = adapter.listening_result(call.identifier)
        return to_json(adapter.encode_result(call.method, result, self._server(adapter)))

    async def subscribe(self, call: Call, params: JsonObject) -> bytes:
        """Have a session told of the updates of a resource.

        Raises:
            InvalidParams: it is told of too many already.
            InvalidRequest: there is no session.
        """
        uri, most = params["uri"], self._limits.subscriptions

        def more(session: Session) -> JsonObject:
            if len(session.subscriptions) >= most and uri not in session.subscriptions:
                raise InvalidParams(f"a session subscribes to at most {most} resources")
            return {"subscriptions": [*(one for one in session.subscriptions if one != uri), uri]}

        return await self._changed(call, more)

    async def unsubscribe(self, call: Call, params: JsonObject) -> bytes:
        """Have a session told no longer; nothing happens where it was not."""
        uri = params["uri"]
        return await self._changed(
            call, lambda session: {"subscriptions": [one for one in session.subscriptions if one != uri]}
        )

    async def set_log_level(self, call: Call, params: JsonObject) -> bytes:
        """Set from which level on a session gets log messages."""
        return await self._changed(call, lambda session: {"level": params["level"]})

    def end(self) -> None:
        """Hold nothing open any longer."""
        self._ending = True

    async def _changed(self, call: Call, change: Callable[[Session], JsonObject]) -> bytes:
        context = call.context
        if context.session is None:
            raise InvalidRequest(f"{call.method} is for a session, and there is none")
        await context.session.change(change)
        await self._bus.say({"session": context.session.name})
        return to_json(context.adapter.encode_result(call.method, {}, self._server(context.adapter)))

    def _honoured(self, adapter: Adapter, wanted: JsonObject) -> JsonObject:
        declared = self._capabilities(adapter)
        honoured: JsonObject = {}
        for kind in _LISTS:
            if wanted.get(f"{kind}ListChanged") and declared.get(kind, {}).get("listChanged"):
                honoured[f"{kind}ListChanged"] = True
        if wanted.get("resourceSubscriptions") and declared.get("resources", {}).get("subscribe"):
            honoured["resourceSubscriptions"] = wanted["resourceSubscriptions"]
        return honoured
