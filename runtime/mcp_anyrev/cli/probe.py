"""`mcp-anyrev probe`: what a server really serves, and where it deviates.

Rule: what was found goes to stdout, for a person or as JSON; the exit code is 0 where nothing deviates.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, ClassVar

import click

from mcp_anyrev.cli.peer import NOT_REACHED, SPOKE_WRONGLY, Peer, PeerCommand, calls_a_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from mcp_anyrev.cli.probing import Probed
    from mcp_anyrev.cli.terminal import Terminal

_ALL_IN_ALL = 12
"""How many times as long as a server may say nothing the probe may take."""


class _Probe(PeerCommand):
    examples: ClassVar[tuple[str, ...]] = (
        "mcp-anyrev probe http://127.0.0.1:8000/mcp",
        "mcp-anyrev probe https://mcp.example/mcp --revision {newest} --header 'Authorization: Bearer …' --json",
        "mcp-anyrev probe -- python server.py",
    )


@click.command(cls=_Probe)
@calls_a_server(seconds=10.0)
def probe(peer: Peer) -> None:
    """Find out which revisions a server serves, over which transports, and where it deviates from them.

    Each revision is tried by itself. Lists are read, changes listened to for a moment, and requests sent that cannot be right; no tool that there is
    gets called, and nothing is changed. Exit code 4 where something deviates, 3 where nothing is served.
    """
    from mcp_revisions import AdapterSet

    revisions = AdapterSet.default().versions if peer.revision is None else (peer.revision,)

    async def work() -> int:
        found: list[Probed] = []
        async with _tried(peer, revisions) as tried:
            async for one in tried:
                found.append(one)
                if not peer.as_json:
                    _show(peer.terminal, one)
        if peer.as_json:
            peer.terminal.data_json([_as_json(one) for one in found])
        if any(finding.deviates for one in found for finding in one.findings):
            return SPOKE_WRONGLY
        return 0 if any(one.served for one in found) else NOT_REACHED

    peer.finish(work)


@asynccontextmanager
async def _tried(peer: Peer, revisions: Sequence[str]) -> AsyncIterator[AsyncIterator[Probed]]:
    from mcp_anyrev.cli.probing import ProbingClient, probed

    transports = [peer.transport] if peer.transport or peer.reached.url is None else ["http", "sse"]
    async with peer.reached.served() as target:

        def connect(**options: Any) -> Any:
            return peer.client(target, made_by=ProbingClient, sends_all=True, **options)

        yield probed(connect, transports, revisions, _ALL_IN_ALL * peer.timeout, peer.plain_http())


def _show(terminal: Terminal, one: Probed) -> None:
    where = f"{one.revision} over {_name(one)}" if one.transport else one.revision
    if not one.served:
        terminal.data(f"{where}: not served: {one.reason}")
    else:
        server = one.server or {}
        who = " ".join(str(server[name]) for name in ("name", "version") if name in server)
        counted = {"tools": "tools", "resources": "resources", "resourceTemplates": "templates", "prompts": "prompts"}
        counts = ", ".join(f"{one.counted[name]} {words}" for name, words in counted.items() if name in one.counted)
        terminal.data(f"{where}: served{f' by {who}' if who else ''}{f'; {counts}' if counts else ''}")
        terminal.data(f"  capabilities: {', '.join(_capabilities(one.capabilities)) or 'none'}")
    for finding in one.findings:
        terminal.data(f"  {'deviates' if finding.deviates else 'remark'}: {finding.words}")


def _name(one: Probed) -> str:
    return "memory" if one.transport == "custom" else one.transport


def _capabilities(capabilities: dict[str, Any]) -> list[str]:
    found = []
    for name, settings in capabilities.items():
        flags = [flag for flag, value in settings.items() if value] if isinstance(settings, dict) else []
        found.append(f"{name} ({', '.join(flags)})" if flags else name)
    return found


def _as_json(one: Probed) -> dict[str, Any]:
    return {
        "transport": _name(one) or None,
        "revision": one.revision,
        "served": one.served,
        "reason": one.reason,
        "server": one.server,
        "capabilities": one.capabilities,
        "offered": list(one.offered),
        "counted": one.counted,
        "deviations": [finding.words for finding in one.findings if finding.deviates],
        "remarks": [finding.words for finding in one.findings if not finding.deviates],
    }
