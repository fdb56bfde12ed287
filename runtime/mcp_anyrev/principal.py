"""Who sends a request, and what they may do.

Rule: plain data; how somebody is recognised is the business of a transport.
Specification: basic/authorization#token-handling
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from mcp_contract import Forbidden, Unauthorized


class Principal(str):
    """The name of who sends a request, and what they may do.

    Args:
        name: the name; the same for the same person or program each time, and for nobody else.
        scopes: what they may do.
        claims: whatever else is known of them.
    """

    __slots__ = ("claims", "scopes")

    scopes: frozenset[str]
    claims: Mapping[str, Any]

    def __new__(cls, name: str, scopes: Iterable[str] = (), claims: Mapping[str, Any] | None = None) -> Principal:
        made = super().__new__(cls, name)
        made.scopes = frozenset(scopes)
        made.claims = MappingProxyType(dict(claims or {}))
        return made

    def __reduce__(self) -> tuple[type[Principal], tuple[str, frozenset[str], dict[str, Any]]]:
        return Principal, (str(self), self.scopes, dict(self.claims))


def require_scopes(principal: str | None, scopes: Iterable[str]) -> None:
    """Go on only if a principal has all of these scopes.

    Raises:
        Unauthorized: nobody in particular asks.
        Forbidden: some scope is missing.
    """
    needed = tuple(scopes)
    if principal is None:
        raise Unauthorized("this is only for somebody who is known", scopes=needed)
    missing = [scope for scope in needed if scope not in getattr(principal, "scopes", ())]
    if missing:
        raise Forbidden(f"this needs the scope {', '.join(missing)}", needed)
