"""Whom a server lets in at all, judged by the names in `Origin` and `Host`.

Rule: against lists, never against each other: a page that resolves its own name to this machine sends both alike.
Specification: basic/transports/streamable-http#security-endpoint
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from mcp_contract import HostRefused, OriginRefused
from mcp_contract.wording import cut

_MOST_REMEMBERED = 1_000
_MOST_LETTERS = 200


class HostsAndOrigins:
    """Judges the names in a head.

    Args:
        hosts: `name` for any port, `name:port`, or `*`.
        origins: the same, or `scheme://name:port`.
    """

    def __init__(self, *, hosts: Sequence[str], origins: Sequence[str]) -> None:
        self._hosts = frozenset(host.lower() for host in hosts)
        self._origins = frozenset(origin.lower() for origin in origins)
        self._fitting_hosts: set[str] = set()
        self._fitting_origins: set[str] = set()

    def check(self, headers: Mapping[str, str]) -> None:
        """Let a request in, or not.

        Raises:
            OriginRefused: a name is not on its list; `HostRefused` where it is that in `Host`.
        """
        host, origin = headers.get("host", ""), headers.get("origin")
        if host not in self._fitting_hosts:
            if not self._host_fits(host.lower()):
                raise HostRefused(_refusal("does not answer for the host", host, "host"))
            _remember(self._fitting_hosts, host)
        if origin is not None and origin not in self._fitting_origins:
            if not self._origin_fits(origin.lower()):
                raise OriginRefused(_refusal("is not for pages of the origin", origin, "origin"))
            _remember(self._fitting_origins, origin)

    def _host_fits(self, host: str) -> bool:
        return "*" in self._hosts or not self._hosts.isdisjoint(_names(host))

    def _origin_fits(self, origin: str) -> bool:
        if "*" in self._origins or origin in self._origins:
            return True
        try:
            scheme, netloc, *more = urlsplit(origin)
        except ValueError:
            return False
        return bool(scheme) and not any(more) and not self._origins.isdisjoint(_names(netloc))


def _refusal(words: str, name: str, kind: str) -> str:
    """What somebody can act on: the name, and what would let it in."""
    return (
        f"this server {words} {cut(name, _MOST_LETTERS)!r}; one that is to be let in is added to "
        f"Settings.allowed_{kind}s, or given as --allow-{kind} to `mcp-anyrev serve`"
    )


def _names(netloc: str) -> set[str]:
    """A name with its port, and without."""
    bare, colon, port = netloc.rpartition(":")
    return {netloc, bare} - {""} if colon and port.isdecimal() else {netloc} - {""}


def _remember(fitting: set[str], name: str) -> None:
    if len(fitting) < _MOST_REMEMBERED:
        fitting.add(name)
