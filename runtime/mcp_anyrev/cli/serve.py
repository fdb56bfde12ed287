"""`mcp-anyrev serve`: run the server that a module declares.

Rule: what cannot be served is said in one line, before anything listens.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

import click

from mcp_anyrev.cli.help import CommandWithExamples, known_revision
from mcp_anyrev.cli.logs import LEVELS, WIRE_FORMS, hush_start, show_logs

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp_anyrev.cli.served import Said
    from mcp_anyrev.settings import Settings


class _Serve(CommandWithExamples):
    examples: ClassVar[tuple[str, ...]] = (
        "mcp-anyrev serve examples/gates.py:registry",
        "mcp-anyrev serve shop.tools:registry --port 8080 --path /api/mcp --health /health",
        "mcp-anyrev serve shop.tools:registry --settings shop.tools:settings -v",
        "mcp-anyrev serve shop/tools.py:registry --reload",
        "mcp-anyrev serve shop.tools:registry --revisions {newest},{oldest}",
        "mcp-anyrev serve shop.tools:registry --transport http --transport sse",
        "mcp-anyrev serve shop.tools:registry --transport stdio",
        "mcp-anyrev serve shop.tools:registry --store valkey://localhost:6379/0 --workers 4",
    )


_HTTP, _SSE, _STDIO = "http", "sse", "stdio"
_OF_HTTP = {
    "workers": "--workers",
    "host": "--host",
    "port": "--port",
    "path": "--path",
    "sse_path": "--sse-path",
    "health": "--health",
    "hosts": "--allow-host",
    "origins": "--allow-origin",
    "reload": "--reload",
}


def _revisions(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    if value is None:
        return None
    return tuple(known_revision(one.strip()) for one in value.split(","))


def _rooted(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    return None if value is None else f"/{value.lstrip('/')}"


@click.command(cls=_Serve)
@click.argument("target", metavar="MODULE:REGISTRY")
@click.option("--settings", metavar="MODULE:SETTINGS", help="How it is run: a Settings object; the other options win.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Interface to listen on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="0 for any that is free.")
@click.option(
    "--transport",
    "transports",
    type=click.Choice([_HTTP, _SSE, _STDIO]),
    multiple=True,
    default=[_HTTP],
    show_default=True,
    help="How to speak; http and sse can be given together.",
)
@click.option(
    "--path", callback=_rooted, help="Path of the address; /mcp over http, /sse over sse alone, if not given."
)
@click.option(
    "--sse-path", callback=_rooted, help="Path of the address over sse where http is served, too; /sse if not given."
)
@click.option("--health", metavar="PATH", callback=_rooted, help="Path that tells a load balancer how the server does.")
@click.option("--revisions", metavar="REV,REV", callback=_revisions, help="Serve only these; all if not given.")
@click.option("--allow-host", "hosts", multiple=True, metavar="NAME", help="Another name that clients reach it by.")
@click.option("--allow-origin", "origins", multiple=True, metavar="ORIGIN", help="Another origin that may use it.")
@click.option("--store", metavar="URL", default=None, envvar="MCP_ANYREV_STORE", help="Where workers share sessions.")
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1, 1024), help="Processes on the port.")
@click.option("--reload", is_flag=True, help="Start again whenever a .py file beside the module changes.")
@click.option("--log-level", type=click.Choice(LEVELS), help="How much is logged, on stderr; warning if not given.")
@click.option("-v", "--verbose", is_flag=True, help="Log a line for each request.")
@click.option(
    "--wire",
    type=click.Choice(WIRE_FORMS),
    is_flag=False,
    flag_value=WIRE_FORMS[0],
    help="Log everything that passes, both ways, without secrets; =json for a line of JSON each.",
)
@click.pass_context
def serve(
    context: click.Context,
    target: str,
    settings: str | None,
    host: str,
    port: int,
    transports: tuple[str, ...],
    path: str | None,
    sse_path: str | None,
    health: str | None,
    revisions: tuple[str, ...] | None,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
    store: str | None,
    workers: int,
    reload: bool,
    log_level: str | None,
    verbose: bool,
    wire: str | None,
) -> None:
    """Serve REGISTRY of MODULE until it is interrupted: over Streamable HTTP, over HTTP+SSE for old clients, or on stdin and stdout.

    MODULE is a dotted name or a .py file, and REGISTRY a Registry or a Server in it. Over HTTP the URL is written to stdout once the
    server listens, and what it serves to stderr. Secrets that seal what travels through clients are taken from MCP_ANYREV_KEYS,
    separated by spaces: the first seals, all of them open.
    """
    from mcp_anyrev.cli.served import Said

    over = set(transports)
    said = Said(target, settings, revisions, store, hosts, origins)
    shows = partial(show_logs, log_level, requests=verbose, wire=wire)
    if _STDIO in over:
        _check_no_http(context, over)
        _serve_stdio(said, shows)
        return
    if reload:
        from mcp_anyrev.cli.reloading import serve_and_reload

        if workers > 1:
            raise click.UsageError("--reload is for one process; leave --workers out")
        serve_and_reload(target, host, port)
        return
    if over == {_SSE}:
        path, sse_path = None, path or sse_path or "/sse"
    else:
        if sse_path is not None and _SSE not in over:
            raise click.UsageError("--sse-path means nothing without --transport sse")
        path, sse_path = path or "/mcp", (sse_path or "/sse") if _SSE in over else None
    _serve_http(said, host, port, path, sse_path, health, workers, shows)


def _serve_stdio(said: Said, shows: Callable[[], None]) -> None:
    import sys

    from mcp_anyrev.serving.server import Server
    from mcp_anyrev.serving.stdio import loaded_on_stdio

    def load() -> Server:
        served = said.load()
        shows()
        return served.server

    try:
        loaded_on_stdio(load)
    except KeyboardInterrupt:
        sys.exit(0)


def _serve_http(
    said: Said,
    host: str,
    port: int,
    path: str | None,
    sse_path: str | None,
    health: str | None,
    workers: int,
    shows: Callable[[], None],
) -> None:
    import sys

    from mcp_anyrev.serving.serve import CannotListen, run

    served = said.load(workers)
    _check_revisions(served.settings, sse_path)
    shows()
    serves = partial(run, served.registry, served.settings, host=host, path=path, sse_path=sse_path, health_path=health)
    try:
        if workers == 1:
            serves(port=port, told=click.echo)
        else:
            _serve_with(workers, serves, host, port, served.settings)
    except KeyboardInterrupt:
        sys.exit(0)
    except CannotListen as error:
        raise click.ClickException(str(error)) from None


def _serve_with(workers: int, serves: Callable[..., None], host: str, port: int, settings: Settings) -> None:
    """Serve with several processes on one port.

    Raises:
        CannotListen: the port is taken.
    """
    import os

    from mcp_anyrev.serving.serve import CannotListen
    from mcp_anyrev.storage.backends import is_shared
    from mcp_anyrev.transports.listening import listening

    if not hasattr(os, "fork"):
        raise click.UsageError("this system cannot have several workers; start several servers instead")
    from mcp_anyrev.serving.workers import CannotStart, Workers

    if settings.store is None or (isinstance(settings.store, str) and not is_shared(settings.store)):
        click.echo(
            f"{workers} workers without a --store that they share: a session, a stream or a question that is begun on one is unknown "
            "to the others, and changes are heard on one alone",
            err=True,
        )
    try:
        sockets = listening(host, port)
    except OSError as error:
        raise CannotListen(error.errno, f"cannot listen on {host}:{port}: {error.strerror or error}") from None

    def work(told: Callable[[str], None], first: bool) -> None:
        if not first:
            hush_start()
        serves(sockets=sockets, told=told)

    try:
        Workers(workers, work, click.echo).run()
    except CannotStart as error:
        raise click.ClickException(str(error)) from None


def _check_no_http(context: click.Context, over: set[str]) -> None:
    """See that nothing is asked for that means nothing on stdin and stdout."""
    if over != {_STDIO}:
        raise click.UsageError("stdio is for one client alone; it cannot be served beside another transport")
    for parameter, option in _OF_HTTP.items():
        if context.get_parameter_source(parameter) is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option} means nothing over stdio")


def _check_revisions(settings: Settings, sse_path: str | None) -> None:
    """See that something can be served over HTTP+SSE, where that is asked for."""
    from mcp_revisions import AdapterSet

    adapters = AdapterSet(settings.revisions).by_version
    if sse_path is not None and not any(adapter.served_on_http_sse for adapter in adapters.values()):
        raise click.BadParameter(f"none of these is served over sse: {', '.join(adapters)}", param_hint="--revisions")
