"""One answer or a stream: decided by what comes first, the answer, a message before it, or impatience.

Rule: a handler that never waits costs nothing here; only for one that does somebody stands by. It runs in the task of its request
from beginning to end. Whether a client that goes away cancels its request, the adapter says, and whether it may come back for the
rest of a stream.
Specification: basic/transports/streamable-http#receiving-messages
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from typing import TYPE_CHECKING, Any, NamedTuple

from mcp_contract import InternalError, Json, JsonObject, ProtocolError

from mcp_anyrev.conversation.at_once import Resumed
from mcp_anyrev.conversation.outbox import Outbox
from mcp_anyrev.events import KEEP_ALIVE, event, opening_event
from mcp_anyrev.http.wire import OK, STREAM_HEADERS, Line, Response

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.conversation.calls import Context
    from mcp_anyrev.conversation.running import Running
    from mcp_anyrev.http.journals import Journal, Journals

__all__ = ["Outbox", "Patience", "Replies", "Reply"]


class Patience(NamedTuple):
    """When something is sent although there is nothing to say, and when a client comes back.

    Attributes:
        head: after how many seconds a reply becomes a stream.
        silence: after how many seconds without a message a stream carries a comment.
        retry: after how many milliseconds a client takes up a stream again that has been closed early.
    """

    head: float
    silence: float
    retry: int


class Replies(NamedTuple):
    """What all replies of an endpoint share.

    Attributes:
        patience: when a stream is opened and kept alive.
        running: the calls that wait.
        journals: streams that can be taken up again.
        refusal: words an error, for a revision and an id.
    """

    patience: Patience
    running: Running
    journals: Journals
    refusal: Callable[[Adapter, JsonObject, ProtocolError], Response]


class Reply:
    """A reply in the making; awaited, it gives the answer.

    That is None where the answer has gone out on a stream, or nobody is there to get it, or nobody wants it any longer.

    Args:
        shared: what all replies share.
        context: where the request came from; its revision says what a stream's head holds.
        identifier: the id by which the request can be given up; None where that is not possible.
        work: makes the final message; with None the stream ends without one.
        outbox: where it puts messages before that.
        line: the way back to the client.
    """

    __slots__ = ("_context", "_identifier", "_line", "_outbox", "_shared", "_work")

    def __init__(
        self,
        shared: Replies,
        context: Context,
        identifier: Json,
        work: Coroutine[Any, Any, Response | None],
        outbox: Outbox,
        line: Line,
    ) -> None:
        self._shared = shared
        self._context = context
        self._identifier = identifier
        self._work = work
        self._outbox = outbox
        self._line = line

    def __await__(self) -> Generator[Any, Any, Response | None]:
        try:
            waited_for = self._work.send(None)
        except StopIteration as finished:
            response: Response | None = finished.value
            if response is not None and not self._outbox:
                self._outbox.close()
                return response
            return (yield from self._streamed(response).__await__())
        return (yield from self._attended(waited_for).__await__())

    async def _streamed(self, response: Response | None) -> Response | None:
        """The work never waited, and yet there are messages before its answer, or there is none."""
        return await _StandingBy(self._shared, self._context, self._outbox, self._line).finish(response)

    async def _attended(self, waited_for: Any) -> Response | None:
        context, shared = self._context, self._shared
        standing_by = _StandingBy(shared, context, self._outbox, self._line)
        call = shared.running.add(context, self._identifier)
        standing_by.on_departure = call.give_up if context.adapter.disconnect_cancels else None
        try:
            response = await Resumed(self._work, waited_for)
            if context.cancelled and call.was_given_up() and not call.owes_answer:
                response = None
        except asyncio.CancelledError:
            if not call.was_given_up():
                standing_by.dismiss()
                raise
            response = self._farewell() if call.owes_answer else None
        except BaseException:
            standing_by.dismiss()
            raise
        finally:
            shared.running.remove(call)
        return await standing_by.finish(response)

    def _farewell(self) -> Response:
        identifier = {} if self._identifier is None else {"id": self._identifier}
        return self._shared.refusal(self._context.adapter, identifier, InternalError("the server ended the call"))


class _StandingBy:
    """Opens the stream when it is time, writes to it, and notices when nobody is there any longer."""

    def __init__(self, shared: Replies, context: Context, outbox: Outbox, line: Line) -> None:
        self._shared = shared
        self._context = context
        self._outbox = outbox
        self._line = line
        self._streaming = False
        self._gone = False
        self._journal: Journal | None = None
        self._reader: object = None
        self.on_departure: Callable[[], None] | None = None
        self._writing = asyncio.ensure_future(self._write())
        self._watching = asyncio.ensure_future(self._watch())

    async def finish(self, response: Response | None) -> Response | None:
        """Send the final message on the stream; it is the answer where there is none yet."""
        self._watching.cancel()
        if self._gone and self._journal is None:
            self._writing.cancel()
            return None
        if response is not None and not self._streaming and not self._outbox:
            self._writing.cancel()
            self._outbox.close()
            return response
        self._outbox.end(None if response is None else response.body)
        await asyncio.wait((self._writing,))
        return None

    def dismiss(self) -> None:
        """There is nothing more to do."""
        self._writing.cancel()
        self._watching.cancel()
        self._outbox.close()

    async def _write(self) -> None:
        adapter, patience = self._context.adapter, self._shared.patience
        await self._outbox.wait(patience.head)
        self._streaming = True
        try:
            await self._line.open(OK, {**STREAM_HEADERS, **adapter.stream_headers})
            if self._outbox.resumable and self._context.session is not None:
                await self._write_journal(self._shared.journals.open(self._context.session.name))
                return
            while True:
                while self._outbox:
                    await self._line.write(event(self._outbox.take()))
                if self._outbox.ended:
                    return
                if not await self._outbox.wait(patience.silence):
                    await self._line.write(KEEP_ALIVE)
        except ConnectionError:
            self._leave()

    async def _write_journal(self, journal: Journal) -> None:
        self._journal = journal
        self._reader = reader = journal.attach()
        self._outbox.record(journal)
        if self._context.adapter.closes_to_be_polled:
            retry = self._shared.patience.retry if self._outbox.retry is None else self._outbox.retry
            await self._line.write(opening_event(f"{journal.name}.0", retry))
            if self._outbox.retry is not None:
                journal.detach(reader)
        await journal.read_out(reader, 0, self._line, self._shared.patience.silence)
        if not journal.ended:  # the client comes back for the rest, on another connection
            await self._line.close()

    async def _watch(self) -> None:
        await self._line.gone()
        self._leave()

    def _leave(self) -> None:
        self._gone = True
        if self._journal is not None:
            self._journal.detach(self._reader)
        else:
            self._writing.cancel()
            self._outbox.close()
        if self.on_departure is not None:
            self.on_departure()
