"""What a client says of itself, as far as there is room to keep it.

Rule: what fits is kept as it came. Of more, objects are kept as far as they can be read, member by member and in order, and anything
else whole or not at all; the log says so.
Specification: basic/lifecycle#capability-negotiation
"""

from __future__ import annotations

import logging

from mcp_contract import Declaration, Json, JsonObject
from pydantic_core import to_json

log = logging.getLogger("mcp_anyrev.server")

_MEMBER_BYTES = 64
"""What a member takes at least, so that the number of those that are looked at is bounded, too."""


def kept_declaration(said: Declaration, most: int) -> Declaration:
    """What is kept of what a client says of itself.

    Args:
        said: what it says.
        most: how many bytes of JSON its capabilities, and what it is, may take, each.
    """
    information = None if said.information is None else _kept(said.information, most)
    return Declaration(_kept(said.capabilities, most), information)


def _kept(said: JsonObject, most: int) -> JsonObject:
    size = len(to_json(said))
    if size <= most:
        return said
    log.warning("a client says %d bytes of itself; some of it is left out, since at most %d are kept", size, most)
    kept, _ = _readable(said, most)
    return kept


def _readable(said: JsonObject, room: int) -> tuple[JsonObject, int]:
    """As much of an object as there is room for, and the room that is left."""
    kept: JsonObject = {}
    for name, value in said.items():
        room -= _MEMBER_BYTES
        if room <= 0:
            break
        if len(name) * 4 > room:
            continue
        inner: Json = value
        if isinstance(value, dict):
            inner, left = _readable(value, room - len(name) * 4)
        else:
            left = room - len(name) * 4 - len(to_json(value))
            if left < 0:
                continue
        kept[name] = inner
        room = left
    return kept, room
