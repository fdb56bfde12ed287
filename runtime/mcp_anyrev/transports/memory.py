"""A client and a server in one process, without anything between them.

Rule: what is said is the same as on a pipe, to the byte; only how it gets there is not.
Specification: basic/transports#custom-transports
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcp_anyrev.client.errors import CannotConnect
from mcp_anyrev.client.pipe import PipeTransport
from mcp_anyrev.server.pipe import Pipe

if TYPE_CHECKING:
    from mcp_anyrev.principal import Principal
    from mcp_anyrev.server.core import Core

_LOOK_SECONDS = 60.0


class MemoryTransport(PipeTransport):
    """Connects a client to a server of the same event loop; see `Transport`.

    Args:
        core: the server, which has been started.
        principal: who the client is; None for nobody in particular.
    """

    def __init__(self, core: Core, principal: Principal | None = None) -> None:
        super().__init__(core.settings.limits)
        self._pipe = Pipe(core, principal)

    async def _connect(self) -> None:
        await self._pipe.open()

    async def _disconnect(self) -> None:
        await self._pipe.close()

    async def _write(self, frame: bytes) -> None:
        await self._pipe.take_frame(frame)

    async def _read(self) -> bytes:
        queue = self._pipe.queue
        while not queue:
            if queue.closed or queue.ended:
                raise CannotConnect("the server has ended the connection")
            await queue.wait(_LOOK_SECONDS)
        await asyncio.sleep(0)  # whoever waits for what came before is to get on, too
        return queue.take()
