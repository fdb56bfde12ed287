"""`mcp-anyrev call`: call a tool.

Rule: what the tool takes is looked up first, and nothing is sent that does not fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import click

from mcp_anyrev.cli.peer import FAILED, Peer, PeerCommand, calls_a_server

if TYPE_CHECKING:
    from mcp_contract import JsonObject
    from mcp_revisions.canonical import Tool

    from mcp_anyrev.serving.client import Client


class _Call(PeerCommand):
    examples: ClassVar[tuple[str, ...]] = (
        "mcp-anyrev call http://127.0.0.1:8000/mcp find author=lem",
        "mcp-anyrev call examples/small.py:registry find author=lem --revision {oldest} --wire",
        "mcp-anyrev call examples/gates.py:registry gate --accept",
        "mcp-anyrev call 'python server.py' add a:=1 b:=2 --json",
        'mcp-anyrev call add --json-args \'{{"a": 1, "b": 2}}\' -- python server.py',
    )


@click.command(cls=_Call)
@calls_a_server(asks=True)
@click.argument("tool", metavar="TOOL")
@click.argument("pairs", nargs=-1, metavar="[KEY=VALUE]...")
@click.option(
    "--json-args", metavar="JSON|@FILE|-", help="All arguments as one JSON object: here, in a file, or on stdin."
)
@click.option("--output", metavar="FILE", help="Write what is no text to this file; - for stdout.")
def call(peer: Peer, tool: str, pairs: tuple[str, ...], json_args: str | None, output: str | None) -> None:
    """Call TOOL of a server, and show what it gives.

    KEY=VALUE is read as the input schema of the tool has it, a KEY that comes again as another item of an array; KEY:=JSON says a value
    exactly. When the server asks something, you are asked. Exit code 1 where the tool says that it failed.
    """
    from mcp_anyrev.cli.arguments import json_object
    from mcp_anyrev.cli.content import plain, save, shown_result

    if json_args is not None and pairs:
        raise click.UsageError("give arguments by KEY=VALUE or by --json-args, not both")
    given = None if json_args is None else json_object(json_args)

    async def work(client: Client) -> int:
        found = _found(await client.list_tools(), tool)
        result = await client.call_tool(tool, _arguments(found, pairs, given))
        if peer.as_json:
            peer.terminal.data_json(plain(result))
        if output is not None:
            save(peer.terminal, result.content, output)
        elif not peer.as_json:
            shown_result(peer.terminal, result)
        if result.is_error:
            peer.terminal.note(f"{tool} says that it failed", fg="red")
        return FAILED if result.is_error else 0

    peer.run(work)


def _found(tools: list[Tool], name: str) -> Tool:
    from mcp_anyrev.cli.values import nearest

    for tool in tools:
        if tool.name == name:
            return tool
    names = [tool.name for tool in tools]
    raise click.BadParameter(
        f"the server has no {name!r}{nearest(name, names)}; it has: {', '.join(names) or 'none'}", param_hint="TOOL"
    )


def _arguments(tool: Tool, pairs: tuple[str, ...], given: JsonObject | None) -> JsonObject:
    from mcp_anyrev.cli.values import ValueFault, check, named_values

    try:
        arguments = named_values(pairs, tool.input_schema) if given is None else given
        check(arguments, tool.input_schema)
    except ValueFault as fault:
        raise click.UsageError(f"{tool.name}: {fault}") from None
    return arguments
