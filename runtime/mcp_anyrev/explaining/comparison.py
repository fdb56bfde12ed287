"""What all revisions get, at one look: things down, revisions across.

Rule: every form of it says the same, in the same order; what a mark means stands beside the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mcp_anyrev.explaining.report import Report, Thing

MARKS = {"as declared": "✓", "changed": "~", "not offered": "✗"}
"""A verdict → its mark."""

LEGEND = "   ".join(f"{mark} {verdict}" for verdict, mark in MARKS.items())


@dataclass(frozen=True)
class Row:
    """What becomes of one thing.

    Attributes:
        kind: what it is; empty for the server as a whole.
        name: its name or address.
        verdicts: `as declared`, `changed` or `not offered`, one a revision.
    """

    kind: str
    name: str
    verdicts: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """What the revisions get of a server.

    Attributes:
        server: its name.
        reports: one a revision; each has the same things in the same order.
        details: is the reason to be said of everything that is changed?
    """

    server: str
    reports: Sequence[Report]
    details: bool = False

    @property
    def revisions(self) -> list[str]:
        """The revisions, in order."""
        return [report.revision for report in self.reports]

    @property
    def rows(self) -> list[Row]:
        """One for the server as a whole, where anything of that is changed, and one a thing."""
        whole = ["changed" if any(note.change for note in report.notes) else "as declared" for report in self.reports]
        rows = [Row("", "what handlers return", tuple(whole))] if "changed" in whole else []
        of_things = zip(*(report.things for report in self.reports), strict=True)
        return rows + [Row(each[0].kind, each[0].name, tuple(thing.verdict for thing in each)) for each in of_things]

    def named(self, name: str) -> Comparison:
        """The same of the things of one name alone, with their reasons.

        Raises:
            KeyError: there is none; it has the names that there are.
        """
        things: Sequence[Thing] = self.reports[0].things
        if all(thing.name != name for thing in things):
            raise KeyError(*[thing.name for thing in things])
        of_it = [
            replace(report, notes=(), things=tuple(thing for thing in report.things if thing.name == name))
            for report in self.reports
        ]
        return Comparison(self.server, of_it, details=True)
