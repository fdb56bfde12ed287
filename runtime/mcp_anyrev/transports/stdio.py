"""A server on the standard streams of its process.

Rule: a message a line, and nothing else: whatever the application, or a process that it starts, reads or prints meets neither what comes
nor what goes out. The streams may be of any kind, so threads read and write them; none of these keeps the process from ending. While a
client does not read, nothing more of it is taken.
Specification: basic/transports#stdio
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import selectors
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from mcp_contract import TooLarge

from mcp_anyrev import wire_log
from mcp_anyrev.transports.lines import Lines

if TYPE_CHECKING:
    from mcp_anyrev.conversation.outbox import Queue
    from mcp_anyrev.server.pipe import Pipe

_PIECE_BYTES = 64 * 1024
_LOOK_SECONDS = 60.0
_FLUSH_SECONDS = 1.0


@contextlib.contextmanager
def own_streams() -> Iterator[tuple[int, int]]:
    """Take the standard streams of the process away from everybody else; gives what reads and what writes.

    Meanwhile there is nothing to read on stdin, and what is printed goes to stderr, also from processes that are started, and also what
    was printed before and has not been written yet. A stream that the process was started without is empty, or leads nowhere.
    """
    for number in (0, 1, 2):
        _open_if_closed(number)
    reads, writes = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    printing = sys.stdout
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    if printing is not None:
        with contextlib.suppress(OSError, ValueError):
            printing.flush()
    sys.stdout = sys.stderr
    try:
        yield reads, writes
    finally:
        sys.stdout = printing
        os.dup2(reads, 0)
        os.dup2(writes, 1)
        os.close(nothing)
        with contextlib.suppress(OSError):  # a thread may still read
            os.close(reads)
        os.close(writes)


class Descriptor:
    """A file descriptor of any kind, read or written by a thread of its own that keeps nothing from ending.

    Args:
        number: the descriptor.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._loop = asyncio.get_running_loop()
        self._work: queue.SimpleQueue[tuple[asyncio.Future[bytes], bytes | None] | None] = queue.SimpleQueue()
        threading.Thread(target=self._run, daemon=True).start()

    async def read(self) -> bytes:
        """Some bytes; none at the end."""
        return await self._done(None)

    async def write(self, data: bytes) -> None:
        """Write all of it.

        Raises:
            OSError: nobody reads.
        """
        await self._done(data)

    def close(self) -> None:
        """Let the thread end, once it is through with what it does."""
        self._work.put(None)

    async def _done(self, data: bytes | None) -> bytes:
        done: asyncio.Future[bytes] = self._loop.create_future()
        self._work.put((done, data))
        return await done

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            done, data = work
            try:
                given = _read(self._number) if data is None else _written(self._number, data)
                settle = partial(_settle, done, given, None)
            except OSError as error:
                settle = partial(_settle, done, b"", error)
            try:
                self._loop.call_soon_threadsafe(settle)
            except RuntimeError:  # the loop has ended
                return


async def carried(pipe: Pipe, reads: int, writes: int, most: int, finish: Callable[[], Awaitable[None]]) -> None:
    """Carry the messages of a connection until nothing comes any longer, nobody reads, or this is cancelled; then end it in good order.

    Args:
        pipe: the connection, which has been opened; closed in the end.
        reads: the descriptor that is read.
        writes: the descriptor that is written.
        most: how many bytes a line has at most.
        finish: lets the calls that go on come to an end; what still comes is taken meanwhile, and what is to be said still goes out.
    """
    source, target = Descriptor(reads), Descriptor(writes)
    taking = asyncio.create_task(_take(pipe, source, most))
    sending = asyncio.create_task(_send(pipe.queue, target))
    try:
        await asyncio.wait((taking, sending), return_when=asyncio.FIRST_COMPLETED)
    finally:
        try:
            await finish()
        finally:
            pipe.queue.end(None)
            await asyncio.wait((sending,), timeout=_FLUSH_SECONDS)
            for task in (taking, sending):
                task.cancel()
            source.close()
            target.close()
            await pipe.close()
    if not taking.cancelled():
        await taking  # for what it raised


async def _take(pipe: Pipe, source: Descriptor, most: int) -> None:
    lines = Lines(most)
    while True:
        try:
            piece = await source.read()
        except OSError:
            piece = b""
        for line in lines.take(piece) if piece else lines.last():
            if line is None:
                await pipe.queue.room()
                pipe.refuse(TooLarge(f"a line has at most {most} bytes"))
            else:
                if wire_log.is_wanted():
                    wire_log.tell(wire_log.Passed(False, content=line))
                await pipe.take_frame(line)
        if not piece:
            return


async def _send(waiting: Queue, target: Descriptor) -> None:
    while waiting or not (waiting.closed or waiting.ended):
        await waiting.wait(_LOOK_SECONDS)
        lines = []
        size = 0
        while waiting and size < _PIECE_BYTES:
            lines += [waiting.take(), b"\n"]
            size += len(lines[-2])
        if wire_log.is_wanted():
            for line in lines[::2]:
                wire_log.tell(wire_log.Passed(True, content=line))
        try:
            await target.write(b"".join(lines))
        except OSError:
            waiting.close()


def _open_if_closed(number: int) -> None:
    try:
        os.fstat(number)
    except OSError:
        os.set_inheritable(
            os.open(os.devnull, os.O_RDWR), True
        )  # gets the lowest number that is free, which is this one


def _read(number: int) -> bytes:
    while True:
        try:
            return os.read(number, _PIECE_BYTES)
        except BlockingIOError:
            _wait_for(number, selectors.EVENT_READ)


def _written(number: int, data: bytes) -> bytes:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(number, view) :]
        except BlockingIOError:
            _wait_for(number, selectors.EVENT_WRITE)
    return b""


def _wait_for(number: int, event: int) -> None:
    """Wait with a descriptor that does not, since it is shared with somebody who wants it so."""
    with selectors.DefaultSelector() as selector:
        selector.register(number, event)
        selector.select()


def _settle(done: asyncio.Future[bytes], given: bytes, error: OSError | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(given)
    else:
        done.set_exception(error)
