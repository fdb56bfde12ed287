"""Vectors of answers to concerns: constants as a person answered them, calls as another revision with the same answer has them.

Rule: what a method gives is never made up, so a choice that nobody has called yet gets an empty list and a mark that says so. Where no revision has answered alike, the calls are those of the revision that this one is
like, with a mark that says that their outcome is to be written down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..inventory.concerns import Answer, Area, Concern
from .files import MARK, Vector
from .messages import cited, renamed

Entries = Mapping[str, Any]


def answer_vectors(
    area: Area, version: str, like: str, known: Mapping[str, Entries], schema: Mapping[str, Any]
) -> dict[str, Vector]:
    """The vectors of one revision's answers in one area that it has none of yet, by concern, each with a mark.

    Args:
        area: the area.
        version: the revision.
        like: the one that it is like.
        known: what each revision has in the file of this area, newest first.
        schema: of the revision, which sources point into.
    """
    return {
        concern.name: _with_sources(_entry(concern, version, like, known), concern.answers[version], schema)
        for concern in area.concerns
        if concern.name not in known.get(version, {})
    }


def _with_sources(entry: Vector, answer: Answer, schema: Mapping[str, Any]) -> Vector:
    """Vectors that cite nothing that the schema lacks; what the answer cites stands for it."""
    instead = [str(citation) for citation in answer.citations]

    def sourced(one: Vector) -> Vector:
        return {key: cited(value, schema, instead) if key == "cite" else value for key, value in one.items()}

    out = sourced(entry)
    return {**out, "calls": [sourced(call) for call in out["calls"]]} if "calls" in out else out


def answered_otherwise(area: Area, version: str, like: str) -> list[str]:
    """The choices of an area that a revision answers as the one that it is like does not."""
    return [
        concern.name
        for concern in area.concerns
        if concern.kind == "choice" and not _same(concern.answers[version], concern.answers[like])
    ]


def _entry(concern: Concern, version: str, like: str, known: Mapping[str, Entries]) -> Vector:
    answer = concern.answers[version]
    alike = [other for other in (like, *known) if other in concern.answers and _same(answer, concern.answers[other])]
    for other in alike:
        if concern.name in known.get(other, {}):
            return {MARK: f"copied from {other}", **renamed(_plain(known[other][concern.name]), other, version)}
    if concern.kind != "choice":
        cited = [str(citation) for citation in answer.citations]
        constant = {"is": _value(answer.value)} if concern.kind == "value" else {"rows": _rows(answer)}
        return {
            MARK: f"as {area_path(concern)} answers; no vectors of {like}, or of whoever answers alike, say so",
            **constant,
            "cite": cited[0] if len(cited) == 1 else cited,
        }
    if concern.name not in known.get(like, {}):
        return {MARK: f"there are no calls, neither of {like} nor of whoever answers alike: write some", "calls": []}
    calls = renamed(_plain(known[like][concern.name]), like, version)
    return {MARK: f"calls of {like}, which answers otherwise: write what each of them gives now", **calls}


def area_path(concern: Concern) -> str:
    """The file that a concern stands in."""
    return f"specs/variance/{concern.area}.yaml"


def _plain(entry: Vector) -> Vector:
    return {key: value for key, value in entry.items() if key != MARK}


def _same(one: Answer, other: Answer) -> bool:
    def said(answer: Answer) -> Sequence[Any]:
        return (answer.value, list(answer.rows.items()), answer.choice, answer.arguments)

    return said(one) == said(other)


def _rows(answer: Answer) -> dict[str, Any]:
    return {key: _value(value) for key, value in answer.rows.items()}


def _value(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
