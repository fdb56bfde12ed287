"""What a person needs to see before a mark is taken away: the answer, where it comes from, and what the schema says otherwise.

Rule: it is shown as it is, old beside new; nothing here judges it.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from typing import Any

from ..differences.schemas import SchemaDifferences
from ..differences.words import schema_sections
from ..inventory.addresses import address
from ..inventory.concerns import Answer, Concern
from ..inventory.table import parts
from ..schemas.pointers import LeadsNowhere, follow
from ..specification.loading import Specification

_DEFINITION = 2
"""How many steps lead to a definition. Of a whole one, what changed is told member by member."""


@dataclasses.dataclass(frozen=True)
class Review:
    """One answer beside the one that it was copied from.

    Attributes:
        question: the concern's.
        answer: what is answered, a line each part.
        before: what the other revision answers; empty where there is no other.
        sources: each source of the answer with its address; an empty one for a policy.
        schema: what the schema says otherwise of what the answer is about, a line each.
    """

    question: str
    answer: tuple[str, ...]
    before: tuple[str, ...]
    sources: tuple[tuple[str, str], ...]
    schema: tuple[str, ...]


def review(
    specification: Specification, concern: Concern, version: str, other: str, changes: SchemaDifferences | None
) -> Review:
    """What there is to see of a revision's answer.

    Args:
        specification: the inputs, checked.
        concern: the question.
        version: the revision.
        other: the revision that the answer was copied from; empty where nobody knows.
        changes: from the schema of the other one to its own; None where nobody knows.
    """
    answer = concern.answers[version]
    revision = next(one for one in specification.revisions if one.version == version)
    schema = specification.schemas[version]
    known = other in concern.answers
    return Review(
        question=concern.question,
        answer=tuple(parts(concern, answer).values()),
        before=tuple(parts(concern, concern.answers[other]).values()) if known else (),
        sources=tuple((str(citation), address(citation, revision, schema) or "") for citation in answer.citations),
        schema=tuple(_schema(specification, answer, version, other, changes)) if known and changes else (),
    )


def _schema(
    specification: Specification, answer: Answer, version: str, other: str, changes: SchemaDifferences
) -> Iterator[str]:
    """Where the two schemas differ in what an answer cites or names."""
    old, new = specification.schemas[other], specification.schemas[version]
    cited = [citation.text for citation in answer.citations if citation.form == "schema"]
    for pointer in cited:
        before, now = _at(old, pointer), _at(new, pointer)
        if now is None:
            yield f"{pointer} is not there any more"
        elif before is None:
            yield f"{pointer} is new"
        elif before != now and pointer.count("/") > _DEFINITION:
            yield f"{pointer}: {json.dumps(before)} → {json.dumps(now)}"
    yield from _mentioned(
        changes, {*answer.rows, *(pointer.split("/")[2] for pointer in cited if pointer.count("/") > 1)}
    )


def _mentioned(found: SchemaDifferences, names: set[str]) -> Iterator[str]:
    narrowed = dataclasses.replace(
        found,
        added={name: outline for name, outline in found.added.items() if name in names},
        removed=tuple(name for name in found.removed if name in names),
        renamed=tuple(one for one in found.renamed if {one.old, one.new} & names),
        types=tuple(one for one in found.types if one.name in names),
        methods=tuple(one for one in found.methods if one.name in names),
        codes=tuple(one for one in found.codes if one.name in names),
        meta_keys=tuple(one for one in found.meta_keys if one.name in names),
    )
    for section in schema_sections(narrowed):
        for item in section.items:
            yield f"{section.title}: {item.text}".replace("`", "").replace("\\", "")


def _at(schema: Mapping[str, Any], pointer: str) -> Any:
    try:
        return follow(schema, pointer.removeprefix("#"))
    except LeadsNowhere:
        return None
