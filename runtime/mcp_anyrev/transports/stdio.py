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
import sys
import threading
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from mcp_contract import TooLarge

from mcp_anyrev.transports.lines import Lines

if TYPE_CHECKING:
    from mcp_anyrev.conversation.outbox import Queue
    from mcp_anyrev.server.pipe import Pipe

_PIECE_BYTES = 64 * 1024
_LOOK_SECONDS = 60.0


@contextlib.contextmanager
def own_streams() -> Iterator[tuple[int, int]]:
    """Take the standard streams of the process away from everybody else; gives what reads and what writes.

    Meanwhile there is nothing to read on stdin, and what is printed goes to stderr, also from processes that are started.
    """
    reads, writes = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    printing = sys.stdout
    os.dup2(nothing, 0)
    os.dup2(2, 1)
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
        self._work: queue.SimpleQueue[tuple[asyncio.Future[bytes], bytes | None]] = queue.SimpleQueue()
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

    async def _done(self, data: bytes | None) -> bytes:
        done: asyncio.Future[bytes] = self._loop.create_future()
        self._work.put((done, data))
        return await done

    def _run(self) -> None:
        while True:
            done, data = self._work.get()
            try:
                given = os.read(self._number, _PIECE_BYTES) if data is None else _written(self._number, data)
                settle = partial(_settle, done, given, None)
            except OSError as error:
                settle = partial(_settle, done, b"", error)
            try:
                self._loop.call_soon_threadsafe(settle)
            except RuntimeError:  # the loop has ended
                return


async def carried(pipe: Pipe, reads: int, writes: int, most: int) -> asyncio.Task[None]:
    """Carry the messages of a connection until nothing comes any longer, or nobody reads.

    Args:
        pipe: the connection, which has been opened.
        reads: the descriptor that is read.
        writes: the descriptor that is written.
        most: how many bytes a line has at most.

    Returns:
        What still writes: it ends once all has been written that was put on its way before the end of `pipe.queue`.
    """
    sending = asyncio.create_task(_send(pipe.queue, Descriptor(writes)))
    taking = asyncio.create_task(_take(pipe, Descriptor(reads), most))
    try:
        await asyncio.wait((sending, taking), return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        pass  # the process is to end, which what is written may still tell
    finally:
        taking.cancel()
        await asyncio.gather(taking, return_exceptions=True)
    return sending


async def _take(pipe: Pipe, source: Descriptor, most: int) -> None:
    lines = Lines(most)
    while True:
        try:
            piece = await source.read()
        except OSError:
            piece = b""
        for line in lines.take(piece) if piece else lines.last():
            if line is None:
                pipe.refuse(TooLarge(f"a line has at most {most} bytes"))
            else:
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
        try:
            await target.write(b"".join(lines))
        except OSError:
            waiting.close()


def _written(number: int, data: bytes) -> bytes:
    view = memoryview(data)
    while view:
        view = view[os.write(number, view) :]
    return b""


def _settle(done: asyncio.Future[bytes], given: bytes, error: OSError | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(given)
    else:
        done.set_exception(error)
