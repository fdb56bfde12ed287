"""A server that takes and gives much at once, in a process of its own, and says for how long at most its loop could not go on.

python tests/server/large_server.py aiohttp|asgi

What is measured is processor time of the whole process between two turns of its loop, so that neither a busy machine nor the client
counts, and a thread that holds the interpreter does.
"""

from __future__ import annotations

import asyncio
import pathlib
import sys
import time
from ipaddress import IPv4Address
from typing import Any

from mcp_anyrev import Exchange, Registry, elicit, roots
from mcp_anyrev.serving.event_loop import leave_alone_what_is_there
from pydantic import BaseModel
from raw_client import serving

TURN_SECONDS = 0.002
MEGABYTES = 4 * 1024 * 1024


class Row(BaseModel):
    number: int
    name: str = ""


class Nullable(BaseModel):
    number: int
    note: str | None


class Defaults(BaseModel):
    """Pydantic copies each default in Python."""

    numbers: list[int] = []
    notes: dict[str, str] = {}


class Form(BaseModel):
    name: str


ROWS = [Row(number=number, name="x" * 20) for number in range(MEGABYTES // 40)]
NUMBERS = list(range(MEGABYTES // 7))

registry = Registry("large", "1.0")
longest = 0.0


@registry.tool
async def gap() -> float:
    """The longest gap so far; the next one counts from now on."""
    global longest
    found, longest = longest, 0.0
    return found


@registry.tool(input_schema={"type": "object"})
async def anything(given: dict[str, Any]) -> str:
    return "taken"


@registry.tool(input_schema={"type": "object"})
async def echo(given: dict[str, Any]) -> Any:
    return given


@registry.tool(input_schema={"type": "object"})
def echo_in_thread(given: dict[str, Any]) -> Any:
    return given


@registry.tool
async def rows(it: list[Row]) -> list[Row]:
    return it


@registry.tool
def rows_in_thread(it: list[Row]) -> list[Row]:
    return it


@registry.tool
async def nullable(it: list[Nullable]) -> int:
    return len(it)


@registry.tool
async def numbers(it: set[int]) -> int:
    return len(it)


@registry.tool
async def defaults(it: list[Defaults]) -> int:
    return len(it)


@registry.tool
async def addresses(it: list[IPv4Address]) -> int:
    return len(it)


@registry.tool
async def paths(it: list[pathlib.Path]) -> int:
    return len(it)


@registry.tool
async def text(it: str) -> str:
    return it


@registry.tool
async def gives_rows() -> list[Row]:
    return ROWS


@registry.tool
async def gives_numbers() -> list[int]:
    return NUMBERS


@registry.tool
async def gives_text() -> str:
    return '"\\é' * (MEGABYTES // 4)


@registry.tool
async def asks(ex: Exchange) -> str:
    return str((await ex.ask("form", elicit("Name?", Form))).action)


@registry.tool
async def asks_for_roots(ex: Exchange) -> str:
    return str((await ex.ask("roots", roots())).action)


@registry.resource("mx://{+path}")
async def path(path: str) -> bytes:
    return b"\x00" * (3 * 1024 * 1024)


@registry.prompt
async def words(one: str = "") -> str:
    return one


@registry.completion("one", prompt="words")
async def completed(value: str, arguments: dict[str, str]) -> list[str]:
    return [value]


async def watch() -> None:
    global longest
    before = time.process_time()
    while True:
        await asyncio.sleep(TURN_SECONDS)
        now = time.process_time()
        longest, before = max(longest, now - before), now


async def main(binding: str) -> None:
    async with serving(registry, None, binding) as url:
        if binding == "aiohttp":  # as `run` does; a host of ASGI has its process to itself
            leave_alone_what_is_there()
        watching = asyncio.ensure_future(watch())
        print(url, flush=True)
        await watching


if __name__ == "__main__":
    import logging

    logging.disable(logging.CRITICAL)
    asyncio.run(main(sys.argv[1]))
