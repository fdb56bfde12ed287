"""What is logged, on stderr.

Rule: an application that sets up logging itself decides what becomes of it; only how much is logged is still taken from the options.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

import click

if TYPE_CHECKING:
    from mcp_anyrev.wire_log import Passed

LEVELS = ("debug", "info", "warning", "error", "critical")

START, REQUESTS, WIRE = "mcp_anyrev.start", "mcp_anyrev.requests", "mcp_anyrev.wire"
WIRE_FORMS = ("text", "json")

_COLORS = {"DEBUG": "cyan", "WARNING": "yellow", "ERROR": "red", "CRITICAL": "red"}


def show_logs(level: str | None, *, requests: bool, wire: str | None = None) -> None:
    """Show what is logged.

    Args:
        level: how much, one of `LEVELS`; None for warnings and worse, and what a server says when it starts.
        requests: is there to be a line for each request as well?
        wire: is everything that passes to be shown, and how, one of `WIRE_FORMS`?
    """
    root = logging.getLogger()
    if not root.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(_Lines(wire))
        root.addHandler(handler)
        root.setLevel(logging.WARNING if level is None else level.upper())
    elif level is not None:
        logging.getLogger("mcp_anyrev").setLevel(level.upper())
    if level is None:
        logging.getLogger(START).setLevel(logging.INFO)
    if wire is not None:
        logging.getLogger(WIRE).setLevel(logging.DEBUG)
    if requests:
        logging.getLogger(REQUESTS).setLevel(logging.INFO)


def hush_start() -> None:
    """Leave out what a server says when it starts, where another process has said the same."""
    logging.getLogger(START).setLevel(logging.ERROR)


class _Lines(logging.Formatter):
    """A line each: what a server says of itself as it is, everything else with time, level and logger.

    Args:
        wire: how what passes is shown.
    """

    def __init__(self, wire: str | None) -> None:
        super().__init__()
        self._wire = wire

    def format(self, record: logging.LogRecord) -> str:
        """See `logging.Formatter.format`."""
        if record.name == WIRE and self._wire == "json" and isinstance(record.args, tuple):
            passed = cast("Passed", record.args[0])
            at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
            return json.dumps({"time": at, **passed.to_json()}, ensure_ascii=False)
        words = super().format(record)
        if record.name == START and record.levelno == logging.INFO:
            return words
        at = time.strftime("%H:%M:%S", time.localtime(record.created))
        if record.name in (REQUESTS, WIRE):
            return f"{at} {words}"
        level = _styled(record.levelname.lower(), _COLORS.get(record.levelname))
        return f"{at} {level} {record.name.removeprefix('mcp_anyrev.')}: {words}"


def _styled(text: str, color: str | None) -> str:
    context = click.get_current_context(silent=True)
    plain = color is None or not sys.stderr.isatty() or (context is not None and context.color is False)
    return text if plain else click.style(text, fg=color)
