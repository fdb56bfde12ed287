"""What a server says that it offers, held against what is asked of it.

Rule: where a revision insists on agreement, nothing is asked of a server that it did not offer. Capabilities have their canonical names
here; where a revision has them, its adapter knows.
Specification: basic/lifecycle#capability-negotiation
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, get_args

from mcp_contract import Json, JsonObject, member

from mcp_anyrev.conversation.capabilities import declared_value, nested, worded

if TYPE_CHECKING:
    from mcp_contract.model import WireModel

    from mcp_anyrev.client.negotiation import Agreement

_NEEDED: dict[str, tuple[str, ...]] = {
    "completion/complete": ("completions",),
    "logging/setLevel": ("logging",),
    "prompts/get": ("prompts",),
    "prompts/list": ("prompts",),
    "resources/list": ("resources",),
    "resources/read": ("resources",),
    "resources/subscribe": ("resources", "subscribe"),
    "resources/templates/list": ("resources",),
    "resources/unsubscribe": ("resources", "subscribe"),
    "tools/call": ("tools",),
    "tools/list": ("tools",),
}
"""A request → the canonical way to the capability of a server that offers it."""


def missing_offer(agreement: Agreement, method: str) -> str | None:
    """The capability that a server would have to declare for a request, as its revision has it; None where the request may be sent."""
    needed = _NEEDED.get(method)
    if needed is None or not agreement.adapter.insists_on_agreement:
        return None
    said = worded(agreement.adapter.encode_server_capabilities, needed)
    if said is None or declared_value(member(agreement.description, "capabilities"), said) is not None:
        return None
    return ".".join(_names(said))


def offered(agreement: Agreement, *path: str) -> Json:
    """What a server declared of a capability, None for nothing.

    Args:
        agreement: what was agreed with it.
        path: the names that lead to the capability, in canonical form. What the revision has no words for is looked for there.
    """
    said = worded(agreement.adapter.encode_server_capabilities, path)
    return declared_value(member(agreement.description, "capabilities"), nested(path) if said is None else said)


def canonical_offers(agreement: Agreement) -> JsonObject:
    """What a server declared, as it came, with what its revision has elsewhere put where the canonical form has it, too."""
    from mcp_revisions.canonical import ServerCapabilities

    came = member(agreement.description, "capabilities")
    found: JsonObject = dict(came) if isinstance(came, dict) else {}
    for path in _paths(ServerCapabilities):
        if member(found, *path) is None:
            value = offered(agreement, *path)
            if value is not None:
                found = _with(found, path, value)
    return found


def _paths(model: type[WireModel]) -> Iterator[tuple[str, ...]]:
    """The ways to all members of a type, the outer ones first."""
    from mcp_contract.model import camel

    for attribute, field in model.model_fields.items():
        name = field.serialization_alias or camel(attribute)
        yield (name,)
        for inner in get_args(field.annotation):
            if hasattr(inner, "model_fields"):
                yield from ((name, *path) for path in _paths(inner))


def _with(value: JsonObject, path: tuple[str, ...], leaf: Json) -> JsonObject:
    """An object with something put at the end of a way."""
    name, *rest = path
    inner = value.get(name)
    return {**value, name: _with(inner if isinstance(inner, dict) else {}, tuple(rest), leaf) if rest else leaf}


def _names(said: JsonObject) -> Iterator[str]:
    """The names that lead to a capability."""
    for name, inner in said.items():
        yield name
        if isinstance(inner, dict):
            yield from _names(inner)
