"""Kinds of faults in finding out which revision is spoken, and in what must bear it out.

Each kind was met by users of other libraries as one input; here it is tried on every revision, every header, every method.
"""

from __future__ import annotations

import asyncio
import json
import socket
import urllib.parse
from typing import Any

import pytest
from mcp_anyrev import Settings
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving
from wire_fixture import wire_registry

ADAPTERS = AdapterSet.default()
HANDSHAKES = ADAPTERS.handshake_versions
STATELESS = [version for version in ADAPTERS.versions if version not in HANDSHAKES]
ALL = {method for adapter in ADAPTERS.by_version.values() for method in adapter.client_requests}


def handshake(version: str) -> dict[str, Any]:
    information = {"name": "probe", "version": "0"}
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": information}
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}


@pytest.mark.parametrize("asked", [*ADAPTERS.versions, "2099-01-01", "1900-01-01", "banana", ""])
async def test_a_handshake_agrees_on_what_was_asked_or_on_the_newest_that_has_one(asked: str, binding: str) -> None:
    agreed = asked if asked in HANDSHAKES else HANDSHAKES[0]
    adapter = ADAPTERS.by_version[agreed]
    async with serving(wire_registry(), binding=binding) as url, RawClient(url, adapter) as client:
        reply = await client.post(handshake(asked), change=dict.fromkeys(client.headers(handshake(asked))))
        assert reply.status == 200 and reply.result["protocolVersion"] == agreed


@pytest.mark.parametrize("served", HANDSHAKES)
async def test_a_handshake_agrees_on_nothing_that_is_not_served(served: str) -> None:
    async with (
        serving(wire_registry(), Settings(revisions=[served])) as url,
        RawClient(url, ADAPTERS.by_version[served]) as client,
    ):
        for asked in (*ADAPTERS.versions, "2099-01-01"):
            reply = await client.post(handshake(asked), change=dict.fromkeys(client.headers(handshake(asked))))
            assert reply.result["protocolVersion"] == served


@pytest.mark.parametrize("asked", [*HANDSHAKES, "2099-01-01"])
async def test_a_server_without_handshakes_says_what_it_serves(result_adapter: Adapter, asked: str) -> None:
    settings = Settings(revisions=[result_adapter.version])
    async with serving(wire_registry(), settings) as url, RawClient(url, result_adapter) as client:
        reply = await client.post(handshake(asked), change=dict.fromkeys(client.headers(handshake(asked))))
        kinds = ("unsupported_version", "method_not_found")
        assert reply.status in [result_adapter.error_statuses[kind] for kind in kinds]
        assert result_adapter.version in str(reply.error)


@pytest.mark.parametrize("asked", ["1900-01-01", "2099-01-01", "x"])
async def test_an_unknown_revision_in_a_request_is_told_what_there_is(result_adapter: Adapter, asked: str) -> None:
    async with serving(wire_registry()) as url, RawClient(url, result_adapter) as client:
        request = client.request("tools/list")
        headers = client.headers(request)
        (key,) = (key for key, value in request["params"]["_meta"].items() if value == result_adapter.version)
        request["params"]["_meta"][key] = asked
        reply = await client.post(request, change={**headers, str(result_adapter.version_header): asked})
    assert reply.status == ADAPTERS.newest_stateless.error_statuses["unsupported_version"]
    assert reply.message["id"] == request["id"]
    assert reply.error["data"] == {"supported": list(ADAPTERS.versions), "requested": asked}


