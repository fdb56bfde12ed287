"""Answering messages, whatever transport brought them.

Rule: no I/O, no revision, no number: the adapter says what is asked of a message and what goes back. A notification never runs
anything of the application.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable

from mcp_contract import InternalError, InvalidParams, InvalidRequest, JsonObject, MethodNotFound, ProtocolError
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from pydantic_core import to_json

from mcp_anyrev.conversation.calls import Call, Context
from mcp_anyrev.declaring.lifespans import Lifespans
from mcp_anyrev.declaring.registry import Registry
from mcp_anyrev.declaring.threads import Threads
from mcp_anyrev.http.principals import challenge
from mcp_anyrev.http.wire import JSON_HEADERS, OK, Response
from mcp_anyrev.messages import error_message, result_message
from mcp_anyrev.principal import name_of
from mcp_anyrev.server.asking.attempts import Attempts
from mcp_anyrev.server.asking.pushing import posted, sender, topic_of
from mcp_anyrev.server.declared_methods import DeclaredMethods
from mcp_anyrev.server.live import Live
from mcp_anyrev.server.offers import Offer
from mcp_anyrev.server.sessions import Sessions
from mcp_anyrev.settings import Settings
from mcp_anyrev.storage.memory import MemoryHub, MemoryStore

log = logging.getLogger("mcp_anyrev.server")


Answering = Callable[[Call, JsonObject], Awaitable[bytes]]
"""From a call and its params to the result as JSON."""


class Core:
    """One server, as far as it does not depend on a transport.

    Args:
        registry: what it offers.
        settings: how it is run.
        clock: seconds since the epoch, as all workers see them.

    Raises:
        ValueError: the settings name a revision that does not exist, or a key that is too short.
    """

    def __init__(self, registry: Registry, settings: Settings, clock: Callable[[], float] = time.time) -> None:
        self.registry = registry
        self.settings = settings
        self.adapters = AdapterSet.default() if settings.revisions is None else AdapterSet(settings.revisions)
        self.store = settings.store or MemoryStore(settings.limits.sessions)
        self.hub = settings.hub or MemoryHub()
        self.sessions = Sessions(self.store, settings.session_ttl_seconds, clock)
        self._attempts = Attempts(registry.name, self._server, settings, self.store, self.hub, clock)
        self._offers: dict[str, Offer] = {}
        self._lifespans = Lifespans(registry)
        self._declared = DeclaredMethods(self.offer, self._attempts, self._lifespans, Threads(settings.limits.threads))
        self.live = Live(registry, settings, self.sessions, self.hub, self._capabilities, self._server, self.refusal)
        self._methods = {version: self._methods_of(adapter) for version, adapter in self.adapters.by_version.items()}

    def build(self) -> None:
        """Make everything now that would otherwise be made when it is first needed."""
        for adapter in self.adapters.by_version.values():
            adapter.build()
            self.offer(adapter)

    async def start(self) -> None:
        """Make everything ready, and enter the lifespans of the registry.

        Raises:
            Exception: what a lifespan raised.
        """
        self.build()
        await self._lifespans.start()

    def offer(self, adapter: Adapter) -> Offer:
        """What a revision gets of the registry as it is now."""
        offer = self._offers.get(adapter.version)
        if offer is None or offer.edition != self.registry.edition:
            offer = Offer(self.registry, adapter, tuple(self.adapters.versions), self.settings, offer)
            self._offers[adapter.version] = offer
        return offer

    def _server(self, adapter: Adapter) -> JsonObject:
        return self.offer(adapter).server

    def _capabilities(self, adapter: Adapter) -> JsonObject:
        return self.offer(adapter).capabilities

    async def close(self) -> None:
        """End every stream in good order and every call, within `Settings.shutdown_seconds` and a little more."""
        await self.live.close()
        await self._lifespans.stop()

    async def respond(self, context: Context, message: JsonObject) -> Response:
        """Answer a request.

        Args:
            context: where it came from.
            message: a request.

        Returns:
            The response, whatever happened.
        """
        adapter, method, params = context.adapter, message["method"], message.get("params", {})
        try:
            answer = self._methods[adapter.version].get(method)
            if answer is None or method in self.offer(adapter).missing_methods:
                adapter.check_meta(message)
                raise MethodNotFound(f"this server has no method {method!r}")
            adapter.check_request(message)
            remembered = None if context.session is None else context.session.declaration
            client = adapter.client_declaration(params, remembered)
            call = Call(context, method, client, message["id"], params)
            try:
                result = await answer(call, params)
            finally:
                call.open = False  # whatever is still at work for it has nothing more to say
            return Response(OK, result_message(message["id"], result), JSON_HEADERS)
        except ProtocolError as error:
            return self.refusal(adapter, {"id": message["id"]}, error)
        except Exception:
            log.exception("answering %r failed", method)
            return self.refusal(adapter, {"id": message["id"]}, InternalError("the server failed"))

    def refusal(self, adapter: Adapter, identifier: JsonObject, error: ProtocolError) -> Response:
        """An error, as an adapter words it.

        Args:
            adapter: the revision.
            identifier: `{"id": …}` of the message that caused it, or nothing where there is none.
            error: what happened.
        """
        if not identifier and adapter.unreadable_id_is_null:
            identifier = {"id": None}
        body = error_message(identifier, error, adapter.error_codes[error.kind])
        resource = self.settings.protected_resource
        told = challenge(error, None if resource is None else resource.url)
        headers = JSON_HEADERS if told is None else {**JSON_HEADERS, "www-authenticate": told}
        return Response(adapter.error_statuses[error.kind], body, headers, failed=True)

    async def take_notification(self, context: Context, message: JsonObject) -> None:
        """Take a notification; one of an unknown kind is left alone.

        Raises:
            InvalidRequest: it is of a known kind and does not fit it.
        """
        adapter = context.adapter
        if message["method"] not in adapter.client_notifications:
            return
        try:
            adapter.check_notification(message)
        except InvalidParams as error:
            raise InvalidRequest(error.message) from None
        await self.live.take_notification(context, message)

    async def take_response(self, context: Context, message: JsonObject) -> None:
        """Hand a posted response to whoever asked; one that nobody waits for is dropped.

        Raises:
            InvalidRequest: clients post no responses in this revision.
        """
        if not context.adapter.takes_responses:
            raise InvalidRequest("a client posts requests and notifications; responses are not taken in this revision")
        identifier = message.get("id")
        if isinstance(identifier, str):
            sent_by = sender(None if context.session is None else context.session.name, name_of(context.principal))
            await self.hub.publish(topic_of(identifier), posted(sent_by, message))

    def _methods_of(self, adapter: Adapter) -> dict[str, Answering]:
        methods = {
            "ping": self._ping,
            adapter.description_method: self._describe,
            **self._declared.methods,
            **self.live.methods(),
        }
        return {name: answer for name, answer in methods.items() if name in adapter.client_requests}

    async def _ping(self, call: Call, params: JsonObject) -> bytes:
        adapter = call.context.adapter
        return to_json(adapter.encode_result(call.method, {}, self._server(adapter)))

    async def _describe(self, call: Call, params: JsonObject) -> bytes:
        return self.offer(call.context.adapter).description
