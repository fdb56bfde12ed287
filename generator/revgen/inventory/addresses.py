"""Where a source can be read.

Rule: an address follows from the revision's entry alone; a policy has none, since it is its own source.
"""

from __future__ import annotations

from ..schemas.normal_form import Schema
from ..schemas.revisions import Revision
from ..schemas.roles import owners
from .citations import Citation


def address(citation: Citation, revision: Revision, schema: Schema) -> str | None:
    """The address of what an answer of a revision cites; None for a policy.

    Args:
        citation: the source.
        revision: the revision whose answer cites it.
        schema: the schema of that revision, which tells which published type a pointer is in.
    """
    if citation.form == "page":
        return f"{revision.pages}/{citation.text}"
    if citation.form == "policy":
        return None
    _, _, definition, *_ = *citation.text.split("/"), "", "", ""
    published = owners(schema).get(definition)
    return revision.link(published) if published else revision.source
