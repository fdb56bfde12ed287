"""What of each canonical value one revision can carry, as data for straight-line code that leaves out the rest.

Rule: everything here is computed by walking the canonical schema and the revision's side by side. What a revision lacks and has
optional is left out, and so is a value that only hints; what is sent *instead*, and what fills a member that a revision requires, are
answers of the inventory. An answer that is missing is a complaint. That a value fits its canonical type is not checked: handlers' values
were validated.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from ..canonical.rules import Rules
from ..reading.located import Problems
from ..schemas.methods import Root
from .names import named
from .plan import Answers, Complaint, Projection
from .walk import Walk

__all__ = ["Answers", "Projection", "compare", "complain", "complain_about_unused"]


def compare(
    canonical: Mapping[str, Any], schema: Mapping[str, Any], roots: Iterable[Root], answers: Answers
) -> Projection:
    """Compare the canonical schema with a revision's, for everything that can be sent.

    Args:
        canonical: from `canonical.merge`.
        schema: the revision's corrected schema in normal form.
        roots: what is sent as a whole, from `methods.sendable`.
        answers: what the inventory says.

    Returns:
        The same for the same inputs, whatever the order of the roots; its `complaints` are all answers that are missing.
    """
    ordered = sorted(set(roots), key=lambda root: (root.canonical, root.published, root.base or ""))
    many: frozenset[str] = frozenset()
    while True:
        walk = Walk(canonical["$defs"], schema["$defs"], answers, many)
        calls = {root: walk.root(root) for root in ordered}
        found = walk.gives_many()
        if found == many:
            break
        # A type that contains itself is called before it is known whether it gives several values: walk again, knowing.
        many = found
    return named(walk, calls)


def complain(
    projections: Mapping[str, Projection],
    rules: Rules,
    problems: Problems,
    drafts: Collection[str] = (),
    wrong: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Report every answer that is missing, once for all revisions that need it and for all members that are alike.

    Args:
        projections: those of all revisions, by name.
        rules: what `canonical.yaml` says.
        problems: receives one fault for each, at the section of that file which has to do with it.
        drafts: those of the revisions that are none yet. That one has more values than the vocabulary is a remark.
        wrong: what concerns name wrongly, with how they take part. What one of these was meant for is not missing.
    """
    needed: dict[Complaint, list[str]] = {}
    of_all = [complaint for projection in projections.values() for complaint in projection.complaints]
    meant = {
        complaint
        for name, part in wrong.items()
        for complaint in _near(of_all, name) or [one for one in of_all if one.section in _SECTIONS.get(part, ())]
    }
    for revision, projection in projections.items():
        for complaint in projection.complaints:
            if complaint not in meant:
                needed.setdefault(complaint, []).append(revision)
    for what, complaint, revisions in _gathered(needed):
        place = rules.places.get(complaint.section, rules.place)
        finals = [revision for revision in revisions if not (complaint.reading and revision in drafts)]
        if finals:
            remedy = f"; {complaint.remedy}" if complaint.remedy else ""
            problems.add(place, f"{what} in {', '.join(finals)}{remedy}")
        else:
            problems.remark(
                place,
                f"{what} in {', '.join(revisions)}; what the newest final revision says stays, so that is not read from a "
                "draft, and goes in when it becomes final",
            )


_SECTIONS = {"fills": ("supplied",), "replaces": ("refused", "hints")}
"""Where a rule could stand instead of a concern that fills or replaces something."""


def _near(complaints: Iterable[Complaint], name: str) -> list[Complaint]:
    """The complaints about what is nearly called so, or whose last member is."""
    found = []
    for complaint in complaints:
        about = complaint.what.partition("'")[2].partition("'")[0]
        pairs = ((name, about), (name.rpartition(".")[2], about.rpartition(".")[2]))
        if name != about and any(difflib.SequenceMatcher(None, *pair).ratio() >= _NEARLY for pair in pairs):
            found.append(complaint)
    return found


_NEARLY = 0.8
_ALIKE = 3
"""So many types with the same member are one matter."""


def _gathered(needed: Mapping[Complaint, list[str]]) -> Iterator[tuple[str, Complaint, list[str]]]:
    """Complaints with their words and revisions; one that is the same for a member of several types, once for all of them."""
    alike: dict[tuple[str, ...], list[Complaint]] = {}
    for complaint, revisions in needed.items():
        member = f"*.{complaint.member.rpartition('.')[2]}" if complaint.member else ""
        same = [
            words.replace(complaint.member, member) if member else words for words in (complaint.what, complaint.remedy)
        ]
        key = (member, *same, str(complaint.reading), *revisions) if member else (repr(complaint),)
        alike.setdefault(key, []).append(complaint)
    for key, complaints in alike.items():
        first = complaints[0]
        revisions = needed[first]
        if len(complaints) < _ALIKE:
            yield from ((complaint.what, complaint, needed[complaint]) for complaint in complaints)
            continue
        owners = ", ".join(complaint.member.rpartition(".")[0] for complaint in complaints)
        remedy = (
            key[2]
            .replace("list it under", f'list "{key[0]}" under')
            .replace(f"'replaces: {key[0]}'", f"'replaces: {first.member}' (one for each)")
        )
        yield f"{key[1]} (of {owners})", dataclasses.replace(first, remedy=remedy), revisions


def complain_about_unused(projections: Iterable[Projection], rules: Rules, problems: Problems) -> None:
    """Report what `canonical.yaml` refuses or calls supplied although no revision makes it matter.

    Args:
        projections: those of all revisions.
        rules: what `canonical.yaml` says.
        problems: receives one remark for each such entry, at its place.
    """
    used = {key for projection in projections for key in projection.used}
    for patterns, complaint in (
        (rules.refused, "is refused, and no revision lacks it in a union"),
        (rules.refused_values, "is refused, and every revision takes all of its values"),
        (rules.open_types, "is open, and no revision sends it"),
        (rules.supplied, "is supplied, and no revision requires it beyond what all do"),
    ):
        for pattern in patterns:
            if pattern.text not in used:
                problems.remark(pattern.place, f"'{pattern.text}' {complaint}")
