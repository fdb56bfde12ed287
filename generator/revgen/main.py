"""The command `revgen`.

Rule: this module alone works without the extra `generator`, so it imports click and nothing that needs the extra. A command is a module
of `commands`, imported when it is asked for.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys

import click

# Commands in the order in which `--help` lists them, with their modules.
COMMANDS = {
    "pages": "revgen.commands.pages",
    "import": "revgen.commands.import_schema",
    "new": "revgen.commands.new",
    "finalize": "revgen.commands.finalize",
    "remove": "revgen.commands.remove",
    "vectors": "revgen.commands.vectors",
    "accept": "revgen.commands.accept",
    "lint": "revgen.commands.lint",
    "generate": "revgen.commands.generate",
    "check": "revgen.commands.check",
    "diff": "revgen.commands.diff",
    "matrix": "revgen.commands.matrix",
    "explain": "revgen.commands.explain",
}

_NEEDED = ("yaml", "jinja2", "black", "datamodel_code_generator")


class _Commands(click.Group):
    """A group whose commands are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name]).command
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="mcp-anyrev")
def revgen() -> None:
    """Turn specs/ and templates/ into generated/.

    \b
    Examples:
      revgen lint
      revgen generate
      revgen check
    """


def main() -> None:
    """Run the command line; without the extra, say what to install and exit with 2."""
    if not all(map(_is_installed, _NEEDED)):
        click.echo('revgen needs the extra "generator": pip install "mcp-anyrev[generator]"', err=True)
        sys.exit(2)
    revgen(prog_name="revgen")


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False
