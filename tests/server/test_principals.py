"""Who sends a request: told apart, refused with what is missing, and known by a signed token.

Citations: basic/authorization#token-handling, basic/authorization#protected-resource-metadata-discovery-requirements.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from hosting import on_aiohttp, on_uvicorn
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, OctKey, RSAKey
from mcp_anyrev import (
    BearerVerifier,
    Exchange,
    Forbidden,
    Principal,
    ProtectedResource,
    Registry,
    Server,
    Settings,
    Unauthorized,
)
from mcp_anyrev.head import Head
from mcp_anyrev.http import bearer_keys
from mcp_contract import Unavailable
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving
from starlette.applications import Starlette
from starlette.routing import Mount

ISSUER, RESOURCE = "https://issuer.example", "https://server.example/api/mcp"
KEY = ECKey.generate_key("P-256", parameters={"kid": "one", "use": "sig", "alg": "ES256"})
OTHER = ECKey.generate_key("P-256", parameters={"kid": "two", "use": "sig", "alg": "ES256"})
PUBLIC = KeySet([KEY]).as_dict(private=False)
CLAIMS: dict[str, Any] = {"iss": ISSUER, "aud": RESOURCE, "sub": "ada", "scope": "mcp:use files:read"}
DESCRIBED = ProtectedResource(RESOURCE, [ISSUER], ["mcp:use"], name="Files")


def token(key: Any = KEY, algorithm: str = "ES256", kid: str | None = "one", **changes: Any) -> str:
    claims = {"exp": int(time.time()) + 60, **CLAIMS, **changes}
    header = {"alg": algorithm} if kid is None else {"alg": algorithm, "kid": kid}
    kept = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(header, kept, key, algorithms=[algorithm])


def verifier(**changes: Any) -> BearerVerifier:
    given: dict[str, Any] = {"issuer": ISSUER, "resource": RESOURCE, "keys": PUBLIC, "scopes": ["mcp:use"]}
    return BearerVerifier(**{**given, **changes})


def head(authorization: str | None) -> Head:
    return Head("POST", headers={} if authorization is None else {"authorization": authorization})


def registry() -> Registry:
    made = Registry("guarded", "1.0")

    @made.tool
    async def who(ex: Exchange) -> str:
        return str(ex.principal)

    @made.tool
    async def write(ex: Exchange) -> str:
        ex.require_scopes("files:write")
        return "written"

    @made.prompt
    async def advice(ex: Exchange) -> str:
        ex.require_scopes("files:write")
        return "Write."

    return made


async def test_a_good_token_names_its_principal() -> None:
    principal = await verifier()(head(f"Bearer {token()}"))
    assert (
        principal.name == "ada" and principal.scopes == {"mcp:use", "files:read"} and principal.claims["iss"] == ISSUER
    )
    for audience in ([RESOURCE, "https://other.example"], RESOURCE):
        assert await verifier()(head(f"bearer  {token(aud=audience)}")) == Principal("ada")


@pytest.mark.parametrize(
    "bad",
    [
        token(iss="https://evil.example"),
        token(iss=None),
        token(aud="https://other.example"),
        token(aud=[]),
        token(aud=None),
        token(aud=RESOURCE + "/more"),
        token(sub=None),
        token(sub=""),
        token(sub=7),
        token(exp=int(time.time()) - 3600),
        token(exp=None),
        token(exp="tomorrow"),
        token(exp=True),
        token(nbf=int(time.time()) + 3600),
        token(key=OTHER),
        token(key=OTHER, kid="two"),
        token(key=OctKey.import_key(KEY.thumbprint()), algorithm="HS256"),
        "eyJhbGciOiJub25lIn0." + token().split(".")[1] + ".",
        token()[:-4] + "AAAA",
        token().rpartition(".")[0] + ".",
        "x",
        "a.b.c",
        "é.b.c",
        "x" * 20_000,
    ],
)
async def test_a_token_that_does_not_count_is_refused_in_general_words(bad: str) -> None:
    with pytest.raises(Unauthorized) as refused:
        await verifier()(head(f"Bearer {bad}"))
    assert bad[:20] not in refused.value.message or len(bad) < 3
    assert refused.value.scopes == ("mcp:use",)


@pytest.mark.parametrize("given", [None, "", "Bearer", "Bearer ", "Basic YTpi", f"Bearer {token()}, Bearer {token()}"])
async def test_no_token_is_refused(given: str | None) -> None:
    with pytest.raises(Unauthorized):
        await verifier()(head(given))


@pytest.mark.parametrize("scope", ["", "files:read", "mcp:user", None, ["mcp:user", 7], 7, {"mcp:use": 1}])
async def test_a_token_that_allows_too_little_is_forbidden(scope: Any) -> None:
    with pytest.raises(Forbidden) as refused:
        await verifier()(head(f"Bearer {token(scope=scope)}"))
    assert refused.value.scopes == ("mcp:use",)


@pytest.mark.parametrize("algorithms", [[], ["none"], ["HS256"], ["ES256", "HS256"]])
def test_only_signatures_with_a_public_key_are_taken(algorithms: list[str]) -> None:
    with pytest.raises(ValueError, match="cannot be used"):
        verifier(algorithms=algorithms)


async def test_keys_are_fetched_when_needed_kept_and_fetched_anew_for_an_unknown_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fetched: list[int] = []
    published = [KEY]

    async def fetch() -> dict[str, Any]:
        fetched.append(1)
        return KeySet(list(published)).as_dict(private=False)

    verify = verifier(keys=fetch)
    now = time.monotonic()
    monkeypatch.setattr(bearer_keys, "time", SimpleNamespace(monotonic=lambda: now))
    for _ in range(3):
        assert await verify(head(f"Bearer {token()}")) == Principal("ada")
    assert len(fetched) == 1
    for _ in range(5):  # somebody who makes up keys does not make this server ask all the time
        with pytest.raises(Unauthorized):
            await verify(head(f"Bearer {token(key=OTHER, kid='two')}"))
    assert len(fetched) == 1
    now += 60
    published.append(OTHER)
    assert await verify(head(f"Bearer {token(key=OTHER, kid='two')}")) == Principal("ada")
    assert len(fetched) == 2


async def test_keys_that_cannot_be_fetched_let_nobody_in(caplog: pytest.LogCaptureFixture) -> None:
    def fetch() -> dict[str, Any]:
        raise OSError("password=hunter2")

    with caplog.at_level(logging.ERROR), pytest.raises(Unavailable) as refused:
        await verifier(keys=fetch)(head(f"Bearer {token()}"))
    assert "hunter2" not in refused.value.message and "hunter2" in caplog.text
    assert 1 <= refused.value.retry_after_seconds <= 11


async def test_rsa_keys_work_too() -> None:
    key = RSAKey.generate_key(2048, parameters={"kid": "r"})
    verify = verifier(keys=KeySet([key]).as_dict(private=False))
    assert await verify(head(f"Bearer {token(key=key, algorithm='RS256', kid='r')}")) == Principal("ada")


async def test_a_refusal_says_where_to_get_a_token_and_for_what(adapter: Adapter, binding: str) -> None:
    settings = Settings(principal=verifier(), protected_resource=DESCRIBED)
    good = {"Authorization": f"Bearer {token()}"}
    async with serving(registry(), settings, binding) as url, RawClient(url, adapter, headers=good) as client:
        assert (await client.tool("who")).text == "ada"
        metadata = 'resource_metadata="https://server.example/.well-known/oauth-protected-resource/api/mcp"'
        for given, status, words in (
            (None, "unauthorized", [metadata, 'scope="mcp:use"']),
            ("Bearer x.y.z", "unauthorized", [metadata, 'error="invalid_token"']),
            (f"Bearer {token(scope='x')}", "forbidden", [metadata, 'error="insufficient_scope"', 'scope="mcp:use"']),
        ):
            reply = await client.tool("who", change={"Authorization": given})
            assert reply.status == adapter.error_statuses[status]
            assert reply.error["code"] == adapter.error_codes[status]
            told = reply.headers["WWW-Authenticate"]
            assert told.startswith("Bearer ") and all(word in told for word in words), told
            assert ("error=" in told) == (given is not None)


async def test_a_tool_that_needs_more_says_so_and_so_does_a_prompt(adapter: Adapter, binding: str) -> None:
    settings = Settings(principal=verifier(), protected_resource=DESCRIBED)
    good = {"Authorization": f"Bearer {token()}"}
    async with serving(registry(), settings, binding) as url, RawClient(url, adapter, headers=good) as client:
        for method, name in (("tools/call", "write"), ("prompts/get", "advice")):
            reply = await client.call(method, {"name": name})
            assert reply.status == adapter.error_statuses["forbidden"]
            assert 'error="insufficient_scope"' in reply.headers["WWW-Authenticate"]
            assert 'scope="files:write"' in reply.headers["WWW-Authenticate"]
        more = {"Authorization": f"Bearer {token(scope='mcp:use files:write')}"}
        assert (await client.tool("write", change=more)).text == "written"


async def test_the_metadata_is_for_everybody_and_stands_where_clients_look(binding: str) -> None:
    settings = Settings(principal=verifier(), protected_resource=DESCRIBED, allowed_origins=["app.example"])
    async with serving(registry(), settings, binding) as url, aiohttp.ClientSession() as http:
        for path in ("/.well-known/oauth-protected-resource/api/mcp", "/.well-known/oauth-protected-resource"):
            origin = {"Origin": "https://app.example"}
            async with http.get(url.replace("/mcp", path), headers=origin) as response:
                assert response.status == 200 and response.content_type == "application/json"
                assert response.headers["Access-Control-Allow-Origin"] == "https://app.example"
                assert await response.json() == {
                    "resource": RESOURCE,
                    "authorization_servers": [ISSUER],
                    "scopes_supported": ["mcp:use"],
                    "bearer_methods_supported": ["header"],
                    "resource_name": "Files",
                }
            async with http.post(url.replace("/mcp", path), json={}) as response:
                assert 400 <= response.status < 500


def within_starlette(server: Server) -> Any:
    inner = Starlette(routes=server.starlette_routes("/mcp", sse_path="/sse"))
    return on_uvicorn(Starlette(routes=[Mount("/api", app=inner)], lifespan=server.lifespan), lifespan="on")


def mounted(server: Server) -> Any:
    application = Starlette(routes=[Mount("/api", app=server.asgi(sse_path="/sse"))], lifespan=server.lifespan)
    return on_uvicorn(application, lifespan="on")


def within_aiohttp(server: Server) -> Any:
    inner, outer = web.Application(), web.Application()
    inner.add_routes(server.routes("/mcp", sse_path="/sse"))
    outer.add_subapp("/api", inner)
    return on_aiohttp(outer)


@pytest.mark.parametrize("hosted", [within_starlette, mounted, within_aiohttp])
@pytest.mark.parametrize("path", ["/api/mcp", "/api/sse"])
async def test_below_a_prefix_a_refusal_leads_to_the_metadata_there(hosted: Callable[[Server], Any], path: str) -> None:
    server = Server(registry(), Settings(principal=verifier(), protected_resource=DESCRIBED))
    async with hosted(server) as root, aiohttp.ClientSession() as http:
        async with http.get(f"{root}{path}") as refused:
            assert refused.status == 401
            told = refused.headers["WWW-Authenticate"]
        where = re.search('resource_metadata="https://server.example(/api/[^"]*)"', told)
        assert where is not None, told
        async with http.get(f"{root}{where[1]}") as found:
            assert (found.status, (await found.json())["resource"]) == (200, RESOURCE)


@pytest.mark.parametrize(
    ("resource", "root", "url"),
    [
        ("https://a.example/api/mcp", "", "https://a.example/.well-known/oauth-protected-resource/api/mcp"),
        ("https://a.example/api/mcp", "/api", "https://a.example/api/.well-known/oauth-protected-resource/mcp"),
        ("https://a.example/api/mcp", "/ap", "https://a.example/.well-known/oauth-protected-resource/api/mcp"),
        ("https://a.example/mcp", "/inner", "https://a.example/.well-known/oauth-protected-resource/mcp"),
        ("https://a.example", "", "https://a.example/.well-known/oauth-protected-resource"),
    ],
)
def test_the_address_of_the_metadata_follows_from_the_resource(resource: str, root: str, url: str) -> None:
    described = ProtectedResource(resource, [ISSUER])
    assert described.url(root) == url
    assert url.removeprefix("https://a.example").removeprefix(root) in described.paths


@pytest.mark.parametrize("wrong", ["http://server.example/mcp", "server.example", "https://server.example/mcp#x", ""])
def test_an_address_that_tokens_cannot_be_made_for_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="https address"):
        ProtectedResource(wrong, [ISSUER])
    with pytest.raises(ValueError, match="https address"):
        ProtectedResource(RESOURCE, [wrong])
    with pytest.raises(ValueError, match="at least one"):
        ProtectedResource(RESOURCE, [])


def test_a_string_where_several_are_wanted_is_refused() -> None:
    with pytest.raises(ValueError, match=r"authorization_servers.*several"):
        ProtectedResource(RESOURCE, ISSUER)
    with pytest.raises(ValueError, match=r"scopes.*several"):
        ProtectedResource(RESOURCE, [ISSUER], "mcp:use")
    with pytest.raises(ValueError, match=r"scopes.*several"):
        verifier(scopes="mcp:use")


async def test_a_failure_to_find_out_who_it_is_lets_nobody_in(
    adapter: Adapter, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(head: Head) -> str:
        if "x-good" not in head.headers:
            raise RuntimeError("password=hunter2")
        return "ada"

    async with (
        serving(registry(), Settings(principal=broken)) as url,
        RawClient(url, adapter, headers={"X-Good": "yes"}) as client,
    ):
        with caplog.at_level(logging.ERROR):
            reply = await client.tool("who", change={"X-Good": None})
    assert reply.status == adapter.error_statuses["unauthorized"]
    assert "hunter2" not in str(reply.message) and "hunter2" in caplog.text


async def test_one_connection_can_carry_several_principals_and_mixes_none(adapter: Adapter) -> None:
    def recognise(head: Head) -> Principal:
        return Principal(head.headers["x-name"], ["files:write"] if head.headers["x-name"] == "ada" else [])

    async with (
        serving(registry(), Settings(principal=recognise)) as url,
        RawClient(url, adapter, headers={"X-Name": "ada"}) as ada,
        RawClient(url, adapter, headers={"X-Name": "eve"}) as eve,
    ):
        eve_http, eve.http = eve.http, ada.http
        for client, name, status in ((ada, "ada", 200), (eve, "eve", adapter.error_statuses["forbidden"])) * 2:
            assert (await client.tool("who")).text == name
            assert (await client.tool("write")).status == status
        eve.http = eve_http


async def test_the_head_is_the_same_on_every_binding(adapter: Adapter, binding: str) -> None:
    seen: list[Head] = []

    async def recognise(head: Head) -> Principal:
        seen.append(head)
        return Principal("ada", ["read"], {"a": 1}, of=registry)

    made = Registry("heads", "1.0")

    @made.tool
    async def who(ex: Exchange) -> str:
        principal = ex.principal
        assert principal is not None and principal.of is registry
        return f"{principal} {sorted(principal.scopes)} {dict(principal.claims)}"

    async with (
        serving(made, Settings(principal=recognise), binding) as url,
        RawClient(f"{url}?tenant=a%20b&x", adapter, headers={"X-Tenant": "Acme"}) as client,
    ):
        assert (await client.tool("who")).text == "ada ['read'] {'a': 1}"
    head = seen[-1]
    assert (head.method, head.path, head.query, head.peer) == ("POST", "/mcp", "tenant=a%20b&x", "127.0.0.1")
    for name in ("x-tenant", "X-Tenant", "X-TENANT"):
        assert head.headers[name] == head.headers.get(name) == "Acme" and name in head.headers
    with pytest.raises(TypeError):
        head.headers["x-tenant"] = "other"  # type: ignore[index]
    with pytest.raises(AttributeError):
        head.peer = "10.0.0.1"  # type: ignore[misc]


async def test_repeated_header_fields_stand_one_after_the_other_on_every_binding(binding: str) -> None:
    seen: list[Head] = []

    def recognise(head: Head) -> str:
        seen.append(head)
        return "ada"

    async with serving(registry(), Settings(principal=recognise), binding) as url:
        host, port = url.removeprefix("http://").removesuffix("/mcp").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nX-Way: a\r\nX-Other: b\r\nx-way: c\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        writer.close()
    assert seen[0].headers["X-Way"] == "a, c" and seen[0].headers["x-other"] == "b"


def test_a_head_takes_any_mapping_for_headers() -> None:
    made = Head("GET", headers={"X-One": "1", "x-one": "2", "Other": "3"})
    assert made.headers["x-ONE"] == "1, 2" and made.headers["other"] == "3"
    assert Head("GET").headers == {} and Head("GET") == Head("GET", "/", "", {}, None)


def test_a_principal_is_who_it_is_by_name_and_cannot_be_changed() -> None:
    ada = Principal("ada", ["a", "b", "a"], {"secret": "hunter2"}, of=object())
    assert ada == Principal("ada") != Principal("eve") and hash(ada) == hash(Principal("ada")) and str(ada) == "ada"
    assert ada.scopes == frozenset({"a", "b"}) and "hunter2" not in repr(ada)
    with pytest.raises(AttributeError):
        ada.name = "eve"  # type: ignore[misc]
    with pytest.raises(TypeError):
        ada.claims["secret"] = "?"  # type: ignore[index]


@pytest.mark.parametrize("wrong", [{"name": ""}, {"name": None}, {"name": b"ada"}, {"name": "ada", "scopes": "read"}])
def test_a_principal_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError), match=r"principal|scopes"):
        Principal(**wrong)


async def test_a_name_that_is_none_lets_nobody_in(adapter: Adapter) -> None:
    def recognise(head: Head) -> Any:
        return head.headers.get("x-name", "ada")

    async with (
        serving(registry(), Settings(principal=recognise)) as url,
        RawClient(url, adapter) as client,
    ):
        reply = await client.tool("who", change={"X-Name": ""})
        assert reply.status == adapter.error_statuses["unauthorized"]


def test_words_of_a_refusal_cannot_break_out_of_the_header() -> None:
    from mcp_anyrev.http.responses import challenge

    told = challenge(Forbidden("no", ['a"\r\nSet-Cookie: x', "é", "b\\"]), 'https://x/"\n')
    assert told is not None and "\r" not in told and "\n" not in told and told.count('"') == 6
    assert challenge(Forbidden("no"), None) is None and challenge(Unauthorized("no"), None) == "Bearer"
