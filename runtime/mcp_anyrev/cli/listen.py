"""`mcp-anyrev listen`: what changes on a server, as it says so.

Rule: a line for each change, at once, until it is interrupted, which is how it ends in good order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import click

from mcp_anyrev.cli.peer import Peer, PeerCommand, calls_a_server

if TYPE_CHECKING:
    from mcp_anyrev.serving.client import Client


class _Listen(PeerCommand):
    examples: ClassVar[tuple[str, ...]] = (
        "mcp-anyrev listen http://127.0.0.1:8000/mcp",
        "mcp-anyrev listen http://127.0.0.1:8000/mcp --tools --json",
        "mcp-anyrev listen http://127.0.0.1:8000/mcp --uri library://cards/lem --count 1",
    )


@click.command(cls=_Listen)
@calls_a_server()
@click.option("--tools", is_flag=True, help="Changes of the list of tools.")
@click.option("--prompts", is_flag=True, help="Changes of the list of prompts.")
@click.option("--resources", is_flag=True, help="Changes of the list of resources.")
@click.option("--uri", "uris", multiple=True, metavar="URI", help="Changes of what this resource holds; repeatable.")
@click.option("--count", type=click.IntRange(1), metavar="N", help="End after so many changes.")
def listen(peer: Peer, tools: bool, prompts: bool, resources: bool, uris: tuple[str, ...], count: int | None) -> None:
    """Show what changes on a server, until interrupted. All lists that the server tells of, where nothing is chosen."""
    chosen = [name for name, wanted in (("tools", tools), ("prompts", prompts), ("resources", resources)) if wanted]

    async def work(client: Client) -> int:
        lists = chosen if chosen or uris else _told_of(client)
        if not lists and not uris:
            peer.terminal.note("the server says of no list that it tells of its changes", fg="red")
            return 1
        left = count
        async with client.listen(*lists, uris=uris) as changes:
            peer.terminal.note(f"listening to {', '.join([*lists, *uris])}", dim=True)
            async for change in changes:
                if peer.as_json:
                    peer.terminal.data_json({"of": change.of, "uri": change.uri}, in_one_line=True)
                else:
                    peer.terminal.data(change.of if change.uri is None else f"{change.of} {change.uri}")
                left = None if left is None else left - 1
                if left == 0:
                    break
        return 0

    peer.run(work, endless=True)


def _told_of(client: Client) -> list[str]:
    offered = client.capabilities
    kinds = {"tools": offered.tools, "prompts": offered.prompts, "resources": offered.resources}
    return [name for name, kind in kinds.items() if kind is not None and kind.list_changed]
