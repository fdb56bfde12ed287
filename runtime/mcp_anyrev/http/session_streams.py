"""Streams that a client opens by GET: of a session as a whole, or the rest of one that broke.

Rule: an id resumes the very stream that it was given out on, in its own session; any other id is left alone, and a fresh stream is
opened. Of a stream that nobody reads what comes is kept for a while, in case its reader is back.
Specification: basic/transports#listening-for-messages-from-the-server
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from mcp_anyrev.events import opening_event
from mcp_anyrev.http.wire import OK, STREAM_HEADERS
from mcp_anyrev.server.audience import SessionStream

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.http.journals import Journal, Journals
    from mcp_anyrev.http.relays import Relays
    from mcp_anyrev.http.replies import Patience
    from mcp_anyrev.http.wire import Line
    from mcp_anyrev.server.audience import Audience
    from mcp_anyrev.server.bus import Bus
    from mcp_anyrev.server.quota import Quota
    from mcp_anyrev.server.sessions import Session, Sessions
    from mcp_anyrev.settings import Limits

_LINGER_SECONDS = 60.0


class SessionStreams:
    """Opens them.

    Args:
        audience: who is told of changes.
        bus: what every worker hears.
        journals: streams that can be taken up again.
        relays: those that other workers keep.
        sessions: where sessions are.
        quota: how many streams a principal holds.
        patience: when comments are sent, and when a client comes back.
        limits: what one client may use up.
        ttl: for how many seconds an unused session is kept.
    """

    def __init__(
        self,
        audience: Audience,
        bus: Bus,
        journals: Journals,
        relays: Relays,
        sessions: Sessions,
        quota: Quota,
        patience: Patience,
        limits: Limits,
        ttl: float,
    ) -> None:
        self._audience = audience
        self._bus = bus
        self._journals = journals
        self._relays = relays
        self._sessions = sessions
        self._quota = quota
        self._patience = patience
        self._limits = limits
        self._ttl = ttl
        self._joined: dict[str, SessionStream] = {}
        self._tending: asyncio.Task[None] | None = None
        self._ending = False

    async def serve(self, adapter: Adapter, session: Session, last_event: str | None, line: Line) -> None:
        """Serve one GET until its stream ends or nobody is there.

        Args:
            adapter: the revision.
            session: whose streams they are.
            last_event: the id of the last event that the client has, if it gives one.
            line: the way back to the client.

        Raises:
            InvalidRequest: the client holds too many streams.
        """
        with self._quota.one_more(session.principal):
            await self._bus.ready()
            headers = {**STREAM_HEADERS, **adapter.stream_headers}
            found = None
            if last_event and adapter.event_ids:
                found = self._journals.find(session.name, last_event)
                if found is None and await self._relays.follow(session.name, last_event, line, headers):
                    return
            journal, after = found or (self._fresh(adapter, session), 0)
            reader = journal.attach()
            watching = asyncio.ensure_future(_watch(line, journal, reader))
            try:
                await self._announce(journal, True)
                await line.open(OK, headers)
                if found is None and adapter.closes_to_be_polled:
                    await line.write(opening_event(f"{journal.name}.0", self._patience.retry))
                await journal.read_out(reader, after, line, self._patience.silence)
            except ConnectionError:
                pass
            finally:
                watching.cancel()
                journal.detach(reader)
                await self._left(adapter, journal)

    async def join(
        self, adapter: Adapter, session: Session, send: Callable[[bytes], None], end: Callable[[], None]
    ) -> Callable[[], None]:
        """Tell a session of changes on a stream that a transport has opened for it.

        Args:
            adapter: the revision.
            session: the session.
            send: puts a message on the stream.
            end: called when the session or the server ends.

        Returns:
            What is to be called once the stream has ended.
        """
        await self._bus.ready()
        stream = SessionStream(session, adapter, send, end, lambda: True)
        self._joined[stream.name] = stream
        self._audience.join(stream)
        self._tend()

        def leave() -> None:
            self._joined.pop(stream.name, None)
            self._audience.leave(stream)

        return leave

    async def refresh(self, name: str) -> None:
        """Something was set in a session, or time has passed."""
        streams = self._audience.streams_of(name)
        if not streams:
            return
        session = await self._sessions.find(name, streams[0].session.principal)
        if session is None:
            self.end(name)
            return
        for stream in streams:
            stream.session = session

    def heard(self, session: str, stream: str, joined: bool) -> None:
        """A stream of a session has got a reader, on some worker, or has lost it."""
        for other in self._audience.streams_of(session):
            if other.name == stream:
                other.newer.clear()
            elif joined:
                other.newer.add(stream)
            else:
                other.newer.discard(stream)

    def end(self, session: str) -> None:
        """A session is over."""
        ended = self._audience.streams_of(session)
        for stream in ended:
            stream.end()
            self._audience.leave(stream)
        self._joined = {name: stream for name, stream in self._joined.items() if stream not in ended}
        self._journals.forget_session(session)

    async def stop(self) -> None:
        """Hold nothing open any longer."""
        self._ending = True
        if self._tending is not None:
            self._tending.cancel()
            await asyncio.gather(self._tending, return_exceptions=True)

    def _fresh(self, adapter: Adapter, session: Session) -> Journal:
        """A new stream of the session as a whole; of too many the oldest ends."""
        journal = self._journals.open(session.name, adapter.event_ids)
        if self._ending:
            journal.end()
        for stream in self._audience.streams_of(session.name)[: 1 - self._limits.streams_of_session or None]:
            stream.end()
            self._audience.leave(stream)
        stream = SessionStream(session, adapter, journal.add, journal.end, lambda: journal.connected)
        self._joined[journal.name] = stream
        self._audience.join(stream)
        self._tend()
        return journal

    async def _left(self, adapter: Adapter, journal: Journal) -> None:
        if journal.connected or journal.name not in self._joined:
            return
        if journal.ended or not adapter.event_ids:
            self._forget(journal)
        else:
            asyncio.get_running_loop().call_later(_LINGER_SECONDS, self._forget, journal)
        await self._announce(journal, False)

    def _forget(self, journal: Journal) -> None:
        if not journal.connected and (stream := self._joined.pop(journal.name, None)) is not None:
            self._audience.leave(stream)

    async def _announce(self, journal: Journal, joined: bool) -> None:
        stream = self._joined.get(journal.name)
        if stream is not None:
            await self._bus.say({"stream": [stream.session.name, stream.name, joined]})

    def _tend(self) -> None:
        if self._tending is None or self._tending.done():
            self._tending = asyncio.ensure_future(self._keep_in_use())

    async def _keep_in_use(self) -> None:
        """A session that somebody listens for is in use, and one that has ended elsewhere has no streams."""
        while self._joined:
            await asyncio.sleep(self._ttl / 4)
            for name in {stream.session.name for stream in self._joined.values()}:
                await self.refresh(name)


async def _watch(line: Line, journal: Journal, reader: object) -> None:
    await line.gone()
    journal.detach(reader)
