"""The keys that tokens are signed with: fetched once for all who wait, within bounds, and not to be had is no fault of a token.

Citations: basic/authorization#token-handling.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web
from event_streams import listening, posting
from hosting import on_aiohttp
from joserfc.jwk import ECKey, KeySet, RSAKey
from mcp_anyrev import Exchange, Forbidden, Principal, Registry, Settings, Unauthorized
from mcp_anyrev.head import Head
from mcp_anyrev.http import bearer_keys
from mcp_contract import Unavailable
from mcp_revisions.protocol import Adapter
from pydantic_core import to_json
from raw_client import RawClient, serving
from test_principals import KEY, OTHER, PUBLIC, head, token, verifier


def keys_of(*keys: Any) -> dict[str, Any]:
    return KeySet(list(keys)).as_dict(private=False)


def bearer(**changes: Any) -> Head:
    return head(f"Bearer {token(**changes)}")


@pytest.mark.parametrize("waits", [True, False])
async def test_one_fetch_serves_all_that_wait(waits: bool) -> None:
    fetched: list[int] = []

    def fetch() -> dict[str, Any]:
        fetched.append(1)
        time.sleep(0.1)
        return PUBLIC

    async def fetch_waiting() -> dict[str, Any]:
        fetched.append(1)
        await asyncio.sleep(0.1)
        return PUBLIC

    verify = verifier(keys=fetch_waiting if waits else fetch)
    given_up = asyncio.ensure_future(verify(bearer()))
    await asyncio.sleep(0.02)
    given_up.cancel()  # what one waits for, others wait for, too
    found = await asyncio.gather(*(verify(bearer()) for _ in range(20)))
    assert found == [Principal("ada")] * 20 and fetched == [1]


async def test_a_fetch_that_is_not_async_holds_up_nobody() -> None:
    go_on = threading.Event()

    def fetch() -> dict[str, Any]:
        assert go_on.wait(10)
        return PUBLIC

    asking = asyncio.ensure_future(verifier(keys=fetch)(bearer()))
    await asyncio.sleep(0.05)
    go_on.set()
    assert await asking == Principal("ada")


@pytest.mark.parametrize(
    "wrong", [None, [], {}, {"keys": []}, {"keys": [7]}, "no json", b"{}", {"keys": [{"kty": "x"}]}]
)
async def test_keys_that_cannot_be_had_are_no_fault_of_a_token(wrong: Any) -> None:
    fetched: list[int] = []

    async def fetch() -> Any:
        fetched.append(1)
        return wrong

    verify = verifier(keys=fetch)
    for _ in range(5):
        with pytest.raises(Unavailable):
            await verify(bearer())
    with pytest.raises(Unauthorized):  # what is no token at all needs no keys
        await verify(head("Bearer x.y.z"))
    assert len(fetched) == 1
    if isinstance(wrong, dict):
        with pytest.raises(ValueError, match="key"):
            verifier(keys=wrong)


async def test_a_fetch_is_bounded_in_time_and_size(monkeypatch: pytest.MonkeyPatch) -> None:
    async def hang() -> Any:
        await asyncio.sleep(60)

    async def endless() -> bytes:
        return b" " * 300_000 + to_json(PUBLIC)

    async def many() -> dict[str, Any]:
        return {"keys": PUBLIC["keys"] * 101}

    monkeypatch.setattr(bearer_keys, "_FETCH_SECONDS", 0.1)
    for fetch in (hang, endless, many):
        with pytest.raises(Unavailable):
            await asyncio.wait_for(verifier(keys=fetch)(bearer()), 3)


async def test_what_a_fetch_raises_ends_nothing() -> None:
    async def fetch() -> Any:
        raise SystemExit(1)

    with pytest.raises(Unavailable):
        await verifier(keys=fetch)(bearer())


async def test_an_unknown_key_is_no_fault_of_a_token_while_keys_cannot_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    now, away = time.monotonic(), False

    async def fetch() -> dict[str, Any]:
        if away:
            raise OSError
        return PUBLIC

    monkeypatch.setattr(bearer_keys, "time", SimpleNamespace(monotonic=lambda: now))
    verify = verifier(keys=fetch, keep_seconds=100)
    assert await verify(bearer()) == Principal("ada")
    now, away = now + 20, True
    with pytest.raises(Unavailable):
        await verify(bearer(key=OTHER, kid="two"))
    with pytest.raises(Unauthorized):  # this key is known, and has not signed that
        await verify(bearer(key=OTHER, kid="one"))
    now += 100
    for _ in range(2):  # too old, but there are no others
        assert await verify(bearer()) == Principal("ada")
        await asyncio.sleep(0)
    now += 100
    with pytest.raises(Unavailable):
        await verify(bearer())
    now, away = now + 20, False
    assert await verify(bearer()) == Principal("ada")


async def test_a_token_that_names_no_key_uses_the_one_that_fits() -> None:
    rsa = RSAKey.generate_key(2048, parameters={"kid": "r"})
    encrypting = ECKey.generate_key("P-256", parameters={"kid": "enc", "use": "enc"})
    longer = ECKey.generate_key("P-384", parameters={"kid": "longer"})
    verify = verifier(keys=keys_of(rsa, encrypting, longer, KEY))
    assert await verify(bearer(kid=None)) == Principal("ada")
    assert await verify(bearer(key=rsa, algorithm="RS256", kid=None)) == Principal("ada")
    with pytest.raises(Unauthorized):
        await verify(bearer(key=OTHER, kid=None))
    with pytest.raises(Unauthorized):  # which of the two?
        await verifier(keys=keys_of(KEY, OTHER))(bearer(kid=None))


async def test_keys_of_kinds_that_are_not_known_do_no_harm() -> None:
    verify = verifier(keys={"keys": [{"kty": "new"}, {"kty": "EC", "crv": "P-256"}, *PUBLIC["keys"]]})
    assert await verify(bearer()) == Principal("ada")


@pytest.mark.parametrize(
    "granted",
    [{"scope": ["mcp:use"]}, {"scope": None, "scp": "mcp:use"}, {"scope": "x", "scp": ["files:read", "mcp:use"]}],
)
async def test_scopes_count_in_either_claim_as_words_or_as_a_list(granted: dict[str, Any]) -> None:
    assert "mcp:use" in (await verifier()(bearer(**granted))).scopes
    with pytest.raises(Forbidden):
        await verifier(scopes=["other"])(bearer(**granted))


@contextlib.asynccontextmanager
async def issuer(answer: Any) -> AsyncIterator[str]:
    application = web.Application()
    application.router.add_get("/keys", answer)
    async with on_aiohttp(application) as root:
        yield f"{root}/keys"


async def test_keys_are_fetched_from_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    async def good(request: web.Request) -> web.Response:
        return web.json_response(PUBLIC)

    async def elsewhere(request: web.Request) -> web.Response:
        raise web.HTTPFound("http://127.0.0.1:1/keys")

    async def missing(request: web.Request) -> web.Response:
        return web.json_response(PUBLIC, status=404)

    async def huge(request: web.Request) -> web.Response:
        return web.Response(body=b" " * 300_000 + to_json(PUBLIC))

    async with issuer(good) as address:
        assert await verifier(keys=address)(bearer()) == Principal("ada")
    for wrong in (elsewhere, missing, huge):
        async with issuer(wrong) as address:
            with pytest.raises(Unavailable):
                await verifier(keys=address)(bearer())
    for untrusted in ("http://issuer.example/keys", "file:///etc/passwd", "keys"):
        with pytest.raises(ValueError, match="https"):
            verifier(keys=untrusted)


def registry() -> Registry:
    made = Registry("guarded", "1.0")

    @made.tool
    async def who(ex: Exchange) -> str:
        return str(ex.principal)

    return made


async def test_a_request_is_told_to_come_back(adapter: Adapter, binding: str) -> None:
    async def fetch() -> Any:
        raise OSError

    unknown = verifier(keys=fetch)

    async def recognise(head: Head) -> Principal:
        return await (unknown if "x-away" in head.headers else verifier())(head)

    good = {"Authorization": f"Bearer {token()}"}
    async with (
        serving(registry(), Settings(principal=recognise), binding) as url,
        RawClient(url, adapter, headers=good) as client,
    ):
        reply = await client.tool("who", change={"X-Away": "yes"}, unread=True)
        assert reply.status == adapter.error_statuses["unavailable"] and int(reply.headers["Retry-After"]) >= 1
        assert reply.error["code"] == adapter.error_codes["unavailable"] and "WWW-Authenticate" not in reply.headers


async def test_a_stream_ends_with_the_token_that_opened_it(
    adapter: Adapter, binding: str, caplog: pytest.LogCaptureFixture
) -> None:
    def recognise(head: Head) -> Principal:
        return Principal("ada", expires_at=time.time() + 0.3)

    with caplog.at_level(logging.INFO):
        async with (
            serving(registry(), Settings(principal=recognise), binding) as url,
            RawClient(url, adapter) as client,
        ):
            if adapter.listens:
                opened = posting(client, "subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id="l")
            else:
                opened = listening(client)
            async with opened as stream:
                messages = await stream.messages(5)
            assert [message.get("id") for message in messages if "id" in message] == (["l"] if adapter.listens else [])
            assert (await client.tool("who")).text == "ada"
    assert "has expired" in caplog.text


async def test_a_verified_principal_expires_with_its_token() -> None:
    ends = int(time.time()) + 60
    assert (await verifier(leeway_seconds=5)(bearer(exp=ends))).expires_at == ends + 5
