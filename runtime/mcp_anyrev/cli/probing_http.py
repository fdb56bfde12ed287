"""What a server makes of requests over HTTP that are wrong before anybody reads their messages: statuses and headers.

Rule: each request is right but for one thing. What the revision demands is a deviation where it is not so; what it recommends, a remark.
Specification: basic/transports/streamable-http, basic/transports#session-management, basic/versioning#protocol-version-negotiation
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple

from mcp_contract import Declaration, Json, JsonObject, member
from pydantic_core import to_json

from mcp_anyrev.client.errors import ClientError
from mcp_anyrev.client.wire import OnWire, WireMessage
from mcp_anyrev.http.client.exchange import EVENTS, JSON
from mcp_anyrev.http.client.options import HttpOptions
from mcp_anyrev.http.client.requester import Requester
from mcp_anyrev.settings import Limits
from mcp_anyrev.transports.aiohttp_client import AiohttpConnector

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.cli.conforming import Judge

_ABSENT = "mcp-anyrev-probe-absent"
_NO_VERSION = "1900-01-01"
_ELSEWHERE = "http://mcp-anyrev-probe.invalid"


class Reply(NamedTuple):
    """What answers a request.

    Attributes:
        status: the status.
        kind: the media type of the body.
        body: the body, if it is JSON.
    """

    status: int
    kind: str
    body: Json

    @property
    def code(self) -> Json:
        """The code of the error that it is."""
        return member(self.body, "error", "code")


class PlainHttp:
    """Sends requests of any kind to one server.

    Args:
        url: its address.
        headers: sent with all of them.
        seconds: how long an answer is waited for.
        on_wire: looks at what passes.
    """

    def __init__(self, url: str, headers: Mapping[str, str], seconds: float, on_wire: OnWire | None) -> None:
        self._options = HttpOptions(headers=headers, on_wire=on_wire)
        self._url = url
        self._seconds = seconds

    async def send(self, method: str, headers: Mapping[str, str], content: bytes = b"") -> Reply | None:
        """Send a request; None where nothing answers it in time.

        Args:
            method: the HTTP method.
            headers: its headers.
            content: its body.
        """
        on_wire = self._options.on_wire
        if content and on_wire is not None:
            on_wire(WireMessage(True, content))
        requester = Requester(self._url, AiohttpConnector(self._options), self._options, Limits().body_bytes)
        try:
            async with asyncio.timeout(self._seconds), requester.send(method, headers, content=content) as answer:
                body = None
                if answer.kind == JSON:
                    await answer.aread()
                    with contextlib.suppress(ValueError):
                        body = answer.json()
                return Reply(answer.status_code, answer.kind, body)
        except (ClientError, TimeoutError):
            return None
        finally:
            await requester.close()


class HttpProbe:
    """Looks at one revision.

    Args:
        http: sends requests.
        adapter: the revision.
        declaration: what a client says of itself.
        session: the session that has been opened; None where there is none.
        judge: notes what is found.
    """

    def __init__(
        self, http: PlainHttp, adapter: Adapter, declaration: Declaration, session: str | None, judge: Judge
    ) -> None:
        self._http = http
        self._adapter = adapter
        self._declaration = declaration
        self._session = session
        self._judge = judge
        self._method = "ping" if "ping" in adapter.client_requests else adapter.description_method

    async def look(self) -> None:
        """Send every request that is wrong in one thing."""
        await self._body()
        await self._headers()
        await self._meta()
        await self._sessions()
        await self._stream()
        await self._origin()

    async def _body(self) -> None:
        message = self._message()
        reply = await self._http.send("POST", self._headers_of(message), b'{"jsonrpc"')
        if reply is not None and reply.status < HTTPStatus.BAD_REQUEST and reply.code is None:
            self._judge.deviates(f"a body that is no JSON is answered by the status {reply.status}, and no error")

    async def _headers(self) -> None:
        """Those that say something else than the message, or are not there where they must be."""
        adapter, message = self._adapter, self._message()
        right = self._headers_of(message)
        kind = "version_header" if adapter.method_header is None else "header_mismatch"
        for name in filter(None, (adapter.version_header, adapter.method_header)):
            await self._refused(f"a wrong header {name}", kind, message, {**right, name: _ABSENT})
            if adapter.method_header is not None:
                without = {each: value for each, value in right.items() if each.lower() != name.lower()}
                await self._refused(f"a request without the header {name}", kind, message, without)

    async def _meta(self) -> None:
        """What each request says of itself, where no handshake has."""
        adapter, message = self._adapter, self._message()
        if adapter.has_handshake:
            return
        said = message["params"]["_meta"]
        version = next(name for name, value in said.items() if value == adapter.version)
        headers = self._headers_of(message)
        bare = {**message, "params": {}}
        await self._refused("a request that declares nothing", "missing_request_meta", bare, headers)
        other = {**message, "params": {"_meta": {**said, version: _NO_VERSION}}}
        if adapter.version_header is not None:
            headers = {**headers, adapter.version_header: _NO_VERSION}
        reply = await self._refused("a revision that does not exist", "unsupported_version", other, headers)
        supported = None if reply is None else member(reply.body, "error", "data", "supported")
        if reply is not None and not (isinstance(supported, list) and adapter.version in supported):
            self._judge.deviates(f"the refusal of a revision that does not exist does not name {adapter.version}")

    async def _sessions(self) -> None:
        adapter, message = self._adapter, self._message()
        header = adapter.session_header
        if self._session is None or header is None:
            return
        right = self._headers_of(message)
        await self._refused("a session that does not exist", "session_unknown", message, {**right, header: _ABSENT})
        without = {name: value for name, value in right.items() if name != header}
        await self._refused("a request without the session", "session_missing", message, without, must=False)

    async def _stream(self) -> None:
        """The one that a client may ask for."""
        adapter = self._adapter
        headers = {**self._headers_of(self._message()), "accept": EVENTS}
        del headers["content-type"]
        reply = await self._http.send("GET", headers)
        refused = adapter.error_statuses["method_not_allowed"]
        if reply is None or reply.status == refused:
            return
        if not adapter.listens_by_get:
            self._judge.remarks(f"GET is answered by the status {reply.status}, and not {refused}")
        elif reply.status == HTTPStatus.OK and reply.kind != EVENTS:
            self._judge.deviates(f"GET is answered by a body of kind {reply.kind or 'none'}, and not {EVENTS}")
        elif reply.status not in (HTTPStatus.OK, HTTPStatus.CONFLICT):  # it may be open already
            self._judge.deviates(f"GET is answered by the status {reply.status}: neither a stream nor {refused}")

    async def _origin(self) -> None:
        message = self._message()
        headers = {**self._headers_of(message), "origin": _ELSEWHERE}
        reply = await self._http.send("POST", headers, to_json(message))
        if reply is not None and reply.status < HTTPStatus.BAD_REQUEST:
            self._judge.remarks("a page of any origin may call it: the header Origin is not looked at")

    async def _refused(
        self, what: str, kind: str, message: JsonObject, headers: Mapping[str, str], *, must: bool = True
    ) -> Reply | None:
        """See that a request is refused as the revision has it; what answered it, where it was."""
        adapter = self._adapter
        status, code = adapter.error_statuses[kind], adapter.error_codes[kind]
        tell = self._judge.deviates if must else self._judge.remarks
        reply = await self._http.send("POST", headers, to_json(message))
        if reply is None:
            return None
        if reply.status < HTTPStatus.BAD_REQUEST and reply.code is None:
            tell(f"{what} is not refused by the status {status}")
            return None
        if reply.status != status:
            tell(f"{what} is answered by the status {reply.status}, and not {status}")
        elif not adapter.has_handshake and reply.code != code:
            tell(f"{what} is refused with {reply.code if reply.code is not None else 'no error'}, and not with {code}")
        return reply

    def _message(self) -> JsonObject:
        params = self._adapter.declared_params({}, self._declaration)
        message: JsonObject = {"jsonrpc": "2.0", "id": _ABSENT, "method": self._method}
        return {**message, "params": params} if params else message

    def _headers_of(self, message: JsonObject) -> dict[str, str]:
        own = self._adapter.request_headers(message, self._session)
        return {"accept": f"{JSON}, {EVENTS}", "content-type": JSON, **own}
