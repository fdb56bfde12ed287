"""What lets a page of another origin use a server, in a browser.

Rule: only for an origin that is let in at all, named back to it and never as a wildcard; nothing is sent to anybody else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus

from mcp_anyrev.http.request import HttpResponse

_METHODS = "GET, POST, DELETE, OPTIONS"
_MOST_HEADERS = 2_000
_HEADER_NAMES = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+(\s*,\s*[!#$%&'*+\-.^_`|~0-9A-Za-z]+)*", re.ASCII)
_SECONDS = "600"
_NO_CONTENT = HTTPStatus.NO_CONTENT.value  # HTTP's own meaning, in every revision


class CrossOrigin:
    """Makes header fields for pages.

    Args:
        exposed: names of the response's header fields that a page may read.
    """

    def __init__(self, exposed: Iterable[str]) -> None:
        by_name = {name.lower(): name for name in (*exposed, "WWW-Authenticate")}
        self._exposed = ", ".join(by_name.values())

    def headers(self, origin: str) -> Mapping[str, str]:
        """The fields of a response to an origin that is let in."""
        return {
            "access-control-allow-origin": origin,
            "access-control-expose-headers": self._exposed,
            "vary": "Origin",
        }

    def preflight(self, headers: Mapping[str, str]) -> HttpResponse:
        """The answer to the question whether a page may send a request.

        Args:
            headers: the head of the question, which comes from an origin that is let in.
        """
        origin, asked = headers["origin"], headers.get("access-control-request-headers", "")
        fields = {
            **self.headers(origin),
            "vary": "Origin, Access-Control-Request-Headers",
            "access-control-allow-methods": _METHODS,
            "access-control-max-age": _SECONDS,
        }
        if len(asked) <= _MOST_HEADERS and _HEADER_NAMES.fullmatch(asked.strip()):
            fields["access-control-allow-headers"] = asked.strip()
        return HttpResponse(_NO_CONTENT, b"", fields)
