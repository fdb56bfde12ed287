"""Being told that a process is to end.

Rule: what goes on is ended in good order first, and that has a bound. A server that has the process to itself answers for its end; a
guest of another server tells that one on, whoever was told before is told still. Signals are received in the main thread alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from functools import partial
from types import FrameType, TracebackType
from typing import Any

log = logging.getLogger("mcp_anyrev.server")

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_SAYING_SECONDS = 0.5

AskAgain = Callable[[], Any]
"""Asks a host to end for a second time, as a person does who will not wait any longer."""


class AskedToEnd:
    """Ends a process that is one server's alone: in good order with the first signal, at once with a second SIGINT.

    To be entered outside the event loop, since that may be what does not end.

    Attributes:
        seconds: after how many seconds from the first signal, or from `bound`, the process ends in any case.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._before: dict[int, Any] = {}
        self._asked = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._heard = asyncio.Event()
        self._last: threading.Timer | None = None

    def __enter__(self) -> AskedToEnd:
        for number in _SIGNALS:
            self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._last is not None:
            self._last.cancel()
            if not _done_in_time(_flush):  # which the interpreter would wait for without a bound
                _end()
        for number, before in self._before.items():
            signal.signal(number, before)

    async def wait(self) -> None:
        """Return once the first signal has come."""
        self._loop = asyncio.get_running_loop()
        if not self._asked:
            await self._heard.wait()

    def bound(self) -> None:
        """The process is to end, whoever wants it; from now on it has the seconds to do so."""
        if self._last is None:
            self._last = threading.Timer(self.seconds, _end)
            self._last.daemon = True
            self._last.start()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._asked:
            if number == signal.SIGINT:
                signal.signal(number, signal.SIG_DFL)
                signal.raise_signal(number)
            return
        self._asked = True
        self.bound()
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._heard.set)


def _end() -> None:
    words = "the process was ended, since something in it did not end: a handler, a lifespan, or a thread"
    _done_in_time(partial(log.critical, words))
    os._exit(1)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with contextlib.suppress(OSError, ValueError):
                stream.flush()


def _done_in_time(work: Callable[[], object]) -> bool:
    """Do what waits for as long as nobody reads what was printed; False where it has not been done."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(_SAYING_SECONDS)
    return not thread.is_alive()


class _Chained:
    """Handles a signal for a guest, and for whoever was there before."""

    def __init__(
        self,
        begin: Callable[[AskAgain], None],
        previous: Callable[[int, FrameType | None], Any],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.begin = begin
        self.previous = previous
        self.loop = loop

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.begin, partial(self.previous, signal.SIGINT, None))
        self.previous(number, frame)


def before_the_end(begin: Callable[[AskAgain], None]) -> None:
    """Have a function called, in the running event loop, when the process is asked to end.

    Some hosts wait for open streams before they tell their guests.

    Args:
        begin: what is to be begun; it must not wait. It gets what asks the host again.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        previous: Any = signal.getsignal(number)
        while isinstance(previous, _Chained) and previous.loop.is_closed():
            previous = previous.previous
        told = isinstance(previous, _Chained) and previous.loop is loop and previous.begin == begin
        if callable(previous) and not told:
            signal.signal(number, _Chained(begin, previous, loop))
