"""Streams that a client opens by GET: of a session as a whole, or the rest of one that broke.

Rule: an id resumes the very stream that it was given out on, in its own session; any other id is left alone, and a fresh stream is
opened. Of a stream that nobody reads what comes is kept for a while, in case its reader is back, on whichever worker.
Specification: basic/transports#listening-for-messages-from-the-server
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcp_anyrev.http.pings import pinging
from mcp_anyrev.http.responses import OK, STREAM_HEADERS
from mcp_anyrev.http.streams import named, unnumbered
from mcp_anyrev.server.audience import SessionStream

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.conversation.sessions import Session
    from mcp_anyrev.http.request import HttpRequest
    from mcp_anyrev.http.resumption import Streams
    from mcp_anyrev.http.streams import Stream
    from mcp_anyrev.principal import Principal
    from mcp_anyrev.server.core import Core

_LONGEST_LINGER_SECONDS = 60.0


class SessionStreams:
    """Opens them.

    Args:
        core: the server.
        streams: those that can be taken up again.
    """

    def __init__(self, core: Core, streams: Streams) -> None:
        settings = core.settings
        self._audience = core.audience
        self._core = core
        self._quota = core.quota
        self._streams = streams
        self._most = settings.limits.streams_of_session
        self._silence = settings.keep_alive_seconds
        self._linger = min(settings.kept_seconds, _LONGEST_LINGER_SECONDS)

    async def serve(
        self,
        adapter: Adapter,
        session: Session,
        principal: Principal | None,
        last_event: str | None,
        request: HttpRequest,
    ) -> None:
        """Serve one GET until its stream ends or nobody is there.

        Args:
            adapter: the revision.
            session: whose streams they are.
            principal: who listens.
            last_event: the id of the last event that the client has, if it gives one.
            request: the way back to the client.

        Raises:
            Busy: the client holds too many streams.
            Unavailable: there is no room for any more.
        """
        with self._quota.one_more(session.owner):
            found = await self._streams.found(session, last_event) if last_event and adapter.event_ids else None
            opening, after = None, ""
            if found is None:
                self._end_oldest(session)
                its = named(session, of_session=True)
                retry = self._streams.retry if adapter.closes_to_be_polled else None
                stream, opening = await self._streams.begin(its, session.owner, retry)
                after = "" if opening is None else opening.position
            else:
                its, after = found
                stream = self._streams.joined(its.topic)
            written = its.numbered if adapter.event_ids else unnumbered
            reader = self._streams.reader(its.topic, request, written, of_reply=not its.of_session)
            told = SessionStream(
                session, adapter, principal, stream.send, lambda: stream.end(None), stream.is_attended, its.name
            )
            try:
                await self._streams.tell(reader, None)
                if its.of_session:
                    await self._audience.join(told)
                await request.open(OK, {**STREAM_HEADERS, **adapter.stream_headers})
                if opening is not None:
                    await request.write(its.numbered(opening))
                async with pinging(self._core, told, stream, reader):
                    await reader.read_out(after, self._silence)
            except ConnectionError:
                pass
            finally:
                await self._streams.left(reader)
                if its.of_session and not self._streams.is_read(its.topic):
                    await self._left(told, stream, kept=adapter.event_ids)

    async def _left(self, told: SessionStream, stream: Stream, *, kept: bool) -> None:
        """Nobody reads a stream of a session any longer."""
        if kept and not stream.ended:
            asyncio.get_running_loop().call_later(self._linger, self._audience.leave, told)
        else:
            self._audience.leave(told)
        if not kept:
            await self._streams.close(stream.topic)
        await self._audience.lost_reader(told)

    def _end_oldest(self, session: Session) -> None:
        for stream in self._audience.streams_of(session.name)[: 1 - self._most or None]:
            stream.end()
            self._audience.leave(stream)
