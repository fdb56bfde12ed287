"""`mcp-anyrev serve --reload`: start again whenever the application changes.

Rule: a process of its own serves, so that whatever was imported is imported anew; one that cannot start waits for the next change.
"""

from __future__ import annotations

import importlib.util
import pathlib
import shlex
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from watchfiles import Change


def serve_and_reload(target: str, host: str, port: int) -> None:
    """Serve what this command was asked to until it is interrupted, starting again with each change.

    Args:
        target: what is served.
        host: the interface to listen on.
        port: the port; one that is free is chosen once, so that it stays the same.

    Raises:
        click.UsageError: the extra is not installed, or it cannot be told which files belong to the application.
    """
    try:
        from watchfiles import PythonFilter, run_process
    except ImportError:
        raise click.UsageError("--reload needs watchfiles; install mcp-anyrev[reload]") from None
    folder = _folder(target)
    arguments = [each for each in sys.argv[1:] if each != "--reload"]
    if port == 0:
        arguments += ["--port", str(_free_port(host))]
    command = shlex.join([sys.executable, "-m", "mcp_anyrev", *arguments])
    click.echo(f"watching {folder}", err=True)
    run_process(folder, target=command, target_type="command", watch_filter=PythonFilter(), callback=_tell)


def _tell(changes: set[tuple[Change, str]]) -> None:
    click.echo(f"changed: {', '.join(sorted(path for _, path in changes))}", err=True)


def _folder(target: str) -> pathlib.Path:
    """The folder of an application."""
    where = target.rpartition(":")[0] or target
    if where.endswith(".py"):
        return pathlib.Path(where).resolve().parent
    sys.path.insert(0, "")  # as the command itself looks for it
    found = importlib.util.find_spec(where.partition(".")[0])
    if found is None or found.origin is None:
        raise click.BadParameter(f"there is no module {where}", param_hint="MODULE:REGISTRY")
    return pathlib.Path(found.origin).resolve().parent


def _free_port(host: str) -> int:
    from mcp_anyrev.transports.listening import listening

    try:
        sockets = listening(host, 0)
    except OSError as error:
        raise click.ClickException(f"cannot listen on {host}: {error.strerror or error}") from None
    port: int = sockets[0].getsockname()[1]
    for each in sockets:
        each.close()
    return port
