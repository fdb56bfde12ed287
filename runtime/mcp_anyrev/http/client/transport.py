"""What is the same wherever a client posts its messages, each by itself.

Rule: what is sent goes out in the order in which it was sent: a message that nobody answers has been taken before the next one goes.
Requests do not wait for each other's answers. A request that cannot be answered is failed by itself.
Specification: basic/transports/streamable-http#sending-messages
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from mcp_contract import Json, JsonObject
from mcp_contract.wording import cut
from pydantic_core import from_json

from mcp_anyrev.client.errors import CannotConnect, ClientError
from mcp_anyrev.client.queued import QueuedTransport
from mcp_anyrev.http.client.exchange import EVENTS, JSON
from mcp_anyrev.http.client.refusals import refusal, succeeded
from mcp_anyrev.http.request import NO_HEADERS

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter
    from yarl import URL

    from mcp_anyrev.client.transport import Receiver
    from mcp_anyrev.http.client.exchange import Answer
    from mcp_anyrev.http.client.requester import Requester
    from mcp_anyrev.settings import Limits

log = logging.getLogger("mcp_anyrev.client")

_TAKEN_SECONDS = 10.0
"""How long it may take until a message is taken that nobody answers."""

_CLOSE_SECONDS = 0.4
"""How long each step of closing may take."""


class HttpTransport(QueuedTransport):
    """The client's end of a server that messages are posted to; see `Transport`.

    Args:
        requester: reaches the server.
        limits: how much may wait to be sent, and how large may be what comes.
    """

    def __init__(self, requester: Requester, limits: Limits) -> None:
        super().__init__(limits)
        self._requester = requester
        self._spoken: Adapter | None = None
        self._beside: Callable[[JsonObject], Mapping[str, str]] = _nothing
        self._takes: Receiver | None = None
        self._sender: asyncio.Task[None] | None = None
        self._closed = False
        self._requests: dict[Json, asyncio.Task[None]] = {}
        self._working: set[asyncio.Task[None]] = set()

    async def open(self, receiver: Receiver) -> None:
        """See `Transport.open`."""
        self._takes = receiver
        self._sender = self._begin(self._sending())

    def speak(self, adapter: Adapter, beside: Callable[[JsonObject], Mapping[str, str]]) -> None:
        """See `Transport.speak`."""
        self._spoken = adapter
        self._beside = beside

    def carries(self, adapter: Adapter) -> bool:
        """See `Transport.carries`."""
        raise NotImplementedError

    def cancels(self, adapter: Adapter) -> bool:
        """See `Transport.cancels`."""
        raise NotImplementedError

    def answers(self, adapter: Adapter) -> bool:
        """See `Transport.answers`."""
        raise NotImplementedError

    def reopens(self, adapter: Adapter) -> bool:
        """See `Transport.reopens`: it costs the server nothing but a connection."""
        return True

    def abandon(self, identifier: Json) -> None:
        """See `Transport.abandon`."""
        task = self._requests.pop(identifier, None)
        if task is not None:
            task.cancel()

    async def close(self) -> None:
        """See `Transport.close`."""
        if not self._closed:
            self._closed = True
            if self._sender is not None:
                self._queue.end(None)
                await asyncio.wait((self._sender,), timeout=_CLOSE_SECONDS)  # what was sent before is to arrive
            for task in self._working:
                task.cancel()
            if self._working:
                await asyncio.wait(self._working, timeout=_CLOSE_SECONDS)
            await self._within(self._take_leave())
            await self._within(self._requester.close())
        self._fail(CannotConnect("the connection was closed on this side"))

    @property
    def _adapter(self) -> Adapter:
        """The revision that is spoken."""
        if self._spoken is None:
            raise CannotConnect("nothing has been said yet of how to speak with the server")
        return self._spoken

    @property
    def _receiver(self) -> Receiver:
        """Takes what comes."""
        if self._takes is None:
            raise CannotConnect("the connection is not open")
        return self._takes

    async def _request(self, frame: bytes, message: JsonObject) -> None:
        """Post a request; return once its answer has come, if it comes here.

        Raises:
            Exception: it cannot be answered.
        """
        raise NotImplementedError

    async def _told(self, message: JsonObject) -> None:
        """A message has been taken that nobody answers."""

    async def _take_leave(self) -> None:
        """Tell the server that nothing more comes."""

    async def _tell(self, frame: bytes, message: JsonObject) -> None:
        """Post a message that nobody answers.

        Raises:
            Exception: it has not been taken.
        """
        async with self._posted(frame, message) as answer:
            if not succeeded(answer):
                raise await refusal(answer, self._limits)
        await self._told(message)

    def _posted(self, frame: bytes, message: JsonObject) -> contextlib.AbstractAsyncContextManager[Answer]:
        """A message on its way, and what answers it."""
        public, secret = self._headers(message)
        public |= {"accept": f"{JSON}, {EVENTS}", "content-type": JSON, **self._beside(message)}
        return self._requester.send("POST", public, secret, frame, self._address)

    @property
    def _address(self) -> URL:
        """Where messages are posted to."""
        return self._requester.url

    def _headers(self, message: JsonObject) -> tuple[dict[str, str], Mapping[str, str]]:
        """What the revision says beside a message, or none: for any origin, and for the server's own alone."""
        return self._adapter.request_headers(message, None), NO_HEADERS

    async def _write(self, frame: bytes) -> None:
        message = from_json(frame)
        if "method" in message and "id" in message:
            self._begin_request(frame, message)
        else:
            await self._telling(frame, message)

    def _begin_request(self, frame: bytes, message: JsonObject) -> None:
        identifier = message["id"]
        if not self._receiver.waits(identifier):
            return  # it was given up while it waited to be sent
        task = self._requests[identifier] = self._begin(self._requesting(frame, message))
        task.add_done_callback(lambda done: self._forget(identifier, done))

    def _forget(self, identifier: Json, task: asyncio.Task[None]) -> None:
        if self._requests.get(identifier) is task:
            del self._requests[identifier]

    async def _requesting(self, frame: bytes, message: JsonObject) -> None:
        receiver = self._receiver
        try:
            await self._request(frame, message)
        except Exception as error:  # what authorises requests may raise anything
            receiver.fail(message["id"], error)

    async def _telling(self, frame: bytes, message: JsonObject) -> None:
        try:
            async with asyncio.timeout(_TAKEN_SECONDS):
                await self._tell(frame, message)
        except Exception as error:
            what = message.get("method", "the answer to a question")
            log.warning("%s did not reach the server: %s", what, cut(str(error)) or type(error).__name__)

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._working.add(task)
        task.add_done_callback(self._working.discard)
        return task

    async def _within(self, step: Coroutine[Any, Any, None]) -> None:
        """Take a step of closing, which nothing may hold up."""
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await step
        except (ClientError, TimeoutError) as error:
            log.debug("the connection was not closed in good order: %s", error)


def _nothing(message: JsonObject) -> Mapping[str, str]:
    return NO_HEADERS
