"""A line in the log for each request: the revision, the method, what it is for, who sends it, how it ended, and after how long.

Rule: what a client sent is cut, and stays in one line. Whether anybody wants the lines is found out when the server starts, so that nothing
is paid for them otherwise.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from mcp_contract.wording import cut

from mcp_anyrev.conversation.outcomes import Later, Questions, Result

if TYPE_CHECKING:
    from mcp_anyrev.conversation.outcomes import Response
    from mcp_anyrev.conversation.requests import Request

log = logging.getLogger("mcp_anyrev.requests")

_TARGETS = ("name", "uri", "taskId")
"""The params that say what a request is for."""

_LONGEST_TARGET = 100
_LONGEST_REASON = 200


def watch(request: Request) -> Callable[[Response | None], None]:
    """See `conversation.Watch`."""
    begun = time.perf_counter()

    def ended(response: Response | None) -> None:
        milliseconds = (time.perf_counter() - begun) * 1000
        conversation = request.conversation
        log.info(
            "%s %s%s %s %s %.1f ms",
            conversation.adapter.version,
            _in_one_line(request.method, _LONGEST_TARGET),
            _target(request),
            conversation.owner,
            _fate(request, response),
            milliseconds,
        )

    return ended


def _target(request: Request) -> str:
    found = next((value for name in _TARGETS if isinstance(value := request.params.get(name), str)), None)
    return "" if found is None else f" {_in_one_line(found, _LONGEST_TARGET)}"


def _fate(request: Request, response: Response | None) -> str:
    """How it ended."""
    if response is None:
        return "cancelled"
    if response.error is not None:
        code = request.conversation.adapter.error_codes[response.error.kind]
        return f"error {code} ({_in_one_line(response.error.message, _LONGEST_REASON)})"
    outcome = request.outcome
    if isinstance(outcome, Questions):
        return "asks"
    if isinstance(outcome, Later):
        return "task"
    return "failed" if isinstance(outcome, Result) and outcome.value.get("isError") is True else "ok"


def _in_one_line(text: str, most: int) -> str:
    return cut(text, most) if text.isprintable() else repr(cut(text, most))
