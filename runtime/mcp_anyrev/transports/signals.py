"""Being told in time that a process is to end, under a server that waits for open streams before it tells anybody.

Rule: whoever was told before is told still, and first streams are ended. Nothing is done outside the main thread, where signals
cannot be received.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def before_the_end(begin: Callable[[], None]) -> None:
    """Have a function called, in the running event loop, when the process is asked to end.

    Args:
        begin: what is to be begun; it must not wait.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        previous = signal.getsignal(number)
        if callable(previous):
            signal.signal(number, _chained(begin, previous, loop))


def _chained(
    begin: Callable[[], None], previous: Callable[[int, FrameType | None], Any], loop: asyncio.AbstractEventLoop
) -> Callable[[int, FrameType | None], None]:
    def handle(number: int, frame: FrameType | None) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(begin)
        previous(number, frame)

    return handle