@pytest.mark.parametrize("named", HANDSHAKES)
async def test_a_revision_with_handshake_named_in_a_request_gets_no_mixture(
    result_adapter: Adapter, named: str
) -> None:
    async with serving(wire_registry()) as url, RawClient(url, result_adapter) as client:
        request = client.request("tools/list")
        headers = client.headers(request)
        (key,) = (key for key, value in request["params"]["_meta"].items() if value == result_adapter.version)
        request["params"]["_meta"][key] = named
        reply = await client.post(request, change={**headers, str(result_adapter.version_header): named})
    assert reply.status == ADAPTERS.newest_stateless.error_statuses["unsupported_version"]
    assert reply.error["code"] == ADAPTERS.newest_stateless.error_codes["unsupported_version"]
    # Whoever picks from the list must not come to pick the same again.
    without = [version for version, adapter in ADAPTERS.by_version.items() if not adapter.has_handshake]
    assert reply.error["data"] == {"supported": without, "requested": named}
    assert "has to be opened with initialize" in reply.error["message"]


@pytest.mark.parametrize("wrong", [5, None, [], True, {}])
async def test_a_revision_that_is_no_text_is_a_bad_request(
    result_adapter: Adapter, binding: str, wrong: object
) -> None:
    """basic/index#_meta: what is declared wrongly counts as missing."""
    async with serving(wire_registry(), binding=binding) as url, RawClient(url, result_adapter) as client:
        request = client.request("tools/list")
        headers = client.headers(request)
        (key,) = (key for key, value in request["params"]["_meta"].items() if value == result_adapter.version)
        request["params"]["_meta"][key] = wrong
        reply = await client.post(request, change=headers)
    assert reply.status == 400
    assert reply.error["code"] == result_adapter.error_codes["missing_request_meta"]


@pytest.mark.parametrize(
    "wrong",
    [{"elicitation": {"form": True}}, {"sampling": {"tools": []}}, {"extensions": {"com.example/x": 1}}, {"roots": 1}],
)
async def test_a_capability_of_a_wrong_type_is_a_bad_request(
    result_adapter: Adapter, binding: str, wrong: dict[str, object]
) -> None:
    async with serving(wire_registry(), binding=binding) as url, RawClient(url, result_adapter) as client:
        request = client.request("tools/list")
        (key,) = (key for key in request["params"]["_meta"] if key.endswith("/clientCapabilities"))
        request["params"]["_meta"][key] = wrong
        reply = await client.post(request)
    assert reply.status == 400
    assert reply.error["code"] == result_adapter.error_codes["missing_request_meta"]


async def test_each_mirrored_header_must_be_there_and_say_the_same(result_adapter: Adapter, binding: str) -> None:
    async with serving(wire_registry(), binding=binding) as url, RawClient(url, result_adapter) as client:
        for method, params in (
            ("tools/call", {"name": "echo"}),
            ("resources/read", {"uri": "mem://a"}),
            ("tools/list", {}),
        ):
            request = client.request(method, params)
            own = (result_adapter.version_header, result_adapter.method_header, result_adapter.name_header)
            mirrored = [name for name in client.headers(request) if name in own]
            assert len(mirrored) == (3 if params else 2)
            for name in mirrored:
                for value in (None, "other", client.headers(request)[name].upper() + "X"):
                    reply = await client.post(request, change={name: value})
                    assert reply.status == result_adapter.error_statuses["header_mismatch"], (name, value)
                    assert reply.message["id"] == request["id"]
            assert (await client.post(request)).status == 200


@pytest.mark.parametrize("name", ["mem://résumé/日本", "mem://é"])
async def test_a_name_beyond_ascii_travels_encoded_and_raw_bytes_are_refused(
    result_adapter: Adapter, binding: str, name: str
) -> None:
    async with serving(wire_registry(), binding=binding) as url, RawClient(url, result_adapter) as client:
        request = client.request("resources/read", {"uri": name})
        found = await client.post(request)
        assert "error" not in found.message or found.error["data"] == {"uri": name}  # it got as far as the resource
        raw = await asyncio.to_thread(_posted, url, client, request, str(result_adapter.name_header), name.encode())
    assert raw.startswith(b"HTTP/1.1 %d " % result_adapter.error_statuses["header_mismatch"])


