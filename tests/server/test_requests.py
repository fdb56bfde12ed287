"""What is let in, what is refused and how, before anything of the application runs.

Citations: basic/transports, basic/transports/streamable-http, basic/index.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

import aiohttp
import pytest
from mcp_anyrev import Limits, Registry, Settings
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving


def registry(ran: list[str] | None = None) -> Registry:
    made = Registry("plain", "1.0")

    @made.tool
    async def plain(word: str = "x") -> str:
        if ran is not None:
            ran.append(word)
        return "fine"

    return made


@pytest.mark.parametrize("identifier", [0, "", -1, "a b", 2**60, "é"])
async def test_an_id_comes_back_exactly(adapter: Adapter, identifier: Any) -> None:
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        request = {**client.request("tools/list"), "id": identifier}
        assert (await client.post(request)).message["id"] == identifier
        unknown = {**client.request("no/such_method"), "id": identifier}
        assert (await client.post(unknown)).message["id"] == identifier


async def test_an_unknown_method_is_answered_as_the_revision_says(adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        for method in ("no/such_method", "sampling/createMessage"):
            reply = await client.call(method)
            assert reply.error["code"] == adapter.error_codes["method_not_found"]
            assert reply.status == adapter.error_statuses["method_not_found"]


async def test_the_description_of_another_era_is_an_unknown_method(adapter: Adapter) -> None:
    # A handshake is answered by a revision that has one, whoever asks for it.
    others = {other.description_method for other in AdapterSet.default().by_version.values() if not other.has_handshake}
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        for method in others - adapter.client_requests.keys():
            assert (await client.call(method)).error["code"] == adapter.error_codes["method_not_found"]


async def test_an_unknown_tool_and_arguments_that_are_no_object_are_wrong_params(adapter: Adapter) -> None:
    """server/tools#error-handling: an unknown tool is a protocol error."""
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        for params in ({"name": "absent"}, {"name": "plain", "arguments": [1]}, {"arguments": {}}, {"name": 7}):
            request = client.request("tools/call", params)
            named = client.request("tools/call", {"name": "x", **params})
            reply = await client.post(request, like=named)
            assert reply.error["code"] == adapter.error_codes["invalid_params"], params


@pytest.mark.parametrize("method", ["tools/call", "tools/list", "no/such_notification", "notifications/unheard_of"])
async def test_a_notification_never_runs_anything(adapter: Adapter, method: str) -> None:
    ran: list[str] = []
    async with serving(registry(ran)) as url, RawClient(url, adapter) as client:
        request = client.request(method, {"name": "plain", "arguments": {}} if method == "tools/call" else {})
        del request["id"]
        reply = await client.post(request)
    assert (reply.status, reply.message, ran) == (adapter.accepted_status, None, [])


@pytest.mark.parametrize("params", [[], "x", 7])
async def test_params_that_are_no_object_are_an_invalid_request_with_its_id(adapter: Adapter, params: Any) -> None:
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        session = {} if client.session is None else client.headers(client.request("ping"))
        reply = await client.post({"jsonrpc": "2.0", "id": 5, "method": "tools/list", "params": params}, change=session)
        assert reply.status == 400 and reply.message["id"] == 5


@pytest.mark.parametrize("identifier", [None, True, 1.5, [], {}])
async def test_an_id_that_is_none_is_not_echoed(adapter: Adapter, identifier: Any) -> None:
    """basic/index#error-responses: the id is left out, or null, where it could not be read."""
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        reply = await client.post({**client.request("tools/list"), "id": identifier})
        assert reply.error["code"] == adapter.error_codes["invalid_request"]
        assert ("id" in reply.message) == adapter.unreadable_id_is_null
        assert reply.message.get("id") is None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe{}",
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "x": NaN}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "x": -Infinity}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "x": 1e999}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "x": 1' + b"0" * 310 + b".5}",
        b"[" * 5_000 + b"]" * 5_000,
        b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
        b'{"jsonrpc": "2.0", "id": 1, "method": "\\ud800"}',
        '{"jsonrpc": "2.0", "id": 1, "method": "ping"}'.encode("utf-16"),
    ],
)
async def test_a_body_that_is_no_usable_json_is_a_parse_error(adapter: Adapter, binding: str, body: bytes) -> None:
    async with serving(registry(), binding=binding) as url, RawClient(url, adapter) as client:
        reply = await client.post(body)
        assert reply.status == adapter.error_statuses["parse_error"]
        assert reply.error["code"] == adapter.error_codes["parse_error"]
        assert ("id" in reply.message) == adapter.unreadable_id_is_null


@pytest.mark.parametrize("payload", [7, "x", None, True, {}, {"jsonrpc": "1.0", "id": 1, "method": "ping"}, {"id": 1}])
async def test_json_that_is_no_message_is_an_invalid_request(adapter: Adapter, payload: Any) -> None:
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        reply = await client.post(payload)
        assert reply.status == adapter.error_statuses["invalid_request"]
        assert reply.error["code"] == adapter.error_codes["invalid_request"]


