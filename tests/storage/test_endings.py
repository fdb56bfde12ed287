"""What goes on beside the calls of a store ends when it is closed, even where a library takes a cancellation for something else."""

from __future__ import annotations

import asyncio
import contextlib

from mcp_anyrev.storage.endings import ended


def test_what_swallows_a_cancellation_is_cancelled_again() -> None:
    cancelled = []

    async def deaf() -> None:
        for number in range(2):
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(60)
            cancelled.append(number)
        await asyncio.sleep(60)

    async def fails() -> None:
        raise OSError("lost")

    async def test() -> None:
        tasks = [asyncio.create_task(deaf()), asyncio.create_task(fails())]
        await asyncio.sleep(0)
        await asyncio.wait_for(ended(tasks), 10)
        assert all(task.done() for task in tasks)

    asyncio.run(test())
    assert cancelled == [0, 1]


def test_nothing_ends_at_once() -> None:
    asyncio.run(ended([]))
