"""A comparison as Markdown, and as one HTML file that needs no network and no script.

Rule: the HTML is readable at 400 pixels and in print; both say the same in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape

from mcp_anyrev.explaining.comparison import LEGEND, MARKS, Comparison
from mcp_anyrev.explaining.decisions import Decision

_CODE, _AS_CODE = re.compile("`([^`]*)`"), r"<code>\1</code>"

_STYLE = """
:root { color-scheme: light dark; --soft: #667; --line: #8884; --good: #187a3d; --changed: #8a5a00; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --soft: #99a; --good: #5fd38d; --changed: #f0b94b; --bad: #ff8a80; } }
body { margin: 0 auto; padding: 1rem; max-width: 60rem; font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: center; white-space: nowrap; }
th:first-child { text-align: left; white-space: normal; font-weight: inherit; }
tbody tr:hover { background: var(--line); }
td { font-weight: 700; }
.as-declared { color: var(--good); } .changed { color: var(--changed); } .not-offered { color: var(--bad); }
h2 { border-bottom: 1px solid var(--line); padding-bottom: .2rem; }
section { break-inside: avoid; margin: .75rem 0; }
h3 { font-size: 1rem; margin: 0; }
dt { margin-top: .5rem; }
dd { margin: 0 0 0 1rem; }
ul { margin: .2rem 0; padding-left: 1.2rem; }
small { color: var(--soft); }
@media print { body { max-width: none; padding: 0; font-size: 10pt; } }
""".strip()


def as_markdown(compared: Comparison) -> str:
    """A comparison as Markdown."""
    return "\n".join(_markdown(compared))


def _markdown(compared: Comparison) -> Iterator[str]:
    yield f"# What each revision gets of {compared.server}\n"
    yield f"| | {' | '.join(compared.revisions)} |\n| --- |{' :-: |' * len(compared.revisions)}"
    for row in compared.rows:
        name = f"{row.kind} `{row.name}`" if row.kind else row.name
        yield f"| {name} | {' | '.join(MARKS[verdict] for verdict in row.verdicts)} |"
    yield f"\n{LEGEND}"
    for report in compared.reports if compared.details else ():
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


def as_html(compared: Comparison) -> str:
    """A comparison as an HTML file."""
    return "\n".join(_html(compared))


def _html(compared: Comparison) -> Iterator[str]:
    title = escape(f"What each revision gets of {compared.server}")
    yield '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{title}</title><style>{_STYLE}</style></head><body><h1>{title}</h1>"
    heads = "".join(f'<th scope="col">{_link(each, compared)}</th>' for each in compared.revisions)
    yield f'<div class="table"><table><thead><tr><th scope="col"></th>{heads}</tr></thead><tbody>'
    for row in compared.rows:
        name = f"{row.kind} <code>{escape(row.name)}</code>" if row.kind else escape(row.name)
        yield f'<tr><th scope="row">{name}</th>{"".join(map(_cell, row.verdicts))}</tr>'
    yield f"</tbody></table></div><p><small>{LEGEND}</small></p>"
    for report in compared.reports if compared.details else ():
        yield f'<h2 id="r{report.revision}">{report.revision}</h2>'
        yield _list(report.notes)
        for thing in report.things:
            yield f"<section><h3>{thing.kind} <code>{escape(thing.name)}</code>: {thing.verdict}</h3>{_list(thing.notes)}</section>"
        yield _decided(report.decisions)
    yield "</body></html>"


def _link(revision: str, compared: Comparison) -> str:
    return f'<a href="#r{revision}">{revision}</a>' if compared.details else revision


def _cell(verdict: str) -> str:
    return f'<td class="{verdict.replace(" ", "-")}" title="{verdict}" aria-label="{verdict}">{MARKS[verdict]}</td>'


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
