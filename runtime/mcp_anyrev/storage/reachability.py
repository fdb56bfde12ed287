"""Whether a system that is elsewhere can be reached.

Rule: what is known of it stands in one place. The log is told once when it is lost and once when it is there again, however many
wanted something meanwhile, and nobody is told any credentials.
"""

from __future__ import annotations

import logging
import time

from mcp_contract import Unavailable

from mcp_anyrev.storage.urls import StorageUrl

log = logging.getLogger("mcp_anyrev.storage")


class Reachability:
    """What is known of one system.

    Args:
        url: where it is.

    Attributes:
        fault: why it cannot be reached; None where it can be, as far as is known.
    """

    def __init__(self, url: StorageUrl) -> None:
        self.fault: str | None = None
        self._url = url
        self._lost_at = 0.0

    @property
    def lost_seconds(self) -> float:
        """For how long it could not be reached."""
        return 0.0 if self.fault is None else time.monotonic() - self._lost_at

    def lost(self, error: BaseException) -> Unavailable:
        """Note that it could not be reached; gives what is to be raised for that."""
        fault = self._url.hide(f"{self._url.shown}: {type(error).__name__}: {error}")
        if self.fault is None:
            self._lost_at = time.monotonic()
            log.error("what the workers share cannot be reached: %s", fault)
        self.fault = fault
        return Unavailable("what the workers of this server share cannot be reached now")

    def found(self) -> None:
        """Note that it answers."""
        if self.fault is not None:
            log.warning("what the workers share can be reached again: %s", self._url.shown)
            self.fault = None
