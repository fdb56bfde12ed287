"""A client that posts what it is told and shows what comes back, and servers for it to talk to.

Rule: messages and headers come from the adapter's client side, so that a test can change them one by one; nothing of the server's
code reads the replies.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import pytest
from bounds import starting
from hosting import on_uvicorn
from mcp_anyrev import Registry, Settings, asgi
from mcp_anyrev.testing import serve
from mcp_contract import Declaration, NotSendable, is_identifier
from mcp_revisions import canonical
from mcp_revisions.protocol import Adapter
from pydantic import BaseModel, ValidationError
from sent_messages import check_sent

INFORMATION = {"name": "raw", "version": "1.0"}
ANSWERS: dict[str, type[BaseModel]] = {
    "elicitation/create": canonical.ElicitResult,
    "roots/list": canonical.ListRootsResult,
    "sampling/createMessage": canonical.CreateMessageResult,
}
_JUDGED_BY_HEAD = (401, 403)
OnMessage = Callable[[dict[str, Any]], Awaitable[None]]


@dataclass
class Reply:
    """What came back.

    Attributes:
        status: the HTTP status.
        headers: the header fields.
        message: the final message, or an array of them; None for an empty body.
        earlier: the messages that came before it on a stream.
        streamed: was it a stream?
    """

    status: int
    headers: Any
    message: Any = None
    earlier: list[dict[str, Any]] = field(default_factory=list)
    streamed: bool = False

    @property
    def result(self) -> dict[str, Any]:
        assert "result" in self.message, (self.status, self.message)
        result: dict[str, Any] = self.message["result"]
        return result

    @property
    def error(self) -> dict[str, Any]:
        assert "error" in self.message, (self.status, self.message)
        error: dict[str, Any] = self.message["error"]
        return error

    @property
    def text(self) -> str:
        """The text of a tool's result."""
        return "\n".join(block.get("text", "") for block in self.result["content"])


def declares(adapter: Adapter, capabilities: Any, wanted: dict[str, Any]) -> bool:
    """Does a server declare canonical capabilities, wherever the revision has them?"""
    return _holds(capabilities, adapter.encode_server_capabilities(wanted))


def _holds(value: Any, part: Any) -> bool:
    if not isinstance(part, dict):
        return bool(value == part)
    return isinstance(value, dict) and all(name in value and _holds(value[name], inner) for name, inner in part.items())


