"""`mcp-anyrev serve`: run the server that a module declares.

Rule: what cannot be served is said in one line, before anything listens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import click

from mcp_anyrev.cli.help import CommandWithExamples, known_revision

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp_revisions.protocol import Adapter


class _Serve(CommandWithExamples):
    examples: ClassVar[tuple[str, ...]] = (
        "mcp-anyrev serve examples/gates.py:registry",
        "mcp-anyrev serve shop.tools:registry --port 8080 --path /api/mcp",
        "mcp-anyrev serve shop.tools:registry --revisions {newest},{oldest}",
        "mcp-anyrev serve shop.tools:registry --transport sse",
        "mcp-anyrev serve shop.tools:registry --transport stdio",
        "mcp-anyrev serve shop.tools:registry --store valkey://localhost:6379/0 --workers 4",
    )


_PATHS = {"http": "/mcp", "sse": "/sse"}
"""A transport → the path of its address, if nothing is said."""

_STDIO = "stdio"
_OF_HTTP = {
    "workers": "--workers",
    "host": "--host",
    "port": "--port",
    "path": "--path",
    "hosts": "--allow-host",
    "origins": "--allow-origin",
}

_KEYS = "MCP_ANYREV_KEYS"
_KEY_BYTES = 32


def _revisions(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    if value is None:
        return None
    return tuple(known_revision(one.strip()) for one in value.split(","))


@click.command(cls=_Serve)
@click.argument("target", metavar="MODULE:REGISTRY")
@click.option("--host", default="127.0.0.1", show_default=True, help="Interface to listen on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="0 for any that is free.")
@click.option(
    "--transport", type=click.Choice([*_PATHS, _STDIO]), default="http", show_default=True, help="How to speak."
)
@click.option("--path", default=None, help="Path of the address; /mcp over http, /sse over sse, if not given.")
@click.option("--revisions", metavar="REV,REV", callback=_revisions, help="Serve only these; all if not given.")
@click.option("--allow-host", "hosts", multiple=True, metavar="NAME", help="Another name that clients reach it by.")
@click.option("--allow-origin", "origins", multiple=True, metavar="ORIGIN", help="Another origin that may use it.")
@click.option("--store", metavar="URL", default=None, envvar="MCP_ANYREV_STORE", help="Where workers share sessions.")
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1, 1024), help="Processes on the port.")
def serve(
    target: str,
    host: str,
    port: int,
    transport: str,
    path: str | None,
    revisions: tuple[str, ...] | None,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
    store: str | None,
    workers: int,
) -> None:
    """Serve REGISTRY of MODULE until it is interrupted: over Streamable HTTP, over HTTP+SSE for old clients, or on stdin and stdout.

    MODULE is a dotted name or a .py file. Over HTTP the URL is written to stdout once the server listens. Secrets that seal what
    travels through clients are taken from MCP_ANYREV_KEYS, separated by spaces: the first seals, all of them open.
    """
    import sys
    from functools import partial

    from pydantic import ValidationError

    from mcp_anyrev.cli.targets import TargetFault, load_registry
    from mcp_anyrev.serving.serve import CannotListen, run
    from mcp_anyrev.serving.stdio import loaded_on_stdio
    from mcp_anyrev.settings import LOOPBACK, Settings

    if transport == "sse" and not any(adapter.served_on_http_sse for adapter in _adapters(revisions)):
        raise click.BadParameter(
            f"none of these is served over sse: {', '.join(revisions or ())}", param_hint="--revisions"
        )
    try:
        settings = Settings(
            revisions=revisions,
            store=store,
            keys=_keys(workers),
            allowed_hosts=(*LOOPBACK, *hosts),
            allowed_origins=(*LOOPBACK, *origins),
        )
    except ValidationError as faults:
        raise click.UsageError(
            "; ".join(fault["msg"].removeprefix("Value error, ") for fault in faults.errors())
        ) from None
    load = partial(load_registry, target)
    try:
        if transport == _STDIO:
            _check_no_http(click.get_current_context())
            loaded_on_stdio(load, settings)
            return
        path = f"/{(path or _PATHS[transport]).lstrip('/')}"
        serves = partial(
            run,
            load(),
            settings,
            path=path if transport == "http" else None,
            sse_path=path if transport == "sse" else None,
        )
        if workers == 1:
            serves(host=host, port=port, told=click.echo)
        else:
            _serve_with(workers, serves, host, port, store)
    except TargetFault as fault:
        raise click.BadParameter(str(fault), param_hint="MODULE:REGISTRY") from None
    except KeyboardInterrupt:
        sys.exit(0)
    except CannotListen as error:
        raise click.ClickException(str(error)) from None


def _keys(workers: int) -> tuple[bytes, ...]:
    """The secrets of the environment, or one for all workers."""
    import os
    import secrets

    given = tuple(each.encode() for each in os.environ.get(_KEYS, "").split())
    return given or ((secrets.token_bytes(_KEY_BYTES),) if workers > 1 else ())


def _serve_with(workers: int, serves: Callable[..., None], host: str, port: int, store: str | None) -> None:
    """Serve with several processes on one port.

    Raises:
        CannotListen: the port is taken.
    """
    import os

    from mcp_anyrev.serving.serve import CannotListen
    from mcp_anyrev.serving.workers import CannotStart, Workers
    from mcp_anyrev.storage.backends import is_shared
    from mcp_anyrev.transports.listening import listening

    if not hasattr(os, "fork"):
        raise click.UsageError("this system cannot have several workers; start several servers instead")
    if store is None or not is_shared(store):
        click.echo(
            f"{workers} workers without a --store that they share: a session, a stream or a question that is begun on one is unknown "
            "to the others, and changes are heard on one alone",
            err=True,
        )
    try:
        sockets = listening(host, port)
    except OSError as error:
        raise CannotListen(error.errno, f"cannot listen on {host}:{port}: {error.strerror or error}") from None

    def work(told: Callable[[str], None]) -> None:
        serves(sockets=sockets, told=told)

    try:
        Workers(workers, work, click.echo).run()
    except CannotStart as error:
        raise click.ClickException(str(error)) from None


def _check_no_http(context: click.Context) -> None:
    """See that nothing is asked for that means nothing on stdin and stdout."""
    for parameter, option in _OF_HTTP.items():
        if context.get_parameter_source(parameter) is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option} means nothing over stdio")


def _adapters(revisions: tuple[str, ...] | None) -> list[Adapter]:
    from mcp_revisions import AdapterSet

    return list(AdapterSet(revisions).by_version.values())
