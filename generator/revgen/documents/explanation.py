"""One concern explained: who answers what, for which reason, and the code that each answer becomes.

Rule: code is shown as the adapters have it, from the same decisions; nothing here renders it in a second way.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterator, Sequence

from ..adapters.decisions import decisions
from ..inventory.concerns import Area, Concern
from ..inventory.table import parts
from ..rendering.formatting import format_python
from ..specification.loading import Specification
from ..templates.macros import concern_template, make_environment, render_body
from .sources import Source, sources

_SUGGESTED = 5


@dataclasses.dataclass(frozen=True)
class Variant:
    """Revisions that have the same code for a concern.

    Attributes:
        answer: what they answer, a line each part.
        meaning: what that choice means; empty where the concern is no choice.
        code: the body of the method, or the expression of the constant.
        sources: the sources of each revision; no revision for a choice that none gives.
    """

    answer: tuple[str, ...]
    meaning: str
    code: str
    sources: dict[str, tuple[Source, ...]]


@dataclasses.dataclass(frozen=True)
class Explanation:
    """A concern with its area, its template (empty where it has none), and its variants, those of older revisions first."""

    area: Area
    concern: Concern
    template: str
    variants: tuple[Variant, ...]


def explain(specification: Specification, name: str) -> Explanation | None:
    """Explain a concern; None where there is none of that name.

    Args:
        specification: the inputs, checked.
        name: the concern.
    """
    for area in specification.areas:
        for concern in area.concerns:
            if concern.name == name:
                template = f"templates/{concern_template(concern)}" if concern.kind == "choice" else ""
                return Explanation(area, concern, template, tuple(_variants(specification, concern)))
    return None


def suggestions(areas: Sequence[Area], name: str) -> tuple[str, ...]:
    """The concerns that may have been meant: those of a name like it, then those that mention the word."""
    concerns = [concern for area in areas for concern in area.concerns]
    near = difflib.get_close_matches(name, [concern.name for concern in concerns], n=_SUGGESTED)
    word = name.lower().replace("_", " ")
    mentioning = [concern.name for concern in concerns if word in _words(concern)]
    return tuple(dict.fromkeys([*near, *mentioning]))[:_SUGGESTED]


def _words(concern: Concern) -> str:
    cited = (str(citation) for answer in concern.answers.values() for citation in answer.citations)
    told = (concern.name, concern.question, *concern.choices, *concern.choices.values(), *cited)
    return "\n".join(told).lower().replace("_", " ")


def _variants(specification: Specification, concern: Concern) -> Iterator[Variant]:
    found: dict[tuple[tuple[str, ...], str], Variant] = {}
    for revision in specification.revisions:
        answer = concern.answers[revision.version]
        lines, code = tuple(parts(concern, answer).values()), _code(specification, concern, revision.version)
        variant = found.setdefault((lines, code), Variant(lines, concern.choices.get(answer.choice, ""), code, {}))
        variant.sources[revision.version] = sources(specification, revision.version, answer.citations)
    yield from found.values()
    given = {answer.choice for answer in concern.answers.values()}
    for choice, meaning in concern.choices.items():
        # Without arguments there is nothing to render a macro that takes some with.
        if choice not in given:
            unused = (
                "" if concern.parameters else render_body(make_environment(specification.root), concern, choice, {})
            )
            yield Variant((choice,), meaning, unused, {})


def _code(specification: Specification, concern: Concern, version: str) -> str:
    outline = decisions([_only(concern)], version, make_environment(specification.root))
    decision = next(iter((*outline.flags, *(entry for section in outline.sections for entry in section.entries))))
    if decision.kind == "choice":
        return decision.body
    rows = "".join(f"{key}: {value},\n" for key, value in decision.rows)
    return format_python("", decision.literal or f"{{\n{rows}}}").rstrip()


def _only(concern: Concern) -> Area:
    return Area(concern.area, "", None, (concern,), "")
