"""One attempt at a request that may ask: what came back with it, who asks, and what goes out if the answer has to come first.

Rule: the same for everything that takes an `Exchange`; only here do the three flags of asking decide anything.
Specification: basic/patterns/mrtr#basic-workflow
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import TYPE_CHECKING

from mcp_contract import JsonObject

from mcp_anyrev.server.asking import Asker, NoAsker, PushAsker, RoundAsker, Suspended, Unfinished, sender
from mcp_anyrev.server.exchange import Exchange
from mcp_anyrev.server.sealing import Seal
from mcp_anyrev.server.unfinished import Keeper, SealedKeeper, StoredKeeper, purpose_of

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.server.calls import Call
    from mcp_anyrev.settings import Settings
    from mcp_anyrev.storage import Hub, SessionStore

Work = Callable[[JsonObject, Exchange], Awaitable[JsonObject]]


class Attempts:
    """Runs attempts.

    Args:
        name: the server's name.
        server: who the server is, as a revision has it.
        settings: how it is run.
        store: where state stays that does not travel.
        hub: brings answers to pushed questions.
        clock: seconds since the epoch, as all workers see them.
    """

    def __init__(
        self,
        name: str,
        server: Callable[[Adapter], JsonObject],
        settings: Settings,
        store: SessionStore,
        hub: Hub,
        clock: Callable[[], float],
    ) -> None:
        self._name = name
        self._server = server
        self._settings = settings
        self._store = store
        self._hub = hub
        self._clock = clock

    async def run(self, call: Call, target: str, params: JsonObject, work: Work) -> JsonObject:
        """Run one attempt.

        Args:
            call: the request.
            target: which tool, prompt or resource it is for.
            params: its params as sent.
            work: from the params without anything that belongs to asking to a result in canonical form.

        Returns:
            The result as the revision has it: the finished one, or the one that asks.

        Raises:
            InvalidParams: the echoed state is not of this call.
            ProtocolError: the work ended in an error.
        """
        adapter, context = call.context.adapter, call.context
        answered = adapter.read_answers(params)
        own = answered.params
        if adapter.can_push_ask or not adapter.askable_methods.get(call.method):
            asker: Asker = self._pushing(call) if adapter.askable_methods.get(call.method) else NoAsker(call.method)
            return self._finished(call, await work(own, Exchange(asker, call.client, context.principal)))
        arguments = own.get("arguments", {})
        purpose = purpose_of(self._name, context.principal, call.method, target, arguments)
        keeper: Keeper = self._sealed if adapter.can_ask else self._stored
        unfinished = Unfinished() if answered.state is None else await keeper.load(answered.state, purpose)
        rounds = RoundAsker(adapter, call.client, unfinished, answered.answers)
        try:
            return self._finished(call, await work(own, Exchange(rounds, call.client, context.principal)))
        except Suspended:
            questions, unfinished = rounds.outcome()
        state = await keeper.save(unfinished, purpose)
        return adapter.signed_result(adapter.questions_result(questions, state), self._server(adapter))

    def _finished(self, call: Call, result: JsonObject) -> JsonObject:
        adapter = call.context.adapter
        return adapter.encode_result(call.method, result, self._server(adapter))

    def _pushing(self, call: Call) -> PushAsker:
        context = call.context
        asked = sender(None if context.session is None else context.session.name, context.principal)
        timeout = self._settings.ask_timeout_seconds
        return PushAsker(context.adapter, call.client, asked, self._hub, context.send, timeout)

    @cached_property
    def _sealed(self) -> SealedKeeper:
        return SealedKeeper(Seal(self._settings.keys, self._settings.state_ttl_seconds, self._clock))

    @cached_property
    def _stored(self) -> StoredKeeper:
        return StoredKeeper(self._store, self._settings.state_ttl_seconds)
