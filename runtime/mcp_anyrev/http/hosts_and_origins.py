"""Whom a server lets in at all, judged by the names in `Origin` and `Host`.

Rule: against lists, never against each other: a page that resolves its own name to this machine sends both alike.
Specification: basic/transports/streamable-http#security-endpoint
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlsplit

from mcp_contract import OriginRefused

_MOST_REMEMBERED = 1_000


class HostsAndOrigins:
    """Judges the names in a head.

    Args:
        hosts: `name` for any port, `name:port`, or `*`.
        origins: the same, or `scheme://name:port`.
    """

    def __init__(self, hosts: Sequence[str], origins: Sequence[str]) -> None:
        self._hosts = frozenset(host.lower() for host in hosts)
        self._origins = frozenset(origin.lower() for origin in origins)
        self._host_verdicts: dict[str, bool] = {}
        self._origin_verdicts: dict[str, bool] = {}

    def check(self, headers: Mapping[str, str]) -> None:
        """Let a request in, or not.

        Raises:
            OriginRefused: a name is not on its list.
        """
        if not _remembered(self._host_verdicts, headers.get("host", ""), self._host_fits):
            raise OriginRefused("the Host header names a host that this server does not answer for")
        origin = headers.get("origin")
        if origin is not None and not _remembered(self._origin_verdicts, origin, self._origin_fits):
            raise OriginRefused("the Origin header names an origin that may not use this server")

    def _host_fits(self, host: str) -> bool:
        return "*" in self._hosts or not self._hosts.isdisjoint(_names(host))

    def _origin_fits(self, origin: str) -> bool:
        if "*" in self._origins or origin in self._origins:
            return True
        try:
            netloc = urlsplit(origin).netloc
        except ValueError:
            return False
        return not self._origins.isdisjoint(_names(netloc))


def _names(netloc: str) -> set[str]:
    """A name with its port, and without."""
    bare, colon, port = netloc.rpartition(":")
    return {netloc, bare} - {""} if colon and port.isdecimal() else {netloc} - {""}


def _remembered(verdicts: dict[str, bool], name: str, judge: Callable[[str], bool]) -> bool:
    verdict = verdicts.get(name)
    if verdict is None:
        verdict = judge(name.lower())
        if len(verdicts) < _MOST_REMEMBERED:
            verdicts[name] = verdict
    return verdict
