"""`mcp-anyrev explain`: what each revision gets of the registry that a module declares, and why.

Rule: the report goes to stdout, whatever is wrong with the target to stderr; nothing is served.
"""

from __future__ import annotations

import json
from typing import ClassVar, Literal

import click

from mcp_anyrev.cli.help import CommandWithExamples, known_revision


class _Explain(CommandWithExamples):
    examples: ClassVar[tuple[str, ...]] = (
        "mcp-anyrev explain examples/gates.py:registry",
        "mcp-anyrev explain shop.tools:registry --revision {oldest}",
        "mcp-anyrev explain shop.tools:registry --format html > shop.html",
    )


def _revisions(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(known_revision(value) for value in values)


@click.command(cls=_Explain)
@click.argument("target", metavar="MODULE:REGISTRY")
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
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.pass_context
def explain(
    context: click.Context,
    target: str,
    revisions: tuple[str, ...],
    form: str,
    schemas: Literal["plain", "declared"] | None,
    as_json: bool,
) -> None:
    """Say what each revision gets of REGISTRY of MODULE: what is changed on the way, what is not offered, and who decided it.

    MODULE is a dotted name or a .py file.
    """
    from mcp_revisions import AdapterSet

    from mcp_anyrev.cli.targets import TargetFault, load_registry
    from mcp_anyrev.explaining import pages
    from mcp_anyrev.explaining.report import report
    from mcp_anyrev.explaining.text import as_text
    from mcp_anyrev.settings import Settings

    try:
        registry = load_registry(target)
    except TargetFault as fault:
        raise click.BadParameter(str(fault), param_hint="MODULE:REGISTRY") from None
    adapters = AdapterSet.default()
    settings = Settings(schemas=schemas)
    reports = [report(registry, adapters.by_version[version], settings) for version in revisions or adapters.versions]
    if as_json or form == "json":
        told = {"server": registry.name, "revisions": [one.to_json() for one in reports]}
        click.echo(json.dumps(told, indent=2, ensure_ascii=False))
    elif form == "text":
        click.echo(as_text(registry.name, reports), color=context.color)
    else:
        write = pages.as_markdown if form == "md" else pages.as_html
        click.echo(write(registry.name, reports))
