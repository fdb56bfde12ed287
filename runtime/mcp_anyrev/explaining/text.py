"""A report for a terminal.

Rule: what is said in colour is said in text as well.
"""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Iterator

import click

from mcp_anyrev.explaining.report import Report

_MARKS = {"as declared": ("✓", "green"), "changed": ("~", "yellow"), "not offered": ("✗", "red")}
_NARROWEST, _WIDEST = 40, 120


def as_text(server: str, reports: Iterable[Report]) -> str:
    """Reports in words.

    Args:
        server: the name of the server.
        reports: one a revision.
    """
    width = max(_NARROWEST, min(_WIDEST, shutil.get_terminal_size().columns))
    return "\n".join(line for report in reports for line in _report(server, report, width)).rstrip()


def _report(server: str, report: Report, width: int) -> Iterator[str]:
    counts = ", ".join(f"{report.count(verdict)} {verdict}" for verdict in _MARKS if report.count(verdict))
    yield f"{click.style(report.revision, bold=True)}  {server}: {counts or 'nothing is declared'}"
    for note in report.notes:
        yield from _wrapped(f"- {note}", width, "  ")
    for thing in report.things:
        mark, colour = _MARKS[thing.verdict]
        yield f"  {click.style(mark, fg=colour)} {thing.kind} {click.style(thing.name, bold=True)}: {thing.verdict}"
        for note in thing.notes:
            yield from _wrapped(f"- {note}", width, "      ")
    for one in report.decisions:
        yield from _wrapped(f"[{one.concern}] {one.question} {one.answer} ({'; '.join(one.sources)})", width, "  ")
    yield ""


def _wrapped(words: str, width: int, indent: str) -> list[str]:
    further = indent + "  "
    return textwrap.wrap(
        words,
        width,
        initial_indent=indent,
        subsequent_indent=further,
        break_long_words=False,
        break_on_hyphens=False,
    )
