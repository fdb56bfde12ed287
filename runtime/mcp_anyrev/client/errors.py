"""What can keep a call from giving its result, by whose fault it is.

Rule: every call of a client ends with its result or one of these. A tool that says that it failed has given a result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mcp_contract import Json, RemoteError
from mcp_contract.wording import cut


class ClientError(Exception):
    """A call gave no result. The text is one sentence for a person."""


class CannotConnect(ClientError, ConnectionError):
    """There is nobody at the other end, or not any longer."""


class NoAnswer(ClientError, TimeoutError):
    """The answer has not come in time."""


class WrongAnswer(ClientError):
    """The server does not speak as the protocol says."""


class NotOffered(ClientError):
    """The revision that was agreed on has no way to say it, or the server does not offer it. Nothing was sent."""


class NoCommonRevision(ClientError):
    """There is no revision that both sides speak.

    Args:
        ours: the revisions that this side speaks.
        theirs: those that the server names, as far as it does.
    """

    def __init__(self, ours: Sequence[str], theirs: Sequence[str]) -> None:
        named = cut(", ".join(theirs)) if theirs else "none that it names"
        super().__init__(f"no common revision: the server speaks {named}; this client {', '.join(ours)}")
        self.ours = tuple(ours)
        self.theirs = tuple(theirs)


class Unfinished(ClientError):
    """The server has asked again and again, and the call is still not finished."""


class HttpRefused(ClientError):
    """The server, or something before it, answers a request with an HTTP status that is no success.

    Args:
        message: what was answered, for a person.
        status: the status.
        challenge: what `WWW-Authenticate` says, where it is there.
        retry_after_seconds: after how many seconds it is worth to ask again, where that is said.
        body: the JSON that came with it; None where there was none.
    """

    def __init__(
        self,
        message: str,
        status: int,
        challenge: str | None = None,
        retry_after_seconds: float | None = None,
        body: Json = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body = body
        self.challenge = challenge
        self.retry_after_seconds = retry_after_seconds


class ErrorAnswer(ClientError, RemoteError):
    """The server answers with an error of the protocol.

    Args:
        code: the JSON-RPC code.
        message: its words.
        data: its data, or None.
        kind: what the code means in the revision, as `Adapter.error_codes` has it; None where it means nothing there.
        status: the HTTP status that it came with; None where it came in another way.

    Attributes:
        code, message, data, kind, status: see above.
    """

    def __init__(
        self, code: int, message: str, data: Any = None, kind: str | None = None, status: int | None = None
    ) -> None:
        RemoteError.__init__(self, code, cut(message), data)
        self.kind = kind
        self.status = status


class RequestRefused(ErrorAnswer):
    """The server blames the request."""


class ServerFailed(ErrorAnswer):
    """The server blames itself."""
