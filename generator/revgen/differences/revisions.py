"""What changed between two revisions: their schemas, and their answers with the sources of both.

Rule: here is what differs; how it is worded and laid out is the business of whoever shows it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from ..inventory.citations import Citation
from ..inventory.concerns import Answer, Area, Concern
from ..inventory.table import parts
from ..specification.loading import Specification
from .schemas import SchemaDifferences, schema_differences


@dataclasses.dataclass(frozen=True)
class LineChange:
    """One line of an answer that differs; empty where one of the two has no such line."""

    old: str
    new: str


@dataclasses.dataclass(frozen=True)
class AnswerChange:
    """A question that the two answer differently.

    Attributes:
        area, title: the area, and its title.
        concern: the name of the question.
        lines: what differs. In a table whose rows only changed their order, nothing does.
        meaning: what the new choice means; empty where the concern is no choice.
        old_citations, new_citations: the sources of both answers.
    """

    area: str
    title: str
    concern: str
    lines: tuple[LineChange, ...]
    meaning: str
    old_citations: tuple[Citation, ...]
    new_citations: tuple[Citation, ...]


@dataclasses.dataclass(frozen=True)
class Differences:
    """Everything that differs between two revisions."""

    old: str
    new: str
    schema: SchemaDifferences
    answers: tuple[AnswerChange, ...]


def differences(specification: Specification, old: str, new: str) -> Differences:
    """Compare two revisions.

    Args:
        specification: the inputs, checked.
        old, new: two of its revisions.
    """
    schemas = specification.schemas
    return Differences(
        old=old,
        new=new,
        schema=schema_differences(schemas[old], schemas[new], specification.rules),
        answers=tuple(change for area in specification.areas for change in _answers(area, old, new)),
    )


def _answers(area: Area, old: str, new: str) -> Iterator[AnswerChange]:
    for concern in area.concerns:
        before, after = concern.answers[old], concern.answers[new]
        ours, theirs = parts(concern, before), parts(concern, after)
        if list(ours.items()) != list(theirs.items()):
            yield AnswerChange(
                area=area.name,
                title=area.title,
                concern=concern.name,
                lines=tuple(
                    LineChange(ours.get(key, ""), theirs.get(key, ""))
                    for key in {**ours, **theirs}
                    if ours.get(key) != theirs.get(key)
                ),
                meaning=_meaning(concern, before, after),
                old_citations=before.citations,
                new_citations=after.citations,
            )


def _meaning(concern: Concern, before: Answer, after: Answer) -> str:
    return concern.choices.get(after.choice, "") if before.choice != after.choice else ""
