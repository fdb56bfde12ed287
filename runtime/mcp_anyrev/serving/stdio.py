"""A server for the one client that started its process.

Rule: it serves until nothing comes any longer, or the process is asked to end; the calls that go on then may finish, within the time for
that. From then on the time is bounded, whatever does not end; being asked once more ends the calls.
Specification: basic/transports#stdio, basic/lifecycle#stdio
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from mcp_anyrev.serving.event_loop import leave_alone_what_is_there, run_to_the_end
from mcp_anyrev.serving.server import Server
from mcp_anyrev.settings import Settings
from mcp_anyrev.transports.signals import AskedToEnd
from mcp_anyrev.transports.stdio import own_streams

if TYPE_CHECKING:
    from mcp_anyrev.declaring.registry import Registry

_LAST_SECONDS = 2.25
"""How long a process may take to end beside what calls may take."""


def stdio(registry: Registry, settings: Settings | None = None) -> None:
    """Serve a registry on stdin and stdout until stdin ends, or the process is asked to end by SIGINT or SIGTERM; for a script's last line.

    What handlers print goes to stderr meanwhile.

    Args:
        registry: what is offered.
        settings: how it is run. What belongs to HTTP means nothing here.

    Specification: basic/transports#stdio
    """
    loaded_on_stdio(lambda: Server(registry, settings))


def loaded_on_stdio(load: Callable[[], Server]) -> None:
    """The same with a server that is yet to be loaded, which may print as well.

    Args:
        load: loads it.

    Raises:
        Exception: what `load` raises.
    """
    with AskedToEnd(_LAST_SECONDS) as asked, own_streams() as (reads, writes):
        server = load()
        asked.seconds += server.settings.shutdown_seconds
        run_to_the_end(_until_the_end(server, reads, writes, asked))


async def _until_the_end(server: Server, reads: int, writes: int, asked: AskedToEnd) -> None:
    async with server:
        leave_alone_what_is_there()
        serving = asyncio.create_task(server.stdio(reads, writes, ending=asked.bound))
        ending = asyncio.create_task(asked.wait())
        await asyncio.wait((serving, ending), return_when=asyncio.FIRST_COMPLETED)
        asked.bound()
        ending.cancel()
        serving.cancel()
        await asyncio.wait((serving,))
        if not serving.cancelled():
            await serving  # for what it raised
