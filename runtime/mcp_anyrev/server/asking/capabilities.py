"""What a client has to have declared, for a handler that cannot do without it.

Rule: whether a client can be asked, the adapter says; whether it declared anything else, its own words.
Specification: basic/index#_meta
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mcp_contract import Json, JsonObject

from mcp_anyrev.server.asking.elicitation import undeclared_mode

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter


def undeclared(adapter: Adapter, capabilities: JsonObject, path: Sequence[str]) -> JsonObject | None:
    """The part of a capability that a client lacks.

    Args:
        adapter: the revision.
        capabilities: what the client declared.
        path: the names that lead to the capability.

    Returns:
        The capability as the client would have to declare it; None where it did.
    """
    if path[:1] == ("elicitation",):
        return undeclared_mode(adapter, capabilities, path[1] if len(path) > 1 else "form")
    needed: JsonObject = {}
    inner = needed
    declared: Json = capabilities
    missing = False
    for name in path:
        inner[name] = {}
        inner = inner[name]
        declared = declared.get(name) if isinstance(declared, dict) else None
        missing = missing or not (isinstance(declared, dict) or declared is True)
    return needed if missing else None
