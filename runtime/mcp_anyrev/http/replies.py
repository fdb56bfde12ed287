"""One answer or a stream: decided by what comes first, the answer, a message before it, or impatience.

Rule: a handler that never waits costs nothing here; only for one that does somebody stands by. Who takes no stream gets none. A handler
runs in the task of its request from beginning to end. What a client's departure means, the conversation knows.
Specification: basic/transports/streamable-http#receiving-messages
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, NamedTuple

from mcp_contract import Busy, ProtocolError, Unavailable

from mcp_anyrev.conversation.at_once import Resumed
from mcp_anyrev.events import KEEP_ALIVE, event
from mcp_anyrev.http.request import NO_HEADERS
from mcp_anyrev.http.responses import OK, STREAM_HEADERS
from mcp_anyrev.http.streams import named

if TYPE_CHECKING:
    from mcp_anyrev.conversation.conversation import Conversation
    from mcp_anyrev.conversation.outbox import Queue
    from mcp_anyrev.conversation.outcomes import Response
    from mcp_anyrev.head import Head
    from mcp_anyrev.http.request import HttpRequest
    from mcp_anyrev.http.resumption import Streams
    from mcp_anyrev.http.streams import Named, Stream
    from mcp_anyrev.settings import Settings
    from mcp_anyrev.storage.protocols import Message

log = logging.getLogger("mcp_anyrev.server")

_NEVER = re.compile(r"(.*;\s*)?q\s*=\s*0(\.0*)?\s*(;.*)?")
"""What stands beside a kind of body that is not accepted."""

Work = Coroutine[Any, Any, "Response | None"]
"""What makes the response; None where nobody wants one any longer."""


class _Begun(NamedTuple):
    """A stream that can be taken up again, before anybody reads it."""

    its: Named
    stream: Stream
    opening: Message | None


class Replies:
    """Makes them.

    Args:
        settings: when a stream is opened and kept alive.
        streams: those that can be taken up again.
    """

    def __init__(self, settings: Settings, streams: Streams) -> None:
        self.head_delay = settings.head_delay_seconds
        self.silence = settings.keep_alive_seconds
        self.streams = streams

    async def reply(
        self, conversation: Conversation, queue: Queue, work: Work, request: HttpRequest
    ) -> Response | None:
        """Have a request answered.

        Args:
            conversation: where it came from.
            queue: where messages go that come before the response.
            work: makes the response.
            request: the way back to the client.

        Returns:
            The response; None where it has gone out on a stream, or nobody is there to get it, or nobody wants it any longer.
        """
        try:
            waited_for = work.send(None)
        except StopIteration as finished:
            response: Response | None = finished.value
            if response is not None and not (queue.used and takes_events(request.head)):
                return response
            return await _StandingBy(self, conversation, queue, request).finish(response)
        standing_by = _StandingBy(self, conversation, queue, request)
        try:
            response = await Resumed(work, waited_for)
        except BaseException:
            standing_by.dismiss()
            raise
        return await standing_by.finish(response)


class _StandingBy:
    """Opens the stream when it is time, writes to it, and notices when nobody is there any longer."""

    def __init__(self, replies: Replies, conversation: Conversation, queue: Queue, request: HttpRequest) -> None:
        self._replies = replies
        self._conversation = conversation
        self._queue = queue
        self._request = request
        self._streaming = False
        self._kept = False
        self._gone = False
        self._writing = asyncio.ensure_future(self._write())
        self._watching = asyncio.ensure_future(self._watch())

    async def finish(self, response: Response | None) -> Response | None:
        """Send the response on the stream; it is the answer where there is none yet."""
        self._watching.cancel()
        if self._gone and not self._kept:
            self._writing.cancel()
            return None
        if response is not None and not self._streaming and not self._queue:
            self._writing.cancel()
            self._queue.close()
            return response
        if response is None and self._queue.closed and not self._streaming:
            await self._request.open(self._conversation.adapter.accepted_status, NO_HEADERS)
            return None
        self._queue.end(None if response is None else response.message)
        await asyncio.wait((self._writing,))
        return None

    def dismiss(self) -> None:
        """There is nothing more to do."""
        self._writing.cancel()
        self._watching.cancel()
        self._queue.close()

    async def _write(self) -> None:
        queue, request, adapter = self._queue, self._request, self._conversation.adapter
        if not takes_events(request.head):
            queue.close()  # so whoever asks hears at once that nothing arrives
            return
        await queue.wait(self._replies.head_delay)
        self._streaming = True
        begun = await self._begun() if queue.resumable else None
        try:
            await request.open(OK, {**STREAM_HEADERS, **adapter.stream_headers})
            if begun is not None:
                await self._write_kept(*begun)
                return
            while True:
                while queue:
                    await request.write(event(queue.take()))
                if queue.ended or queue.closed:
                    return
                if not await queue.wait(self._replies.silence):
                    await request.write(KEEP_ALIVE)
        except ConnectionError:
            self._leave()
        except ProtocolError as error:  # its head has gone out, so all that can be done is to end it
            log.error("a stream was ended: %s", error.message)
            queue.close()

    async def _begun(self) -> _Begun | None:
        """A stream that can be taken up again; None where none can be kept, so that one has to do that cannot."""
        conversation, queue, streams = self._conversation, self._queue, self._replies.streams
        assert conversation.session is not None  # only in a session streams are resumable
        its, retry = named(conversation.session), None
        if conversation.adapter.closes_to_be_polled:
            retry = streams.retry if queue.retry is None else queue.retry
        try:
            return _Begun(its, *await streams.begin(its, conversation.session.owner, retry))
        except (Busy, Unavailable) as reason:
            log.warning("a stream cannot be taken up again if it breaks: %s", reason)
            return None

    async def _write_kept(self, its: Named, stream: Stream, opening: Message | None) -> None:
        """Write on a stream that can be taken up again, and read it out as long as the client is there."""
        conversation, queue, request, streams = self._conversation, self._queue, self._request, self._replies.streams
        released = queue.retry is not None
        self._kept = True
        self._watching.cancel()
        reader = streams.reader(its.topic, request, its.numbered)
        queue.forward(stream)
        if opening is not None:
            await request.write(its.numbered(opening))
        if released:
            reader.leave()
        ended = await reader.read_out("" if opening is None else opening.position, self._replies.silence)
        if reader.gone:
            conversation.departed()
        if not ended:  # the client comes back for the rest, on another connection
            await request.close()

    async def _watch(self) -> None:
        await self._request.gone()
        self._leave()

    def _leave(self) -> None:
        self._gone = True
        if not self._kept:
            self._writing.cancel()
            self._queue.close()
        self._conversation.departed()


def takes_events(head: Head) -> bool:
    """Does a client take an answer that comes bit by bit? One that says what it accepts is held to that."""
    accepted = head.headers.get("accept")
    if accepted is None:
        return True
    weights: dict[str, str] = {}
    for each in accepted.lower().split(","):
        kind, _, weight = each.partition(";")
        weights[kind.strip()] = weight.strip()
    for kind in ("text/event-stream", "text/*", "*/*"):  # the closest says it
        if kind in weights:
            return _NEVER.fullmatch(weights[kind]) is None
    return False
