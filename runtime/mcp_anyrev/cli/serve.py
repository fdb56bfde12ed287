"""`mcp-anyrev serve`: run the server that a module declares.

Rule: what cannot be served is said in one line, before anything listens.
"""

from __future__ import annotations

from typing import Any

import click
from mcp_revisions import VERSIONS


class _WithExamples(click.Command):
    """Help that ends with examples, their revisions taken from those that there are."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        newest, *_, oldest = VERSIONS
        with formatter.section("Examples"):
            formatter.write_text("mcp-anyrev serve examples/gates.py:registry")
            formatter.write_text("mcp-anyrev serve shop.tools:registry --port 8080 --path /api/mcp")
            formatter.write_text(f"mcp-anyrev serve shop.tools:registry --revisions {newest},{oldest}")


def _revisions(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    if value is None:
        return None
    asked = tuple(one.strip() for one in value.split(",") if one.strip())
    unknown = [one for one in asked if one not in VERSIONS]
    if unknown or not asked:
        raise click.BadParameter(f"{', '.join(unknown) or 'none given'}; known: {', '.join(VERSIONS)}")
    return asked


@click.command(cls=_WithExamples)
@click.argument("target", metavar="MODULE:REGISTRY")
@click.option("--host", default="127.0.0.1", show_default=True, help="Interface to listen on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="0 for any that is free.")
@click.option("--path", default="/mcp", show_default=True, help="Path of the address.")
@click.option("--revisions", metavar="REV,REV", callback=_revisions, help="Serve only these; all if not given.")
@click.option("--allow-host", "hosts", multiple=True, metavar="NAME", help="Another name that clients reach it by.")
@click.option("--allow-origin", "origins", multiple=True, metavar="ORIGIN", help="Another origin that may use it.")
def serve(
    target: str,
    host: str,
    port: int,
    path: str,
    revisions: tuple[str, ...] | None,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
) -> None:
    """Serve REGISTRY of MODULE over Streamable HTTP, until it is interrupted.

    MODULE is a dotted name or a .py file. The URL is written to stdout once the server listens.
    """
    import asyncio
    import sys

    from mcp_anyrev.cli.targets import TargetFault, load_registry
    from mcp_anyrev.settings import LOOPBACK, Settings

    try:
        registry = load_registry(target)
    except TargetFault as fault:
        raise click.BadParameter(str(fault), param_hint="MODULE:REGISTRY") from None
    settings = Settings(revisions=revisions, allowed_hosts=(*LOOPBACK, *hosts), allowed_origins=(*LOOPBACK, *origins))
    try:
        asyncio.run(_run(registry, settings, host, port, path))
    except KeyboardInterrupt:
        sys.exit(0)
    except OSError as error:
        raise click.ClickException(f"cannot listen on {host}:{port}: {error.strerror or error}") from None


async def _run(registry: Any, settings: Any, host: str, port: int, path: str) -> None:
    import asyncio
    import signal

    from mcp_anyrev.transports.serving import serve as running

    stopped = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, stopped.set)
    async with running(registry, settings, host=host, port=port, path=path) as url:
        click.echo(url)
        await stopped.wait()
