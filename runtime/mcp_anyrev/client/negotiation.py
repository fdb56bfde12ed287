"""Finding out which revision to speak with a server.

Rule: without a handshake first; what only a server of that kind answers keeps it so, in a revision that both speak. Only what says
nothing of the kind leads to a handshake: that credentials are missing, that there is too much, or that a server fails, does not.
Specification: basic/versioning#backward-compatibility-with-initialization-based-versions
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from mcp_contract import Json, JsonObject, UnsupportedVersion, member
from mcp_revisions import AdapterSet

from mcp_anyrev.client.errors import ErrorAnswer, HttpRefused, NoAnswer, NoCommonRevision, WrongAnswer

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.client.connection import Connection

log = logging.getLogger("mcp_anyrev.client")

_ROUNDS = 3
"""How often a server may name other revisions."""

_TIMES = 2
"""How often one is tried: a server may refuse a revision and name it all the same."""


class Agreement(NamedTuple):
    """What was agreed on.

    Attributes:
        adapter: the revision.
        description: how the server describes itself, as it came.
        offered: the revisions that the server names.
    """

    adapter: Adapter
    description: JsonObject
    offered: tuple[str, ...]


class SpeaksHttpSse(Exception):
    """The server answers as one that speaks HTTP+SSE; the cause is what it answered."""


async def agreed(
    connection: Connection, adapters: AdapterSet, seconds: float | None, probe_seconds: float | None
) -> Agreement:
    """Agree on a revision with a server.

    Args:
        connection: the server.
        adapters: the revisions that may be spoken.
        seconds: for how long an answer is waited for.
        probe_seconds: the same for the first request, where a server may say nothing to what it does not know; None where it answers.

    Raises:
        NoCommonRevision: there is none.
        SpeaksHttpSse: another transport is to be tried.
        ClientError: the server gives no answer.
    """
    if _stateless(adapters):
        try:
            return await _without_handshake(connection, adapters, probe_seconds or seconds)
        except (ErrorAnswer, HttpRefused, NoAnswer) as error:
            others = [*_answering_so(adapters, error), *adapters.handshake_versions]
            if not others or not _suggests_handshake(connection, error, probe_seconds):
                raise
            log.debug("the server answers as one of %s: %s", ", ".join(others), error)
            return await agreed(connection, AdapterSet(others), seconds, probe_seconds)
    return await with_handshake(connection, adapters, seconds)


async def agreed_on_newest(connection: Connection, adapters: AdapterSet, seconds: float | None) -> Agreement:
    """Agree on the newest of some revisions as that has it, without finding out whether the server opens in another way; see `agreed`."""
    agree = with_handshake if adapters.newest.has_handshake else _without_handshake
    return await agree(connection, adapters, seconds)


async def with_handshake(connection: Connection, adapters: AdapterSet, seconds: float | None) -> Agreement:
    """Agree on a revision by a handshake; see `agreed`."""
    adapter = adapters.newest_with_handshake
    try:
        agreement = await described(connection, adapter, seconds)
    except (ErrorAnswer, HttpRefused) as error:
        theirs = _supported(error) if isinstance(error, ErrorAnswer) else []
        left = [one for one in adapters.handshake_versions if one in theirs and one != adapter.version]
        if left:  # it is to offer one of them instead, and refuses with their names
            return await with_handshake(connection, AdapterSet(left[:1]), seconds)
        if theirs or (isinstance(error, ErrorAnswer) and error.kind == UnsupportedVersion.kind):
            raise NoCommonRevision(adapters.versions, theirs) from error
        status, body = _answer_of(error)
        if status is not None and adapter.suggests_http_sse(status, body):
            raise SpeaksHttpSse from error
        raise
    version = agreement.offered[0]
    if version not in adapters.handshake_versions:
        raise NoCommonRevision(adapters.versions, agreement.offered)
    if version != adapter.version:
        adapter = adapters.by_version[version]
        connection.speak(adapter)
    if adapter.ready_notification is not None:
        connection.tell(adapter.ready_notification, {})
    return agreement._replace(adapter=adapter)


async def described(connection: Connection, adapter: Adapter, seconds: float | None) -> Agreement:
    """How a server describes itself, in a revision.

    Raises:
        WrongAnswer: that is no description.
        ClientError: it does not.
    """
    connection.speak(adapter)
    method = adapter.description_method
    result = await connection.request(method, adapter.description_params(connection.declaration), seconds)
    offered = adapter.described_versions(result)
    if not offered:
        raise WrongAnswer(f"the answer to {method} does not say which revision the server speaks")
    return Agreement(adapter, result, tuple(offered))


def _stateless(adapters: AdapterSet) -> list[str]:
    return [one for one in adapters.versions if one not in adapters.handshake_versions]


async def _without_handshake(connection: Connection, adapters: AdapterSet, seconds: float | None) -> Agreement:
    stateless = _stateless(adapters)
    tried: list[str] = []
    version = stateless[0]
    for _ in range(_ROUNDS):
        tried.append(version)
        try:
            agreement = await described(connection, adapters.by_version[version], seconds)
            theirs: Sequence[str] = agreement.offered
            if version in theirs:
                return agreement
        except ErrorAnswer as error:
            if error.kind != UnsupportedVersion.kind:
                raise
            theirs = _supported(error)
        left = [one for one in adapters.versions if one in theirs and tried.count(one) < _TIMES]
        if not left:
            raise NoCommonRevision(adapters.versions, theirs)
        version = min(left, key=tried.count)  # the newest of those that were tried least
        if version not in stateless:
            return await with_handshake(connection, AdapterSet(left), seconds)
    raise NoCommonRevision(adapters.versions, theirs)


def _suggests_handshake(
    connection: Connection, error: ErrorAnswer | HttpRefused | NoAnswer, probe_seconds: float | None
) -> bool:
    if isinstance(error, NoAnswer):
        return probe_seconds is not None
    return connection.adapter.suggests_handshake(*_answer_of(error))


def _answering_so(adapters: AdapterSet, error: ErrorAnswer | HttpRefused | NoAnswer) -> list[str]:
    """The older revisions without a handshake whose servers answer like this: since then, a header or an error may be another."""
    if isinstance(error, NoAnswer):
        return []
    answer = _answer_of(error)
    return [one for one in _stateless(adapters)[1:] if not adapters.by_version[one].suggests_handshake(*answer)]


def _answer_of(error: ErrorAnswer | HttpRefused) -> tuple[int | None, Json]:
    """The status and the body of what the server answered, as far as they matter."""
    if isinstance(error, HttpRefused):
        return error.status, error.body
    return error.status, {"error": {"code": error.code}}


def _supported(error: ErrorAnswer) -> list[str]:
    supported = member(error.data, "supported")
    return [one for one in supported if isinstance(one, str)] if isinstance(supported, list) else []
