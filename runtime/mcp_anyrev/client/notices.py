"""What a server says of its own accord, on its way to the callbacks of the application.

Rule: one after the other and in order, beside the reading of what comes next, so a callback may call the server. Nothing waits for a
slow callback: of what it has not been given, reports are left out where there are too many, and the same change is told once.
Specification: basic/index#notifications
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from mcp_contract import JsonObject
from pydantic import ValidationError
from pydantic_core import to_json

from mcp_anyrev.user_code import awaited, called, raised

if TYPE_CHECKING:
    from mcp_revisions.canonical import LoggingMessageNotificationParams, ProgressNotificationParams

log = logging.getLogger("mcp_anyrev.client")

OnLog: TypeAlias = "Callable[[LoggingMessageNotificationParams], Awaitable[None] | None]"
OnProgress: TypeAlias = "Callable[[ProgressNotificationParams], Awaitable[None] | None]"
OnNotification: TypeAlias = Callable[[str, JsonObject], "Awaitable[None] | None"]

PROGRESS, MESSAGE = "notifications/progress", "notifications/message"

_MOST = 1_000
_MOST_CHANGES = 10_000


class _Notice(NamedTuple):
    """Something that a callback is to be given."""

    callback: Callable[..., Any]
    method: str
    params: JsonObject
    same: bytes | None


class Notices:
    """Gives callbacks what they are for.

    Args:
        on_log: takes log messages.
        on_progress: takes the progress of calls that have no callback of their own.
        on_notification: takes everything else, by its method and its params as they came.
    """

    def __init__(
        self,
        on_log: OnLog | None = None,
        on_progress: OnProgress | None = None,
        on_notification: OnNotification | None = None,
    ) -> None:
        self._on_log = on_log
        self._on_progress = on_progress
        self._on_notification = on_notification
        self._waiting: deque[_Notice] = deque()
        self._same: set[bytes] = set()
        self._left_out = 0
        self._telling: asyncio.Task[None] | None = None

    @property
    def wants_progress(self) -> bool:
        """Is there a callback for the progress of any call?"""
        return self._on_progress is not None

    def tell(self, method: str, params: JsonObject, on_progress: OnProgress | None = None) -> None:
        """Have a notification told.

        Args:
            method: its method.
            params: its params.
            on_progress: takes it, where it is the progress of a call that has a callback of its own.
        """
        if method in (PROGRESS, MESSAGE):
            callback = (on_progress or self._on_progress) if method == PROGRESS else self._on_log
            if callback is None:
                return
            if len(self._waiting) >= _MOST:
                self._left_out += 1
                if self._left_out & (self._left_out - 1) == 0:  # 1, 2, 4, …
                    log.warning("%d reports of the server were left out, since a callback is slow", self._left_out)
                return
            self._put(_Notice(callback, method, params, None))
        elif self._on_notification is not None:
            same = to_json([method, params])
            if same in self._same:
                return
            if len(self._same) >= _MOST_CHANGES:
                log.error("a notification of the server was left out, since a callback is slow: %s", method)
                return
            self._same.add(same)
            self._put(_Notice(self._on_notification, method, params, same))

    async def close(self) -> None:
        """Tell nothing any longer."""
        self._waiting.clear()
        if self._telling is not None and self._telling is not asyncio.current_task():
            self._telling.cancel()
            await asyncio.gather(self._telling, return_exceptions=True)

    def _put(self, notice: _Notice) -> None:
        self._waiting.append(notice)
        if self._telling is None or self._telling.done():
            self._telling = asyncio.create_task(self._tell())

    async def _tell(self) -> None:
        while self._waiting:
            notice = self._waiting.popleft()
            if notice.same is not None:
                self._same.discard(notice.same)
            try:
                told = called(partial(notice.callback, *_arguments(notice.method, notice.params)), raised)
                if inspect.isawaitable(told):
                    await awaited(told, raised)
            except ValidationError:
                log.warning("the server sent a malformed notification: %s", notice.method)
            except Exception:
                log.exception("a callback failed with %s", notice.method)


def _arguments(method: str, params: JsonObject) -> tuple[Any, ...]:
    """What a callback gets of a notification."""
    from mcp_revisions import canonical

    models: Mapping[str, Any] = {
        PROGRESS: canonical.ProgressNotificationParams,
        MESSAGE: canonical.LoggingMessageNotificationParams,
    }
    model = models.get(method)
    return (method, params) if model is None else (model.model_validate(params),)
