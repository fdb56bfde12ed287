"""Decisions: everything that the skeletons loop over, settled.

Rule: what can be decided from the inputs is decided here, so that a skeleton asks nothing. What it gets is text, ready to be placed.
"""

from __future__ import annotations

import collections.abc
import dataclasses
from typing import Generic, TypeVar

import jinja2

from ..inventory.concerns import Answer, Area, Concern
from ..reading.literals import python_literal
from ..templates.macros import render_body


@dataclasses.dataclass(frozen=True)
class Question:
    """What a concern contributes to the protocol that all adapters have: a name, its kind, and how Python declares it.

    `kind` is "value", "table" or "choice". `annotation` is the type of a constant, `signature` that of a method; the other is empty.
    """

    name: str
    kind: str
    text: str
    annotation: str
    signature: str


@dataclasses.dataclass(frozen=True)
class Decision(Question):
    """What one revision answered.

    `literal` is the Python expression of a value, `rows` the pairs of such expressions of a table. `choice` is the name of the choice,
    `meaning` its words, `body` the method's body without indentation. `citations` are lines, as the inventory has them.
    """

    literal: str
    rows: tuple[tuple[str, str], ...]
    choice: str
    meaning: str
    body: str
    citations: tuple[str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The paragraphs of the docstring: the question, what the choice means, if it is one, and the sources."""
        return (self.text, "", *((self.meaning, "") if self.meaning else ()), *self.citations)


Entry = TypeVar("Entry", bound=Question)


@dataclasses.dataclass(frozen=True)
class Section(Generic[Entry]):
    """The entries of one area without its flags, in the order of its file. `transport` is empty where the area is of none."""

    name: str
    title: str
    transport: str
    entries: tuple[Entry, ...]


@dataclasses.dataclass(frozen=True)
class Outline(Generic[Entry]):
    """All entries: the flags of every area first, then a section for each area that has others."""

    flags: tuple[Entry, ...]
    sections: tuple[Section[Entry], ...]


def questions(areas: collections.abc.Sequence[Area]) -> Outline[Question]:
    """What the adapter protocol declares."""
    return _outline(areas, _question)


def decisions(
    areas: collections.abc.Sequence[Area], version: str, environment: jinja2.Environment
) -> Outline[Decision]:
    """What one revision's adapter holds.

    Args:
        areas: the inventory, checked.
        version: the revision.
        environment: from `templates.make_environment`; its macros were checked.

    Raises:
        jinja2.TemplateError: a macro failed, which a check would have said before.
    """
    return _outline(areas, lambda concern: _decision(concern, concern.answers[version], environment))


def _outline(
    areas: collections.abc.Sequence[Area], entry: collections.abc.Callable[[Concern], Entry]
) -> Outline[Entry]:
    flags = tuple(entry(concern) for area in areas for concern in area.concerns if concern.flag)
    sections = (
        Section(
            name=area.name,
            title=area.title,
            transport=area.transport or "",
            entries=tuple(entry(concern) for concern in area.concerns if not concern.flag),
        )
        for area in areas
    )
    return Outline(flags, tuple(section for section in sections if section.entries))


def _question(concern: Concern) -> Question:
    return Question(
        name=concern.name,
        kind=concern.kind,
        text=concern.question,
        annotation=concern.annotation,
        signature=concern.signature,
    )


def _decision(concern: Concern, answer: Answer, environment: jinja2.Environment) -> Decision:
    body = render_body(environment, concern, answer.choice, answer.arguments) if concern.kind == "choice" else ""
    return Decision(
        **dataclasses.asdict(_question(concern)),
        literal=python_literal(answer.value) if concern.kind == "value" else "",
        rows=tuple((python_literal(key), python_literal(value)) for key, value in answer.rows.items()),
        choice=answer.choice,
        meaning=concern.choices.get(answer.choice, ""),
        body=body,
        citations=tuple(str(citation) for citation in answer.citations),
    )
