"""What a server tells of who may give out tokens for it.

Rule: the document says what the author declared and nothing else; it stands where its address follows from the resource's own.
Specification: basic/authorization#protected-resource-metadata-discovery-requirements
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from mcp_contract import JsonObject

_WELL_KNOWN = "/.well-known/oauth-protected-resource"
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class ProtectedResource:
    """A server that tokens are given out for, as OAuth 2.0 describes one (RFC 9728).

    Args:
        resource: the server's own address, as clients use it: what a token names as its audience.
        authorization_servers: the issuers whose tokens it takes, at least one.
        scopes: the scopes that are needed for anything at all.
        name: what it is called, for people.
        documentation: where people read more.

    Raises:
        ValueError: an address is no absolute https address without fragment (http is for loopback), no server is given, or a string
            stands where several are wanted.
    """

    resource: str
    authorization_servers: Sequence[str]
    scopes: Sequence[str] = ()
    name: str | None = None
    documentation: str | None = None

    def __post_init__(self) -> None:
        for member in ("authorization_servers", "scopes"):
            if isinstance(getattr(self, member), str):
                raise ValueError(f"{member} are several strings; give [{getattr(self, member)!r}]")
        if not self.authorization_servers:
            raise ValueError(f"{self.resource!r}: at least one authorization server gives out its tokens")
        for url in (self.resource, *self.authorization_servers):
            parts = urlsplit(url)
            secure = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
            if not secure or not parts.netloc or parts.fragment:
                raise ValueError(f"{url!r} is no absolute https address without a fragment")

    @property
    def path(self) -> str:
        """The path of the document."""
        return f"{_WELL_KNOWN}{urlsplit(self.resource).path.rstrip('/')}"

    @property
    def paths(self) -> tuple[str, ...]:
        """All paths of the document within an application, under whichever beginning of the resource's own path that is mounted."""
        steps = self.path.removeprefix(_WELL_KNOWN).split("/")[1:]
        return tuple("/".join([_WELL_KNOWN, *steps[taken:]]) for taken in range(len(steps) + 1))

    def url(self, root: str = "") -> str:
        """The address of the document.

        Args:
            root: the path under which the application is mounted that answers for it.
        """
        parts = urlsplit(self.resource)
        path = parts.path.rstrip("/")
        if not path.startswith(f"{root}/"):  # some proxy has other names for it
            root = ""
        return f"{parts.scheme}://{parts.netloc}{root}{_WELL_KNOWN}{path.removeprefix(root)}"

    def document(self) -> JsonObject:
        """The document."""
        told = {
            "resource": self.resource,
            "authorization_servers": list(self.authorization_servers),
            "scopes_supported": list(self.scopes) or None,
            "bearer_methods_supported": ["header"],
            "resource_name": self.name,
            "resource_documentation": self.documentation,
        }
        return {name: value for name, value in told.items() if value is not None}