async def test_of_duplicate_keys_the_last_counts_for_body_and_headers_alike(adapter: Adapter) -> None:
    ran: list[str] = []
    async with serving(registry(ran)) as url, RawClient(url, adapter) as client:
        request = client.request("tools/call", {"name": "plain", "arguments": {"word": "last"}})
        body = json.dumps(request).replace('"name": "plain"', '"name": "hidden", "name": "plain"').encode()
        reply = await client.post(body, change=client.headers(request))
        assert reply.text == "fine" and ran == ["last"]


async def test_a_large_body_is_refused_unread(adapter: Adapter, binding: str) -> None:
    settings = Settings(limits=Limits(body_bytes=10_000))
    async with serving(registry(), settings, binding) as url, RawClient(url, adapter) as client:
        request = client.request("tools/call", {"name": "plain", "arguments": {"word": "x" * 20_000}})
        reply = await client.post(request, unread=True)
        assert reply.status == adapter.error_statuses["too_large"] and "10000 bytes" in reply.error["message"]
        assert (await client.tool("plain")).text == "fine"


async def test_a_large_body_in_pieces_is_refused_too(binding: str) -> None:
    async def pieces() -> Any:
        for _ in range(20):
            yield b"x" * 1_000

    settings = Settings(limits=Limits(body_bytes=10_000))
    async with (
        serving(registry(), settings, binding) as url,
        aiohttp.ClientSession() as http,
        http.post(url, data=pieces()) as response,
    ):
        told = await response.json()
        assert response.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE and "10000 bytes" in told["error"]["message"]


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.nip.io", "[::2]"]
)
async def test_an_unlisted_host_is_refused_even_with_a_matching_origin(
    adapter: Adapter, binding: str, host: str
) -> None:
    """basic/transports/streamable-http#security-endpoint: a page that resolves its own name to this machine sends both alike."""
    ran: list[str] = []
    async with serving(registry(ran), binding=binding) as url, RawClient(url, adapter) as client:
        for change in ({"Host": host}, {"Host": host, "Origin": f"http://{host}"}):
            request = client.request("tools/call", {"name": "plain", "arguments": {}})
            reply = await client.post(request, change=change)
            assert reply.status == adapter.error_statuses["origin_refused"]
            told = reply.error["message"]
            assert repr(host) in told and "Settings.allowed_hosts" in told and "--allow-host" in told
    assert ran == []


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://localhost.evil.example", "file://", "http://[x"]
)
async def test_an_unlisted_origin_is_refused(adapter: Adapter, origin: str) -> None:
    """basic/transports/streamable-http#security-endpoint"""
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        assert (await client.tool("plain")).text == "fine"
        reply = await client.post(client.request("tools/list"), change={"Origin": origin})
        assert reply.status == adapter.error_statuses["origin_refused"]
        told = reply.error["message"]
        assert repr(origin) in told and "Settings.allowed_origins" in told and "--allow-origin" in told


@pytest.mark.parametrize(
    "origin", ["http://localhost:3000", "https://app.example", "http://127.0.0.1", "http://[::1]:9"]
)
async def test_a_listed_origin_is_let_in(adapter: Adapter, origin: str) -> None:
    settings = Settings(allowed_origins=("localhost", "127.0.0.1", "[::1]", "https://app.example"))
    async with serving(registry(), settings) as url, RawClient(url, adapter) as client:
        reply = await client.post(client.request("tools/list"), change={"Origin": origin})
        assert "result" in reply.message


async def test_an_origin_that_is_listed_with_its_scheme_is_not_let_in_with_another() -> None:
    settings = Settings(allowed_origins=("https://app.example", "app.example:81"))
    async with serving(registry(), settings) as url, aiohttp.ClientSession() as http:
        for origin, refused in (("http://app.example", True), ("http://app.example:81", False)):
            async with http.post(url, data=b"{}", headers={"Origin": origin}) as response:
                assert (response.status == 403) == refused


async def test_a_head_that_contradicts_the_body_is_refused_where_headers_mirror_it(adapter: Adapter) -> None:
    """basic/transports/streamable-http#server-validation: missing, unreadable or different headers are a mismatch."""
    if not adapter.name_sources:
        pytest.skip("headers of later revisions mean nothing here")
    ran: list[str] = []
    async with serving(registry(ran)) as url, RawClient(url, adapter) as client:
        older = AdapterSet.default().handshake_versions[0]
        for header, value in (
            (adapter.method_header, "tools/list"),
            (adapter.method_header, "Tools/Call"),
            (adapter.method_header, None),
            (adapter.name_header, "gate"),
            (adapter.name_header, "=?base64?%%%?="),
            (adapter.name_header, None),
            (adapter.version_header, older),
            (adapter.version_header, None),
        ):
            assert header is not None
            change = {header: value}
            request = client.request("tools/call", {"name": "plain", "arguments": {}})
            reply = await client.post(request, change=change)
            assert reply.error["code"] == adapter.error_codes["header_mismatch"], change
            assert reply.status == adapter.error_statuses["header_mismatch"]
            assert reply.message["id"] == request["id"]
    assert ran == []


