"""Requests as they should be, and what may become of them on the way: in the head, in the body, in the bytes.

Rule: everything comes from one random source, so that a seed gives the same requests again. Nothing here knows what a server should
answer.
"""

from __future__ import annotations

import gzip
import json
import random
from dataclasses import dataclass
from typing import Any

from mcp_contract import Declaration
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter

ADAPTERS = AdapterSet.default().by_version
CLIENT = {"name": "fuzz", "version": "1.0"}
META = "io.modelcontextprotocol/"

Json = Any


@dataclass
class Request:
    """A request to be sent.

    Attributes:
        adapter: the revision that it was made for.
        verb: the HTTP method.
        headers: the head, names and values as bytes, in order.
        body: the body.
        method: the method of the message; None where it is not known any longer.
        length: the length that the head names, where it is not that of the body.
    """

    adapter: Adapter
    verb: str
    headers: list[tuple[bytes, bytes]]
    body: bytes
    method: str | None
    length: int | None = None

    def written(self, path: str, host: str) -> bytes:
        """As bytes on a connection."""
        lines = [f"{self.verb} {path} HTTP/1.1".encode()]
        if not any(name.lower() == b"host" for name, _ in self.headers):
            lines.append(b"Host: " + host.encode())
        lines += [name + b": " + value for name, value in self.headers]
        lines.append(b"Content-Length: %d" % (len(self.body) if self.length is None else self.length))
        return b"\r\n".join(lines) + b"\r\n\r\n" + self.body


