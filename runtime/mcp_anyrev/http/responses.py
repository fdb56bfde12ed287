"""What HTTP says beside a message: statuses, header fields, challenges.

Rule: statuses are the adapter's, by the kind of the error; nobody else chooses one.
Specification: basic/transports/streamable-http#sending-messages, basic/authorization#token-handling
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING

from mcp_contract import Busy, Forbidden, JsonObject, ProtocolError, Unauthorized, Unavailable, UnknownCoding

from mcp_anyrev.conversation.conversation import refusal
from mcp_anyrev.http.refusals import Refusals
from mcp_anyrev.http.request import HttpResponse

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.conversation.outcomes import Response
    from mcp_anyrev.head import Head
    from mcp_anyrev.protected_resource import ProtectedResource

OK = HTTPStatus.OK.value
"""The status of a request that was answered: HTTP's own meaning, in every revision."""

JSON_HEADERS: Mapping[str, str] = {"content-type": "application/json"}
STREAM_HEADERS: Mapping[str, str] = {"content-type": "text/event-stream", "cache-control": "no-store"}

_UNQUOTED = re.compile(r"[^\x20\x21\x23-\x5b\x5d-\x7e]")


class Responses:
    """Makes them.

    Args:
        resource: what is told of who gives out tokens, if anything is.
    """

    def __init__(self, resource: ProtectedResource | None) -> None:
        self._resource = resource
        self._refusals = Refusals()

    def refusal(self, adapter: Adapter, identifier: JsonObject, error: ProtocolError, head: Head) -> HttpResponse:
        """The HTTP response that refuses a request before any message of it has been taken; the log has why.

        Args:
            adapter: the revision that words it.
            identifier: `{"id": …}` of the message that it brought, or nothing where there is none to be read.
            error: why.
            head: the head of the request.
        """
        return self.refused(adapter, refusal(adapter, identifier, error), head)

    def refused(self, adapter: Adapter, response: Response, head: Head) -> HttpResponse:
        """The same with a JSON-RPC error."""
        error = response.error
        if error is not None:
            self._refusals.tell(head, error, adapter.error_statuses[error.kind])
        return self.of(adapter, response, head)

    def of(self, adapter: Adapter, response: Response, head: Head) -> HttpResponse:
        """The HTTP response that carries a JSON-RPC response to a request with that head."""
        error = response.error
        if error is None:
            return HttpResponse(OK, response.message, JSON_HEADERS)
        headers = dict(JSON_HEADERS)
        told = challenge(error, None if self._resource is None else self._resource.url(head.root))
        if told is not None:
            headers["www-authenticate"] = told
        if isinstance(error, UnknownCoding):
            headers["accept-encoding"] = ", ".join(error.known)
        if isinstance(error, Busy | Unavailable):
            headers["retry-after"] = str(error.retry_after_seconds)
        return HttpResponse(adapter.error_statuses[error.kind], response.message, headers)


def challenge(error: ProtocolError, metadata_url: str | None) -> str | None:
    """The value of `WWW-Authenticate` for an error; None for one that no credentials would mend.

    Args:
        error: what happened.
        metadata_url: where the metadata of the protected resource is, if there is any.
    """
    if not isinstance(error, Unauthorized | Forbidden) or (isinstance(error, Forbidden) and not error.scopes):
        return None
    told = {"resource_metadata": metadata_url, "error": error.problem, "scope": " ".join(error.scopes) or None}
    members = [f'{name}="{_UNQUOTED.sub("", value)}"' for name, value in told.items() if value is not None]
    return f"Bearer {', '.join(members)}".rstrip()
