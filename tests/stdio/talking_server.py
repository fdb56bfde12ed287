"""A server on its standard streams whose handlers do what handlers must not: print, write to stdout, start processes, never end.

python tests/stdio/talking_server.py
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator

from mcp_anyrev import Exchange, Limits, Registry, Settings, elicit, stdio

print("printed before it serves", file=sys.stdout if os.environ.get("LOUD") else sys.stderr)
LAST_WORDS: list[str] = []


@contextlib.asynccontextmanager
async def lifespan(registry: Registry) -> AsyncIterator[None]:
    yield
    if LAST_WORDS:
        print(*LAST_WORDS, file=sys.stderr)


registry = Registry("talking", "1.0", lifespan=lifespan)


@registry.tool
def echo(text: str) -> str:
    """Gives the text back."""
    return text


@registry.tool
async def loud() -> str:
    """Writes to stdout in every way there is."""
    print("printed")
    sys.stdout.write("written\n")
    os.write(1, b"through the descriptor\n")
    await asyncio.to_thread(subprocess.run, [sys.executable, "-c", "print('from another process')"], check=True)
    return "said"


@registry.tool
def hungry() -> str:
    """Reads stdin."""
    return repr(sys.stdin.read() or os.read(0, 100))


@registry.tool
async def wait(seconds: float) -> str:
    """Takes its time."""
    await asyncio.sleep(seconds)
    return "waited"


@registry.tool
def stuck() -> str:
    """Never ends, and cannot be cancelled."""
    time.sleep(60)
    return "never"


@registry.tool
def last_words(text: str) -> str:
    """Has this printed in the end, within the event loop."""
    LAST_WORDS.append(text)
    return "noted"


@registry.tool
def flood() -> str:
    """Prints more than a pipe takes."""
    print("x" * 200_000)
    return "printed"


@registry.tool
async def ask(ex: Exchange) -> str:
    """Asks."""
    return str((await ex.ask("sure", elicit("Sure?"))).action)


@registry.tool
def grow() -> str:
    """Says that there are other tools now."""
    registry.changed("tools")
    return "grown"


if __name__ == "__main__":
    stdio(registry, Settings(shutdown_seconds=0.5, limits=Limits(line_bytes=200_000)))
