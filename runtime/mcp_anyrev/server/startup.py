"""What a server says of itself in the log when it starts: its revisions, what it offers, and what of it which revision does not get.

Rule: a line for each thing that some served revision does not get, with the reason, so that nobody has to find out by missing it. What
somebody may not have meant is a warning.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mcp_anyrev.declaring.kinds.tools import UNREADABLE

if TYPE_CHECKING:
    from mcp_anyrev.declaring.kinds import Kind
    from mcp_anyrev.declaring.registry import Registry
    from mcp_anyrev.server.offers import Offer

log = logging.getLogger("mcp_anyrev.start")


class _Missed(NamedTuple):
    """Something that a revision does not get."""

    noun: str
    name: str
    reason: str
    is_meant: bool


def tell(registry: Registry, offers: Sequence[Offer]) -> None:
    """Say it.

    Args:
        registry: what is declared.
        offers: what is offered, on each revision that is served.
    """
    things = Counter(noun for noun, _, _ in _things(registry))
    counts = ", ".join(f"{count} {noun}{'' if count == 1 else 's'}" for noun, count in things.items())
    log.info("%s %s: %s", registry.name, registry.server["version"], counts or "nothing is declared")
    log.info("revisions: %s", ", ".join(offer.adapter.version for offer in offers))
    missed: dict[_Missed, list[str]] = {}
    for offer in offers:
        for one in _missed(registry, offer):
            missed.setdefault(one, []).append(offer.adapter.version)
    for one, versions in missed.items():
        level = logging.INFO if one.is_meant else logging.WARNING
        log.log(level, "the %s %r is not offered on %s: %s", one.noun, one.name, ", ".join(versions), one.reason)


def _things(registry: Registry) -> Iterator[tuple[str, Kind, str]]:
    """What a client can see a list of: what it is called, its kind, and its key."""
    for kind in registry.kinds:
        for key, part in registry.parts(kind).items():
            listing = next((one for one in kind.listings if one.holds(part)), None)
            if listing is not None:
                yield listing.noun or kind.noun, kind, key


def _missed(registry: Registry, offer: Offer) -> Iterator[_Missed]:
    for noun, kind, key in _things(registry):
        withheld = offer.withheld[kind].get(key)
        if withheld is not None and not withheld.otherwise:
            yield _Missed(noun, key, withheld.reason, withheld.concern != UNREADABLE)
