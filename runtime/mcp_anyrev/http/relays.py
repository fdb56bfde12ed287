"""Taking up a stream on one worker that is kept by another.

Rule: whoever keeps the stream reads it out to a topic of its own, whose name nobody can guess; whoever has the client copies what
comes. If either is gone, the other gives up after a while.
Specification: basic/transports#resumability-and-redelivery
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING

from mcp_anyrev.http.wire import OK

if TYPE_CHECKING:
    from mcp_anyrev.http.journals import Journal, Journals
    from mcp_anyrev.http.wire import Line
    from mcp_anyrev.server.bus import Bus
    from mcp_anyrev.storage import Hub, Listener

_ANSWER_SECONDS = 0.5
_LONGEST_SECONDS = 300.0
_FOUND, _END = "", "end"


class Relays:
    """One worker's part of it.

    Args:
        hub: carries what is read out.
        bus: finds the worker that keeps a stream.
        journals: the streams that this worker keeps.
        silence: after how many seconds without an event a comment is sent.
        most: how many streams are read out at the same time.
    """

    def __init__(self, hub: Hub, bus: Bus, journals: Journals, silence: float, most: int) -> None:
        self._hub = hub
        self._bus = bus
        self._journals = journals
        self._silence = silence
        self._most = most
        self._reading: dict[str, asyncio.Task[None]] = {}

    async def follow(self, session: str, identifier: str, line: Line, headers: Mapping[str, str]) -> bool:
        """Copy a stream that another worker keeps; False where none does.

        Args:
            session: the name of the session.
            identifier: the id of the last event that the client has.
            line: the way back to the client.
            headers: the header fields of the response.
        """
        if not self._journals.may_be_elsewhere(identifier):
            return False
        topic = f"relay/{secrets.token_urlsafe(16)}"
        async with self._hub.listen(topic) as listener:
            await self._bus.say({"resume": [session, identifier, topic]})
            if await listener.next(_ANSWER_SECONDS) is None:
                return False
            copying = asyncio.ensure_future(self._copy(listener, line, headers))
            watching = asyncio.ensure_future(line.gone())
            try:
                await asyncio.wait((copying, watching), return_when=asyncio.FIRST_COMPLETED)
            finally:
                copying.cancel()
                watching.cancel()
                await asyncio.gather(copying, watching, return_exceptions=True)
                await self._bus.say({"left": topic})
        return True

    def read_out(self, session: str, identifier: str, topic: str) -> bool:
        """Another worker looks for a stream; says whether it is here and is read out from now on."""
        found = self._journals.find(session, identifier)
        if found is None or len(self._reading) >= self._most:
            return False
        task = asyncio.ensure_future(self._read_out(*found, topic))
        self._reading[topic] = task
        task.add_done_callback(lambda _: self._reading.pop(topic, None))
        return True

    def left(self, topic: str) -> None:
        """The other worker's client has gone."""
        task = self._reading.get(topic)
        if task is not None:
            task.cancel()

    async def _copy(self, listener: Listener, line: Line, headers: Mapping[str, str]) -> None:
        await line.open(OK, headers)
        while isinstance(piece := await listener.next(3 * self._silence), str) and piece != _END:
            await line.write(piece.encode())

    async def _read_out(self, journal: Journal, after: int, topic: str) -> None:
        await self._hub.publish(topic, _FOUND)
        try:
            async with asyncio.timeout(_LONGEST_SECONDS):
                await journal.read_out(journal.attach(), after, _TopicLine(self._hub, topic), self._silence)
        except TimeoutError:
            pass  # the client comes back if it is still there
        finally:
            await self._hub.publish(topic, _END)


class _TopicLine:
    """See `Line`; as much of it as a journal needs."""

    def __init__(self, hub: Hub, topic: str) -> None:
        self._hub = hub
        self._topic = topic

    async def write(self, piece: bytes) -> None:
        await self._hub.publish(self._topic, piece.decode())
