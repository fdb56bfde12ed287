"""Words in Markdown that several pages share.

Rule: one form for one thing, so that pages read alike.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..inventory.addresses import address
from ..inventory.citations import Citation
from ..specification.loading import Specification


def sources(citations: Iterable[Citation], version: str, specification: Specification) -> str:
    """The sources of an answer of a revision, linked where there is something to read."""
    revision = next(revision for revision in specification.revisions if revision.version == version)
    return "; ".join(
        f"[{citation.text}]({link})"
        if (link := address(citation, revision, specification.schemas[version]))
        else str(citation)
        for citation in citations
    )


def code(words: Iterable[str]) -> str:
    """Names as code, in a row."""
    return ", ".join(f"`{word}`" for word in words)
