"""`mcp-anyrev prompt`: a prompt, filled in.

Rule: its arguments are looked up first; a prompt takes texts, so nothing is read as anything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import click

from mcp_anyrev.cli.peer import Peer, PeerCommand, calls_a_server

if TYPE_CHECKING:
    from mcp_revisions.canonical import Prompt

    from mcp_anyrev.serving.client import Client


class _Prompt(PeerCommand):
    examples: ClassVar[tuple[str, ...]] = (
        "mcp-anyrev prompt examples/small.py:registry recommend author=lem",
        "mcp-anyrev prompt http://127.0.0.1:8000/mcp recommend author=lem --json",
    )


@click.command(cls=_Prompt)
@calls_a_server(asks=True)
@click.argument("name", metavar="NAME")
@click.argument("pairs", nargs=-1, metavar="[KEY=VALUE]...")
def prompt(peer: Peer, name: str, pairs: tuple[str, ...]) -> None:
    """Get the prompt NAME with its arguments filled in, message by message."""
    from mcp_anyrev.cli.content import plain, words_of

    async def work(client: Client) -> int:
        arguments = _arguments(await client.list_prompts(), name, pairs)
        result = await client.get_prompt(name, arguments)
        if peer.as_json:
            peer.terminal.data_json(plain(result))
        else:
            for message in result.messages:
                peer.terminal.data(f"{message.role}: {words_of(message.content)}")
        return 0

    peer.run(work)


def _arguments(prompts: Sequence[Prompt], name: str, pairs: Sequence[str]) -> dict[str, str]:
    from mcp_anyrev.cli.values import nearest

    found = next((one for one in prompts if one.name == name), None)
    if found is None:
        names = [one.name for one in prompts]
        words = f"the server has no {name!r}{nearest(name, names)}; it has: {', '.join(names) or 'none'}"
        raise click.BadParameter(words, param_hint="NAME")
    known = {one.name: bool(one.required) for one in found.arguments or ()}
    takes = ", ".join(f"{key}{' (required)' if required else ''}" for key, required in known.items()) or "nothing"
    given: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or key not in known or key in given:
            what = "is given twice" if key in given else f"is no argument of {name}{nearest(key, known)}"
            raise click.UsageError(f"{key!r} {what if equals else 'lacks a value; write KEY=VALUE'}; it takes: {takes}")
        given[key] = value
    missing = [key for key, required in known.items() if required and key not in given]
    if missing:
        raise click.UsageError(f"{name} needs {', '.join(missing)}; it takes: {takes}")
    return given
