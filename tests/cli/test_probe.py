"""`mcp-anyrev probe`: what it says of servers that keep to their revisions, and of one that does not.

Citations: basic/versioning, basic/lifecycle#version-negotiation, basic/index#responses.
"""

from __future__ import annotations

import contextlib
import json
import pathlib
import re
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from click.testing import Result
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter

ADAPTERS = AdapterSet.default()
OFFERING = "offering.py:registry"
STATELESS = next(adapter for adapter in ADAPTERS.by_version.values() if not adapter.has_handshake)
SESSION = next(adapter for adapter in ADAPTERS.by_version.values() if adapter.has_handshake)

Run = Callable[..., Result]
Answer = Callable[[dict[str, Any]], Any]


@contextlib.contextmanager
def answering(answer: Answer) -> Iterator[str]:
    """A server that answers each request as it is told: with a status and a body."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            try:
                message = json.loads(self.rfile.read(int(self.headers["content-length"])))
            except ValueError:
                message = {}
            status, body = answer(message) if "id" in message else (200, {})
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("mcp-session-id", "s")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            with contextlib.suppress(ConnectionError):  # who asked may have given up
                self.wfile.write(content)

        def do_GET(self) -> None:
            self.send_error(404)

        do_DELETE = do_GET

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/mcp"
        finally:
            server.shutdown()
            thread.join()


def result(message: dict[str, Any], value: Any) -> tuple[int, Any]:
    return 200, {"jsonrpc": "2.0", "id": message["id"], "result": value}


def error(message: dict[str, Any], code: int, status: int = 200) -> tuple[int, Any]:
    return status, {"jsonrpc": "2.0", "id": message["id"], "error": {"code": code, "message": "no"}}


def description(adapter: Adapter, capabilities: dict[str, Any], offered: list[str]) -> dict[str, Any]:
    return adapter.description_result({"name": "bad", "version": "1"}, capabilities, None, offered)


def deviations(ran: Result) -> list[str]:
    return [words for one in json.loads(ran.stdout) for words in one["deviations"]]


@pytest.mark.parametrize(
    "example", [OFFERING, "../../examples/small.py:registry", "../../examples/everything.py:registry"]
)
def test_our_own_servers_deviate_nowhere_in_memory(run: Run, example: str) -> None:
    ran = run("probe", example, "--json")
    assert ran.exit_code == 0, ran.stdout
    found = json.loads(ran.stdout)
    assert [(one["revision"], one["served"], one["transport"]) for one in found] == [
        (version, True, "memory") for version in ADAPTERS.versions
    ]
    assert deviations(ran) == []


def test_nor_over_http_and_what_is_served_over_which_transport_is_said(run: Run, url: str) -> None:
    ran = run("probe", url, "--json")
    assert ran.exit_code == 0, ran.stdout
    found = {(one["transport"], one["revision"]): one for one in json.loads(ran.stdout)}
    for version, adapter in ADAPTERS.by_version.items():
        assert found["http", version]["served"], found
        assert found["http", version]["counted"]["tools"] == 7
        assert (("sse", version) in found) == adapter.served_on_http_sse
    sse = run("probe", url.replace("/mcp", "/sse"), "--transport", "sse", "--revision", ADAPTERS.versions[-1])
    assert sse.exit_code == 0
    assert sse.stdout.startswith(f"{ADAPTERS.versions[-1]} over sse: served by offering 1.0; 7 tools, 2 resources")


def test_nobody_there_is_said_for_each_revision(run: Run) -> None:
    ran = run("probe", "http://127.0.0.1:9/mcp")
    assert ran.exit_code == 3
    assert f"{ADAPTERS.versions[0]} over http: not served: http://127.0.0.1:9 cannot be reached" in ran.stdout


def test_a_stateless_server_that_deviates_is_found_out(run: Run) -> None:
    adapter, other = STATELESS, SESSION.version
    tool = {"name": "t", "inputSchema": {"type": "object", "properties": {"x": {"type": "no type"}}}}

    def answer(message: dict[str, Any]) -> tuple[int, Any]:
        method = message["method"]
        if method == adapter.description_method:
            return result(
                message, description(adapter, {"tools": {"listChanged": True}, "prompts": {}}, [adapter.version, other])
            )
        if method == "tools/list":
            return result(
                message,
                {"tools": [tool, tool, {"name": 5}], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"},
            )
        if method == "prompts/list":
            return error(message, -32603)
        if method == "tools/call":
            return result(message, {"content": [], "isError": True, "resultType": "complete"})
        return result(message, {})

    with answering(answer) as address:
        ran = run("probe", address, "--json", "--transport", "http", "--timeout", "2")
    assert ran.exit_code == 4, ran.stdout
    said = "\n".join(deviations(ran))
    for words in (
        "the result of tools/list: ",
        "there are two tools of the name 't'",
        "the inputSchema of the tool 't' cannot be used",
        "prompts/list is declared, and does not work",
        "probe-absent/method of what is not there gives a result, and not the error -32601",
        "prompts/get of what is not there gives a result",
        f"it says that it speaks {other}, and does not",
        f"a wrong header {adapter.method_header} is not refused by the status 400",
        f"a request without the header {adapter.method_header} is not refused by the status 400",
        f"a request without the header {adapter.version_header} is not refused by the status 400",
        "a request that declares nothing is not refused by the status 400",
        "a revision that does not exist is not refused by the status 400",
        "a body that is no JSON is answered by the status 200, and no error",
        "it says that it tells of changes, and listening does not work",
    ):
        assert words in said, said
    remarks = [words for one in json.loads(ran.stdout) for words in one["remarks"]]
    for words in (
        "the revision has no sessions",
        "tools/call of what is not there gives a result, and not the error -32602",
        "a page of any origin may call it",
    ):
        assert any(words in remark for remark in remarks), remarks


def test_a_server_with_sessions_that_deviates_is_found_out(run: Run) -> None:
    adapter = SESSION

    def answer(message: dict[str, Any]) -> tuple[int, Any]:
        if message["method"] == adapter.description_method:
            return result(message, description(adapter, {}, [adapter.version]))
        if message["method"] == "ping":
            return 200, b"banana"
        if message["method"] == "tools/list":
            return result(message, {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]})
        return error(message, -32000)

    with answering(answer) as address:
        ran = run("probe", address, "--json", "--transport", "http", "--revision", adapter.version, "--timeout", "2")
    assert ran.exit_code == 4, ran.stdout
    said = "\n".join(deviations(ran))
    for words in (
        "it sends what is no JSON",
        "ping does not work",
        "is refused with -32000, and not with -32601",
        f"a notification is not answered by the status {adapter.accepted_status}",
        "a session that does not exist is not refused by the status 404",
        "GET is answered by the status 404: neither a stream nor 405",
    ):
        assert words in said, said
    assert json.loads(ran.stdout)[0]["remarks"] == [
        "tools/list works, and the capability 'tools' is not declared",
        "a request without the session is not refused by the status 400",
        "a page of any origin may call it: the header Origin is not looked at",
    ]


def test_it_ends_whatever_a_server_does(run: Run) -> None:
    def answer(message: dict[str, Any]) -> tuple[int, Any]:
        if message["method"] == STATELESS.description_method:
            return result(message, description(STATELESS, {"tools": {}}, [STATELESS.version]))
        if message["method"] == "tools/list":
            cursor = message["params"].get("cursor", "0")
            return result(message, {"tools": [], "nextCursor": cursor + "0"})
        time.sleep(0.3)
        return 500, b""

    begun = time.monotonic()
    with answering(answer) as address:
        ran = run("probe", address, "--timeout", "0.1", "--transport", "http")
    assert ran.exit_code == 4
    assert time.monotonic() - begun < 8


def test_no_tool_that_there_is_gets_called_and_nothing_is_read(run: Run, tmp_path: pathlib.Path) -> None:
    ran = run("probe", OFFERING, "--wire", "--revision", ADAPTERS.versions[0])
    assert ran.exit_code == 0
    called = re.findall(r'"method": "tools/call",\s*"params": \{\s*"name": "([^"]*)"', ran.stderr)
    assert called == ["mcp-anyrev-probe-absent"] and "mem://text" in ran.stderr
    assert ran.stderr.count("resources/read") == 1 and "mcp-anyrev-probe-absent:///" in ran.stderr
