"""Vectors of answers to concerns: constants as a person answered them, calls as another revision with the same answer has them.

Rule: what a method gives is never made up, so a choice that nobody has called yet gets an empty list and a mark that says so. Where no revision has answered alike, the calls are those of the revision that this one is
like, with a mark that says that their outcome is to be written down.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..inventory.concerns import Answer, Area, Concern
from .files import MARK, Vector
from .messages import cited, renamed

Entries = Mapping[str, Any]
_SAID = ("call", "gives", "gives_at_least")


class Wording:
    """Names of headers and codes of errors that revisions answer otherwise; calls that are taken over have them, too.

    Args:
        concerns: all of them.
    """

    def __init__(self, concerns: Iterable[Concern]) -> None:
        self.headers = [concern for concern in concerns if concern.names == "header"]
        self.codes = [concern for concern in concerns if concern.names == "error codes"]

    def said(self, entry: Vector, old: str, new: str) -> Vector:
        """Calls of one revision as those of another; the same where it has no other headers and codes."""
        headers = {
            before.lower(): now
            for concern in self.headers
            if isinstance(before := concern.answers[old].value, str)
            and isinstance(now := concern.answers[new].value, str)
            and before != now
        }
        codes = self._codes(old, new)
        if "calls" not in entry or not (headers or codes):
            return entry

        def worded(value: Any) -> Any:
            if isinstance(value, dict):
                return {_header(key, headers): worded(inner) for key, inner in value.items()}
            if isinstance(value, list):
                return [worded(item) for item in value]
            if isinstance(value, str):
                return _header(value, headers)
            return codes.get(value, value) if isinstance(value, int) and not isinstance(value, bool) else value

        return {
            **entry,
            "calls": [
                {key: worded(value) if key in _SAID else value for key, value in call.items()}
                for call in entry["calls"]
            ],
        }

    def _codes(self, old: str, new: str) -> dict[int, int]:
        """Codes that all kinds of error which had them have exchanged for one other."""
        now: dict[int, set[Any]] = {}
        for concern in self.codes:
            for kind, code in concern.answers[old].rows.items():
                if isinstance(code, int):
                    now.setdefault(code, set()).add(concern.answers[new].rows.get(kind))
        return {
            before: code
            for before, codes in now.items()
            for code in codes
            if len(codes) == 1 and isinstance(code, int) and code != before
        }


def _header(text: str, headers: Mapping[str, str]) -> str:
    """A text with the new name where it is the name of a header, or begins with what names of headers begin with."""
    for before, now in headers.items():
        small = text.lower()
        if small == before or (before.endswith("-") and small.startswith(before)):
            return (now.lower() if text == small else now) + text[len(before) :]
    return text


def answer_vectors(
    area: Area, version: str, like: str, known: Mapping[str, Entries], schema: Mapping[str, Any], wording: Wording
) -> dict[str, Vector]:
    """The vectors of one revision's answers in one area that it has none of yet, by concern, each with a mark.

    Args:
        area: the area.
        version: the revision.
        like: the one that it is like.
        known: what each revision has in the file of this area, newest first.
        schema: of the revision, which sources point into.
        wording: the headers and codes of all revisions.
    """
    return {
        concern.name: _with_sources(_entry(concern, version, like, known, wording), concern.answers[version], schema)
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


def _entry(concern: Concern, version: str, like: str, known: Mapping[str, Entries], wording: Wording) -> Vector:
    answer = concern.answers[version]
    alike = [other for other in (like, *known) if other in concern.answers and _same(answer, concern.answers[other])]
    for other in alike:
        if concern.name in known.get(other, {}):
            copied = renamed(_plain(known[other][concern.name]), other, version)
            worded = wording.said(copied, other, version)
            otherwise = "" if worded == copied else f", with the headers and codes of {version}"
            return {MARK: f"copied from {other}{otherwise}", **worded}
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
    calls = wording.said(renamed(_plain(known[like][concern.name]), like, version), like, version)
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
