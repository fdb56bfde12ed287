"""Several processes that serve the same.

Rule: this process serves nothing; it keeps so many others at it. One that dies is replaced, more slowly each time if it never came to
serve; when this one is asked to end, or dies, all end in good order.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import signal
import termios
import threading
import time
from array import array
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

log = logging.getLogger("mcp_anyrev.server")

Work = Callable[[Callable[[str], None], bool], None]
"""What a worker does until it is asked to end, by SIGTERM; it tells its URL once it serves, and learns whether it is the first."""

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 10.0
_LONG_ENOUGH_SECONDS = 5.0
"""A worker that has lived for so long was in order."""


class CannotStart(RuntimeError):
    """A worker ended before any of them served; it has said why."""


class Workers:
    """Keeps processes at work.

    Args:
        count: how many.
        work: what each does.
        told: gets the URL, once the first of them serves.
    """

    def __init__(self, count: int, work: Work, told: Callable[[str], None]) -> None:
        self._count = count
        self._work = work
        self._told = told
        self._begun: dict[int, float] = {}
        self._ending = False
        self._pause = _FIRST_PAUSE_SECONDS
        self._first, first = os.pipe()
        """It holds one byte, which the first worker takes that serves. A thread that listened would be in the way of forking."""
        os.write(first, b"1")
        os.close(first)
        self._ended, self._lives = os.pipe()
        """The writing end is this process's alone, so its end is read once this process is there no longer."""

    def run(self) -> None:
        """Until this process is asked to end, by SIGINT or SIGTERM.

        Raises:
            CannotStart: a worker ended before any of them served.
        """
        before = {number: signal.signal(number, self._end) for number in _SIGNALS}
        try:
            for number in range(self._count):
                self._begin(first=number == 0)
            while self._begun:
                self._replace(*os.waitpid(-1, 0))
        finally:
            self._end()
            with contextlib.suppress(ChildProcessError):
                while self._begun:
                    self._begun.pop(os.waitpid(-1, 0)[0], None)
            for number, handler in before.items():
                signal.signal(number, handler)
            for end in (self._first, self._ended, self._lives):
                os.close(end)

    def _begin(self, *, first: bool = False) -> None:
        # What asks the new process to end waits until it no longer has this one's way of ending.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            if self._ending:
                return
            process = os.fork()
            if process == 0:
                self._serve(blocked, first)
            self._begun[process] = time.monotonic()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    def _serve(self, blocked: set[int | signal.Signals], first: bool) -> NoReturn:
        """What the new process does."""
        status = 1
        try:
            os.close(self._lives)
            for number in _SIGNALS:
                signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
            threading.Thread(target=self._end_with_the_parent, daemon=True).start()
            self._work(self._say_that_it_serves, first)
            status = 0
        except KeyboardInterrupt:
            status = 0
        except BaseException:
            log.exception("a worker cannot serve")
        finally:
            os._exit(status)  # nothing of the parent's is to be done here at the end

    def _say_that_it_serves(self, url: str) -> None:
        if os.read(self._first, 1):  # at its end, since another has taken it, this gives nothing
            self._told(url)

    def _end_with_the_parent(self) -> None:
        os.read(self._ended, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    def _replace(self, process: int, status: int) -> None:
        begun = self._begun.pop(process, None)
        if begun is None or self._ending:
            return
        if self._nobody_has_served():
            raise CannotStart("no worker could begin to serve")
        if time.monotonic() - begun > _LONG_ENOUGH_SECONDS:
            self._pause = _FIRST_PAUSE_SECONDS
        log.error("a worker ended (%s); another takes its place", _ended(status))
        time.sleep(self._pause)
        self._pause = min(2 * self._pause, _LONGEST_PAUSE_SECONDS)
        self._begin()

    def _nobody_has_served(self) -> bool:
        # At its end it can be read as well, but has nothing in it.
        return _waiting_bytes(self._first) > 0

    def _end(self, number: int = 0, frame: FrameType | None = None) -> None:
        self._ending = True
        for process in self._begun:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)


def _waiting_bytes(pipe: int) -> int:
    count = array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


def _ended(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"signal {-code}" if code < 0 else f"status {code}"
