"""The sources of an answer, with the address at which each can be read.

Rule: a document links to what there is to read, and says a policy in full.
"""

from __future__ import annotations

import collections.abc
import dataclasses

from ..inventory.addresses import address
from ..inventory.citations import Citation
from ..specification.loading import Specification


@dataclasses.dataclass(frozen=True)
class Source:
    """A citation, and the address that it can be read at; None for a policy."""

    citation: Citation
    address: str | None


def sources(
    specification: Specification, version: str, citations: collections.abc.Iterable[Citation]
) -> tuple[Source, ...]:
    """The sources of an answer.

    Args:
        specification: the inputs, checked.
        version: the revision that answers.
        citations: those of its answer.
    """
    revision = next(revision for revision in specification.revisions if revision.version == version)
    schema = specification.schemas[version]
    return tuple(Source(citation, address(citation, revision, schema)) for citation in citations)
