"""Requests that are refused before anything is known of them but their head, as the log tells them.

Rule: whoever runs the server learns why, and what would change it, which the client does not. What a client can send in any number is
told once a minute for each kind of refusal, with how many have been since.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from mcp_contract import Forbidden, OriginRefused, ProtocolError, Unauthorized
from mcp_contract.wording import cut

if TYPE_CHECKING:
    from mcp_anyrev.head import Head

log = logging.getLogger("mcp_anyrev.server")
requests_log = logging.getLogger("mcp_anyrev.requests")

_SILENT_SECONDS = 60.0
_KINDS = (OriginRefused, Unauthorized, Forbidden)
_LONGEST_PATH = 100
_LONGEST_REASON = 300


class Refusals:
    """Tells the refusals of one server.

    Args:
        clock: seconds, from whenever.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._told: dict[type[ProtocolError], float] = {}
        self._since: dict[type[ProtocolError], int] = {}

    def tell(self, head: Head, error: ProtocolError, status: int) -> None:
        """Tell one.

        Args:
            head: the head of the request.
            error: why it is refused; what must not be told to the client is its cause.
            status: the HTTP status that answers it.
        """
        reason = _reason(error)
        if requests_log.isEnabledFor(logging.INFO):
            path = cut(head.path, _LONGEST_PATH)
            requests_log.info("%s %r %s refused %d (%s)", head.method, path, head.peer or "-", status, reason)
        if isinstance(error, _KINDS):
            self._tell_once(type(error), reason)

    def _tell_once(self, kind: type[ProtocolError], reason: str) -> None:
        now = self._clock()
        if now - self._told.get(kind, -_SILENT_SECONDS) < _SILENT_SECONDS:
            self._since[kind] += 1
            return
        others = self._since.get(kind, 0)
        self._told[kind], self._since[kind] = now, 0
        log.warning("refused: %s%s", reason, f" (and {others} more since the last such line)" if others else "")


def _reason(error: ProtocolError) -> str:
    words = error.message if error.__cause__ is None else f"{error.message}: {error.__cause__}"
    words = cut(words, _LONGEST_REASON)
    return words if words.isprintable() else repr(words)
