"""`mcp-anyrev skills`: the skills of a server, and what their files hold.

Rule: a file goes to stdout as it is, and only if it is what was listed. Nothing is read that was not asked for.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

import click

from mcp_anyrev.cli.peer import Peer, PeerCommand, calls_a_server

if TYPE_CHECKING:
    from mcp_anyrev.client.skills import ListedSkill
    from mcp_anyrev.serving.client import Client


class _Skills(PeerCommand):
    examples: ClassVar[tuple[str, ...]] = (
        "mcp-anyrev skills http://127.0.0.1:8000/mcp",
        "mcp-anyrev skills examples/everything.py:registry SKILL",
        "mcp-anyrev skills http://127.0.0.1:8000/mcp pdf references/forms.md > forms.md",
    )


@click.command(cls=_Skills)
@calls_a_server()
@click.argument("skill", metavar="[SKILL]", required=False)
@click.argument("file", metavar="[FILE]", required=False)
def skills(peer: Peer, skill: str | None, file: str | None) -> None:
    """List the skills of a server; or show a SKILL, by its name or address: its SKILL.md, or another FILE of it."""

    async def work(client: Client) -> int:
        listed = await client.skills.list()
        if skill is not None:
            found = _found(listed, skill)
            content = await client.skills.read(found, _address(found, file))
            peer.terminal.content(content)
        elif peer.as_json:
            peer.terminal.data_json([dataclasses.asdict(one) for one in listed])
        else:
            for one in listed:
                files = "made anew each time" if one.files is None else f"{len(one.files)} files"
                peer.terminal.data(f"{one.name}  {one.description.strip()}  ({one.uri}, {files})")
            if not listed:
                peer.terminal.data("none")
        return 0

    peer.run(work)


def _found(listed: list[ListedSkill], wanted: str) -> ListedSkill:
    """The skill that is wanted, by its address or its name.

    Raises:
        click.BadParameter: there is none, or there are several.
    """
    found = [one for one in listed if one.uri == wanted] or [one for one in listed if one.name == wanted]
    if len(found) == 1:
        return found[0]
    if found:
        several = ", ".join(one.uri for one in found)
        raise click.BadParameter(
            f"several are called {wanted!r}; say which by its address: {several}", param_hint="SKILL"
        )
    names = ", ".join(one.name for one in listed) or "none"
    raise click.BadParameter(f"there is no skill {wanted!r}; there are: {names}", param_hint="SKILL")


def _address(skill: ListedSkill, file: str | None) -> str | None:
    """The address of one of its files, by that or by its path beside SKILL.md; None for that one.

    Raises:
        click.BadParameter: there is no such file.
    """
    if file is None or skill.files is None:
        return file
    folder = skill.uri.rpartition("/")[0]
    for one in skill.files:
        if file in (one.uri, one.uri.removeprefix(f"{folder}/")):
            return one.uri
    paths = ", ".join(one.uri.removeprefix(f"{folder}/") for one in skill.files)
    raise click.BadParameter(f"{skill.name!r} has no file {file!r}; it has: {paths}", param_hint="FILE")
