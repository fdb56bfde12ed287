"""What a handler tells the client on the way: how far it has got, and log messages.

Rule: only on the stream of the call, only before its answer, and only what the client asked for: progress where it gave a token,
growing each time; messages from the level on that it set.
Specification: basic/patterns/progress#progress-flow
"""

from __future__ import annotations

import asyncio
import logging
import math
from typing import TYPE_CHECKING, Any, get_args

from mcp_contract import JsonObject, member
from pydantic_core import to_json

from mcp_anyrev.server.deprecations import LOGGING

if TYPE_CHECKING:
    from mcp_anyrev.conversation.requests import Request
    from mcp_anyrev.server.deprecations import Deprecations

log = logging.getLogger("mcp_anyrev.server")

PROGRESS = "notifications/progress"
MESSAGE = "notifications/message"


class Reports:
    """What one call reports.

    Args:
        request: the call.
        deprecations: tells what is used that is deprecated.
    """

    __slots__ = ("_deprecations", "_left_out", "_reached", "_request")

    def __init__(self, request: Request, deprecations: Deprecations) -> None:
        self._deprecations = deprecations
        self._left_out = 0
        self._request = request
        self._reached = -math.inf

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """See `Exchange.progress`."""
        if not math.isfinite(progress) or (total is not None and not math.isfinite(total)):
            raise ValueError("progress and total are finite numbers")
        token = member(self._request.params, "_meta", "progressToken")
        if token is None or progress <= self._reached:
            return
        self._reached = progress
        told = {"progressToken": token, "progress": progress, "total": total, "message": message}
        await self._send(PROGRESS, {name: value for name, value in told.items() if value is not None})

    async def log(self, level: str, data: Any, logger: str | None) -> None:
        """See `Exchange.log`."""
        conversation = self._request.conversation
        adapter, levels = conversation.adapter, conversation.adapter.log_levels
        if level not in levels and level not in (known := _known_levels()):
            raise ValueError(f"{level!r} is no level of a log message; levels: {', '.join(known)}")
        set_level = None if conversation.session is None else conversation.session.log_level
        wanted = adapter.log_level(self._request.params, set_level)
        if wanted is None or MESSAGE not in adapter.server_notifications:
            return
        self._deprecations.used(conversation.adapter, LOGGING)
        told = {"level": level, "data": data} if logger is None else {"level": level, "logger": logger, "data": data}
        # A level that only other revisions have is as grave as the one that is sent for it.
        sent = level if level in levels else adapter.encode_notification(MESSAGE, told)["params"]["level"]
        if levels.index(sent) >= levels.index(wanted):
            await self._send(MESSAGE, told)

    async def _send(self, method: str, params: JsonObject) -> None:
        request, conversation = self._request, self._request.conversation
        if method not in conversation.adapter.server_notifications:
            return
        if not request.open or request.given_up is not None:
            return
        if (
            await conversation.outbox.room()
        ):  # until there is, a report takes up no more than the handler has of it anyway
            if request.open and request.given_up is None:
                message = conversation.adapter.encode_notification(method, params)
                conversation.outbox.send(to_json(message, inf_nan_mode="null"))
            return
        self._left_out += 1
        if self._left_out & (self._left_out - 1) == 0:  # 1, 2, 4, …: said again, but not as often as it happens
            log.warning("%s: %d reports were left out, since nobody reads them", request.method, self._left_out)
        await asyncio.sleep(0)  # a handler that does nothing but report lets others in even so


def _known_levels() -> tuple[str, ...]:
    """The levels that any revision has."""
    from mcp_revisions.canonical import LoggingLevel

    found: tuple[str, ...] = get_args(LoggingLevel.__value__)
    return found
