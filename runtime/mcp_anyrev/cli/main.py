"""`mcp-anyrev`: the group of commands.

Rule: exit codes are 0 fine, 1 it failed, 2 usage, 3 could not connect, 4 the peer spoke wrongly. `NO_COLOR` is respected.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys

import click

from mcp_anyrev.cli.explain import explain
from mcp_anyrev.cli.serve import serve


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(importlib.metadata.version("mcp-anyrev"), prog_name="mcp-anyrev")
@click.pass_context
def group(context: click.Context) -> None:
    """Serve and call every published revision of the Model Context Protocol."""
    if "NO_COLOR" in os.environ:
        context.color = False


group.add_command(explain)
group.add_command(serve)


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
