"""Turns of the event loop.

Rule: what takes long because it is large is done in steps, and whoever has sent something small goes first in between.
"""

from __future__ import annotations

import asyncio

LARGE_BYTES = 32 * 1024
"""What is smaller is done in one step."""

_TURNS = 3
"""What has come for somebody else is read in one turn of the loop, wakes who waits for it in the next, and is answered in the one after."""


async def others_first() -> None:
    """Let whatever has come meanwhile be answered."""
    for _ in range(_TURNS):
        await asyncio.sleep(0)
