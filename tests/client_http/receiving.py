"""Whoever takes what comes on a transport, as simple as it can be.

Rule: it judges nothing. A response counts that has the id of a request that waits, and came on its stream where there is one.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Mapping
from typing import Any

from mcp_anyrev.client.transport import Transport
from mcp_anyrev.conversation.conversation import Undeliverable
from mcp_contract import Declaration
from mcp_revisions.protocol import Adapter

INFORMATION = {"name": "tests", "version": "1.0"}
SOON = 5.0


class Receiving:
    """The receiving end of a transport, and what is sent on it.

    Args:
        transport: the transport.
        adapter: the revision that is spoken.
        capabilities: what the client says that it can do.
    """

    def __init__(self, transport: Transport, adapter: Adapter, capabilities: dict[str, Any] | None = None) -> None:
        self.transport = transport
        self.adapter = adapter
        self.seen: list[tuple[Any, Any]] = []
        """All that came: the message, and on which request's stream."""
        self.came = asyncio.Event()
        self.beside: Mapping[str, str] = {}
        self._declaration = Declaration(capabilities or {}, INFORMATION)
        self._waiting: dict[Any, asyncio.Future[Any]] = {}
        self._identifiers = itertools.count(1)

    async def take_frame(self, frame: bytes, answering: Any = None) -> None:
        payload = json.loads(frame)
        for message in payload if isinstance(payload, list) else [payload]:
            self.seen.append((message, answering))
            self.came.set()
            identifier = message.get("id") if isinstance(message, dict) else None
            if isinstance(message, dict) and "method" not in message and answering in (None, identifier):
                waiting = self._waiting.get(identifier)
                if waiting is not None and not waiting.done():
                    waiting.set_result(message)

    def waits(self, identifier: Any) -> bool:
        waiting = self._waiting.get(identifier)
        return waiting is not None and not waiting.done()

    def fail(self, identifier: Any, error: Exception) -> None:
        waiting = self._waiting.get(identifier)
        if waiting is not None and not waiting.done():
            waiting.set_exception(error)

    async def open(self) -> None:
        """Open the transport in the revision."""
        await self.transport.open(self)
        self.transport.speak(self.adapter, lambda message: self.beside)

    async def handshake(self) -> dict[str, Any]:
        """Do what opens the conversation."""
        described = await self.call(self.adapter.description_method, self.adapter.description_params(self._declaration))
        if self.adapter.ready_notification is not None:
            self.tell(self.adapter.ready_notification)
        return described

    async def call(self, method: str, params: dict[str, Any] | None = None, seconds: float = SOON) -> dict[str, Any]:
        """Send a request; gives the response."""
        identifier = next(self._identifiers)
        message: dict[str, Any] = {
            "jsonrpc": "2.0",
            "id": identifier,
            "method": method,
            "params": self.adapter.declared_params(params or {}, self._declaration),
        }
        waiting = self._waiting[identifier] = asyncio.get_running_loop().create_future()

        def lost() -> None:
            if not waiting.done():
                waiting.set_exception(self.transport.failure or Undeliverable())

        try:
            self.transport.send(json.dumps(message).encode())
            self.transport.watch(lost)
            async with asyncio.timeout(seconds):
                response: dict[str, Any] = await waiting
                return response
        except (TimeoutError, asyncio.CancelledError):
            del self._waiting[identifier]
            self.transport.abandon(identifier)
            raise
        finally:
            self.transport.unwatch(lost)
            self._waiting.pop(identifier, None)

    async def tool(self, name: str, seconds: float = SOON, **arguments: Any) -> dict[str, Any]:
        """Call a tool; gives the response."""
        return await self.call("tools/call", {"name": name, "arguments": arguments}, seconds)

    def tell(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Send a notification."""
        message = {"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})}
        self.transport.send(json.dumps(message).encode())

    def answer(self, identifier: Any, result: dict[str, Any]) -> None:
        """Answer a request of the server."""
        self.transport.send(json.dumps({"jsonrpc": "2.0", "id": identifier, "result": result}).encode())

    async def message(self, method: str, seconds: float = SOON) -> tuple[Any, Any]:
        """The first message of a method that comes, and on which request's stream."""
        async with asyncio.timeout(seconds):
            while True:
                for message, answering in self.seen:
                    if isinstance(message, dict) and message.get("method") == method:
                        return message, answering
                self.came.clear()
                await self.came.wait()
