"""Reports as Markdown, and as one HTML file that needs no network and no script.

Rule: the HTML is readable at 400 pixels and in print; both say the same in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from mcp_anyrev.explaining.decisions import Decision
from mcp_anyrev.explaining.report import Report

_CODE, _AS_CODE = re.compile("`([^`]*)`"), r"<code>\1</code>"

_STYLE = """
:root { color-scheme: light dark; --soft: #667; --line: #8884; }
body { margin: 0 auto; padding: 1rem; max-width: 60rem; font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h2 { border-bottom: 1px solid var(--line); padding-bottom: .2rem; }
section { break-inside: avoid; margin: .75rem 0; }
h3 { font-size: 1rem; margin: 0; }
dt { margin-top: .5rem; }
dd { margin: 0 0 0 1rem; }
ul { margin: .2rem 0; padding-left: 1.2rem; }
small { color: var(--soft); }
@media print { body { max-width: none; padding: 0; font-size: 10pt; } }
""".strip()


def as_markdown(server: str, reports: Sequence[Report]) -> str:
    """Reports as Markdown."""
    return "\n".join(_markdown(server, reports))


def _markdown(server: str, reports: Sequence[Report]) -> Iterator[str]:
    yield f"# What each revision gets of {server}"
    for report in reports:
        yield f"\n## {report.revision}\n"
        yield from (f"* {note}" for note in report.notes)
        if report.notes:
            yield ""
        yield "| what | verdict | notes |\n| --- | --- | --- |"
        for thing in report.things:
            notes = "<br>".join(str(note).replace("|", "\\|") for note in thing.notes)
            yield f"| {thing.kind} `{thing.name}` | **{thing.verdict}** | {notes} |"
        if report.decisions:
            yield ""
        yield from (
            f"* `{one.concern}`: {one.question} {one.answer} ({'; '.join(one.sources)})" for one in report.decisions
        )


def as_html(server: str, reports: Sequence[Report]) -> str:
    """Reports as an HTML file."""
    return "\n".join(_html(server, reports))


def _html(server: str, reports: Sequence[Report]) -> Iterator[str]:
    title = escape(f"What each revision gets of {server}")
    yield '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{title}</title><style>{_STYLE}</style></head><body><h1>{title}</h1>"
    links = "".join(f' <a href="#r{report.revision}">{report.revision}</a>' for report in reports)
    yield f"<nav>{links}</nav>"
    for report in reports:
        yield f'<h2 id="r{report.revision}">{report.revision}</h2>'
        yield _list(report.notes)
        for thing in report.things:
            yield f"<section><h3>{thing.kind} <code>{escape(thing.name)}</code>: {thing.verdict}</h3>{_list(thing.notes)}</section>"
        yield _decided(report.decisions)
    yield "</body></html>"


def _list(entries: Iterable[object]) -> str:
    lines = "".join(f"<li>{_CODE.sub(_AS_CODE, escape(str(entry)))}</li>" for entry in entries)
    return f"<ul>{lines}</ul>" if lines else ""


def _decided(decisions: Iterable[Decision]) -> str:
    lines = "".join(
        f"<dt><code>{one.concern}</code></dt>"
        f"<dd>{escape(one.question)} <b>{escape(one.answer)}</b> <small>{escape('; '.join(one.sources))}</small></dd>"
        for one in decisions
    )
    return f"<dl>{lines}</dl>" if lines else ""
