"""What a revision gets of a registry: each thing as it is offered, changed, or not offered.

Rule: everything that is declared is in it, changed or not, so that nothing has to be missed to be noticed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_contract import JsonObject

from mcp_anyrev.explaining.decisions import Decision
from mcp_anyrev.explaining.notes import Note, decided, left_out
from mcp_anyrev.explaining.part_notes import part_notes, withheld_note
from mcp_anyrev.server.offers import Offer
from mcp_anyrev.settings import Settings

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.declaring.registry import Registry

_BLOCKS: dict[str, JsonObject] = {
    "audio_content": {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
    "resource_link_content": {"type": "resource_link", "uri": "example:link", "name": "link"},
}
"""Content that a handler may return and a revision may lack, by the concern that says what is sent instead."""


@dataclass(frozen=True)
class Thing:
    """Something that is declared.

    Attributes:
        kind: `tool`, `resource`, `template`, `prompt`, or what one of another kind is called.
        name: its name or address.
        offered: is it offered?
        otherwise: does the revision get the same in another way?
        notes: what is changed; where it is not offered, why.
    """

    kind: str
    name: str
    offered: bool
    notes: tuple[Note, ...]
    otherwise: bool = False

    @property
    def verdict(self) -> str:
        """`as declared`, `changed` or `not offered`."""
        if not self.offered:
            return "changed" if self.otherwise else "not offered"
        return "changed" if any(note.change for note in self.notes) else "as declared"

    def to_json(self) -> JsonObject:
        """As JSON."""
        notes = [note.to_json() for note in self.notes]
        return {"kind": self.kind, "name": self.name, "verdict": self.verdict, "notes": notes}


@dataclass(frozen=True)
class Report:
    """What one revision gets.

    Attributes:
        revision: the revision.
        notes: what concerns the server as a whole, or whatever its handlers return.
        things: all that is declared.
    """

    revision: str
    notes: tuple[Note, ...]
    things: tuple[Thing, ...]

    def count(self, verdict: str) -> int:
        """How many things have a verdict."""
        return sum(thing.verdict == verdict for thing in self.things)

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The answers of the inventory that its notes name, each once."""
        notes = [*self.notes, *(note for thing in self.things for note in thing.notes)]
        return tuple(dict.fromkeys(note.decision for note in notes if note.decision is not None))

    def to_json(self) -> JsonObject:
        """As JSON."""
        return {
            "revision": self.revision,
            "decisions": [{**one._asdict(), "sources": list(one.sources)} for one in self.decisions],
            "notes": [note.to_json() for note in self.notes],
            "things": [thing.to_json() for thing in self.things],
        }


def report(registry: Registry, adapter: Adapter, settings: Settings | None = None) -> Report:
    """What a revision gets of a registry.

    Args:
        registry: what is declared.
        adapter: the revision.
        settings: how the server is run; as it is without any if not given.
    """
    things = tuple(_things(registry, adapter, settings or Settings()))
    return Report(adapter.version, tuple(_server_notes(registry, adapter)), things)


def _server_notes(registry: Registry, adapter: Adapter) -> Iterator[Note]:
    yield from left_out(registry.server, adapter.encode_implementation(registry.server))
    for concern, block in _BLOCKS.items():
        if getattr(adapter, concern)(block) != [block]:
            yield decided(adapter, concern, f"{block['type']} content is replaced")
    if any(part.takes_exchange for kind in registry.kinds for part in registry.parts(kind).values()):
        told: JsonObject = {"progressToken": 1, "progress": 1, "message": "…"}
        sent = adapter.encode_notification("notifications/progress", told)["params"]
        yield from (Note(f"progress: {note.what}", note.why) for note in left_out(told, sent))


def _things(registry: Registry, adapter: Adapter, settings: Settings) -> Iterator[Thing]:
    offer = Offer(registry, adapter, (adapter.version,), settings)
    for kind in registry.kinds:
        for key, part in registry.parts(kind).items():
            listing = next((one for one in kind.listings if one.holds(part)), None)
            if listing is None:  # nobody gets to see it by itself
                continue
            noun = listing.noun or kind.noun
            offered = offer.offered[kind].get(key)
            if offered is None:
                withheld = offer.withheld[kind][key]
                yield Thing(noun, key, False, (withheld_note(withheld, adapter),), withheld.otherwise)
            else:
                yield Thing(noun, key, True, tuple(part_notes(kind, listing, offered, adapter)))
