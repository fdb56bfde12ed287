"""A server to be fuzzed, in a process of its own, so that its memory can be measured from outside.

python tests/server/fuzz_server.py aiohttp|asgi
"""

from __future__ import annotations

import asyncio
import sys
from typing import Annotated

from mcp_anyrev import Exchange, Registry, Settings, elicit
from pydantic import Field
from raw_client import serving

registry = Registry("fuzz", "1.0")


@registry.tool
async def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


@registry.tool
async def confirm(ex: Exchange) -> str:
    """Asks."""
    return "yes" if (await ex.ask("go", elicit("Go ahead?"))).accepted else "no"


@registry.tool
async def talk(times: Annotated[int, Field(ge=0, le=10)], ex: Exchange) -> str:
    """Sends messages before its result."""
    for number in range(times):
        await ex.log("info", f"number {number}")
        await ex.progress(number + 1, times)
        await asyncio.sleep(0)
    return "said"


@registry.tool
async def region(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "") -> str:
    """Has an argument that is repeated in a header."""
    return region


@registry.tool
async def numbers() -> list[float]:
    """A bare list."""
    return [1.5, 2.0]


@registry.tool
def fail() -> str:
    """Fails in a thread."""
    raise RuntimeError("secret")


@registry.resource("fuzz://note")
def note() -> str:
    """A note."""
    return "note"


@registry.resource("fuzz://item/{id}")
def item(id: str) -> str:
    """An item."""
    return id


@registry.prompt
def greet(name: str) -> str:
    """Greets."""
    return f"Hello {name}"


async def main(binding: str) -> None:
    # What is kept for clients goes again while this runs, so that what grows all the same is lost.
    settings = Settings(ask_timeout_seconds=0.2, session_ttl_seconds=3, state_ttl_seconds=3, kept_seconds=3)
    async with serving(registry, settings, binding) as url:
        print(url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    import logging

    logging.disable(logging.CRITICAL)  # what the tools raise is no news here
    asyncio.run(main(sys.argv[1]))
