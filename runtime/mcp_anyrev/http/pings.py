"""Asking the client behind a stream, now and then, whether it is still there.

Rule: only where nothing has been said for a while, and only where the revision lets a server ask. Any answer will do. Without one the
connection counts as broken: its stream is left, and can be taken up again where the revision has that.
Specification: basic/utilities/ping#behavior-requirements
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from mcp_contract import JsonObject

from mcp_anyrev.conversation.conversation import Conversation, Undeliverable

if TYPE_CHECKING:
    from mcp_anyrev.conversation.outbox import Outbox
    from mcp_anyrev.http.streams import Reader
    from mcp_anyrev.server.audience import SessionStream
    from mcp_anyrev.server.core import Core

log = logging.getLogger("mcp_anyrev.server")

_PING = "ping"


@contextlib.asynccontextmanager
async def pinging(core: Core, told: SessionStream, outbox: Outbox, reader: Reader) -> AsyncIterator[None]:
    """Ask for as long as a stream is read.

    Args:
        core: the server.
        told: the stream, with its session and revision as they are now.
        outbox: puts messages on it.
        reader: who reads it, and leaves where no answer comes.
    """
    seconds = core.settings.ping_seconds
    if seconds is None:
        yield
        return
    asking = asyncio.ensure_future(_ask(core, told, outbox, reader, seconds))
    try:
        yield
    finally:
        asking.cancel()


async def _ask(core: Core, told: SessionStream, outbox: Outbox, reader: Reader, seconds: float) -> None:
    clock = asyncio.get_running_loop().time
    while True:
        quiet = clock() - reader.written_at
        if quiet < seconds:
            await asyncio.sleep(seconds - quiet)
            continue
        adapter = told.adapter
        if not told.session.version or _PING not in adapter.server_requests:  # no handshake yet, so nobody to ask
            await asyncio.sleep(seconds)
            continue
        conversation = Conversation(core, adapter, outbox, told.session, told.principal, cancels=False)
        request = adapter.question_request(conversation.new_identifier(), {"method": _PING})
        try:
            await conversation.request(request, clock() + core.settings.ping_timeout_seconds, _anything)
        except TimeoutError:
            log.warning("a stream was ended, since its client has not answered a ping")
            reader.leave()
            return
        except Undeliverable:
            return


def _anything(response: JsonObject) -> None:
    """Also an error says that somebody is there."""
