"""Finding out what a server really serves: each revision by itself, over each transport.

Rule: nothing is taken from what the server says of itself that can be tried. No tool that there is gets called, no resource of the server
is read, and nothing outlasts the probe. It ends within a bounded time, whatever the server does.
Specification: basic/versioning, basic/lifecycle#version-negotiation
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcp_contract import Declaration, Json, JsonObject, NotSendable, member
from mcp_contract.wording import cut
from mcp_revisions import AdapterSet

from mcp_anyrev.cli.conforming import Finding, Judge, checked_tools
from mcp_anyrev.cli.probing_http import HttpProbe, PlainHttp
from mcp_anyrev.client.connection import Connection
from mcp_anyrev.client.errors import CannotConnect, ClientError, ErrorAnswer, WrongAnswer
from mcp_anyrev.client.offers import canonical_offers
from mcp_anyrev.serving.client import Client

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.client.transport import Transport

_MOST_PAGES = 20
_ABSENT = "mcp-anyrev-probe-absent"
_LISTS = {
    "tools/list": ("tools", "tools"),
    "resources/list": ("resources", "resources"),
    "resources/templates/list": ("resources", "resourceTemplates"),
    "prompts/list": ("prompts", "prompts"),
}
"""A list → the capability that it belongs to, and its member of the result."""


_ABSENT_THINGS: tuple[tuple[str, str, JsonObject, str], ...] = (
    ("tools", "tools/call", {"name": _ABSENT, "arguments": {}}, "invalid_params"),
    ("prompts", "prompts/get", {"name": _ABSENT}, "invalid_params"),
    ("resources", "resources/read", {"uri": f"{_ABSENT}:///"}, "resource_not_found"),
    ("logging", "logging/setLevel", {"level": _ABSENT}, "invalid_params"),
    (
        "completions",
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": _ABSENT}, "argument": {"name": "a", "value": ""}},
        "invalid_params",
    ),
)
"""A capability, and a request that belongs to it and cannot be answered, with the kind of error that is to be said then."""


@dataclass
class Probed:
    """One revision over one transport.

    Attributes:
        transport: the transport.
        revision: the revision.
        served: does the server speak it?
        reason: why not, in its words; None where it does.
        server: who it says it is, as it came.
        capabilities: what it says it can do, as it came.
        offered: the revisions that it names.
        counted: how many things each list has.
        findings: where it deviates.
    """

    transport: str
    revision: str
    served: bool = False
    reason: str | None = None
    server: JsonObject | None = None
    capabilities: JsonObject = field(default_factory=dict)
    offered: tuple[str, ...] = ()
    counted: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


class ProbingClient(Client):
    """A client that can send what its revision does not have."""

    def _new_connection(self, transport: Transport) -> Connection:
        return _ProbingConnection(transport, self._answering, self._notices, self._limits, self._information)

    @property
    def declared(self) -> JsonObject:
        """What the server says that it can do, by the canonical names."""
        return canonical_offers(self._session.agreement)

    @property
    def declaration(self) -> Declaration:
        """What the client says of itself."""
        return self._session.connection.declaration


class _ProbingConnection(Connection):
    """Sends any request."""

    def _message(
        self, adapter: Adapter, identifier: Json, method: str, params: JsonObject, *, reports: bool
    ) -> JsonObject:
        if method in adapter.client_requests and params.get("level") != _ABSENT:
            return super()._message(adapter, identifier, method, params, reports=reports)
        params = adapter.declared_params(params, self.declaration)
        return {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}


async def probed(
    connect: Callable[..., ProbingClient],
    transports: Sequence[str | None],
    revisions: Sequence[str],
    seconds: float,
    http: PlainHttp | None,
) -> AsyncIterator[Probed]:
    """Each revision over each transport, as it is found out; what belongs to all of them comes with the last.

    Args:
        connect: gives a client, by `adapter`, `transport` and `on_wire`.
        transports: the transports to try; None for the only one.
        revisions: the revisions to try.
        seconds: how long all of it may take.
        http: sends other requests to its address; None where it has none.
    """
    end = asyncio.get_running_loop().time() + seconds
    for transport in transports:
        found: list[Probed] = []
        for revision in revisions:
            if transport == "sse" and not AdapterSet([revision]).newest.served_on_http_sse:
                continue
            one = Probed(transport or "", revision)
            try:
                async with asyncio.timeout_at(end):
                    await _probe(connect, AdapterSet([revision]).newest, one, http)
            except TimeoutError:
                one.reason = None if one.served else one.reason or "the time is over"
                if one.served:
                    one.findings.append(Finding(False, "the time was over before everything had been looked at"))
            found.append(one)
        for one in found:
            one.findings += _said_and_done(one, found)
            yield one


async def _probe(connect: Callable[..., ProbingClient], adapter: Adapter, one: Probed, http: PlainHttp | None) -> None:
    judge = Judge(adapter)
    try:
        client = connect(adapter=adapter, transport=one.transport or None, on_wire=judge)
        async with client:
            await client.initialize()
            one.served = True
            one.transport = client.verdict.transport
            one.offered, one.capabilities = client.offered_revisions, _object(client.description.get("capabilities"))
            one.server = _object(adapter.described_server(client.description))
            await _look_at(client, judge, one)
            if one.transport == "http" and http is not None:
                await HttpProbe(http, adapter, client.declaration, judge.session, judge).look()
    except ClientError as error:
        if one.served:
            judge.deviates(f"the connection broke: {error}")
        else:
            one.reason = cut(str(error))
            if isinstance(error, WrongAnswer) and not isinstance(error, CannotConnect):
                one.findings.append(Finding(True, str(error)))
    finally:
        if one.served:
            judge.finish(over_http=one.transport == "http")
            one.findings += judge.findings


async def _look_at(client: ProbingClient, judge: Judge, one: Probed) -> None:
    adapter, declared = client.adapter, client.declared
    resources: list[Any] = []
    for method, (capability, name) in _LISTS.items():
        if method not in adapter.client_requests:
            continue
        if capability not in declared:
            if await _gives(client, method, name):
                judge.remarks(f"{method} works, and the capability {capability!r} is not declared")
            continue
        items = await _list(client, judge, method, name)
        one.counted[name] = len(items)
        if name == "tools":
            checked_tools(adapter, items, judge)
        if name == "resources":
            resources = items
    if "ping" in adapter.client_requests:
        await _works(client, judge, "ping")
    await _refused(client, judge, f"{_ABSENT}/method", {}, "method_not_found", must=True)
    for capability, method, params, kind in _ABSENT_THINGS:
        if capability in declared and method in adapter.client_requests:
            await _refused(client, judge, method, params, kind)
    get = adapter.task_methods.get("get")
    if get is not None and "tasks" in declared:
        await _refused(client, judge, get, {"taskId": _ABSENT}, "invalid_params")
    await _listens(client, judge, resources)


async def _listens(client: ProbingClient, judge: Judge, resources: Sequence[Any]) -> None:
    """See that what the server says it tells of can be listened to."""
    declared = client.declared
    lists = [name for name in ("tools", "prompts", "resources") if _object(declared.get(name)).get("listChanged")]
    subscribes = bool(_object(declared.get("resources")).get("subscribe"))
    uris = [uri for uri in (member(one, "uri") for one in resources[:1]) if isinstance(uri, str) and subscribes]
    if not lists and not uris:
        return
    try:
        async with client.listen(*lists, uris=uris):
            pass
    except CannotConnect:
        raise
    except ClientError as error:
        judge.deviates(f"it says that it tells of changes, and listening does not work: {error}")


async def _list(client: Client, judge: Judge, method: str, member: str) -> list[Any]:
    """The items of a list, as far as there are any."""
    items: list[Any] = []
    params: JsonObject = {}
    for _ in range(_MOST_PAGES):
        try:
            result = await client.request(method, params)
        except CannotConnect:
            raise
        except ClientError as error:
            judge.deviates(f"{method} is declared, and does not work: {error}")
            return items
        page = result.get(member)
        items += page if isinstance(page, list) else []
        cursor = result.get("nextCursor")
        if not isinstance(cursor, str) or (cursor == "" and client.adapter.empty_cursor_ends):
            return items
        if cursor == params.get("cursor"):
            judge.deviates(f"{method}: the same cursor came twice, so the list has no end")
            return items
        params = {"cursor": cursor}
    return items


async def _gives(client: Client, method: str, member: str) -> bool:
    """Does a list that is not declared hold anything?"""
    try:
        return bool((await client.request(method)).get(member))
    except CannotConnect:
        raise
    except ClientError:
        return False


async def _works(client: Client, judge: Judge, method: str) -> None:
    try:
        await client.request(method)
    except CannotConnect:
        raise
    except ClientError as error:
        judge.deviates(f"{method} does not work: {error}")


async def _refused(
    client: Client, judge: Judge, method: str, params: JsonObject, kind: str, *, must: bool = False
) -> None:
    """See that a request that cannot be right is refused, as the revision has it.

    Args:
        client: the client.
        judge: notes what is found.
        method: the method.
        params: its params.
        kind: the kind of error.
        must: does the revision demand this code, and the status that belongs to it, or only recommend it?
    """
    adapter = client.adapter
    wanted = adapter.error_codes[kind]
    tell = judge.deviates if must else judge.remarks
    try:
        given = await client.request(method, params)
    except ErrorAnswer as error:
        if error.code != wanted:
            tell(f"{method} of what is not there is refused with {error.code}, and not with {wanted}")
        elif must and not adapter.has_handshake and error.status not in (None, adapter.error_statuses[kind]):
            judge.deviates(
                f"the error {wanted} of {method} comes with the status {error.status}, and not {adapter.error_statuses[kind]}"
            )
    except CannotConnect:
        raise
    except NotSendable:
        # Where other revisions have more values than this one, what it has not is never sent.
        return
    except ClientError as error:
        judge.deviates(f"{method} of what is not there is not refused by an error: {error}")
    else:
        says_so = given.get("isError") is True or member(given, "completion", "values") == []
        tell = judge.remarks if says_so else judge.deviates
        tell(f"{method} of what is not there gives a result, and not the error {wanted}")


def _said_and_done(one: Probed, found: Sequence[Probed]) -> list[Finding]:
    """Where what a server says of its revisions is not what it does."""
    if not one.served or AdapterSet([one.revision]).newest.has_handshake:
        return []
    tried = {other.revision: other.served for other in found}
    lacking = [version for version in one.offered if tried.get(version) is False]
    unsaid = [version for version, served in tried.items() if served and version not in one.offered]
    findings = [Finding(True, f"it says that it speaks {version}, and does not") for version in lacking]
    return [*findings, Finding(False, f"it speaks {', '.join(unsaid)}, and does not say so")] if unsaid else findings


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}