class RawClient:
    """Talks one revision to one address."""

    def __init__(self, url: str, adapter: Adapter, *, mode: str | None = "form", headers: Any = None) -> None:
        """`mode` is the way of being asked that is declared; `headers` go with every request."""
        capabilities = {} if mode is None else adapter.required_to_ask(mode)
        self.url = url
        self.adapter = adapter
        self.declaration = Declaration(capabilities, INFORMATION)
        self.session: str | None = None
        self.extra = headers or {}
        self._ids = itertools.count(1)

    async def __aenter__(self) -> RawClient:
        self.http = aiohttp.ClientSession()
        if self.adapter.has_handshake:
            params = self.adapter.description_params(self.declaration)
            reply = await self.call(self.adapter.description_method, params)
            assert reply.result["protocolVersion"] == self.adapter.version
            self.session = reply.headers[self.adapter.session_header]
            if self.adapter.ready_notification is not None:
                ready = await self.post({"jsonrpc": "2.0", "method": self.adapter.ready_notification})
                assert ready.status == self.adapter.accepted_status
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.close()

    def request(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """A request with a new id."""
        declared = self.adapter.declared_params(params or {}, self.declaration)
        return {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": declared}

    def headers(self, message: Any) -> dict[str, str]:
        """The headers that go with a message."""
        whole = isinstance(message, dict) and "method" in message and "params" in message
        like = message if whole else self.request("ping")
        return self.adapter.request_headers(like, self.session)

    async def call(self, method: str, params: dict[str, Any] | None = None, **options: Any) -> Reply:
        return await self.post(self.request(method, params), **options)

    async def tool(self, name: str, arguments: dict[str, Any] | None = None, **options: Any) -> Reply:
        return await self.call("tools/call", {"name": name, "arguments": arguments or {}}, **options)

    async def post(
        self,
        message: Any,
        *,
        like: dict[str, Any] | None = None,
        change: dict[str, str | None] | None = None,
        on_message: OnMessage | None = None,
        unread: bool = False,
    ) -> Reply:
        """Post a message (bytes go as they are), with the headers of `like` if not its own; `change` sets or, with None, removes some.

        `unread` is for a body that the server is not to read, so that it cannot know the id in it.
        """
        headers: dict[str, str | None] = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **self.headers(like or message),
            **self.extra,
            **(change or {}),
        }
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        sent = {name: value for name, value in headers.items() if value is not None}
        async with self.http.post(self.url, data=body, headers=sent) as response:
            reply = Reply(response.status, response.headers)
            if response.content_type == "text/event-stream":
                reply.streamed = True
                await _read_stream(response, reply, on_message)
            else:
                text = await response.text()
                reply.message = json.loads(text) if text else None
        self._check(None if unread else message, reply)
        return reply

    def _check(self, sent: Any, reply: Reply) -> None:
        """See that every message that came back is one of the revision."""
        one = isinstance(sent, dict)
        method = sent.get("method") if one else None
        # Who may not come in at all is told so before anybody reads what was sent.
        answers = one and bool({"result", "error"} & sent.keys())  # the id is one of the server's own
        readable = one and not answers and is_identifier(sent.get("id")) and reply.status not in _JUDGED_BY_HEAD
        for message in (*reply.earlier, *([] if reply.message is None else [reply.message])):
            check_sent(self.adapter.version, message, method, readable)


async def _read_stream(response: aiohttp.ClientResponse, reply: Reply, on_message: OnMessage | None) -> None:
    async for line in response.content:
        if not line.startswith(b"data:") or line == b"data:\n":  # an event that opens a stream holds nothing
            continue
        message = json.loads(line.removeprefix(b"data:"))
        if isinstance(message, list) or "method" not in message:
            reply.message = message
            continue
        reply.earlier.append(message)
        if on_message is not None:
            await on_message(message)


def needs(adapter: Adapter, *methods: str) -> None:
    """Skip the test where the revision lacks one of these requests of a client, or notifications of a server."""
    for method in methods:
        if method not in adapter.client_requests and method not in adapter.server_notifications:
            pytest.skip(f"the revision has no {method}")


def worded(adapter: Adapter, answer: Any, method: str = "elicitation/create") -> Any:
    """An answer to a server's request as a client of the revision says it; what is none goes as it is."""
    if method not in {**adapter.server_requests, **adapter.embedded_requests}:
        return answer
    try:
        ANSWERS[method].model_validate(answer)
        return adapter.encode_answer(method, answer)
    except (ValidationError, NotSendable):
        return answer


async def call_answering(client: RawClient, name: str, arguments: dict[str, Any], answers: dict[str, Any]) -> Reply:
    """Call a tool and answer its questions; see `request_answering`."""
    return await request_answering(client, "tools/call", {"name": name, "arguments": arguments}, answers)


async def request_answering(client: RawClient, method: str, own: dict[str, Any], answers: dict[str, Any]) -> Reply:
    """Send a request and answer its questions by their words, the way the revision has it: once each, only the newest."""
    asked: list[str] = []

    async def answer_pushed(message: dict[str, Any]) -> None:
        if message["method"] == "elicitation/create":
            said = worded(client.adapter, answers[message["params"]["message"]])
            posted = await client.post({"jsonrpc": "2.0", "id": message["id"], "result": said})
            assert posted.status == client.adapter.accepted_status

    params = own
    for _ in range(6):
        reply = await client.call(method, params, on_message=answer_pushed)
        questions = client.adapter.read_questions(reply.result) if "result" in reply.message else None
        if questions is None:
            return reply
        asked += questions.questions
        newest = {
            key: worded(client.adapter, answers[one["params"]["message"]]) for key, one in questions.questions.items()
        }
        params = client.adapter.answer_params(own, newest, questions.state)
    raise AssertionError(f"still asking: {asked}")


@contextlib.asynccontextmanager
async def serving(registry: Registry, settings: Settings | None = None, binding: str = "aiohttp") -> AsyncIterator[str]:
    """A server on a binding; gives its URL."""
    async with contextlib.AsyncExitStack() as stack:
        with starting():
            url = await stack.enter_async_context(
                serve(registry, settings) if binding == "aiohttp" else _serving_by_uvicorn(registry, settings)
            )
        yield url


@contextlib.asynccontextmanager
async def _serving_by_uvicorn(registry: Registry, settings: Settings | None) -> AsyncIterator[str]:
    async with on_uvicorn(asgi(registry, settings), lifespan="on") as root:
        yield f"{root}/mcp"
