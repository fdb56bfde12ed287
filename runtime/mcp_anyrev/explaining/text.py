"""A comparison for a terminal.

Rule: what is said in colour is said in text as well.
"""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator

import click

from mcp_anyrev.explaining.comparison import LEGEND, MARKS, Comparison
from mcp_anyrev.explaining.report import Report

_COLOURS = {"as declared": "green", "changed": "yellow", "not offered": "red"}
_NARROWEST, _WIDEST, _SHORTEST_NAME = 40, 120, 12


def as_text(compared: Comparison) -> str:
    """A comparison in words: the table, and the reasons where they are wanted."""
    width = max(_NARROWEST, min(_WIDEST, shutil.get_terminal_size().columns))
    lines = list(_table(compared, width))
    if compared.details:
        lines += [line for report in compared.reports for line in _report(compared.server, report, width)]
    return "\n".join(lines).rstrip()


def _table(compared: Comparison, width: int) -> Iterator[str]:
    """Each revision is a column with its name in two lines, so that there is room for the names of things."""
    heads = [revision.partition("-")[::2] for revision in compared.revisions]
    columns = [max(map(len, head)) + 2 for head in heads]
    rows = [(f"{row.kind} {row.name}".strip(), row.verdicts) for row in compared.rows]
    room = max(_SHORTEST_NAME, width - sum(columns))
    names = min(room, max(map(len, (compared.server, *(name for name, _ in rows)))))
    for number in (0, 1):
        label = compared.server if number == 0 else ""
        cells = "".join(f"{head[number]:>{column}}" for head, column in zip(heads, columns, strict=True))
        yield click.style(f"{_cut(label, names):<{names}}{cells}", bold=True)
    for name, verdicts in rows:
        marks = "".join(
            click.style(f"{MARKS[verdict]:>{column}}", fg=_COLOURS[verdict])
            for verdict, column in zip(verdicts, columns, strict=True)
        )
        yield f"{_cut(name, names):<{names}}{marks}"
    yield ""
    yield LEGEND + ("" if compared.details else "   why: -v, or the name of one thing")
    yield ""


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _report(server: str, report: Report, width: int) -> Iterator[str]:
    counts = ", ".join(f"{report.count(verdict)} {verdict}" for verdict in MARKS if report.count(verdict))
    yield f"{click.style(report.revision, bold=True)}  {server}: {counts or 'nothing is declared'}"
    for note in report.notes:
        yield from _wrapped(f"- {note}", width, "  ")
    for thing in report.things:
        mark = click.style(MARKS[thing.verdict], fg=_COLOURS[thing.verdict])
        yield f"  {mark} {thing.kind} {click.style(thing.name, bold=True)}: {thing.verdict}"
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
