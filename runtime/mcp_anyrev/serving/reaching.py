"""The ways to reach a server, by what a client is given for one.

Rule: nothing is imported that is not needed to reach this one.
Specification: basic/transports
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from mcp_anyrev.client.transport import Transport
    from mcp_anyrev.settings import Limits

Target: TypeAlias = "str | Sequence[str] | Callable[[], Transport]"
"""A URL, a command as a text or as a list of its parts, or what makes a transport."""


def ways_to(target: Target, limits: Limits, **options: Any) -> Mapping[str, Callable[[], Transport]]:
    """The transports that may lead to a server, by name, in the order in which they are to be tried.

    Args:
        target: what the client was given.
        limits: how much may wait to be sent, and be received at once.
        options: what belongs to the transport.

    Raises:
        ValueError: the target is none.
    """
    if callable(target):
        return {"custom": target}
    raise ValueError(f"{target!r} is neither a URL nor a command")
