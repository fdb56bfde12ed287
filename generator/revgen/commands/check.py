"""`revgen check`: is generated/ what the inputs say?"""

from __future__ import annotations

import sys

import click

from ..specification.loading import load_specification
from ..writing.generated import drift
from ..writing.render import render
from .options import Settings, hint_at_remarks, require_tools, takes_settings

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command(name="check")
@takes_settings()
def command(settings: Settings) -> None:
    """Render everything, write nothing, and show how generated/ differs; exit with 1 if it does, or if something is to be reviewed.

    MANIFEST is compared like any other file, and never believed.

    \b
    Examples:
      revgen check
      revgen check --json
    """
    require_tools(settings)
    specification = load_specification(settings.root)
    hint_at_remarks(specification.remarks)
    differences = drift(settings.root, render(specification))
    text = "".join(differences.values()).rstrip("\n")
    settings.show({"drift": differences}, "\n".join(map(_coloured, text.split("\n"))) if text else "")
    if differences:
        click.echo(f"{len(differences)} files are not what the inputs say; run: revgen generate", err=True)
    if differences or any(problem.degree == "mark" for problem in specification.remarks):
        sys.exit(1)


def _coloured(line: str) -> str:
    return click.style(line, fg=_COLOURS[line[0]]) if line[:1] in _COLOURS else line
