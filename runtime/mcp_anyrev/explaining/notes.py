"""One thing that happens on the way to a client, and who decided it.

Rule: a note is one clause, and never without a reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_contract import Json, JsonObject

from mcp_anyrev.explaining.decisions import Decision, decision

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

WHOLE = ("inputSchema", "outputSchema", "_meta")
"""Members that are looked into elsewhere, or not at all."""


@dataclass(frozen=True)
class Note:
    """One thing that happens.

    Attributes:
        what: what happens, a clause.
        why: why, a clause or a sentence.
        decision: the answer of the inventory that decided; None where the schema of the revision did, or the declaration.
        change: is anything another than as it was declared?
    """

    what: str
    why: str
    decision: Decision | None = None
    change: bool = True

    def to_json(self) -> JsonObject:
        """As JSON."""
        concern = None if self.decision is None else self.decision.concern
        return {"what": self.what, "why": self.why, "concern": concern, "change": self.change}

    def __str__(self) -> str:
        concern = "" if self.decision is None else f" [{self.decision.concern}]"
        return f"{self.what}: {self.why.rstrip('.')}{concern}"


def decided(adapter: Adapter, concern: str, what: str, why: str | None = None, *, change: bool = True) -> Note:
    """A note on what a concern decided.

    Args:
        adapter: the revision.
        concern: the name of the question.
        what: what happens.
        why: the reason, if it is another than the answer itself.
        change: is anything another than as it was declared?
    """
    found = decision(adapter, concern)
    return Note(what, why or found.answer, found, change)


def left_out(declared: JsonObject, listed: JsonObject) -> Iterator[Note]:
    """Notes on members of a description that a revision does not have.

    Args:
        declared: the description in canonical form.
        listed: as the revision lists it.
    """
    paths = sorted(set(_lost(declared, listed, "")))
    if paths:
        names = ", ".join(f"`{path}`" for path in paths)
        yield Note(f"{names} left out", "the schema of the revision does not define it" if len(paths) == 1 else _PLURAL)


_PLURAL = "the schema of the revision does not define them"


def _lost(declared: Json, listed: Json, path: str) -> Iterator[str]:
    if isinstance(declared, Mapping) and isinstance(listed, Mapping):
        for name, value in declared.items():
            here = f"{path}.{name}" if path else name
            if name not in listed:
                yield here
            elif name not in WHOLE:
                yield from _lost(value, listed[name], here)
    elif isinstance(declared, list) and isinstance(listed, list):
        for value, kept in zip(declared, listed, strict=False):
            yield from _lost(value, kept, path)
