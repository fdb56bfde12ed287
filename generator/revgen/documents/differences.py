"""Words the differences of two revisions as one page of Markdown.

Rule: a difference is one line; the page is for reviewing, so it says every one of them.
"""

from __future__ import annotations

import collections.abc
import dataclasses

from ..differences.code import CodeDifference
from ..differences.revisions import Differences
from ..differences.words import Item, sections
from ..specification.loading import Specification
from ..templates.beside_code import render_beside
from .sources import Source, sources


@dataclasses.dataclass(frozen=True)
class _Section:
    title: str
    lines: tuple[_Line, ...]


@dataclasses.dataclass(frozen=True)
class _Line:
    text: str
    sources: tuple[tuple[str, tuple[Source, ...]], ...]


def differences_markdown(found: Differences, specification: Specification) -> str:
    """The page, without a newline at its end."""
    told = [
        _Section(section.title, tuple(_line(item, specification) for item in section.items))
        for section in sections(found)
    ]
    return render_beside(__file__, "differences.md", old=found.old, new=found.new, sections=told).rstrip("\n")


def code_markdown(parts: collections.abc.Iterable[CodeDifference]) -> str:
    """Code that differs, a paragraph for each name, without a newline at its end."""
    return render_beside(__file__, "code.md", parts=parts)


def _line(item: Item, specification: Specification) -> _Line:
    return _Line(
        item.text,
        tuple((version, sources(specification, version, citations)) for version, citations in item.sources),
    )
