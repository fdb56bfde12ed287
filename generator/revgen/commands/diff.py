"""`revgen diff`: what changed between two revisions."""

from __future__ import annotations

import dataclasses
import shutil
from typing import Any

import click

from ..differences.code import CodeDifference, code_differences
from ..differences.revisions import Differences, differences
from ..differences.words import Section, sections
from ..documents.differences import code_markdown, differences_markdown
from ..specification.loading import load_specification
from ..templates.wrapping import wrapped
from .options import Settings, require_revision, takes_settings

_COLOURS_OF_CODE = {"+": "green", "-": "red"}
_COLOURS = {"new": "green", "gone": "red"}


@click.command(name="diff")
@click.argument("old")
@click.argument("new")
@click.option("--format", "format_", type=click.Choice(["terminal", "markdown"]), default="terminal", show_default=True)
@click.option("--code", is_flag=True, help="Show how the two adapters differ as code, without docstrings.")
@takes_settings(only_shows=True)
def command(settings: Settings, old: str, new: str, format_: str, code: bool) -> None:
    """Show what changed from revision OLD to revision NEW.

    Types, members, unions, methods, notifications, codes, keys of _meta, and every answer of the inventory that differs, with the
    sources of both.

    \b
    Examples:
      revgen diff 2001-01-01 2002-02-02
      revgen diff 2001-01-01 2002-02-02 --format markdown > changes.md
      revgen diff 2001-01-01 2002-02-02 --code
      revgen diff 2001-01-01 2002-02-02 --json
    """
    specification = load_specification(settings.root)
    for version in (old, new):
        require_revision(version, specification.versions)
    markdown = format_ == "markdown"
    if code:
        parts = code_differences(specification, old, new)
        settings.show(
            [dataclasses.asdict(part) for part in parts], code_markdown(parts) if markdown else code_text(parts)
        )
        return
    found = differences(specification, old, new)
    text = differences_markdown(found, specification) if markdown else differences_text(sections(found))
    settings.show(_data(found), text)


def code_text(parts: tuple[CodeDifference, ...]) -> str:
    """Code that differs for a terminal: a paragraph for each name, what is new and what is gone in colours."""
    lines = []
    for part in parts:
        lines += ["", click.style(part.name, bold=True)]
        lines += [click.style(line, fg=_COLOURS_OF_CODE[line[0]]) for line in part.lines]
    return "\n".join(lines[1:])


def differences_text(parts: tuple[Section, ...]) -> str:
    """Sections for a terminal: wrapped, what is new and what is gone in colours."""
    width = shutil.get_terminal_size((120, 24)).columns
    lines = []
    for section in parts:
        lines += ["", click.style(section.title.replace("`", ""), bold=True)]
        for item in section.items:
            text = item.text.replace("`", "").replace("\\", "")
            for number, line in enumerate(wrapped(text, width - 6)):
                margin = " " * (6 if number else 2)
                lines.append(click.style(margin + line, fg=_COLOURS.get(text.partition(" ")[0])))
            for version, citations in item.sources:
                lines += [click.style(f"      {version}  {citation}", dim=True) for citation in citations]
    return "\n".join(lines[1:])


def _data(found: Differences) -> dict[str, Any]:
    return {
        "old": found.old,
        "new": found.new,
        "schema": dataclasses.asdict(found.schema),
        "answers": [
            {
                "area": answer.area,
                "concern": answer.concern,
                "changes": [dataclasses.asdict(line) for line in answer.lines],
                "citations": {
                    found.old: [str(citation) for citation in answer.old_citations],
                    found.new: [str(citation) for citation in answer.new_citations],
                },
            }
            for answer in found.answers
        ],
    }
