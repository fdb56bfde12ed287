"""What an HTTP status says that is no success.

Rule: nothing is read into it here but what HTTP says; the body is kept, since who reads it may know more.
Specification: basic/transports/streamable-http#sending-messages, basic/authorization/index#error-handling
"""

from __future__ import annotations

import asyncio
import time
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING

from mcp_contract import Json, ProtocolError, member
from mcp_contract.wording import cut

from mcp_anyrev.client.errors import ClientError, HttpRefused
from mcp_anyrev.messages import parse

if TYPE_CHECKING:
    from mcp_anyrev.http.client.exchange import Answer
    from mcp_anyrev.settings import Limits

_READ_SECONDS = 5.0
"""How long the body may take to come: the status alone is an answer."""


def succeeded(answer: Answer) -> bool:
    """Does an answer have a status of success?"""
    return HTTPStatus.OK <= answer.status_code < HTTPStatus.MULTIPLE_CHOICES


def may_succeed_later(answer: Answer) -> bool:
    """May the same request succeed when it is sent again after a while?"""
    return answer.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR or answer.status_code in (
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.REQUEST_TIMEOUT,
    )


async def refusal(answer: Answer, limits: Limits) -> HttpRefused:
    """An answer that is no success, as an error."""
    body = await _body(answer, limits)
    said = member(body, "error", "message")
    words = named(answer)
    if isinstance(said, str):
        words = f"{words}: {cut(said)}"
    elif HTTPStatus.MULTIPLE_CHOICES <= answer.status_code < HTTPStatus.BAD_REQUEST:
        words = f"{words}: it sends the request on to {cut(answer.headers.get('location', 'nowhere'))!r}, which is not followed"
    return HttpRefused(
        f"the server answers {words}",
        answer.status_code,
        answer.headers.get("www-authenticate"),
        _seconds(answer.headers.get("retry-after")),
        body,
    )


def named(answer: Answer) -> str:
    """The status of an answer, in words."""
    try:
        return f"{answer.status_code} {HTTPStatus(answer.status_code).phrase}"
    except ValueError:
        return str(answer.status_code)


async def _body(answer: Answer, limits: Limits) -> Json:
    try:
        async with asyncio.timeout(_READ_SECONDS):
            return parse(await answer.aread(), limits)
    except (ClientError, ProtocolError, TimeoutError):
        return None


def _seconds(said: str | None) -> float | None:
    """What `Retry-After` says, which is a number of seconds or a date."""
    if said is None:
        return None
    if said.strip().isdecimal():
        return float(said)
    try:
        return max(0.0, parsedate_to_datetime(said).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None
