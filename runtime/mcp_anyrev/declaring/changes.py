"""What a registry tells whoever runs it: that something of it has changed.

Rule: said in the thread where it happened, to callbacks that only pass it on. Nobody has to listen.
Specification: server/tools#list-changed-notification, server/resources#subscriptions
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from mcp_contract import JsonObject

from mcp_anyrev.declaring.visibility import Condition
from mcp_anyrev.user_code import called

log = logging.getLogger("mcp_anyrev.server")


UPDATES = "updates"
"""What a change of the contents of one resource is called."""


class Change(NamedTuple):
    """One change.

    Attributes:
        kind: the list that is another now, or `updates` for the contents of one resource; see `Announcement.change`.
        uri: the address of that resource; None for a list.
        visible: what it takes to see what came or went, so that nobody else needs to be told.
        params: what is told besides, in a notification of an extension.
    """

    kind: str
    uri: str | None
    visible: tuple[Condition, ...] = ()
    params: JsonObject | None = None


Watcher = Callable[[Change], None]


class Watchers:
    """Who is told."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._callbacks: tuple[Watcher, ...] = ()

    def add(self, callback: Watcher) -> Callable[[], None]:
        """Tell this one too; gives what ends it."""
        with self._lock:
            self._callbacks = (*self._callbacks, callback)

        def stop() -> None:
            with self._lock:
                self._callbacks = tuple(one for one in self._callbacks if one is not callback)

        return stop

    def tell(self, change: Change) -> None:
        """Tell all of them; one that fails does not keep it from the others."""
        for callback in self._callbacks:
            called(partial(callback, change), _failed)


def _failed(error: Exception) -> None:
    log.error("telling of a change failed", exc_info=error)
