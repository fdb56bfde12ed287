"""What the log says: of a server that starts, of each request, and of what was refused, so that whoever runs it knows what to change."""

from __future__ import annotations

import logging
import re
import time

import aiohttp
import pytest
from mcp_anyrev import Exchange, Principal, Registry, Settings, ToolError, elicit
from mcp_anyrev.http.refusals import Refusals
from mcp_anyrev.settings import LOOPBACK
from mcp_anyrev.testing import serve
from mcp_contract import HostRefused, OriginRefused
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving
from test_principals import CLAIMS, OTHER, RESOURCE, head, token, verifier

Log = pytest.LogCaptureFixture


def shop() -> Registry:
    registry = Registry("shop", "2.1")

    @registry.tool
    def price(article: str) -> int:
        if article == "none":
            raise ToolError("there is none")
        if article == "broken":
            raise KeyError("the shelf")
        return 90

    @registry.tool
    async def order(ex: Exchange) -> str:
        return str((await ex.ask("sure", elicit("Sure?"))).accepted)

    @registry.tool(visible=["shop:write"])
    def close() -> str:
        return "closed"

    return registry


def lines(caplog: Log, logger: str) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == f"mcp_anyrev.{logger}"]


async def test_a_line_for_each_request_says_what_it_was_for_and_how_it_ended(adapter: Adapter, caplog: Log) -> None:
    caplog.set_level(logging.INFO, "mcp_anyrev.requests")
    async with serving(shop()) as url, RawClient(url, adapter) as client:
        caplog.clear()
        for article in ("apple", "none", "line\nbreak"):
            await client.tool("price", {"article": article})
        await client.tool("pri\nce")
        await client.tool("x" * 5_000)
        await client.call("tools/list")
    told = [re.sub(r" [\d.]+ ms$", "", line) for line in lines(caplog, "requests")]
    assert told[:3] == [
        f"{adapter.version} tools/call price anonymous/127.0.0.1 {fate}" for fate in ("ok", "failed", "ok")
    ]
    code = adapter.error_codes["invalid_params"]
    assert told[3].startswith(rf"{adapter.version} tools/call 'pri\nce' anonymous/127.0.0.1 error {code} (")
    assert len(told[4]) < 500 and told[5] == f"{adapter.version} tools/list anonymous/127.0.0.1 ok"
    assert "\n" not in "".join(told)


async def test_a_request_that_nobody_waits_for_any_longer_was_cancelled(push_adapter: Adapter, caplog: Log) -> None:
    caplog.set_level(logging.INFO, "mcp_anyrev.requests")
    async with serving(shop()) as url, RawClient(url, push_adapter) as client:
        request = client.request("tools/call", {"name": "order", "arguments": {}})

        async def cancel(message: object) -> None:
            params = {"requestId": request["id"]}
            await client.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

        await client.post(request, on_message=cancel)
    assert any(" tools/call order anonymous/127.0.0.1 cancelled " in line for line in lines(caplog, "requests"))


async def test_what_asks_says_so(result_adapter: Adapter, caplog: Log) -> None:
    caplog.set_level(logging.INFO, "mcp_anyrev.requests")
    async with serving(shop()) as url, RawClient(url, result_adapter) as client:
        await client.tool("order")
    assert " order anonymous/127.0.0.1 asks " in lines(caplog, "requests")[-1]


async def test_nothing_is_told_of_requests_unless_somebody_wants_it(adapter: Adapter, caplog: Log) -> None:
    async with serving(shop()) as url, RawClient(url, adapter) as client:
        await client.tool("price", {"article": "apple"})
    assert not lines(caplog, "requests")


async def test_a_handler_that_raises_is_named_with_what_it_raised(adapter: Adapter, caplog: Log) -> None:
    async with serving(shop()) as url, RawClient(url, adapter) as client:
        await client.tool("price", {"article": "broken"})
    record = next(record for record in caplog.records if record.levelno == logging.ERROR)
    assert "'price' failed" in record.getMessage() and record.exc_info is not None
    assert isinstance(record.exc_info[1], KeyError)


async def test_what_somebody_does_not_see_is_explained_in_the_log_alone(adapter: Adapter, caplog: Log) -> None:
    caplog.set_level(logging.INFO, "mcp_anyrev.server")
    settings = Settings(principal=lambda head: Principal("ada", ["shop:read"]))
    async with serving(shop(), settings) as url, RawClient(url, adapter) as client:
        reply = await client.tool("close")
        assert "scope" not in str(reply.message)
    assert "ada does not see the tool 'close': it takes the scopes shop:write" in lines(caplog, "server")