def _posted(url: str, client: RawClient, request: dict[str, Any], header: str, value: bytes) -> bytes:
    """The head of the reply to a request with bytes in a header that no library would send."""
    parts = urllib.parse.urlsplit(url)
    body = json.dumps(request).encode()
    lines = [f"POST {parts.path} HTTP/1.1".encode(), f"Host: {parts.netloc}".encode(), b"Connection: close"]
    lines += [f"{name}: {said}".encode() for name, said in client.headers(request).items() if name != header]
    lines += [header.encode() + b": " + value, b"Content-Type: application/json", b"Content-Length: %d" % len(body)]
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=5) as connection:
        connection.sendall(b"\r\n".join(lines) + b"\r\n\r\n" + body)
        return connection.recv(65_536)


@pytest.mark.parametrize(
    ("header", "value", "argument", "taken"),
    [
        ("Count", "42", 42, True),
        ("Count", "42.0", 42, True),
        ("Count", "4.2e1", 42, True),
        ("Count", "43", 42, False),
        ("Count", "9007199254740991", 2**53 - 1, True),
        ("Count", "9007199254740993", 2**53, False),
        ("Count", "9007199254740992", 2**53 + 1, False),
        ("Count", "-9007199254740993", -(2**53), False),
        ("Count", "0x2a", 42, False),
        ("Count", "", 42, False),
        ("Dry", "true", True, True),
        ("Dry", "True", True, False),
        ("Dry", "1", True, False),
        ("Dry", "false", True, False),
        ("Region", "eu", "eu", True),
        ("Region", " eu ", "eu", True),
        ("Region", "EU", "eu", False),
        ("Region", "=?base64?ZXU=?=", "eu", True),
        ("Region", "=?base64?IGV1?=", " eu", True),
        ("Region", "=?base64?ZXUg?=", "eu", False),
        ("Region", "=?base64?IA==?=", " ", True),
        ("Region", "eu", "eu ", False),
    ],
)
async def test_repeated_arguments_are_compared_by_value(
    result_adapter: Adapter, binding: str, header: str, value: str, argument: object, taken: bool
) -> None:
    async with serving(wire_registry(), None, binding) as url, RawClient(url, result_adapter) as client:
        reply = await client.tool(
            "hdr", {header.lower(): argument}, change={f"{result_adapter.parameter_header}{header}": value}
        )
    assert (reply.status == 200) is taken, reply.message


@pytest.mark.parametrize(
    "accept", ["*/*", "application/*", "application/json", "application/json, text/event-stream;q=0"]
)
async def test_whoever_takes_json_gets_it(adapter: Adapter, accept: str) -> None:
    async with serving(wire_registry()) as url, RawClient(url, adapter) as client:
        assert (await client.call("tools/list", change={"Accept": accept})).status == 200


async def test_every_method_of_another_revision_is_an_unknown_one(adapter: Adapter) -> None:
    async with serving(wire_registry()) as url, RawClient(url, adapter) as client:
        for method in sorted({*ALL, "no/such"} - set(adapter.client_requests)):
            if method == "initialize":
                continue  # it opens the conversation of another revision
            request = client.request(method, {"uri": "mem://a", "taskId": "none"})
            reply = await client.post(request)
            assert reply.status == adapter.error_statuses["method_not_found"], method
            assert reply.error["code"] == adapter.error_codes["method_not_found"]
            assert reply.message["id"] == request["id"]


@pytest.mark.parametrize("verb", ["GET", "DELETE", "PUT", "PATCH", "HEAD"])
async def test_a_server_without_sessions_answers_only_posts_and_says_so(
    result_adapter: Adapter, binding: str, verb: str
) -> None:
    settings = Settings(revisions=[result_adapter.version])
    async with serving(wire_registry(), settings, binding) as url, RawClient(url, result_adapter) as client:
        for headers in ({}, {"Mcp-Session-Id": "x"}, client.headers(client.request("ping"))):
            async with client.http.request(verb, url, headers=headers) as response:
                assert response.status == result_adapter.error_statuses["method_not_allowed"]
                assert "POST" in response.headers["Allow"]
