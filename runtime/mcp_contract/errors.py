"""Errors by whose fault they are.

Rule: an error says what happened (`kind`); which code and which HTTP status that is, only an adapter knows
(`Adapter.error_codes`, `Adapter.error_statuses`). So no number stands here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

from mcp_contract.wording import LONGEST_ADDRESS, cut


class ProtocolError(Exception):
    """Something that is answered with a JSON-RPC error.

    Args:
        message: one sentence for a person: what was found, what is allowed. Never a secret, never another party's data. It may
            quote what a peer has sent, of any length: it is cut.
        data: what a program can use, in the form that the specification gives for this kind; None for nothing.

    Attributes:
        message, data: see above.
        identifier: `{"id": …}` of the message that it is about, where that is known only here; else nothing.
    """

    kind: ClassVar[str] = "internal_error"
    identifier: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, message: str, data: Any = None) -> None:
        self.message = cut(message)
        super().__init__(self.message)
        self.data = data


class PeerFault(ProtocolError):
    """The peer sent what it must not send."""


class HandlerFault(ProtocolError):
    """This side, or the application on it, went wrong."""


class ParseError(PeerFault):
    """The body is no JSON text."""

    kind = "parse_error"


class InvalidRequest(PeerFault):
    """JSON, but no message of this protocol."""

    kind = "invalid_request"


class MethodNotFound(PeerFault):
    """A method that this revision, or this server, does not have."""

    kind = "method_not_found"


class InvalidParams(PeerFault):
    """A known method with params that do not fit it."""

    kind = "invalid_params"


class MissingRequestMeta(PeerFault):
    """A request without a `_meta` member that every request of the revision must carry."""

    kind = "missing_request_meta"


class HeaderMismatch(PeerFault):
    """A header is missing, cannot be read, or says something else than the body."""

    kind = "header_mismatch"


class VersionHeaderRefused(PeerFault):
    """A version header names a revision that is not served, or not the agreed one."""

    kind = "version_header"


class SessionMissing(PeerFault):
    """A request that must name its session does not."""

    kind = "session_missing"


class SessionUnknown(PeerFault):
    """The named session never was, is over, or is somebody else's."""

    kind = "session_unknown"


class OriginRefused(PeerFault):
    """The `Origin` header is not on the allow-list."""

    kind = "origin_refused"


class HostRefused(OriginRefused):
    """The `Host` header is not on the allow-list."""


class MethodNotAllowed(PeerFault):
    """An HTTP method that the endpoint does not answer for this revision."""

    kind = "method_not_allowed"


class UnsupportedVersion(PeerFault):
    """The peer asks for a revision that is not served.

    Args:
        requested: the revision that was asked for, as sent; told as far as it is not overlong.
        supported: the revisions that are served, newest first.
    """

    kind = "unsupported_version"

    def __init__(self, requested: str, supported: Sequence[str]) -> None:
        super().__init__(
            f"protocol version {requested!r} is not served here; served: {', '.join(supported)}",
            {"supported": list(supported), "requested": cut(requested)},
        )


class HandshakeMissing(UnsupportedVersion):
    """The peer asks, without a handshake, for a revision that is served after one.

    Args:
        requested: the revision that was asked for.
        supported: the revisions that are served without a handshake, newest first.
        method: the request that opens with one.
    """

    def __init__(self, requested: str, supported: Sequence[str], method: str) -> None:
        super().__init__(requested, supported)
        self.message = cut(
            f"protocol version {requested!r} has to be opened with {method}; served without: {', '.join(supported) or 'none'}"
        )


class Unauthorized(PeerFault):
    """Who sends the request is not known.

    Args:
        message: what is missing or wrong, without the credentials.
        problem: what is wrong with them, in the words of OAuth 2.0 for bearer tokens; None where there were none.
        scopes: what a token should allow, for the sender to get a fitting one.
    """

    kind = "unauthorized"

    def __init__(self, message: str, problem: str | None = None, scopes: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.problem = problem
        self.scopes = tuple(scopes)


class Forbidden(PeerFault):
    """Who sends the request is known, and may not do this.

    Args:
        message: what is not allowed.
        scopes: what a token would have to allow; none where no token would help.
    """

    kind = "forbidden"

    def __init__(self, message: str, scopes: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.problem = "insufficient_scope" if scopes else None
        self.scopes = tuple(scopes)


class MissingClientCapability(PeerFault):
    """The request cannot be carried out without a capability that the client did not declare.

    Args:
        required: the missing part of the client capabilities, in the revision's own form.
    """

    kind = "missing_client_capability"

    def __init__(self, required: Mapping[str, Any]) -> None:
        super().__init__(
            f"this needs a client capability that was not declared: {_paths(required)}",
            {"requiredCapabilities": dict(required)},
        )


class ResourceNotFound(PeerFault):
    """There is no resource under an address.

    Args:
        uri: the address, as sent; told as far as an address can go.
    """

    kind = "resource_not_found"

    def __init__(self, uri: str) -> None:
        super().__init__("there is no such resource", {"uri": cut(uri, LONGEST_ADDRESS)})


class TooLarge(PeerFault):
    """What the peer sent is larger than this side takes. The message says which bound."""

    kind = "too_large"


class Late(PeerFault):
    """What the peer sends has not come in time."""

    kind = "late"


class UnknownCoding(PeerFault):
    """What the peer sent is compressed in a way that this side does not read.

    Args:
        message: in which way it is.
        known: those that are read.
    """

    kind = "unknown_coding"

    def __init__(self, message: str, known: Iterable[str]) -> None:
        super().__init__(message)
        self.known = tuple(known)


class Busy(PeerFault):
    """The peer asks for more, at once or in a time, than it may have.

    Args:
        message: what there is too much of, and how much is allowed.
        retry_after_seconds: after how many seconds it is worth to ask again; at least one.
    """

    kind = "busy"

    def __init__(self, message: str, retry_after_seconds: int = 1) -> None:
        super().__init__(message)
        self.retry_after_seconds = max(1, retry_after_seconds)


class Unavailable(HandlerFault):
    """This side cannot take anything now: it ends, or something that it needs does not answer.

    Args:
        message: what is not possible now, without what is known about the inside.
        retry_after_seconds: after how many seconds it is worth to ask again; at least one.
    """

    kind = "unavailable"

    def __init__(self, message: str, retry_after_seconds: int = 1) -> None:
        super().__init__(message)
        self.retry_after_seconds = max(1, retry_after_seconds)


class InternalError(HandlerFault):
    """A handler failed. The message says no more than that: what failed is for the log."""

    kind = "internal_error"


class CannotAsk(HandlerFault):
    """A handler asks where the negotiated revision has no way to ask."""

    kind = "internal_error"


class RemoteError(Exception):
    """The peer answered with an error.

    Args:
        code: the JSON-RPC error code, as received.
        message: the peer's words.
        data: the peer's data, or None.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.data = data


def _paths(tree: Mapping[str, Any]) -> str:
    """The leaves of nested mappings as dotted paths."""
    found = []
    for name, inner in tree.items():
        if isinstance(inner, Mapping) and inner:
            found += [f"{name}.{path}" for path in _paths(inner).split(", ")]
        else:
            found.append(name)
    return ", ".join(found)
