"""Streamable HTTP without a socket, from the client's end.

Rule: every message is a POST, and what answers it is JSON or a stream of its own. A stream that breaks is taken up where it broke, as
often as it comes further, if the revision and the server have it so. What the server says of its own accord comes on a stream that is
opened again for as long as there is one.
Specification: basic/transports/streamable-http
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from mcp_contract import Json, JsonObject
from mcp_contract.wording import cut

from mcp_anyrev.client.errors import CannotConnect, ClientError, WrongAnswer
from mcp_anyrev.http.client.event_reader import MESSAGE, EventReader
from mcp_anyrev.http.client.exchange import EVENTS, JSON
from mcp_anyrev.http.client.refusals import may_succeed_later, named, refusal, succeeded
from mcp_anyrev.http.client.transport import HttpTransport

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.http.client.exchange import Answer
    from mcp_anyrev.http.client.requester import Requester
    from mcp_anyrev.settings import Limits

log = logging.getLogger("mcp_anyrev.client")

_MOST_ATTEMPTS = 5
"""How often a stream is taken up without coming any further."""

_FIRST_PAUSE_SECONDS = 1.0
_SHORTEST_PAUSE_SECONDS = 0.02
_LONGEST_PAUSE_SECONDS = 30.0
_STEADY_SECONDS = 5.0
"""A stream that lasts so long is no failure when it ends."""

_LAST_SECONDS = 1.0
"""How long a stream may stay open behind the answer, so that its connection can be used again."""


class _Place:
    """How far one stream has come, over all connections that it takes."""

    def __init__(self) -> None:
        self.identifier: str | None = None
        self.retry: float | None = None
        self._vain = 0
        self._moved = False

    def move(self, identifier: str | None) -> None:
        """An event has come."""
        self._moved = self._moved or identifier != self.identifier
        self.identifier = identifier

    def interrupted(self, steady: bool = False) -> float:
        """A connection has ended, after a while or not; gives after how many seconds to come back."""
        self._vain = 0 if self._moved or steady else self._vain + 1
        self._moved = False
        pause = _FIRST_PAUSE_SECONDS if self.retry is None else max(self.retry, _SHORTEST_PAUSE_SECONDS)
        return pause if not self._vain else max(pause, min(pause * 2**self._vain, _LONGEST_PAUSE_SECONDS))

    @property
    def hopeless(self) -> bool:
        """Has it been tried often enough?"""
        return self._vain >= _MOST_ATTEMPTS


class StreamableHttpTransport(HttpTransport):
    """The client's end of one server; see `Transport`.

    Args:
        requester: reaches the server.
        limits: how much may wait to be sent, and how large may be what comes.
        listens: is a stream held open for what the server says of its own accord, where there is one?
    """

    has_headers = True

    def __init__(self, requester: Requester, limits: Limits, *, listens: bool = True) -> None:
        super().__init__(requester, limits)
        self._listens = listens
        self._session: str | None = None
        self._listening: asyncio.Task[None] | None = None

    def carries(self, adapter: Adapter) -> bool:
        """See `Transport.carries`."""
        return True

    def cancels(self, adapter: Adapter) -> bool:
        """See `Transport.cancels`."""
        return adapter.cancels_by_notification

    def answers(self, adapter: Adapter) -> bool:
        """See `Transport.answers`."""
        return adapter.takes_responses

    async def _request(self, frame: bytes, message: JsonObject) -> None:
        identifier = message["id"]
        opens = self._adapter.has_handshake and message["method"] == self._adapter.description_method
        if opens:
            self._forget_session()
        place = _Place()
        try:
            async with self._posted(frame, message) as answer:
                if not succeeded(answer):
                    raise await refusal(answer, self._limits)
                if opens:
                    self._session = _session_of(answer, self._adapter)
                await self._take(answer, identifier, place)
        except CannotConnect:
            if place.identifier is None:
                raise
        while self._receiver.waits(identifier):
            await self._resume(identifier, place)

    async def _told(self, message: JsonObject) -> None:
        adapter = self._adapter
        ready = adapter.ready_notification is not None and message.get("method") == adapter.ready_notification
        if ready and self._listens and adapter.listens_by_get and self._listening is None:
            self._listening = self._begin(self._listen())

    async def _take_leave(self) -> None:
        if self._session is not None and self._adapter.ends_by_delete:
            public, secret = self._headers({})
            async with self._requester.send("DELETE", public, secret) as answer:
                log.debug("the server answers the end of the session with %s", named(answer))

    def _headers(self, message: JsonObject) -> tuple[dict[str, str], Mapping[str, str]]:
        adapter = self._adapter
        public = adapter.request_headers(message, self._session)
        secret = {name: public.pop(name) for name in [*public] if name == adapter.session_header}
        return public, secret

    def _forget_session(self) -> None:
        """Another session begins."""
        self._session = None
        if self._listening is not None:
            self._listening.cancel()
            self._listening = None

    async def _take(self, answer: Answer, identifier: Json, place: _Place) -> None:
        """Take what answers a request, or as much of it as comes.

        Raises:
            CannotConnect: it breaks off.
            WrongAnswer: it is no answer.
        """
        if answer.kind == EVENTS:
            await self._read(answer, identifier, place)
        elif answer.kind == JSON:
            await self._receiver.take_frame(await answer.aread(), answering=identifier)
            self._receiver.fail(identifier, WrongAnswer("the server sent JSON that does not answer the request"))
        else:
            kind = cut(answer.kind) or "of no kind"
            raise WrongAnswer(
                f"the server answers with {named(answer)} and a body {kind}, where {JSON} or {EVENTS} belongs"
            )

    async def _read(self, answer: Answer, identifier: Json, place: _Place) -> None:
        """Read a stream to its end, or until a little after the answer has come."""
        receiver, reader = self._receiver, EventReader(self._limits.body_bytes, place.identifier)
        try:
            async with asyncio.timeout(None) as bound:
                async for piece in answer.pieces():
                    for event in reader.feed(piece):
                        place.move(event.identifier)
                        if event.data and event.name == MESSAGE:
                            await receiver.take_frame(event.data, answering=identifier)
                    place.retry = reader.retry if reader.retry is not None else place.retry
                    if identifier is not None and bound.when() is None and not receiver.waits(identifier):
                        bound.reschedule(asyncio.get_running_loop().time() + _LAST_SECONDS)
        except TimeoutError:
            return

    def _opened(self, place: _Place) -> AbstractAsyncContextManager[Answer]:
        """A stream that the server has, from the place on up to which it has come."""
        public, secret = self._headers({})
        header = self._adapter.resumption_header
        if header is not None and place.identifier is not None:
            secret = {**secret, header: place.identifier}
        return self._requester.send("GET", {**public, "accept": EVENTS}, secret)

    async def _resume(self, identifier: Json, place: _Place) -> None:
        """Take up the stream of a request where it broke, once.

        Raises:
            CannotConnect: it does not come any further.
            WrongAnswer: it cannot be taken up.
        """
        if place.identifier is None or not self._adapter.event_ids:
            raise WrongAnswer("the server ended the stream of a request without answering it")
        pause = place.interrupted()
        if place.hopeless:
            raise CannotConnect("the stream of a request broke before its answer, and does not come any further")
        await asyncio.sleep(pause)
        try:
            async with self._opened(place) as answer:
                if succeeded(answer) and answer.kind == EVENTS:
                    await self._read(answer, identifier, place)
                elif not may_succeed_later(answer):
                    raise WrongAnswer(
                        f"the stream of a request broke before its answer, and the server answers {named(answer)} to who comes back"
                    )
        except CannotConnect as reason:
            log.debug("the stream of a request broke: %s", reason)

    async def _listen(self) -> None:
        """Read what the server says of its own accord, for as long as it does."""
        place, loop = _Place(), asyncio.get_running_loop()
        while True:
            begun = loop.time()
            try:
                async with self._opened(place) as answer:
                    if succeeded(answer) and answer.kind == EVENTS:
                        await self._read(answer, None, place)
                    elif not may_succeed_later(answer):
                        log.debug("the server says nothing of its own accord: %s", named(answer))
                        return
            except ClientError as reason:
                log.debug("the stream of what the server says of its own accord broke: %s", reason)
            except Exception as reason:
                log.warning("what the server says of its own accord is not heard: %s", reason)
                return
            await asyncio.sleep(place.interrupted(loop.time() - begun > _STEADY_SECONDS))


def _session_of(answer: Answer, adapter: Adapter) -> str | None:
    """The session that the answer to a handshake names, if it names one.

    Raises:
        WrongAnswer: that cannot be said again.
    """
    if adapter.session_header is None:
        return None
    session = answer.headers.get(adapter.session_header)
    if session is not None and not (session.isascii() and session.isprintable() and " " not in session and session):
        raise WrongAnswer(f"{adapter.session_header} has letters that no session's name has")
    return session