async def test_headers_of_other_revisions_mean_nothing(session_adapter: Adapter) -> None:
    async with serving(registry()) as url, RawClient(url, session_adapter) as client:
        later = [other for other in AdapterSet.default().by_version.values() if other.name_sources]
        foreign = {str(name): "gate" for other in later for name in (other.method_header, other.name_header)}
        assert (await client.tool("plain", change={**foreign})).text == "fine"


async def test_a_request_without_what_it_must_declare_is_refused(result_adapter: Adapter) -> None:
    """basic/index#_meta: every request declares revision and capabilities."""
    async with serving(registry()) as url, RawClient(url, result_adapter) as client:
        whole = client.request("tools/list")
        for name in whole["params"]["_meta"]:
            meta = {key: value for key, value in whole["params"]["_meta"].items() if key != name}
            reply = await client.post({**whole, "params": {"_meta": meta}})
            if name.endswith("clientInfo"):
                assert "result" in reply.message
            else:
                assert reply.status == 400, name
        reply = await client.post({"jsonrpc": "2.0", "id": 3, "method": "tools/list"}, change=client.headers(whole))
        assert reply.error["code"] == result_adapter.error_codes["missing_request_meta"]
        assert (reply.status, reply.message["id"]) == (result_adapter.error_statuses["missing_request_meta"], 3)


async def test_a_revision_that_is_not_served_is_refused_by_naming_those_that_are(result_adapter: Adapter) -> None:
    """basic/versioning#protocol-version-negotiation"""
    async with serving(registry()) as url, RawClient(url, result_adapter) as client:
        request = client.request("tools/list")
        (key,) = (name for name, value in request["params"]["_meta"].items() if value == result_adapter.version)
        request["params"]["_meta"][key] = "2099-01-01"
        header = result_adapter.version_header or ""
        reply = await client.post(request, change={header: "2099-01-01"})
        newest = AdapterSet.default().newest_stateless
        assert reply.status == newest.error_statuses["unsupported_version"]
        assert reply.error["code"] == newest.error_codes["unsupported_version"]
        assert reply.error["data"] == {"supported": [*AdapterSet.default().versions], "requested": "2099-01-01"}
        assert reply.message["id"] == request["id"]


async def test_a_subset_of_revisions_is_served_and_the_rest_refused(adapter: Adapter) -> None:
    others = [version for version in AdapterSet.default().versions if version != adapter.version]
    async with serving(registry(), Settings(revisions=[adapter.version])) as url:
        async with RawClient(url, adapter) as client:
            assert (await client.tool("plain")).text == "fine"
        for version in others:
            other = AdapterSet.default().by_version[version]
            client = RawClient(url, other)
            async with aiohttp.ClientSession() as client.http:
                params = other.description_params(client.declaration)
                reply = await client.call(other.description_method, params)
                agreed = reply.message.get("result", {}).get("protocolVersion")
                assert agreed in (None, adapter.version)


async def test_responses_are_refused_where_no_request_can_have_caused_them(result_adapter: Adapter) -> None:
    """basic/transports/streamable-http#sending-messages"""
    async with serving(registry()) as url, RawClient(url, result_adapter) as client:
        response = {"jsonrpc": "2.0", "id": 1, "result": {}}
        reply = await client.post(response, change=client.headers(client.request("ping")))
        assert reply.status == result_adapter.error_statuses["invalid_request"]


@pytest.mark.parametrize("method", ["GET", "PUT", "OPTIONS", "PATCH"])
async def test_other_http_methods_are_not_allowed(adapter: Adapter, binding: str, method: str) -> None:
    if method == "GET" and adapter.listens_by_get:
        pytest.skip("GET opens a stream there")
    async with (
        serving(registry(), binding=binding) as url,
        RawClient(url, adapter) as client,
        client.http.request(method, url, headers=client.headers(client.request("ping"))) as response,
    ):
        assert response.status == adapter.error_statuses["method_not_allowed"]
        assert "POST" in response.headers["Allow"]


async def test_a_batch_is_answered_where_there_are_batches_and_refused_elsewhere(adapter: Adapter) -> None:
    """basic/index#batching"""
    ran: list[str] = []
    async with serving(registry(ran)) as url, RawClient(url, adapter) as client:
        call = {"name": "plain", "arguments": {}}
        batch = [client.request("tools/list"), client.request("tools/call", call), client.request("no/such_method")]
        notification = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}
        reply = await client.post([*batch, notification])
        try:
            adapter.batching(batch)
        except Exception:
            assert reply.status == adapter.error_statuses["invalid_request"] and ran == []
            return
        assert [one["id"] for one in reply.message] == [one["id"] for one in batch]
        assert ["result" in one for one in reply.message] == [True, True, False]
        only = await client.post([notification])
        assert (only.status, only.message) == (adapter.accepted_status, None)
        hello = client.request(adapter.description_method, adapter.description_params(client.declaration))
        for refused in ([], [hello], [7]):
            assert (await client.post(refused)).status == adapter.error_statuses["invalid_request"]
        too_many = await client.post([client.request("ping")] * 101)
        assert too_many.status == adapter.error_statuses["too_large"] and "100" in too_many.error["message"]
