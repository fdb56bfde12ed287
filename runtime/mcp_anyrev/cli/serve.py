"""`mcp-anyrev serve`: run the server that a module declares.

Rule: what cannot be served is said in one line, before anything listens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import click

from mcp_anyrev.cli.help import CommandWithExamples, known_revision

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter


class _Serve(CommandWithExamples):
    examples: ClassVar[tuple[str, ...]] = (
        "mcp-anyrev serve examples/gates.py:registry",
        "mcp-anyrev serve shop.tools:registry --port 8080 --path /api/mcp",
        "mcp-anyrev serve shop.tools:registry --revisions {newest},{oldest}",
        "mcp-anyrev serve shop.tools:registry --transport sse",
        "mcp-anyrev serve shop.tools:registry --transport stdio",
    )


_PATHS = {"http": "/mcp", "sse": "/sse"}
"""A transport → the path of its address, if nothing is said."""

_STDIO = "stdio"
_OF_HTTP = {"host": "--host", "port": "--port", "path": "--path", "hosts": "--allow-host", "origins": "--allow-origin"}


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
def serve(
    target: str,
    host: str,
    port: int,
    transport: str,
    path: str | None,
    revisions: tuple[str, ...] | None,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
) -> None:
    """Serve REGISTRY of MODULE until it is interrupted: over Streamable HTTP, over HTTP+SSE for old clients, or on stdin and stdout.

    MODULE is a dotted name or a .py file. Over HTTP the URL is written to stdout once the server listens.
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
            revisions=revisions, allowed_hosts=(*LOOPBACK, *hosts), allowed_origins=(*LOOPBACK, *origins)
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
        run(
            load(),
            settings,
            host=host,
            port=port,
            path=path if transport == "http" else None,
            sse_path=path if transport == "sse" else None,
            told=click.echo,
        )
    except TargetFault as fault:
        raise click.BadParameter(str(fault), param_hint="MODULE:REGISTRY") from None
    except KeyboardInterrupt:
        sys.exit(0)
    except CannotListen as error:
        raise click.ClickException(str(error)) from None


def _check_no_http(context: click.Context) -> None:
    """See that nothing is asked for that means nothing on stdin and stdout."""
    for parameter, option in _OF_HTTP.items():
        if context.get_parameter_source(parameter) is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option} means nothing over stdio")


def _adapters(revisions: tuple[str, ...] | None) -> list[Adapter]:
    from mcp_revisions import AdapterSet

    return list(AdapterSet(revisions).by_version.values())
