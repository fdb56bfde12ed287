"""What passes between a client and its server, shown to whoever wants to look on.

Rule: everything is told as it goes and as it comes, before anybody judges it, and nothing is changed. Nothing is masked: who writes it
down sees to that.
Specification: basic/transports
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from mcp_contract import Json, JsonObject

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.client.transport import Receiver, Transport
    from mcp_anyrev.conversation.outbox import Lost


@dataclass(frozen=True, slots=True)
class WireMessage:
    """A message.

    Attributes:
        sent: went it to the server, or came it from there?
        content: the JSON text; what came may be anything.
    """

    sent: bool
    content: bytes


@dataclass(frozen=True, slots=True)
class WireHead:
    """What stands before the messages of one HTTP request, or of what answers it.

    Attributes:
        sent: went it to the server, or came it from there?
        line: the method and the address, or the status.
        headers: the headers; those that say who the client is are among them.
    """

    sent: bool
    line: str
    headers: Mapping[str, str] = field(repr=False)


OnWire: TypeAlias = Callable[[WireMessage | WireHead], None]
"""Looks on; called at once, so it returns at once."""


class Tapped:
    """A transport that is looked at; see `Transport`.

    Args:
        transport: carries the messages.
        on_wire: looks on.
    """

    def __init__(self, transport: Transport, on_wire: OnWire) -> None:
        self.has_headers = transport.has_headers
        self._transport = transport
        self._on_wire = on_wire

    @property
    def failure(self) -> Exception | None:
        """See `Transport.failure`."""
        return self._transport.failure

    async def open(self, receiver: Receiver) -> None:
        """See `Transport.open`."""
        await self._transport.open(_TappedReceiver(receiver, self._on_wire))

    def speak(self, adapter: Adapter, beside: Callable[[JsonObject], Mapping[str, str]]) -> None:
        """See `Transport.speak`."""
        self._transport.speak(adapter, beside)

    def carries(self, adapter: Adapter) -> bool:
        """See `Transport.carries`."""
        return self._transport.carries(adapter)

    def cancels(self, adapter: Adapter) -> bool:
        """See `Transport.cancels`."""
        return self._transport.cancels(adapter)

    def answers(self, adapter: Adapter) -> bool:
        """See `Transport.answers`."""
        return self._transport.answers(adapter)

    def reopens(self, adapter: Adapter) -> bool:
        """See `Transport.reopens`."""
        return self._transport.reopens(adapter)

    def abandon(self, identifier: Json) -> None:
        """See `Transport.abandon`."""
        self._transport.abandon(identifier)

    async def close(self) -> None:
        """See `Transport.close`."""
        await self._transport.close()

    def send(self, message: bytes, same: str | None = None) -> None:
        """See `Outbox.send`."""
        self._on_wire(WireMessage(True, message))
        self._transport.send(message, same)

    async def room(self) -> bool:
        """See `Outbox.room`."""
        return await self._transport.room()

    def watch(self, lost: Lost) -> None:
        """See `Outbox.watch`."""
        self._transport.watch(lost)

    def unwatch(self, lost: Lost) -> None:
        """See `Outbox.unwatch`."""
        self._transport.unwatch(lost)

    def release(self, retry: int) -> None:
        """See `Outbox.release`."""
        self._transport.release(retry)


class _TappedReceiver:
    """A receiver that is looked at; see `Receiver`."""

    def __init__(self, receiver: Receiver, on_wire: OnWire) -> None:
        self.waits = receiver.waits
        self.fail = receiver.fail
        self._receiver = receiver
        self._on_wire = on_wire

    async def take_frame(self, frame: bytes, answering: Json = None) -> None:
        """See `Receiver.take_frame`."""
        self._on_wire(WireMessage(False, frame))
        await self._receiver.take_frame(frame, answering)
