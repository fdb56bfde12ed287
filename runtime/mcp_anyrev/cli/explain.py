"""`mcp-anyrev explain`: what each revision gets of the registry that a module declares, and why.

Rule: the report goes to stdout, whatever is wrong with the target to stderr; nothing is served.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import ClassVar, Literal

import click

from mcp_anyrev.cli.help import CommandWithExamples, known_revision

_MOST_NAMES = 10


class _Explain(CommandWithExamples):
    examples: ClassVar[tuple[str, ...]] = (
        "mcp-anyrev explain examples/gates.py:registry",
        "mcp-anyrev explain shop.tools:registry price",
        "mcp-anyrev explain shop.tools:registry -v",
        "mcp-anyrev explain shop.tools:registry --revision {oldest}",
        "mcp-anyrev explain shop.tools:registry --format html > shop.html",
    )


def _revisions(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(known_revision(value) for value in values)


@click.command(cls=_Explain)
@click.argument("target", metavar="MODULE:REGISTRY")
@click.argument("name", metavar="[NAME]", required=False)
@click.option(
    "--revision", "revisions", multiple=True, metavar="REV", callback=_revisions, help="Only this one; may be repeated."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "md", "html", "json")),
    default="text",
    show_default=True,
    help="How it is written.",
)
@click.option(
    "--schemas",
    type=click.Choice(("plain", "declared")),
    help="How the server sends input schemas where nothing else is said of them, as Settings(schemas=…) has it.",
)
@click.option("-v", "--verbose", is_flag=True, help="With the reason for everything that is changed.")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.pass_context
def explain(
    context: click.Context,
    target: str,
    name: str | None,
    revisions: tuple[str, ...],
    form: str,
    schemas: Literal["plain", "declared"] | None,
    verbose: bool,
    as_json: bool,
) -> None:
    """Show what each revision gets of REGISTRY of MODULE: as declared, changed, or not at all.

    With NAME, of that thing alone, and why; with -v, of all of them. MODULE is a dotted name or a .py file, REGISTRY a Registry or a
    Server in it.
    """
    from dataclasses import replace

    from mcp_revisions import AdapterSet

    from mcp_anyrev.cli.targets import TargetFault, load_registry_or_server
    from mcp_anyrev.explaining import pages
    from mcp_anyrev.explaining.comparison import Comparison
    from mcp_anyrev.explaining.report import report
    from mcp_anyrev.explaining.text import as_text
    from mcp_anyrev.serving.server import Server
    from mcp_anyrev.settings import Settings

    try:
        found = load_registry_or_server(target)
    except TargetFault as fault:
        raise click.BadParameter(str(fault), param_hint="MODULE:REGISTRY") from None
    registry, settings = (found.registry, found.settings) if isinstance(found, Server) else (found, Settings())
    if schemas is not None:
        settings = replace(settings, schemas=schemas)
    adapters = AdapterSet.default() if settings.revisions is None else AdapterSet(settings.revisions)
    reports = [report(registry, adapters.by_version[version], settings) for version in revisions or adapters.versions]
    compared = Comparison(registry.name, reports, verbose)
    if name is not None:
        try:
            compared = compared.named(name)
        except KeyError as known:
            raise click.BadParameter(_no_such(name, known.args), param_hint="NAME") from None
    if as_json or form == "json":
        told = {"server": registry.name, "revisions": [one.to_json() for one in compared.reports]}
        click.echo(json.dumps(told, indent=2, ensure_ascii=False))
    elif form == "text":
        click.echo(as_text(compared), color=context.color)
    else:
        write = pages.as_markdown if form == "md" else pages.as_html
        click.echo(write(compared))


def _no_such(name: str, known: Sequence[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known) or known[:_MOST_NAMES]
    more = ", …" if len(known) > len(near) else ""
    return f"nothing is named {name!r}; there is {', '.join(near)}{more}" if known else "nothing is declared"
