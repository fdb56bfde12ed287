"""Words the differences of two revisions as one page of Markdown.

Rule: a difference is one line; the page is for reviewing, so it says every one of them.
"""

from __future__ import annotations

from ..differences.revisions import Differences
from ..differences.words import Item, sections
from ..specification.loading import Specification
from .markdown import sources


def differences_markdown(found: Differences, specification: Specification) -> str:
    """The page, without a newline at its end."""
    lines = [f"# From {found.old} to {found.new}", "", "`!` is required."]
    for section in sections(found):
        lines += ["", f"## {section.title}", "", *(f"* {_item(item, specification)}" for item in section.items)]
    return "\n".join(lines)


def _item(item: Item, specification: Specification) -> str:
    cited = "; ".join(f"{version}: {sources(citations, version, specification)}" for version, citations in item.sources)
    return f"{item.text} ({cited})" if cited else item.text
