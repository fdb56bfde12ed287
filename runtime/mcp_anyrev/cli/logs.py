"""What is logged, on stderr.

Rule: an application that sets up logging itself decides what becomes of it; only how much is logged is still taken from the options.
"""

from __future__ import annotations

import logging
import sys
import time

import click

LEVELS = ("debug", "info", "warning", "error", "critical")

START, REQUESTS = "mcp_anyrev.start", "mcp_anyrev.requests"

_COLORS = {"DEBUG": "cyan", "WARNING": "yellow", "ERROR": "red", "CRITICAL": "red"}


def show_logs(level: str | None, *, requests: bool) -> None:
    """Show what is logged.

    Args:
        level: how much, one of `LEVELS`; None for warnings and worse, and what a server says when it starts.
        requests: is there to be a line for each request as well?
    """
    root = logging.getLogger()
    if not root.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(_Lines())
        root.addHandler(handler)
        root.setLevel(logging.WARNING if level is None else level.upper())
    elif level is not None:
        logging.getLogger("mcp_anyrev").setLevel(level.upper())
    if level is None:
        logging.getLogger(START).setLevel(logging.INFO)
    if requests:
        logging.getLogger(REQUESTS).setLevel(logging.INFO)


def hush_start() -> None:
    """Leave out what a server says when it starts, where another process has said the same."""
    logging.getLogger(START).setLevel(logging.ERROR)


class _Lines(logging.Formatter):
    """A line each: what a server says of itself as it is, everything else with time, level and logger."""

    def format(self, record: logging.LogRecord) -> str:
        """See `logging.Formatter.format`."""
        words = super().format(record)
        if record.name == START and record.levelno == logging.INFO:
            return words
        at = time.strftime("%H:%M:%S", time.localtime(record.created))
        if record.name == REQUESTS:
            return f"{at} {words}"
        level = _styled(record.levelname.lower(), _COLORS.get(record.levelname))
        return f"{at} {level} {record.name.removeprefix('mcp_anyrev.')}: {words}"


def _styled(text: str, color: str | None) -> str:
    context = click.get_current_context(silent=True)
    plain = color is None or not sys.stderr.isatty() or (context is not None and context.color is False)
    return text if plain else click.style(text, fg=color)