@pytest.mark.parametrize("header", ["Host", "Origin"])
async def test_a_refused_name_is_told_once_a_minute_with_what_would_let_it_in(
    header: str, binding: str, caplog: Log
) -> None:
    async with serving(shop(), binding=binding) as url, aiohttp.ClientSession() as http:
        for _ in range(3):
            async with http.post(url, data=b"{}", headers={header: "shop.example"}) as answer:
                assert answer.status in (400, 403)
    told = lines(caplog, "server")
    assert len(told) == 1 and told[0].startswith("refused: ") and "'shop.example'" in told[0]
    assert f"--allow-{header.lower()}" in told[0]


def test_how_many_were_refused_meanwhile_is_told_the_next_time_and_each_kind_by_itself(caplog: Log) -> None:
    now = 0.0
    refusals = Refusals(lambda: now)
    for seconds in (0, 1, 59, 61, 62):
        now = float(seconds)
        refusals.tell(head(None), OriginRefused("not from there"), 403)
    refusals.tell(head(None), HostRefused("not for that"), 403)
    assert lines(caplog, "server") == [
        "refused: not from there",
        "refused: not from there (and 2 more since the last such line)",
        "refused: not for that",
    ]


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (token(iss="https://evil.example"), "it was made by 'https://evil.example'; the issuer is 'https://issuer.exa"),
        (token(aud="https://other.example"), f"it was made for 'https://other.example'; the resource is '{RESOURCE}'"),
        (token(sub=None, exp=int(time.time()) + 7200), "it names nobody in `sub`"),
        (token(exp=int(time.time()) - 3600), "it has expired "),
        (token(exp=None), "it does not say in `exp` until when it counts"),
        (token(nbf=int(time.time()) + 3600, exp=int(time.time()) + 7200), "it counts in "),
        (token(key=OTHER), "bad_signature"),
        (token(key=OTHER, kid="two"), "no key of the issuer fits its signature"),
        ("x.y.z", "it is no JSON Web Token"),
    ],
)
async def test_why_a_token_does_not_count_is_told_in_the_log_alone(bad: str, words: str, caplog: Log) -> None:
    settings = Settings(principal=verifier())
    async with (
        serving(shop(), settings) as url,
        aiohttp.ClientSession(headers={"Authorization": f"Bearer {bad}"}) as http,
        http.post(url, data=b"{}") as answer,
    ):
        assert answer.status == 401 and words not in await answer.text()
    (told,) = lines(caplog, "server")
    assert words in told and bad not in told and CLAIMS["sub"] not in told


async def test_a_refusal_is_a_line_among_the_requests(caplog: Log) -> None:
    caplog.set_level(logging.INFO, "mcp_anyrev.requests")
    async with serving(shop()) as url, aiohttp.ClientSession() as http, http.post(url, data=b"no json") as answer:
        status = answer.status
    (told,) = lines(caplog, "requests")
    assert told.startswith(f"POST '/mcp' 127.0.0.1 refused {status} (")


async def test_a_server_says_at_start_what_it_offers_and_where(caplog: Log) -> None:
    caplog.set_level(logging.INFO, "mcp_anyrev.start")
    served = Settings(revisions=["2025-06-18"])
    async with serve(shop(), served, sse_path="/sse", health_path="/health") as url:
        base = url.removesuffix("/mcp")
        assert lines(caplog, "start") == [
            "shop 2.1: 3 tools",
            "revisions: 2025-06-18",
            f"Streamable HTTP: {base}/mcp",
            f"HTTP+SSE: {base}/sse",
            f"health: {base}/health",
        ]


@pytest.mark.parametrize(("hosts", "warned"), [(LOOPBACK, True), ((*LOOPBACK, "shop.example"), False), (("*",), False)])
async def test_who_lets_other_machines_connect_and_then_refuses_them_is_told(
    hosts: tuple[str, ...], warned: bool, caplog: Log
) -> None:
    async with serve(shop(), Settings(allowed_hosts=hosts), host="0.0.0.0"):
        pass
    assert any("Settings.allowed_hosts" in line and "--allow-host" in line for line in lines(caplog, "start")) == warned


async def test_the_health_address_answers_whoever_asks_and_says_no_reasons(binding: str) -> None:
    async with serve(shop(), health_path="/health") as url, aiohttp.ClientSession() as http:
        address = url.replace("/mcp", "/health")
        async with http.get(address, headers={"Host": "10.0.0.7"}) as answer:
            told = await answer.json()
            assert answer.status == 200 and told["running"] is True and told["store"] is True and "faults" not in told
        async with http.head(address) as answer:
            assert answer.status == 200
        async with http.post(address, data=b"{}") as answer:
            assert answer.status == 405 and answer.headers["Allow"] == "GET, HEAD"
