"""HTTP+SSE without a socket, from the client's end.

Rule: one stream brings everything, and its end is the end of all that waits. Its first event is the address to post to, which is never one
of another origin.
Specification: basic/transports#http-with-sse
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcp_contract import JsonObject
from mcp_contract.wording import cut
from yarl import URL

from mcp_anyrev.client.errors import CannotConnect, WrongAnswer
from mcp_anyrev.http.client.event_reader import EventReader
from mcp_anyrev.http.client.exchange import EVENTS
from mcp_anyrev.http.client.refusals import named, refusal, succeeded
from mcp_anyrev.http.client.requester import address, same_origin
from mcp_anyrev.http.client.transport import HttpTransport

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.client.transport import Receiver
    from mcp_anyrev.http.client.event_reader import Event
    from mcp_anyrev.http.client.exchange import Answer
    from mcp_anyrev.http.client.requester import Requester
    from mcp_anyrev.settings import Limits

_SHOWN = 100


class HttpSseTransport(HttpTransport):
    """The client's end of one server; see `Transport`.

    Args:
        requester: reaches the address that opens the stream.
        adapter: a revision that is carried, in whose words the stream begins.
        limits: how much may wait to be sent, and how large may be what comes.
        begin_seconds: how long it may take until the stream says where to post to.
    """

    has_headers = False

    def __init__(self, requester: Requester, adapter: Adapter, limits: Limits, begin_seconds: float) -> None:
        super().__init__(requester, limits)
        self._first = adapter
        self._begin_seconds = begin_seconds
        self._endpoint: asyncio.Future[URL] | None = None

    async def open(self, receiver: Receiver) -> None:
        """See `Transport.open`."""
        self._endpoint = asyncio.get_running_loop().create_future()
        self._begin(self._reading(receiver, self._endpoint))
        try:
            async with asyncio.timeout(self._begin_seconds):
                await self._endpoint
        except TimeoutError:
            await self.close()
            raise CannotConnect(f"the server did not say within {self._begin_seconds:g} s where to post to") from None
        except Exception:
            await self.close()
            raise
        await super().open(receiver)

    def carries(self, adapter: Adapter) -> bool:
        """See `Transport.carries`."""
        return adapter.served_on_http_sse

    def cancels(self, adapter: Adapter) -> bool:
        """See `Transport.cancels`."""
        return adapter.http_sse_cancels_by_notification

    def answers(self, adapter: Adapter) -> bool:
        """See `Transport.answers`: every revision that is carried has requests of the server."""
        return True

    @property
    def _address(self) -> URL:
        if self._endpoint is None:
            raise CannotConnect("the connection is not open")
        return self._endpoint.result()

    async def _request(self, frame: bytes, message: JsonObject) -> None:
        await self._tell(frame, message)  # the answer comes on the stream

    async def _reading(self, receiver: Receiver, endpoint: asyncio.Future[URL]) -> None:
        """Read the stream to its end."""
        reason: Exception = CannotConnect("the server has ended the connection")
        try:
            async with self._requester.send("GET", {"accept": EVENTS}) as answer:
                if not succeeded(answer):
                    raise await refusal(answer, self._limits)
                if answer.kind != EVENTS:
                    kind = cut(answer.kind) or "none"
                    raise WrongAnswer(
                        f"the server answers with {named(answer)} and a body of kind {kind}, not {EVENTS}"
                    )
                reader = EventReader(self._limits.body_bytes)
                async for piece in answer.pieces():
                    for event in filter(_says_something, reader.feed(piece)):
                        if not endpoint.done():
                            endpoint.set_result(self._endpoint_of(event, answer))
                        elif event.name == self._first.http_sse_message_event:
                            await receiver.take_frame(event.data)
        except Exception as error:  # what authorises requests may raise anything
            reason = error
        if not endpoint.done():
            endpoint.set_exception(reason)
        self._fail(reason)

    def _endpoint_of(self, event: Event, answer: Answer) -> URL:
        """The address to post to.

        Raises:
            WrongAnswer: the stream does not begin with it, or it is on another origin.
        """
        told = event.data.decode(errors="replace")
        if event.name != self._first.http_sse_endpoint_event:
            raise WrongAnswer(f"the stream begins with {cut(event.name)!r}, not with the address to post to")
        try:
            endpoint = address(str(answer.url.join(URL(told))))
        except ValueError:
            raise WrongAnswer(f"{told[:_SHOWN]!r} is no address to post to") from None
        if not same_origin(endpoint, answer.url):
            raise WrongAnswer(
                f"the address to post to, {told[:_SHOWN]!r}, is on another origin, so nothing is sent there"
            )
        return endpoint


def _says_something(event: Event) -> bool:
    return bool(event.data)
