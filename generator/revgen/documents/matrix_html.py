"""Words the inventory as one HTML file: no network, no script, for a narrow screen, for paper, for light and dark.

Rule: what is said in colour is said in text as well. Every answer links to its source: to the page or the schema that it is in, or,
for a policy, to the sentence at the end of the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from ..inventory.addresses import address
from ..inventory.citations import Citation
from ..inventory.concerns import Area
from ..inventory.table import Cell, Line, Row, rows
from ..schemas.revisions import Revision
from ..specification.loading import Specification

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2329; --paper: #fff; --line: #d5dae0; --soft: #5b6570; --mark: #fff3cd; --link: #0a55b0; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ec; --paper: #15191e; --line: #363e47; --soft: #9aa5b1; --mark: #463a10; --link: #84b9ff; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 100rem; background: var(--paper); color: var(--ink); font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .5rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: 2px; overflow-wrap: anywhere; }
nav a { margin-right: .75rem; white-space: nowrap; display: inline-block; }
table { border-collapse: collapse; width: 100%; table-layout: fixed; }
th, td { border: 1px solid var(--line); padding: .35rem .5rem; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
thead th:first-child { width: 24%; }
thead th { position: sticky; top: 0; background: var(--paper); }
tbody th { font-weight: 600; }
th p { margin: .15rem 0 0; font-weight: 400; font-size: .87em; color: var(--soft); }
ul { list-style: none; margin: 0; padding: 0; }
td.changed { background: var(--mark); }
li.changed { font-weight: 600; }
li.changed::before { content: "\\25cf  "; }
small { color: var(--soft); }
dt { font-weight: 600; margin-top: .5rem; }
dd { margin: 0; }
:target { outline: 2px solid var(--link); outline-offset: 2px; }
@media screen and (max-width: 60rem) {
  table, tbody, tr, th, td { display: block; }
  thead { display: none; }
  tr { border: 1px solid var(--line); border-radius: 6px; margin: 0 0 .75rem; overflow: hidden; }
  th, td { border: 0; border-top: 1px solid var(--line); }
  tbody th { border-top: 0; }
  td { padding-left: 7.5rem; min-height: 2.2rem; position: relative; }
  td::before { content: attr(data-revision); position: absolute; left: .5rem; color: var(--soft); font-variant-numeric: tabular-nums; }
}
@media print {
  @page { size: A4 landscape; margin: 12mm; }
  :root { --ink: #000; --paper: #fff; --line: #999; --soft: #444; --mark: #eee; --link: #000; }
  body { font-size: 9pt; max-width: none; padding: 0; }
  nav { display: none; }
  thead { display: table-header-group; }
  thead th { position: static; }
  tr, dt, dd { break-inside: avoid; }
  td.changed { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
""".strip()


def matrix_html(specification: Specification, areas: Iterable[Area]) -> str:
    """The page, without a newline at its end.

    Args:
        specification: the inputs, checked.
        areas: those that are to be on it.
    """
    return "\n".join(_page(specification, tuple(areas)))


def _page(specification: Specification, areas: tuple[Area, ...]) -> Iterator[str]:
    yield "<!doctype html>"
    yield '<html lang="en">'
    yield '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>What varies between revisions</title><style>\n{_STYLE}\n</style></head>"
    yield "<body>"
    yield "<h1>What varies between revisions</h1>"
    yield '<p>A column is a revision, oldest first. <span aria-hidden="true">●</span> and a tinted cell differ from the revision before.'
    yield "<del>Struck out</del> was only there. An answer links to its source; (2) and so on are further sources.</p>"
    yield "<nav>"
    yield from (f'<a href="#{area.name}">{escape(area.title)}</a>' for area in areas)
    yield "</nav>"
    tables = [(area, rows(area)) for area in areas]
    for area, table in tables:
        yield from _area(specification, area, table)
    yield from _policies(table for _, table in tables)
    yield "</body></html>"


def _area(specification: Specification, area: Area, table: tuple[Row, ...]) -> Iterator[str]:
    yield f'<h2 id="{area.name}">{escape(area.title)}</h2>'
    heads = "".join(f'<th scope="col">{version}</th>' for version in specification.versions)
    yield f'<table><thead><tr><th scope="col">question</th>{heads}</tr></thead><tbody>'
    for row in table:
        name, question = row.concern.name, escape(row.concern.question)
        yield f'<tr id="{name}"><th scope="row"><code>{name}</code><p>{question}</p></th>'
        yield from (_cell(specification, row, cell) for cell in row.cells)
        yield "</tr>"
    yield "</tbody></table>"


def _cell(specification: Specification, row: Row, cell: Cell) -> str:
    revision = next(revision for revision in specification.revisions if revision.version == cell.version)
    links = [_link(specification, revision, row, citation) for citation in cell.citations]
    lines = "".join(_line(line, cell, links[0]) for line in cell.lines) or f'<li><a href="{links[0]}">none</a></li>'
    further = "".join(f' <a href="{link}">({number})</a>' for number, link in enumerate(links[1:], start=2))
    more = f"<small>{further}</small>" if further else ""
    changed = ' class="changed"' if cell.changed else ""
    return f'<td data-revision="{cell.version}"{changed}><ul>{lines}</ul>{more}</td>'


def _line(line: Line, cell: Cell, link: str) -> str:
    if line.gone:
        return f"<li><del>{escape(line.text)}</del></li>"
    # Where only the order changed, no line differs on its own.
    alone = cell.changed and not any(other.changed for other in cell.lines)
    changed = ' class="changed"' if line.changed or alone else ""
    return f'<li{changed}><a href="{link}">{escape(line.text)}</a></li>'


def _link(specification: Specification, revision: Revision, row: Row, citation: Citation) -> str:
    found = address(citation, revision, specification.schemas[revision.version])
    return escape(found) if found is not None else f"#{row.concern.name}-{revision.version}"


def _policies(tables: Iterable[tuple[Row, ...]]) -> Iterator[str]:
    yield '<h2 id="policies">Policies</h2><p>Answers that no page gives, and why they are so.</p><dl>'
    for row in (row for table in tables for row in table):
        for cell in row.cells:
            policies = [citation for citation in cell.citations if citation.form == "policy"]
            if policies:
                name = row.concern.name
                yield f'<dt id="{name}-{cell.version}"><a href="#{name}"><code>{name}</code></a> {cell.version}</dt>'
                yield from (f"<dd>{escape(policy.text)} <small>({policy.origin})</small></dd>" for policy in policies)
    yield "</dl>"
