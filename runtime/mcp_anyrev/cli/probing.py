"""Finding out what a server really serves: each revision by itself, over each transport.

Rule: nothing is taken from what the server says of itself that can be tried. No tool is called, no resource of the server is read, and
nothing outlasts the probe. It ends within a bounded time, whatever the server does.
Specification: basic/versioning, basic/lifecycle#version-negotiation
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mcp_contract import Json, JsonObject, NotSendable
from mcp_contract.wording import cut
from mcp_revisions import AdapterSet

from mcp_anyrev.cli.conforming import Finding, Judge, checked_tools
from mcp_anyrev.client.connection import Connection
from mcp_anyrev.client.errors import CannotConnect, ClientError, ErrorAnswer, HttpRefused, WrongAnswer
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
    """A client that can do what its revision does not have: requests of another method, and headers that are wrong."""

    def _new_connection(self, transport: Transport) -> Connection:
        self._probing = _ProbingConnection(transport, self._answering, self._notices, self._limits, self._information)
        return self._probing

    @property
    def declared(self) -> JsonObject:
        """What the server says that it can do, by the canonical names."""
        return canonical_offers(self._session.agreement)

    async def with_headers(self, headers: Mapping[str, str], method: str) -> None:
        """Send a request with other headers than belong to it.

        Args:
            headers: those headers.
            method: its method.

        Raises:
            ClientError: it is refused, which is what is to be seen.
        """
        self._probing.instead = headers
        try:
            await self.request(method)
        finally:
            self._probing.instead = {}


class _ProbingConnection(Connection):
    instead: Mapping[str, str] = MappingProxyType({})

    def _message(
        self, adapter: Adapter, identifier: Json, method: str, params: JsonObject, *, reports: bool
    ) -> JsonObject:
        if method in adapter.client_requests and params.get("level") != _ABSENT:
            return super()._message(adapter, identifier, method, params, reports=reports)
        params = adapter.declared_params(params, self.declaration)
        return {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}

    def _beside(self, message: JsonObject) -> Mapping[str, str]:
        return {**super()._beside(message), **self.instead}


async def probed(
    connect: Callable[..., ProbingClient], transports: Sequence[str | None], revisions: Sequence[str], seconds: float
) -> AsyncIterator[Probed]:
    """Each revision over each transport, as it is found out; what belongs to all of them comes with the last.

    Args:
        connect: gives a client, by `adapter`, `transport` and `on_wire`.
        transports: the transports to try; None for the only one.
        revisions: the revisions to try.
        seconds: how long all of it may take.
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
                    await _probe(connect, AdapterSet([revision]).newest, one)
            except TimeoutError:
                one.reason = one.reason or "the time is over"
            found.append(one)
        for one in found:
            one.findings += _said_and_done(one, found)
            yield one


async def _probe(connect: Callable[..., ProbingClient], adapter: Adapter, one: Probed) -> None:
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
    except ClientError as error:
        if one.served:
            judge.deviates(f"the connection broke: {error}")
        else:
            one.reason = cut(str(error))
            if isinstance(error, WrongAnswer) and not isinstance(error, CannotConnect):
                one.findings.append(Finding(True, str(error)))
    if one.served:
        judge.finish(over_http=one.transport == "http")
        one.findings += judge.findings


async def _look_at(client: ProbingClient, judge: Judge, one: Probed) -> None:
    adapter, declared = client.adapter, client.declared
    for method, (capability, member) in _LISTS.items():
        if method not in adapter.client_requests:
            continue
        if capability not in declared:
            if await _gives(client, method, member):
                judge.remarks(f"{method} works, and the capability {capability!r} is not declared")
            continue
        items = await _list(client, judge, method, member)
        one.counted[member] = len(items)
        if member == "tools":
            checked_tools(adapter, items, judge)
    if "ping" in adapter.client_requests:
        await _works(client, judge, "ping")
    await _refused(client, judge, f"{_ABSENT}/method", {}, "method_not_found", must=True)
    if "prompts" in declared:
        await _refused(client, judge, "prompts/get", {"name": _ABSENT}, "invalid_params")
    if "resources" in declared:
        await _refused(client, judge, "resources/read", {"uri": f"{_ABSENT}:///"}, "resource_not_found")
    if "logging" in declared and "logging/setLevel" in adapter.client_requests:
        await _refused(client, judge, "logging/setLevel", {"level": _ABSENT}, "invalid_params")
    if one.transport == "http":
        await _headers_are_read(client, judge)


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
        await client.request(method, params)
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
        judge.deviates(f"{method} of what is not there gives a result, and not the error {wanted}")


async def _headers_are_read(client: ProbingClient, judge: Judge) -> None:
    """See that a request is refused whose headers say something else than the request."""
    adapter = client.adapter
    name, kind = adapter.method_header, "header_mismatch"
    if name is None:
        name, kind = adapter.version_header, "version_header"
    method = "ping" if "ping" in adapter.client_requests else adapter.description_method
    if name is None:
        return
    wanted = adapter.error_statuses[kind]
    try:
        await client.with_headers({name: _ABSENT}, method)
    except (ErrorAnswer, HttpRefused) as error:
        if error.status != wanted:
            judge.deviates(f"a wrong header {name} is answered by the status {error.status or 200}, and not {wanted}")
        elif isinstance(error, ErrorAnswer) and not adapter.has_handshake and error.code != adapter.error_codes[kind]:
            judge.deviates(
                f"a wrong header {name} is refused with {error.code}, and not with {adapter.error_codes[kind]}"
            )
    except CannotConnect:
        raise
    except ClientError as error:
        judge.deviates(f"a wrong header {name} is not refused: {error}")
    else:
        judge.deviates(f"a wrong header {name} is not refused by the status {wanted}")


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
