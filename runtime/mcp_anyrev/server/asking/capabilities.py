"""What a client has to have declared, for a handler that cannot do without it.

Rule: whether a client can be asked, the adapter says, and where anything else is declared; whether it was, the client's own words.
Specification: basic/index#_meta
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mcp_contract import JsonObject

from mcp_anyrev.conversation.capabilities import declared_value, nested, worded
from mcp_anyrev.server.asking.elicitation import undeclared_mode

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter


def undeclared(adapter: Adapter, capabilities: JsonObject, path: Sequence[str]) -> JsonObject | None:
    """The part of a capability that a client lacks.

    Args:
        adapter: the revision.
        capabilities: what the client declared.
        path: the names that lead to the capability, in canonical form.

    Returns:
        The capability as the client would have to declare it in this revision; None where it did.
    """
    if path[:1] == ("elicitation",):
        return undeclared_mode(adapter, capabilities, path[1] if len(path) > 1 else "form")
    said = worded(adapter.encode_client_capabilities, path)
    if said is None:
        return nested(path)  # nobody can have declared it
    return said if declared_value(capabilities, said) is None else None
