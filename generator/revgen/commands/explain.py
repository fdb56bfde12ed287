"""`revgen explain`: one question of the inventory, with all that is known about it."""

from __future__ import annotations

import shutil
from typing import Any

import click

from ..documents.explanation import Explanation, Variant, explain, suggestions
from ..specification.loading import load_specification
from ..templates.wrapping import wrapped
from .options import Settings, takes_settings


@click.command(name="explain")
@click.argument("concern")
@takes_settings(only_shows=True)
def command(settings: Settings, concern: str) -> None:
    """Explain CONCERN: question, answers with their sources, and the code that each answer becomes.

    \b
    Examples:
      revgen explain error_codes
      revgen explain batching --json
    """
    specification = load_specification(settings.root)
    found = explain(specification, concern)
    if found is None:
        near = suggestions(specification.areas, concern)
        hint = f"perhaps: {', '.join(near)}" if near else "'revgen matrix' lists them"
        raise click.UsageError(f"'{concern}' is not a concern; {hint}")
    settings.show(_data(found), _text(found))


def _data(found: Explanation) -> dict[str, Any]:
    concern = found.concern
    return {
        "concern": concern.name,
        "area": concern.area,
        "transport": found.area.transport,
        "question": concern.question,
        "kind": concern.kind,
        "type": concern.annotation or concern.signature,
        "template": found.template or None,
        "choices": concern.choices,
        "variants": [
            {
                "answer": list(variant.answer),
                "code": variant.code,
                "revisions": {
                    version: [{"source": str(source.citation), "address": source.address} for source in sources]
                    for version, sources in variant.sources.items()
                },
            }
            for variant in found.variants
        ],
    }


def _text(found: Explanation) -> str:
    concern, width = found.concern, shutil.get_terminal_size((120, 24)).columns
    where = f"{concern.area}, {'flag' if concern.flag else concern.kind}"
    lines = [
        f"{click.style(concern.name, bold=True)} ({where}): {concern.annotation or concern.signature}",
        *wrapped(concern.question, width),
        *([click.style(found.template, dim=True)] if found.template else []),
    ]
    for variant in found.variants:
        lines += ["", *_variant(variant, concern.kind, width)]
    return "\n".join(lines)


def _variant(variant: Variant, kind: str, width: int) -> list[str]:
    # The code of a value or a table is the answer itself.
    shown = variant.answer if kind == "choice" else ()
    lines = [click.style(", ".join(variant.sources) or "answered by no revision", bold=True)]
    lines += [click.style(line, fg="cyan") for line in shown]
    lines += wrapped(variant.meaning, width)
    lines += [f"    {line}".rstrip() for line in variant.code.splitlines()]
    for version, sources in variant.sources.items():
        for source in sources:
            reference = f"{source.citation}  {source.address}" if source.address else str(source.citation)
            lines.append(click.style(f"  {version}  {reference}", dim=True))
    return lines
