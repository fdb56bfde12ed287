"""The address that tells a load balancer how a server does.

Rule: whoever can reach it is answered, whatever name it uses for the server, since what asks for it often has none; so why something is
away is told in the log alone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http import HTTPStatus

from mcp_contract import JsonObject
from pydantic_core import to_json

from mcp_anyrev.http.request import HttpRequest, HttpResponse
from mcp_anyrev.http.responses import JSON_HEADERS

_METHODS = ("GET", "HEAD")


class HealthAddress:
    """One such address.

    Args:
        report: how the server does, as `Server.health` has it.
    """

    def __init__(self, report: Callable[[], Awaitable[JsonObject]]) -> None:
        self._report = report

    async def handle(self, request: HttpRequest) -> HttpResponse:
        """Answer a request: with 200 where the server can do its work, with 503 where it does not run, or its store or hub is away."""
        if request.head.method not in _METHODS:
            return HttpResponse(HTTPStatus.METHOD_NOT_ALLOWED.value, headers={"allow": ", ".join(_METHODS)})
        report = {name: value for name, value in (await self._report()).items() if name != "faults"}
        well = report["running"] and report["store"] and report["hub"]
        status = HTTPStatus.OK if well else HTTPStatus.SERVICE_UNAVAILABLE
        return HttpResponse(status.value, to_json(report), {**JSON_HEADERS, "cache-control": "no-store"})
