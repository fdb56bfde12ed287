"""What a server says that it offers, held against what is asked of it.

Rule: where a revision insists on agreement, nothing is asked of a server that it did not offer.
Specification: basic/lifecycle#capability-negotiation
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_contract import member

if TYPE_CHECKING:
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
"""A request → the way to the capability of a server that offers it."""


def missing_offer(agreement: Agreement, method: str) -> str | None:
    """The capability that a server would have to declare for a request, as a path; None where it may be sent."""
    needed = _NEEDED.get(method)
    if needed is None or not agreement.adapter.insists_on_agreement:
        return None
    declared = member(agreement.description, "capabilities", *needed)
    return ".".join(needed) if declared is None or declared is False else None
