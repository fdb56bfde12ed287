"""What becomes of a declaration on the way to a client of a revision.

Rule: the same for every kind: asked of the adapter with the declaration's own description, and of the kind's descriptor.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mcp_anyrev.declaring.visibility import in_words
from mcp_anyrev.explaining.decisions import decision
from mcp_anyrev.explaining.notes import Note, decided, left_out
from mcp_anyrev.server.asking.ways import Way, way_of

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.declaring.kinds import Kind, Listing, Offered, Withheld


def withheld_note(reason: Withheld, adapter: Adapter) -> Note:
    """Why a declaration is not offered."""
    if reason.concern is None:
        return Note("not offered here", reason.reason)
    try:
        found = decision(adapter, reason.concern)
    except KeyError:  # it was the declaration that decided
        return Note(f"decided by {reason.concern}", reason.reason)
    return Note("not offered here", reason.reason, found)


def part_notes(kind: Kind, listing: Listing, offered: Offered, adapter: Adapter) -> Iterator[Note]:
    """What is changed of a declaration that is offered.

    Args:
        kind: its kind.
        listing: the list that it is in.
        offered: the declaration.
        adapter: the revision.
    """
    declared = offered.part.description
    sent = adapter.encode_result(listing.method, {listing.member: [offered.listed]}, {})[listing.member][0]
    changes = list(kind.changed(offered, adapter, sent))
    told = {change.member for change in changes}
    yield from left_out({name: value for name, value in declared.items() if name not in told}, sent)
    for change in changes:
        if change.concern is None:
            yield Note(change.what, change.why or "it is declared so")
        else:
            yield decided(adapter, change.concern, change.what, change.why)
    for condition in offered.part.visible:
        yield Note("not seen by everybody", in_words(condition), change=False)
    if offered.part.asks:
        for method in kind.methods:
            yield asking_note(adapter, method)


def asking_note(adapter: Adapter, method: str) -> Note:
    """How what is asked on the way to answering a request reaches the person."""
    way = way_of(adapter, method)
    if way is None:
        what, why = "whoever asks gets an error instead", f"a question cannot travel with {method}"
        return decided(adapter, "askable_methods", what, why)
    what, why = _WAYS[way]
    return decided(adapter, way.value, f"asks {what}", why, change=way is Way.ARGUMENTS)


_WAYS = {
    Way.RESULT: (
        "by its result",
        "the client calls again with the answers, and the handler runs again from its beginning",
    ),
    Way.PUSHED: ("on the stream of the call", "the stream stays open until the person has answered"),
    Way.ARGUMENTS: (
        "in the text of its result, answered by two more arguments",
        "the question and its answers pass through the model, and the handler runs again from its beginning",
    ),
}
