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
from mcp_anyrev.explaining.tool_notes import asking_note, tool_notes, withheld_note
from mcp_anyrev.server.offers import Offer
from mcp_anyrev.settings import Settings

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.declaring.prompts import Prompt
    from mcp_anyrev.declaring.registry import Registry
    from mcp_anyrev.declaring.resources import Resource

_BLOCKS: dict[str, JsonObject] = {
    "audio_content": {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
    "resource_link_content": {"type": "resource_link", "uri": "example:link", "name": "link"},
}
"""Content that a handler may return and a revision may lack, by the concern that says what is sent instead."""


@dataclass(frozen=True)
class Thing:
    """Something that is declared.

    Attributes:
        kind: `tool`, `resource`, `template` or `prompt`.
        name: its name or address.
        offered: is it offered?
        notes: what is changed; where it is not offered, why.
    """

    kind: str
    name: str
    offered: bool
    notes: tuple[Note, ...]

    @property
    def verdict(self) -> str:
        """`as declared`, `changed` or `not offered`."""
        if not self.offered:
            return "not offered"
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


def report(registry: Registry, adapter: Adapter) -> Report:
    """What a revision gets of a registry.

    Args:
        registry: what is declared.
        adapter: the revision.
    """
    return Report(adapter.version, tuple(_server_notes(registry, adapter)), tuple(_things(registry, adapter)))


def _server_notes(registry: Registry, adapter: Adapter) -> Iterator[Note]:
    yield from left_out(registry.server, adapter.encode_implementation(registry.server))
    for concern, block in _BLOCKS.items():
        if getattr(adapter, concern)(block) != [block]:
            yield decided(adapter, concern, f"{block['type']} content is replaced")
    if any(one.takes_exchange for one in (*registry.tools.values(), *registry.prompts.values())):
        told: JsonObject = {"progressToken": 1, "progress": 1, "message": "…"}
        sent = adapter.encode_notification("notifications/progress", told)["params"]
        yield from (Note(f"progress: {note.what}", note.why) for note in left_out(told, sent))


def _things(registry: Registry, adapter: Adapter) -> Iterator[Thing]:
    offer = Offer(registry, adapter, (adapter.version,), Settings())
    for name in registry.tools:
        offered = offer.tools.get(name)
        notes = tuple(tool_notes(offered, adapter)) if offered else (withheld_note(offer.withheld[name], adapter),)
        yield Thing("tool", name, offered is not None, notes)
    for resource in registry.resources.values():
        kind = "resource" if resource.template is None else "template"
        yield Thing(kind, resource.key, True, tuple(_resource_notes(resource, adapter)))
    for prompt in registry.prompts.values():
        yield Thing("prompt", prompt.key, True, tuple(_prompt_notes(prompt, adapter)))


def _resource_notes(resource: Resource, adapter: Adapter) -> Iterator[Note]:
    method, member = (
        ("resources/list", "resources")
        if resource.template is None
        else ("resources/templates/list", "resourceTemplates")
    )
    listed = adapter.encode_result(method, {member: [resource.description]}, {})[member][0]
    yield from left_out(resource.description, listed)
    if resource.hints and adapter.cache_lifetime is None:
        yield decided(adapter, "cache_lifetime", "its cache hints are left out", "a result says nothing of being kept")
    if resource.asks:
        yield asking_note(adapter, "resources/read")


def _prompt_notes(prompt: Prompt, adapter: Adapter) -> Iterator[Note]:
    listed = adapter.encode_result("prompts/list", {"prompts": [prompt.description]}, {})["prompts"][0]
    yield from left_out(prompt.description, listed)
    if prompt.asks:
        yield asking_note(adapter, "prompts/get")
