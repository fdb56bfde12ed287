"""Ending what goes on beside the calls of a store.

Rule: it has ended when this returns, whatever a library does that is cancelled: some take that for the end of their own waiting, and go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any

_PATIENCE_SECONDS = 0.5


async def ended(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancel tasks until each is done; what they raise is nobody's any longer."""
    left = set(tasks)
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=_PATIENCE_SECONDS)
    await asyncio.gather(*tasks, return_exceptions=True)
