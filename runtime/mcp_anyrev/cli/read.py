"""`mcp-anyrev read`: what a resource holds.

Rule: text goes to stdout as it is, so that it can be piped on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import click

from mcp_anyrev.cli.peer import Peer, PeerCommand, calls_a_server

if TYPE_CHECKING:
    from mcp_anyrev.serving.client import Client


class _Read(PeerCommand):
    examples: ClassVar[tuple[str, ...]] = (
        "mcp-anyrev read examples/small.py:registry library://cards/lem",
        "mcp-anyrev read http://127.0.0.1:8000/mcp file:///logo.png --output logo.png",
        "mcp-anyrev read file:///logo.png --output - -- python server.py > logo.png",
    )


@click.command(cls=_Read)
@calls_a_server(asks=True)
@click.argument("uri", metavar="URI")
@click.option("--output", metavar="FILE", help="Write the bytes to this file; - for stdout.")
def read(peer: Peer, uri: str, output: str | None) -> None:
    """Read the resource at URI. Of what is no text, type and size are shown; --output has the bytes."""
    from mcp_anyrev.cli.content import plain, save, words_of

    async def work(client: Client) -> int:
        result = await client.read_resource(uri)
        if peer.as_json:
            peer.terminal.data_json(plain(result))
        if output is not None:
            save(peer.terminal, result.contents, output)
        elif not peer.as_json:
            for held in result.contents:
                peer.terminal.data(words_of(held))
        return 0

    peer.run(work)
