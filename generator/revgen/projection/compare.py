"""What of each canonical value one revision can carry, as data for straight-line code that leaves out the rest.

Rule: everything here is computed by walking the canonical schema and the revision's side by side. What a revision lacks and has
optional is left out, and so is a value that only hints; what is sent *instead*, and what fills a member that a revision requires, are
answers of the inventory. An answer that is missing is a complaint. That a value fits its canonical type is not checked: handlers' values
were validated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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


def complain(projections: Mapping[str, Projection], rules: Rules, problems: Problems) -> None:
    """Report every answer that is missing, once for all revisions that need it.

    Args:
        projections: those of all revisions, by name.
        rules: what `canonical.yaml` says.
        problems: receives one fault for each, at the section of that file which has to do with it.
    """
    needed: dict[Complaint, list[str]] = {}
    for revision, projection in projections.items():
        for complaint in projection.complaints:
            needed.setdefault(complaint, []).append(revision)
    for complaint, revisions in needed.items():
        remedy = f"; {complaint.remedy}" if complaint.remedy else ""
        place = rules.places.get(complaint.section, rules.place)
        problems.add(place, f"{complaint.what} in {', '.join(revisions)}{remedy}")


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
