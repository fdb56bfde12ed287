"""Who sends a request, and what they may do.

Rule: plain data; how somebody is recognised is the business of a transport. What belongs to somebody is theirs by their name.
Specification: basic/authorization#token-handling
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv6Address, IPv6Network, ip_address
from types import MappingProxyType
from typing import Any

from mcp_contract import Forbidden, Unauthorized

from mcp_anyrev.head import Head

_NETWORK_BITS = 64


@dataclass(frozen=True)
class Principal:
    """Who sends a request. Two of the same name are equal.

    Attributes:
        name: the same for the same person or program each time, and for nobody else.
        scopes: what they may do; kept as a frozen set.
        claims: whatever else is known of them; it cannot be changed.
        of: the application's own object, such as a row of its users; this package does not look at it.
        expires_at: until when what they have shown of themselves counts, in seconds since the epoch; None for no end. A stream that they
            listen on ends then.

    Raises:
        ValueError: the name is empty.
        TypeError: the name is no string, or the scopes are one.
    """

    name: str
    scopes: Collection[str] = field(default=frozenset(), compare=False)
    claims: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    of: Any = field(default=None, compare=False, repr=False)
    expires_at: float | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"the name of a principal is a string, not {self.name!r}")
        if not self.name:
            raise ValueError("the name of a principal is empty; give None, not a principal, for nobody in particular")
        if isinstance(self.scopes, str):
            raise TypeError(f"scopes are several strings; give [{self.scopes!r}]")
        object.__setattr__(self, "scopes", frozenset(self.scopes))
        object.__setattr__(self, "claims", MappingProxyType(dict(self.claims)))

    def __str__(self) -> str:
        return self.name


Recognised = Principal | str | None
"""Who sends a request, or only their name; None for nobody in particular."""

Recognise = Callable[[Head], Recognised | Awaitable[Recognised]]
"""From the head of a request to who sends it. It refuses by raising `Unauthorized` or `Forbidden`."""


def seconds_left(principal: Principal | None) -> float | None:
    """For how long what a principal has shown still counts; None for no end."""
    return None if principal is None or principal.expires_at is None else max(0.0, principal.expires_at - time.time())


def name_of(principal: Principal | None) -> str | None:
    """The name of a principal; None for nobody in particular."""
    return None if principal is None else principal.name


def scopes_of(principal: Principal | None) -> list[str] | None:
    """The scopes of a principal, in order; None for nobody in particular."""
    return None if principal is None else sorted(principal.scopes)


def require_scopes(principal: Principal | None, scopes: Iterable[str]) -> None:
    """Go on only if a principal has all of these scopes.

    Raises:
        Unauthorized: nobody in particular asks.
        Forbidden: some scope is missing.
    """
    needed = tuple(scopes)
    if principal is None:
        raise Unauthorized("this is only for somebody who is known", scopes=needed)
    missing = [scope for scope in needed if scope not in principal.scopes]
    if missing:
        raise Forbidden(f"this needs the scope {', '.join(missing)}", needed)


@lru_cache(maxsize=1024)  # every call is counted to somebody, and reading an address takes longer than finding it
def owner_of(principal: str | None, address: str | None = None) -> str:
    """Whose budget something counts against that is kept for somebody.

    Args:
        principal: the name of the principal; None for nobody in particular.
        address: the network address that they come from, by which those are told apart who are nobody in particular; None for none.
            Of an IPv6 address that is the network: whoever has one address of it has as many as they like.
    """
    if principal is not None:
        return f"principal/{principal}"
    if address is None:
        return "anonymous"
    try:
        found = ip_address(address)
    except ValueError:
        return f"anonymous/{address}"
    if isinstance(found, IPv6Address):
        found = found.ipv4_mapped or IPv6Network((int(found), _NETWORK_BITS), strict=False).network_address
    return f"anonymous/{found}"
