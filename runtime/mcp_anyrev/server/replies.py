"""One answer or a stream: decided by what comes first, the answer, a message before it, or impatience.

Rule: a handler that never waits costs nothing here; only for one that does somebody stands by. It runs in the task of its request
from beginning to end. Whether a client that goes away cancels its request, the adapter says.
Specification: basic/transports/streamable-http#receiving-messages
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine, Generator
from typing import TYPE_CHECKING, Any, NamedTuple

from mcp_anyrev.server.wire import OK, STREAM_HEADERS, Line, Response, event

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

_KEEP_ALIVE = b":\n\n"


class Patience(NamedTuple):
    """When something is sent although there is nothing to say.

    Attributes:
        head: after how many seconds a reply becomes a stream.
        silence: after how many seconds without a message a stream carries a comment.
    """

    head: float
    silence: float


class Outbox:
    """Messages on their way to a stream."""

    __slots__ = ("_messages", "_waiter", "closed")

    def __init__(self) -> None:
        self._messages: deque[bytes] | None = None
        self._waiter: asyncio.Future[None] | None = None
        self.closed = False

    def __bool__(self) -> bool:
        return bool(self._messages)

    def send(self, message: bytes) -> None:
        """Put a message on its way; to nowhere, if nobody reads any longer."""
        if self.closed:
            return
        if self._messages is None:
            self._messages = deque()
        self._messages.append(message)
        self.wake()

    def take(self) -> bytes:
        """The next message.

        Raises:
            IndexError: there is none.
        """
        return (self._messages or deque()).popleft()

    def close(self) -> None:
        """Nobody reads any longer."""
        self.closed = True
        self._messages = None

    def wake(self) -> None:
        """End a wait."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def wait(self, seconds: float) -> bool:
        """Wait for a message or for `wake`; False where neither came in time."""
        if self._messages:
            return True
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(seconds):
                await self._waiter
        except TimeoutError:
            return False
        finally:
            self._waiter = None
        return True


class Reply:
    """A reply in the making; awaited, it gives the answer.

    That is None where the answer has gone out on a stream, or nobody is there to get it.

    Args:
        adapter: the revision; says what a stream's head holds, and whether a client that goes away cancels its request.
        work: makes the final message.
        outbox: where it puts messages before that.
        line: the way back to the client.
        patience: when a stream is opened and kept alive.
    """

    __slots__ = ("_adapter", "_line", "_outbox", "_patience", "_work")

    def __init__(
        self,
        adapter: Adapter,
        work: Coroutine[Any, Any, Response],
        outbox: Outbox,
        line: Line,
        patience: Patience,
    ) -> None:
        self._adapter = adapter
        self._work = work
        self._outbox = outbox
        self._line = line
        self._patience = patience

    def __await__(self) -> Generator[Any, Any, Response | None]:
        try:
            waited_for = self._work.send(None)
        except StopIteration as finished:
            response: Response = finished.value
            return response
        return (yield from self._attended(waited_for).__await__())

    async def _attended(self, waited_for: Any) -> Response | None:
        standing_by = _StandingBy(self._adapter, self._outbox, self._line, self._patience)
        try:
            response = await _Resumed(self._work, waited_for)
        except asyncio.CancelledError:
            if standing_by.dismissed():
                return None
            raise
        except BaseException:
            standing_by.dismissed()
            raise
        return await standing_by.finish(response)


class _Resumed:
    """A coroutine that waits for something already, to be awaited further by the same task."""

    __slots__ = ("_waited_for", "_work")

    def __init__(self, work: Coroutine[Any, Any, Response], waited_for: Any) -> None:
        self._work = work
        self._waited_for = waited_for

    def __await__(self) -> Generator[Any, Any, Response]:
        work, waited_for = self._work, self._waited_for
        try:
            while True:
                try:
                    got = yield waited_for
                except GeneratorExit:
                    work.close()
                    raise
                except BaseException as error:
                    waited_for = work.throw(error)
                else:
                    waited_for = work.send(got)
        except StopIteration as finished:
            response: Response = finished.value
            return response


class _StandingBy:
    """Opens the stream when it is time, writes to it, and notices when nobody is there any longer."""

    def __init__(
        self,
        adapter: Adapter,
        outbox: Outbox,
        line: Line,
        patience: Patience,
    ) -> None:
        self._headers = {**STREAM_HEADERS, **adapter.stream_headers}
        self._outbox = outbox
        self._line = line
        self._patience = patience
        self._worker = asyncio.current_task() if adapter.disconnect_cancels else None
        self._streaming = False
        self._gone = False
        self._final: bytes | None = None
        self._writing = asyncio.ensure_future(self._write())
        self._watching = asyncio.ensure_future(self._watch())

    async def finish(self, response: Response) -> Response | None:
        """Send the final message on the stream; it is the answer where there is none yet."""
        self._watching.cancel()
        if not self._streaming and not self._outbox:
            self._writing.cancel()
            return None if self._gone else response
        self._final = response.body
        self._outbox.wake()
        await asyncio.wait((self._writing,))
        return None

    def dismissed(self) -> bool:
        """The work was cancelled: was it because the client has gone?"""
        self._writing.cancel()
        self._watching.cancel()
        task = asyncio.current_task()
        return self._gone and task is not None and task.uncancel() == 0

    async def _write(self) -> None:
        await self._outbox.wait(self._patience.head)
        self._streaming = True
        try:
            await self._line.open(OK, self._headers)
            while True:
                while self._outbox:
                    await self._line.write(event(self._outbox.take()))
                if self._final is not None:
                    await self._line.write(event(self._final))
                    return
                if not await self._outbox.wait(self._patience.silence):
                    await self._line.write(_KEEP_ALIVE)
        except ConnectionError:
            self._leave()

    async def _watch(self) -> None:
        await self._line.gone()
        self._writing.cancel()
        self._leave()

    def _leave(self) -> None:
        self._gone = True
        self._outbox.close()
        if self._worker is not None:
            self._worker.cancel()