class Fuzzer:
    """Makes requests without end.

    Args:
        seed: the same seed, the same requests.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.sessions: dict[str, str] = {}
        """Sessions that are open, by revision; whoever sends the requests puts them here."""

    def request(self) -> Request:
        """The next request: in one case of four as it should be, else changed."""
        adapter = self.random.choice(list(ADAPTERS.values()))
        message = self._message(adapter)
        made = self._made(adapter, message)
        changes = self.random.choice((0, 1, 1, 2))
        for _ in range(changes):
            self.random.choice((self._change_head, self._change_body, self._change_body, self._change_bytes))(made)
        return made

    def handshake(self, adapter: Adapter) -> Request:
        """The request that opens a session."""
        params = adapter.description_params(Declaration(self._capabilities(adapter), CLIENT))
        return self._made(adapter, {"jsonrpc": "2.0", "id": 1, "method": adapter.description_method, "params": params})

    # --- As it should be ---

    def _made(self, adapter: Adapter, message: dict[str, Json]) -> Request:
        like = message if "method" in message else {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {}}
        like = like if "params" in like else {**like, "params": {}}
        session = self.sessions.get(adapter.version)
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **adapter.request_headers(like, session),
        }
        name, arguments = message.get("params", {}).get("name"), message.get("params", {}).get("arguments")
        if name == "region" and isinstance(arguments, dict):
            schema = {"properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
            headers |= adapter.param_headers(arguments, schema)
        lines = [(key.encode(), value.encode()) for key, value in headers.items()]
        return Request(adapter, "POST", lines, json.dumps(message).encode(), message.get("method"))

    def _message(self, adapter: Adapter) -> dict[str, Json]:
        kind = self.random.random()
        if kind < 0.04:
            return {"jsonrpc": "2.0", "id": self._identifier(), "result": self._value()}
        if kind < 0.1:
            method = self.random.choice([*adapter.client_notifications, "notifications/unheard-of"])
            params = {"requestId": self._identifier(), "progressToken": 1, "progress": 1}
            return {"jsonrpc": "2.0", "method": method, "params": params}
        method, params = self.random.choice(_CALLS)
        if method == "describe":
            return {
                "jsonrpc": "2.0",
                "id": self._identifier(),
                "method": adapter.description_method,
                "params": adapter.description_params(Declaration(self._capabilities(adapter), CLIENT)),
            }
        declaration = Declaration(self._capabilities(adapter), CLIENT)
        params = adapter.declared_params(json.loads(json.dumps(params)), declaration)
        if self.random.random() < 0.3:
            token = {"progressToken": self._identifier(), META + "logLevel": "debug"}
            params = {**params, "_meta": {**params.get("_meta", {}), **token}}
        return {"jsonrpc": "2.0", "id": self._identifier(), "method": method, "params": params}

    def _capabilities(self, adapter: Adapter) -> dict[str, Json]:
        return adapter.required_to_ask("form") if self.random.random() < 0.7 else {}

    def _identifier(self) -> int | str:
        return self.random.choice((0, 1, -1, "", "a", "é", 2**31, self.random.randrange(10**6)))

    # --- Changes ---

    def _change_head(self, request: Request) -> None:
        choice = self.random.randrange(8)
        if choice == 0 and request.headers:
            del request.headers[self.random.randrange(len(request.headers))]
        elif choice == 1 and request.headers:
            name, _ = self.random.choice(request.headers)
            request.headers.append((name, self.random.choice(_HEADER_VALUES)))
        elif choice in (2, 3) and request.headers:
            at = self.random.randrange(len(request.headers))
            request.headers[at] = (request.headers[at][0], self.random.choice(_HEADER_VALUES))
        elif choice == 4:
            request.verb = self.random.choice(("GET", "GET", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"))
            request.method = None
            request.body = b"" if self.random.random() < 0.7 else request.body
        elif choice == 5:
            request.headers.append((b"Content-Encoding", b"gzip"))
            request.body = gzip.compress(request.body) if self.random.random() < 0.5 else request.body
        else:
            name = self.random.choice(_HEADER_NAMES)
            request.headers.append((name, self.random.choice(_HEADER_VALUES)))

    def _change_body(self, request: Request) -> None:
        try:
            message = json.loads(request.body)
        except (ValueError, RecursionError):  # it is broken already
            return
        if self.random.random() < 0.1:
            message = [message] * self.random.choice((0, 1, 2, 3, 200))
        elif self.random.random() < 0.7:
            message = self._with_a_change(message)
        else:
            message = self._value()
        request.method = message.get("method") if isinstance(message, dict) else None
        request.body = json.dumps(message).encode("utf-8", "surrogatepass")

    def _with_a_change(self, value: Json) -> Json:
        """One member somewhere replaced, added or left out."""
        if isinstance(value, dict) and value and self.random.random() < 0.85:
            name = self.random.choice(list(value))
            action = self.random.random()
            if action < 0.15:
                return {key: inner for key, inner in value.items() if key != name}
            if action < 0.3:
                return {**value, self.random.choice(_NAMES): self._value()}
            return {**value, name: self._with_a_change(value[name])}
        if isinstance(value, list) and value and self.random.random() < 0.7:
            at = self.random.randrange(len(value))
            return [*value[:at], self._with_a_change(value[at]), *value[at + 1 :]]
        return self._value()

    def _value(self) -> Json:
        return self.random.choice(_VALUES)()

    def _change_bytes(self, request: Request) -> None:
        choice = self.random.randrange(7)
        body = bytearray(request.body)
        if choice == 0:
            body = body[: self.random.randrange(len(body) + 1)]
        elif choice == 1:
            for _ in range(self.random.randrange(1, 5)):
                if body:
                    body[self.random.randrange(len(body))] = self.random.randrange(256)
        elif choice == 2:
            at = self.random.randrange(len(body) + 1)
            body[at:at] = self.random.choice(
                (b"\xff", b"\xed\xa0\x80", b"\xc0\xaf", b"\x00", b"NaN", b"-Infinity", b"1e999")
            )
        elif choice == 3:
            body = bytearray(self.random.choice(_BOMBS)())
        elif choice == 4:
            body = bytearray("\ufeff".encode() + bytes(body))
        elif choice == 5:
            body = bytearray(bytes(body).decode("utf-8", "replace").encode("utf-16"))
        else:
            body = bytearray(bytes(body).replace(b'"jsonrpc"', b'"jsonrpc": "2.0", "jsonrpc"', 1))
        request.body = bytes(body)
        request.method = None


def _nested(opening: str, closing: str, inner: str = "1") -> Json:
    depth = 300
    return json.loads(opening * depth + inner + closing * depth)


_CALLS: tuple[tuple[str, dict[str, Json]], ...] = (
    ("describe", {}),
    ("ping", {}),
    ("tools/list", {}),
    ("tools/list", {"cursor": "x"}),
    ("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}}),
    ("tools/call", {"name": "add", "arguments": {"a": "1", "b": None}}),
    ("tools/call", {"name": "confirm", "arguments": {}}),
    ("tools/call", {"name": "talk", "arguments": {"times": 3}}),
    ("tools/call", {"name": "region", "arguments": {"region": "é-1"}}),
    ("tools/call", {"name": "numbers", "arguments": {}}),
    ("tools/call", {"name": "fail", "arguments": {}}),
    ("tools/call", {"name": "absent", "arguments": {}}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": "fuzz://note"}),
    ("resources/read", {"uri": "fuzz://item/%2F%zz"}),
    ("resources/read", {"uri": "fuzz://absent"}),
    ("resources/subscribe", {"uri": "fuzz://note"}),
    ("resources/unsubscribe", {"uri": "fuzz://note"}),
    ("prompts/list", {}),
    ("prompts/get", {"name": "greet", "arguments": {"name": "Ada"}}),
    ("prompts/get", {"name": "greet"}),
    (
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "name", "value": "a"}},
    ),
    ("logging/setLevel", {"level": "debug"}),
    ("subscriptions/listen", {"notifications": {"toolsListChanged": True}}),
    ("no/such/method", {}),
)

_NAMES = (
    "id",
    "method",
    "params",
    "_meta",
    "result",
    "error",
    "name",
    "arguments",
    "uri",
    "inputResponses",
    "requestState",
    "mcpState",
    "",
)

_VALUES = (
    lambda: None,
    lambda: True,
    lambda: 0,
    lambda: -1,
    lambda: 1.5,
    lambda: 10**400,
    lambda: 2**63,
    lambda: "",
    lambda: "x" * 10_000,
    lambda: "\ud800",
    lambda: "\x00\r\n",
    lambda: "日本",
    list,
    dict,
    lambda: {"": {"": None}},
    lambda: {str(number): number for number in range(500)},
    lambda: _nested("[", "]"),
    lambda: _nested('{"a":', "}"),
    lambda: {"$ref": "http://127.0.0.1:9/x"},
    lambda: {"action": "accept", "content": {}},
)

_BOMBS = (
    lambda: b"[" * 100_000,
    lambda: b'{"a":' * 50_000,
    lambda: b"[" * 50_000 + b"]" * 50_000,
    lambda: b'{"jsonrpc":"2.0","id":' + b"9" * 100_000 + b',"method":"ping"}',
    lambda: b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}',
    lambda: b'{"jsonrpc":"2.0","id":1e400,"method":"ping"}',
    lambda: b'{"jsonrpc":"2.0","id":"\xff","method":"ping"}',
    lambda: b'{"jsonrpc":"2.0","id":1,"method":"ping","id":2}',
    lambda: b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
    lambda: b"",
    lambda: b"\x00" * 1_000,
    lambda: b"x" * 5_000_000,
)

_HEADER_NAMES = (
    b"Mcp-Session-Id",
    b"MCP-Protocol-Version",
    b"Mcp-Method",
    b"Mcp-Name",
    b"Mcp-Param-Region",
    b"Last-Event-ID",
    b"Origin",
    b"Host",
    b"Authorization",
    b"Accept",
    b"Content-Type",
    b"X-" + b"n" * 100,
)

_HEADER_VALUES = (
    b"",
    b"x",
    b"null",
    b"tools/list",
    b"2025-03-26",
    b"2026-07-28",
    b"1900-01-01",
    b"text/html",
    b"application/json",
    b"*/*",
    b"=?base64?SGVsbG8=?=",
    b"=?base64?!!!?=",
    b"\xff\xfe",
    "é".encode(),
    b"1" * 5_000,
    b"http://evil.example",
    b"evil.example",
    b"99999999999999999999",
    b"Bearer x",
)
