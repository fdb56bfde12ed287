"""`revgen generate`: make generated/ what the inputs say."""

from __future__ import annotations

import dataclasses
import sys

import click

from ..writing import generated
from ..writing.manifest import is_current
from .options import Settings, hint_at_remarks, require_tools, takes_settings

_LINE = 79
_COLOURS = {"created": "green", "changed": "yellow", "removed": "red"}


@click.command(name="generate")
@takes_settings()
def command(settings: Settings) -> None:
    """Write generated/, and say what was created, changed and removed.

    Nothing is written if the inputs leave open what they mean. What is unused or still to be reviewed hinders nothing here; lint lists
    it. Nothing is rendered if MANIFEST says that all is as it should be.

    \b
    Examples:
      revgen generate
      revgen generate --root ../elsewhere
    """
    changes = generated.unchanged(settings.root) if is_current(settings.root) else _generate(settings)
    lines = [
        f"{click.style(what, fg=colour)} {path}" for what, colour in _COLOURS.items() for path in getattr(changes, what)
    ]
    settings.show(dataclasses.asdict(changes), "\n".join([*lines, f"unchanged {len(changes.unchanged)}"]))


def _generate(settings: Settings) -> generated.Changes:
    # Imported here, since the tools that render take longer to load than to find that there is nothing to do.
    from ..specification.loading import load_specification
    from ..writing.render import render

    require_tools(settings)
    specification = load_specification(settings.root)
    hint_at_remarks(specification.remarks)
    try:
        return generated.write(settings.root, render(specification, progress=_show_progress))
    finally:
        _show_progress("")


def _show_progress(path: str) -> None:
    """Replace the last line of a terminal by what is ready now; by nothing at the end."""
    if sys.stderr.isatty():
        line = f"rendered {path}" if path else ""
        click.echo(f"\r{line[:_LINE]:<{_LINE}}\r", err=True, nl=False)
