"""Writes `docs/<revision>.md`: one revision for reading; what it has, what is changed on the way to it, and what it answers.

Rule: everything here is in the inputs already, and the page says where. It has no answer of its own.
"""

from __future__ import annotations

import dataclasses

from ..adapters.messages import messages
from ..inventory.concerns import FOLDER as INVENTORY
from ..inventory.concerns import Concern
from ..inventory.table import parts
from ..projection.compare import Projection
from ..projection.plan import Fit
from ..rendering.output import Output, markdown_output
from ..schemas.published import PATH as CORRECTIONS
from ..schemas.revisions import PATH as REVISIONS
from ..schemas.revisions import Revision
from ..specification.loading import Specification
from ..specification.vocabulary import PATH as VOCABULARY
from ..templates.beside_code import render_beside
from .matrix import PATH as MATRIX
from .sources import Source, sources


@dataclasses.dataclass(frozen=True)
class _Answer:
    """What the revision answers to a concern: a line each part, what the choice means (empty where it is none), the sources."""

    concern: Concern
    lines: tuple[str, ...]
    meaning: str
    sources: tuple[Source, ...]


@dataclasses.dataclass(frozen=True)
class _Changes:
    """What becomes of the newest vocabulary.

    Attributes:
        left_out: the members that a type lacks.
        lacking: a kind, the union that has it elsewhere, and the method that replaces it, if one does.
        unfitting: the values that do not fit, by place.
        wrapped: the places where one value becomes a list.
        filled: a member and the adapter's attribute that fills it, with the types in which it does.
        adjusted: the answers that decide before all this.
    """

    left_out: list[tuple[str, tuple[str, ...]]]
    lacking: list[tuple[str, str, str]]
    unfitting: list[Fit]
    wrapped: list[str]
    filled: list[tuple[tuple[str, str], list[str]]]
    adjusted: list[_Answer]

    def any(self) -> bool:
        """Whether anything is changed."""
        return any(getattr(self, field.name) for field in dataclasses.fields(self))


def write_revision_page(specification: Specification, revision: Revision) -> list[Output]:
    """The page of one revision."""
    inputs = specification.inputs_under(REVISIONS, "specs/schemas/", CORRECTIONS, VOCABULARY, f"{INVENTORY}/")
    projection = specification.projections[revision.version]
    areas = [
        (area.title, [_answer(specification, concern, revision.version) for concern in area.concerns])
        for area in specification.areas
    ]
    answers = [answer for _, listed in areas for answer in listed]
    text = render_beside(
        __file__,
        "revision.md",
        revision=revision,
        matrix=MATRIX.rpartition("/")[2],
        beside=_beside(specification.versions, revision.version),
        flags=[answer for answer in answers if answer.concern.flag],
        messages=messages(specification.schemas, revision.version, projection),
        changes=_changes(projection, [answer for answer in answers if answer.concern.adjusts]),
        areas=areas,
    )
    return [markdown_output(f"generated/docs/{revision.version}.md", text, inputs)]


def _answer(specification: Specification, concern: Concern, version: str) -> _Answer:
    answer = concern.answers[version]
    return _Answer(
        concern,
        tuple(parts(concern, answer).values()),
        concern.choices.get(answer.choice, ""),
        sources(specification, version, answer.citations),
    )


def _beside(versions: tuple[str, ...], version: str) -> list[tuple[str, str]]:
    """The revisions on either side, each with where it came."""
    place = versions.index(version)
    before = [(versions[place - 1], "before")] if place else []
    return [*before, *((after, "after") for after in versions[place + 1 : place + 2])]


def _changes(projection: Projection, adjusted: list[_Answer]) -> _Changes:
    fits = {fit.place: fit for function in projection.objects for fit in function.fits if fit.check is not None}
    return _Changes(
        left_out=sorted(
            {function.type_name: function.lacks for function in projection.objects if function.lacks}.items()
        ),
        lacking=_lacking(projection),
        unfitting=[fit for _, fit in sorted(fits.items())],
        wrapped=sorted({fit.place for function in projection.objects for fit in function.fits if fit.wrapped}),
        filled=_filled(projection),
        adjusted=adjusted,
    )


def _lacking(projection: Projection) -> list[tuple[str, str, str]]:
    found = set()
    for union in projection.unions:
        methods = {replacement.type_name: replacement.method for replacement in union.replacements}
        found |= {(member, union.type_name, methods.get(member, "")) for member in union.lacks}
    return sorted(found)


def _filled(projection: Projection) -> list[tuple[tuple[str, str], list[str]]]:
    fills = {
        (function.type_name, fill.member): fill.expression for function in projection.objects for fill in function.fills
    }
    by_answer: dict[tuple[str, str], list[str]] = {}
    for (name, member), expression in sorted(fills.items()):
        by_answer.setdefault((member, expression.removeprefix("self.")), []).append(name)
    return list(by_answer.items())
