"""The event loop of a server that is alone in its process.

Rule: uvloop's where that is installed, which is faster. No task ends it but the one that it is for: asyncio has `SystemExit` and `KeyboardInterrupt` leave the loop whichever task raises
them, before whoever waits for that task hears of it; a task that a handler has started is the application's code like the handler itself.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from mcp_anyrev.user_code import contained

log = logging.getLogger("mcp_anyrev.server")


def run_to_the_end(main: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine in an event loop of its own, whatever the tasks of handlers raise.

    Raises:
        BaseException: what the coroutine raised, or what a signal did.
    """
    with asyncio.Runner(loop_factory=_fastest()) as runner:
        loop = runner.get_loop()
        task = loop.create_task(main)
        while True:
            try:
                loop.run_until_complete(task)
                return
            except (SystemExit, KeyboardInterrupt) as error:
                if task.done():
                    raise
                log.error("a task that a handler had started would have ended the process", exc_info=contained(error))


def leave_alone_what_is_there() -> None:
    """Have the garbage collector never look again at what is there now, in a process that has been made to serve.

    With each large message it would look through all modules and schemas, which takes longer than to read the message.
    """
    gc.collect()
    gc.freeze()


def _fastest() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """What makes a loop; None for asyncio's own."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
