"""`mcp-anyrev list`: what a server offers.

Rule: everything, or the one kind that is asked for; what the server does not declare is not asked for unless somebody wants just that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import click

from mcp_anyrev.cli.peer import Peer, PeerCommand, calls_a_server

if TYPE_CHECKING:
    from mcp_anyrev.serving.client import Client


class _List(PeerCommand):
    examples: ClassVar[tuple[str, ...]] = (
        "mcp-anyrev list http://127.0.0.1:8000/mcp",
        "mcp-anyrev list examples/small.py:registry tools --revision {oldest}",
        "mcp-anyrev list tools --json -- python server.py",
    )


_REQUESTS = {
    "tools": "tools/list",
    "resources": "resources/list",
    "templates": "resources/templates/list",
    "prompts": "prompts/list",
}
_KINDS = tuple(_REQUESTS)


@click.command("list", cls=_List)
@calls_a_server()
@click.argument("kind", type=click.Choice(_KINDS), required=False)
def list_(peer: Peer, kind: str | None) -> None:
    """List what a server offers: its tools, resources, templates of resources, and prompts."""
    from mcp_anyrev.cli.content import plain

    async def work(client: Client) -> int:
        offered = client.capabilities
        declared = {"tools": offered.tools, "resources": offered.resources, "prompts": offered.prompts}
        declared["templates"] = offered.resources
        requests = client.adapter.client_requests
        there = [one for one in _KINDS if declared[one] is not None and _REQUESTS[one] in requests]
        kinds = there if kind is None else [kind]
        found = {one: await _listed(client, one) for one in kinds}
        if peer.as_json:
            as_json = {one: [plain(item) for item in items] for one, items in found.items()}
            peer.terminal.data_json(as_json if kind is None else as_json[kind])
            return 0
        for one, items in found.items():
            if kind is None:
                peer.terminal.data(f"{one}:" if items else f"{one}: none")
            for item in items:
                peer.terminal.data(f"{'' if kind else '  '}{_words(one, item)}")
        return 0

    peer.run(work)


async def _listed(client: Client, kind: str) -> list[Any]:
    if kind == "tools":
        return list(await client.list_tools())
    if kind == "resources":
        return list(await client.list_resources())
    return list(await (client.list_prompts() if kind == "prompts" else client.list_resource_templates()))


def _words(kind: str, item: Any) -> str:
    if kind == "tools":
        name = f"{item.name}({_parameters(item.input_schema)})"
    elif kind == "prompts":
        arguments = [f"{one.name}{'' if one.required else '?'}" for one in item.arguments or ()]
        name = f"{item.name}({', '.join(arguments)})"
    else:
        name = item.uri if kind == "resources" else item.uri_template
    said = (
        item.title
        or (item.description or "").strip().partition("\n")[0]
        or (item.name if item.name not in name else "")
    )
    return f"{name}  {said}".rstrip()


def _parameters(schema: dict[str, Any]) -> str:
    from mcp_anyrev.cli.values import kind_of, resolved

    required = schema.get("required") or ()
    return ", ".join(
        f"{name}{'' if name in required else '?'}: {kind_of(resolved(member, schema), schema)}"
        for name, member in (schema.get("properties") or {}).items()
    )
