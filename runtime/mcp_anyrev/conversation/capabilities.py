"""What a peer declared that it can do, found wherever its revision has it.

Rule: names are canonical, and the adapter alone knows where they stand on the wire: what it would write for a capability is looked for
in what came. So a capability that a revision moves is found without a word here.
Specification: basic/lifecycle#capability-negotiation
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mcp_contract import Json, JsonObject

Encoder = Callable[[JsonObject], JsonObject]


def nested(path: Sequence[str]) -> JsonObject:
    """A capability by the names that lead to it, with nothing inside."""
    found: JsonObject = {}
    for name in reversed(path):
        found = {name: found}
    return found


def worded(encode: Encoder, path: Sequence[str]) -> JsonObject | None:
    """A capability as a revision has it; None where it has no words for it, so that nobody can declare it.

    Args:
        encode: puts capabilities, in canonical form, as the revision has them.
        path: the names that lead to it, in canonical form.
    """
    said = encode(nested(path))
    return None if said == encode(nested(path[:-1])) else said


def declared_value(declared: Json, said: JsonObject) -> Json:
    """What was declared where a capability is looked for: an object, or yes; None where something of it is lacking.

    Args:
        declared: what a peer declared, as it came.
        said: the capability as the revision has it.
    """
    if not said:
        return declared if isinstance(declared, dict) or declared is True else None
    if not isinstance(declared, dict):
        return None
    found: list[Json] = []
    for name, inner in said.items():
        found.append(declared_value(declared.get(name), inner if isinstance(inner, dict) else {}))
    return None if None in found else found[0]
