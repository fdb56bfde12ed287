"""`mcp-anyrev`: the group of commands.

Rule: exit codes are 0 fine, 1 it failed, 2 usage, 3 could not connect, 4 the peer spoke wrongly. `NO_COLOR` is respected. Showing
the help imports nothing but click.
"""

from __future__ import annotations

import os
import sys

import click

from mcp_anyrev.cli.call import call
from mcp_anyrev.cli.explain import explain
from mcp_anyrev.cli.list import list_
from mcp_anyrev.cli.listen import listen
from mcp_anyrev.cli.probe import probe
from mcp_anyrev.cli.prompt import prompt
from mcp_anyrev.cli.read import read
from mcp_anyrev.cli.serve import serve
from mcp_anyrev.cli.skills import skills


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(None, "-V", "--version", package_name="mcp-anyrev", prog_name="mcp-anyrev")
@click.pass_context
def group(context: click.Context) -> None:
    """Serve and call every published revision of the Model Context Protocol."""
    if "NO_COLOR" in os.environ:
        context.color = False


for command in (serve, explain, call, list_, read, prompt, skills, listen, probe):
    group.add_command(command)


def main() -> None:
    """Run the command line."""
    try:
        group.main(prog_name="mcp-anyrev", standalone_mode=False)
    except click.exceptions.Exit as leaving:
        sys.exit(leaving.exit_code)
    except click.Abort:
        sys.exit(1)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
