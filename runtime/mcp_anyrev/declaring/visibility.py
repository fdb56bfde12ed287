"""Who sees what is declared.

Rule: what somebody does not see is not there for them, whichever way they ask for it. Where it cannot be told, they do not see it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection

from mcp_anyrev.principal import Principal
from mcp_anyrev.user_code import called

log = logging.getLogger("mcp_anyrev.server")

Visible = Collection[str] | Callable[[Principal | None], bool]
"""What it takes to see something: all of these scopes, or that a function says so of who asks (None for nobody in particular)."""

Condition = frozenset[str] | Callable[[Principal | None], bool]


def conditions_of(visible: Visible | None) -> tuple[Condition, ...]:
    """What it takes, as it is kept; nothing where nothing was said.

    Raises:
        ValueError: it is neither scopes nor a function.
    """
    if visible is None:
        return ()
    if callable(visible):
        return (visible,)
    are_scopes = isinstance(visible, Collection) and not isinstance(visible, str)
    if not are_scopes or not all(isinstance(scope, str) for scope in visible):
        raise ValueError(f"visible is a list of scopes, or a function of who asks, not {visible!r}")
    return (frozenset(visible),)


def in_words(condition: Condition) -> str:
    """What a condition takes."""
    if isinstance(condition, frozenset):
        return f"it takes the scopes {', '.join(sorted(condition))}" if condition else "it takes no scope"
    return f"{getattr(condition, '__name__', 'a function')} decides who does"


def holds(condition: Condition, principal: Principal | None) -> bool:
    """Does somebody meet a condition?"""
    if isinstance(condition, frozenset):
        return condition <= (frozenset() if principal is None else frozenset(principal.scopes))
    return called(lambda: bool(condition(principal)), _not_shown)


def _not_shown(error: Exception) -> bool:
    log.error("who sees something could not be told, so it is not shown", exc_info=error)
    return False
