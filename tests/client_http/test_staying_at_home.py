"""Redirects, what stays with the server's own origin, and how requests are authorised.

Citations: basic/authorization/index#access-token-usage, RFC 9110 sections 11.6.1 and 15.4.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Generator
from typing import Any

import httpx2
import pytest
from answering_anything import Received, Reply, for_ever, result, scripted
from mcp_anyrev import Limits
from mcp_anyrev.client.errors import CannotConnect, HttpRefused, WrongAnswer
from mcp_anyrev.http.client.exchange import Answer, Request
from mcp_anyrev.http.client.options import HttpOptions
from mcp_anyrev.http.client.requester import Requester, same_origin
from mcp_anyrev.transports.aiohttp_client import http_sse, streamable_http
from mcp_revisions import AdapterSet
from receiving import Receiving
from yarl import URL

SPOKEN = AdapterSet.default().newest_with_handshake
SECRETS = HttpOptions(headers={"X-Key": "k", "Cookie": "c=1"}, auth="sesame")
SESSION = str(SPOKEN.session_header)


@contextlib.asynccontextmanager
async def connected(url: str, options: HttpOptions) -> AsyncIterator[Receiving]:
    client = Receiving(streamable_http(url, Limits(), options), SPOKEN)
    await client.open()
    try:
        yield client
    finally:
        await client.transport.close()


async def answered(received: Received, reply: Reply) -> None:
    await reply.json(result(received) if received.body else {})


def moved(to: str, status: int = 307) -> Any:
    async def script(received: Received, reply: Reply) -> None:
        await reply.body(status, {"location": to}, b"")

    return script


# --- Redirects ---


@pytest.mark.parametrize("status", [307, 308])
async def test_a_redirect_that_keeps_the_request_is_followed_with_all_that_it_had(status: int) -> None:
    async def script(received: Received, reply: Reply) -> None:
        if received.path == "/mcp":
            await reply.body(status, {"location": "/elsewhere?x=1"}, b"")
        else:
            await reply.json(result(received))

    async with scripted(script) as server, connected(server.url, SECRETS) as client:
        assert (await client.call("tools/list"))["result"] == {}
        first, second = server.received
        assert second.path == "/elsewhere?x=1" and second.method == "POST" and second.body == first.body
        assert second.headers == first.headers
        assert second.headers["authorization"] == "Bearer sesame"


@pytest.mark.parametrize("status", [301, 302, 303])
async def test_a_redirect_that_would_make_it_another_request_is_a_refusal(status: int) -> None:
    async with scripted(moved("/elsewhere", status)) as server, connected(server.url, SECRETS) as client:
        with pytest.raises(HttpRefused, match="/elsewhere") as refused:
            await client.call("tools/list")
        assert refused.value.status == status and len(server.received) == 1


async def test_nothing_that_says_who_the_client_is_goes_to_another_origin() -> None:
    async with scripted(answered) as other, scripted(moved(other.url)) as server:
        async with connected(server.url, SECRETS) as client:
            client.transport._session = "an-unguessable-name"  # type: ignore[attr-defined]
            assert (await client.call("tools/list"))["result"] == {}
        (home,), (away,) = server.of("POST"), other.of("POST")
        assert {"authorization", "cookie", "x-key", SESSION.lower()} <= set(home.headers)
        assert not {"authorization", "cookie", "x-key", SESSION.lower()} & set(away.headers)
        assert away.body == home.body and away.headers["mcp-protocol-version"] == SPOKEN.version


async def test_what_was_left_at_home_does_not_come_back_by_way_of_another_origin() -> None:
    async def script(received: Received, reply: Reply) -> None:
        if received.path == "/mcp":
            await reply.body(307, {"location": other.url}, b"")
        else:
            await reply.json(result(received))

    async with scripted(script) as server, scripted(moved(server.url + "/back")) as other:
        async with connected(server.url, SECRETS) as client:
            await client.call("tools/list")
        assert "authorization" not in server.received[-1].headers


async def test_redirects_without_an_end_are_a_wrong_answer() -> None:
    async with scripted(moved("/mcp")) as server, connected(server.url, SECRETS) as client:
        with pytest.raises(WrongAnswer, match="sent a request on"):
            await client.call("tools/list")
        assert len(server.received) == 6


@pytest.mark.parametrize("to", ["ftp://x/y", "file:///etc/passwd", "http://user:word@127.0.0.1/", "http://[", "", "//"])
async def test_a_redirect_to_nowhere_is_a_refusal(to: str) -> None:
    async with scripted(moved(to)) as server, connected(server.url, SECRETS) as client:
        with pytest.raises((HttpRefused, WrongAnswer)):
            await client.call("tools/list")


class Redirecting:
    """Answers every request with a redirect; notes where they went."""

    def __init__(self, to: str) -> None:
        self.to = to
        self.sent: list[Request] = []

    @contextlib.asynccontextmanager
    async def send(self, request: Request, most_bytes: int) -> AsyncIterator[Answer]:
        self.sent.append(request)
        yield Answer(request, 307, {"location": self.to}, nothing(), most_bytes)

    async def close(self) -> None:
        pass


async def nothing() -> AsyncIterator[bytes]:
    return
    yield b""


async def test_a_redirect_from_https_to_http_is_never_followed() -> None:
    connector = Redirecting("http://example.com/mcp")
    requester = Requester("https://example.com/mcp", connector, SECRETS, 1)
    async with requester.send("POST", {}) as answer:
        assert answer.status_code == 307
    assert [str(one.url) for one in connector.sent] == ["https://example.com/mcp"]


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ("http://EXAMPLE.com:80/x?y", True),
        ("https://example.com/", False),
        ("http://example.com:81/", False),
        ("http://example.com.:80/", False),
        ("http://sub.example.com/", False),
    ],
)
def test_an_origin_is_scheme_host_and_port_whether_said_or_not(other: str, same: bool) -> None:
    assert same_origin(URL("http://example.com/mcp"), URL(other)) == same


@pytest.mark.parametrize("url", ["ftp://x", "http://", "nothing", "http://u:p@x/", "http://u@x/", "file:///x", ""])
def test_what_is_no_address_is_refused_at_once(url: str) -> None:
    with pytest.raises(ValueError, match="address"):
        streamable_http(url, Limits(), HttpOptions())


@pytest.mark.parametrize(
    "options",
    [
        {"headers": {"a b": "x"}},
        {"headers": {"a": "x\r\nb: y"}},
        {"auth": ""},
        {"auth": "a\nb"},
        {"connect_seconds": 0},
    ],
)
def test_options_that_cannot_work_are_refused_at_once(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"header|token|connect_seconds"):
        HttpOptions(**options)


def test_what_cannot_authorise_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match="of int"):
        HttpOptions(auth=3)  # type: ignore[arg-type]


def test_secrets_are_not_shown() -> None:
    assert "sesame" not in repr(SECRETS) and "c=1" not in repr(SECRETS)


# --- What authorises requests ---


async def guarded(received: Received, reply: Reply) -> None:
    """A server that gives out tokens, too."""
    if received.path == "/token":
        await reply.json({"token": received.body.decode() + "!"})
    elif received.headers.get("authorization") != "Bearer sesame!":
        await reply.json({}, 401, {"www-authenticate": 'Bearer resource="/token"'})
    else:
        await reply.json(result(received))


class FromChallenge(httpx2.Auth):
    """Gets a token when it is asked for one; written for httpx."""

    requires_response_body = True

    def __init__(self) -> None:
        self.token = ""

    def auth_flow(self, request: Any) -> Generator[Any, Any, None]:
        if self.token:
            request.headers["Authorization"] = f"Bearer {self.token}"
        response = yield request
        if response.status_code == 401:
            assert response.headers["WWW-Authenticate"] == 'Bearer resource="/token"'
            given = yield httpx2.Request("POST", str(request.url.join(URL("/token"))), content=b"sesame")
            self.token = given.json()["token"]
            request.headers["Authorization"] = f"Bearer {self.token}"
            yield request


class Waiting(FromChallenge):
    """The same, async."""

    async def async_auth_flow(self, request: Any) -> Any:
        await asyncio.sleep(0)
        flow = self.auth_flow(request)
        sent = next(flow)
        while True:
            response = yield sent
            await response.aread()
            try:
                sent = flow.send(response)
            except StopIteration:
                return


class OnlyAFlow:
    """The same, of no library."""

    def __init__(self) -> None:
        self.inner = FromChallenge()

    def auth_flow(self, request: Any) -> Generator[Any, Any, None]:
        request.headers["Authorization"] = "Bearer sesame!"
        yield request


@pytest.mark.parametrize("made", [FromChallenge, Waiting, OnlyAFlow])
async def test_a_flow_sees_the_challenge_and_changes_the_request(made: Any) -> None:
    async with scripted(guarded) as server, connected(server.url, HttpOptions(auth=made())) as client:
        for _ in range(2):
            assert (await client.call("tools/list"))["result"] == {}
        paths = [one.path for one in server.received]
        assert paths == (["/mcp"] * 2 if made is OnlyAFlow else ["/mcp", "/token", "/mcp", "/mcp"])


async def test_the_authentication_of_httpx_works() -> None:
    auth = httpx2.BasicAuth("ali", "sesame")
    async with scripted(answered) as server, connected(server.url, HttpOptions(auth=auth)) as client:
        await client.call("tools/list")
        assert server.received[0].headers["authorization"] == "Basic YWxpOnNlc2FtZQ=="


async def test_a_function_may_be_async() -> None:
    async def auth(request: Request) -> None:
        await asyncio.sleep(0)
        request.headers["authorization"] = "Bearer sesame!"

    async with scripted(guarded) as server, connected(server.url, HttpOptions(auth=auth)) as client:
        assert (await client.call("tools/list"))["result"] == {}


async def test_what_a_flow_raises_is_what_the_call_ends_with() -> None:
    def auth(request: Request) -> None:
        raise LookupError("no token in the vault")

    async with scripted(answered) as server, connected(server.url, HttpOptions(auth=auth)) as client:
        with pytest.raises(LookupError, match="vault"):
            await client.call("tools/list")


async def test_a_flow_without_an_end_is_given_up() -> None:
    class Stubborn:
        def auth_flow(self, request: Any) -> Generator[Any, Any, None]:
            while True:
                yield request

    async with scripted(guarded) as server, connected(server.url, HttpOptions(auth=Stubborn())) as client:
        with pytest.raises(CannotConnect, match="authorised"):
            await client.call("tools/list")


async def test_another_origin_does_not_say_how_to_authorise() -> None:
    async with scripted(guarded) as other, scripted(moved(other.url)) as server:
        async with connected(server.url, HttpOptions(auth=FromChallenge())) as client:
            with pytest.raises(HttpRefused):
                await client.call("tools/list")
        assert [one.path for one in (*server.received, *other.received)] == ["/mcp", "/mcp"]


async def test_the_requests_of_a_flow_do_not_go_to_another_origin_than_it_says() -> None:
    statuses: list[int] = []

    class Asking:
        def auth_flow(self, request: Any) -> Generator[Any, Any, None]:
            token = yield httpx2.Request("POST", str(request.url.join(URL("/token"))), content=b"a secret")
            statuses.append(token.status_code)
            yield request

    async def script(received: Received, reply: Reply) -> None:
        if received.path == "/token":
            await reply.body(307, {"location": other.url}, b"")
        else:
            await reply.json(result(received))

    async with scripted(answered) as other, scripted(script) as server:
        async with connected(server.url, HttpOptions(auth=Asking())) as client:
            await client.call("tools/list")
        assert statuses == [307] and not other.received


async def test_who_the_client_is_stays_at_home_where_the_stream_of_http_sse_is_elsewhere() -> None:
    streams: list[Reply] = []

    async def script(received: Received, reply: Reply) -> None:
        if received.method == "GET":
            streams.append(reply)
            await reply.stream(f"event: {SPOKEN.http_sse_endpoint_event}\ndata: /post\n\n")
            await for_ever()
        await reply.body(SPOKEN.accepted_status, {}, b"")
        await streams[0].event(result(received))

    async with scripted(script) as other, scripted(moved(other.url)) as server:
        client = Receiving(http_sse(server.url, SPOKEN, Limits(), SECRETS), SPOKEN)
        await client.open()
        try:
            await client.call("tools/list")
        finally:
            await client.transport.close()
        assert "authorization" in server.received[0].headers
        assert [one.method for one in other.received] == ["GET", "POST"]
        for received in other.received:
            assert not {"authorization", "cookie", "x-key"} & set(received.headers)
