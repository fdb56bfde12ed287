"""Which revision a client speaks with which server. Specification: basic/versioning#backward-compatibility-with-initialization-based-versions"""

from __future__ import annotations

from typing import Any

import pytest
from descriptions import ADAPTERS, STATELESS, description
from mcp_anyrev import Client, ErrorAnswer, HttpRefused, NoAnswer, NoCommonRevision, WrongAnswer
from mcp_anyrev.client import session as session_module
from mcp_revisions.protocol import Adapter
from scripted import Scripted, error, replied, result, scripted_http

NEWEST = ADAPTERS.by_version[STATELESS[0]]
UNSUPPORTED = NEWEST.error_codes["unsupported_version"]


def opening(adapter: Adapter) -> Any:
    """A server that knows nothing but its handshake."""

    def script(message: dict[str, Any]) -> list[Any]:
        if "id" not in message:
            return []
        if message["method"] == adapter.description_method:
            return [result(message, description(adapter))]
        return [error(message, adapter.error_codes["method_not_found"])]

    return script


async def test_a_server_with_a_handshake_is_spoken_with_in_what_it_agrees_to(session_adapter: Adapter) -> None:
    pipe = Scripted(opening(session_adapter))
    async with Client(pipe) as client:
        await client.initialize()
        assert client.revision == session_adapter.version
        assert client.verdict == (session_adapter.version, "custom")
    ready = [] if session_adapter.ready_notification is None else [session_adapter.ready_notification]
    assert pipe.methods == [NEWEST.description_method, session_adapter.description_method, *ready]


async def test_a_known_server_is_not_probed_again(session_adapter: Adapter) -> None:
    pipe = Scripted(opening(session_adapter))
    async with Client(pipe, known=session_module.Verdict(session_adapter.version, "custom")) as client:
        await client.initialize()
    assert pipe.methods[0] == session_adapter.description_method


async def test_a_verdict_that_holds_no_longer_is_found_out_anew() -> None:
    def script(message: dict[str, Any]) -> list[Any]:
        if message["method"] == NEWEST.description_method:
            return [result(message, description(NEWEST))]
        return [error(message, -32601)]

    async with Client(
        Scripted(script), known=session_module.Verdict(ADAPTERS.handshake_versions[0], "custom")
    ) as client:
        await client.initialize()
        assert client.revision == NEWEST.version


async def test_a_server_that_says_nothing_to_a_probe_opens_with_a_handshake(
    session_adapter: Adapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Specification: basic/transports/stdio#backward-compatibility"""
    monkeypatch.setattr(session_module, "_PROBE_SECONDS", 0.05)
    answers = opening(session_adapter)
    pipe = Scripted(lambda message: [] if message["method"] == NEWEST.description_method else answers(message))
    async with Client(pipe) as client:
        await client.initialize()
        assert client.revision == session_adapter.version


async def test_a_server_without_a_handshake_keeps_it_so_with_a_version_that_both_have() -> None:
    def script(message: dict[str, Any]) -> list[Any]:
        assert message["method"] == NEWEST.description_method
        return [error(message, UNSUPPORTED, {"supported": ["2999-01-01"], "requested": NEWEST.version})]

    pipe = Scripted(script)
    with pytest.raises(NoCommonRevision, match="2999-01-01") as raised:
        await Client(pipe).initialize()
    assert raised.value.theirs == ("2999-01-01",)
    assert pipe.methods == [NEWEST.description_method]


async def test_a_version_that_is_refused_and_named_all_the_same_is_tried_once_more() -> None:
    """Specification: basic/versioning#protocol-version-negotiation"""
    refusals = [error({"id": 1}, UNSUPPORTED, {"supported": [NEWEST.version], "requested": NEWEST.version})]

    def script(message: dict[str, Any]) -> list[Any]:
        if refusals:
            return [{**refusals.pop(), "id": message["id"]}]
        return [result(message, description(NEWEST))]

    pipe = Scripted(script)
    async with Client(pipe) as client:
        await client.initialize()
        assert client.revision == NEWEST.version
    assert pipe.methods == [NEWEST.description_method] * 2

    pipe.script = lambda message: [error(message, UNSUPPORTED, {"supported": [NEWEST.version]})]
    pipe.sent.clear()
    async with Client(pipe) as client:
        with pytest.raises(NoCommonRevision):
            await client.initialize()
    assert pipe.methods == [NEWEST.description_method] * 2


@pytest.mark.parametrize("others", [(), ADAPTERS.handshake_versions])
async def test_a_pinned_version_that_is_refused_and_named_all_the_same_is_tried_once_more(
    others: tuple[str, ...],
) -> None:
    """Specification: basic/versioning#protocol-version-negotiation"""
    refusals = [{"supported": [*others, NEWEST.version], "requested": NEWEST.version}]

    def script(message: dict[str, Any]) -> list[Any]:
        if refusals:
            return [error(message, UNSUPPORTED, refusals.pop())]
        return [result(message, description(NEWEST))]

    pipe = Scripted(script)
    async with Client(pipe, NEWEST) as client:
        await client.initialize()
        assert client.revision == NEWEST.version
    assert pipe.methods == [NEWEST.description_method] * 2


async def test_who_pins_a_version_that_is_not_there_is_told_which_are() -> None:
    pipe = Scripted(lambda message: [error(message, UNSUPPORTED, {"supported": [*ADAPTERS.handshake_versions]})])
    with pytest.raises(NoCommonRevision) as raised:
        await Client(pipe, NEWEST).initialize()
    assert raised.value.theirs == tuple(ADAPTERS.handshake_versions)
    assert pipe.methods == [NEWEST.description_method]


async def test_a_server_that_names_only_versions_with_a_handshake_gets_one(session_adapter: Adapter) -> None:
    answers = opening(session_adapter)

    def script(message: dict[str, Any]) -> list[Any]:
        if message["method"] == NEWEST.description_method:
            return [error(message, UNSUPPORTED, {"supported": [session_adapter.version], "requested": NEWEST.version})]
        return answers(message)

    async with Client(Scripted(script)) as client:
        await client.initialize()
        assert client.revision == session_adapter.version


@pytest.mark.parametrize("pinned", [False, True])
async def test_a_handshake_that_is_refused_with_names_is_tried_once_more_in_one_of_them(pinned: bool) -> None:
    """Where it should be offered another one. Specification: basic/lifecycle#error-handling"""
    newest, *_, oldest = (ADAPTERS.by_version[one] for one in ADAPTERS.handshake_versions)
    answers = opening(oldest)

    def script(message: dict[str, Any]) -> list[Any]:
        asked = message.get("params", {}).get("protocolVersion")
        if message["method"] == oldest.description_method and asked != oldest.version:
            return [error(message, -32602, {"supported": [oldest.version], "requested": asked})]
        return answers(message)

    pipe = Scripted(script)
    async with Client(pipe, newest if pinned else None) as client:
        if pinned:
            with pytest.raises(NoCommonRevision) as raised:
                await client.initialize()
            assert raised.value.theirs == (oldest.version,)
        else:
            await client.initialize()
            assert client.revision == oldest.version
    assert pipe.methods.count(oldest.description_method) == (1 if pinned else 2)


async def test_an_error_that_only_such_a_server_gives_is_no_reason_for_a_handshake() -> None:
    for kind in ("header_mismatch", "missing_client_capability"):
        pipe = Scripted(lambda message, kind=kind: [error(message, NEWEST.error_codes[kind])])
        with pytest.raises(ErrorAnswer) as raised:
            await Client(pipe).initialize()
        assert raised.value.kind == kind
        assert pipe.methods == [NEWEST.description_method]


async def test_a_pinned_client_speaks_nothing_else(adapter: Adapter) -> None:
    other = next(one for one in ADAPTERS.by_version.values() if one.version != adapter.version)
    pipe = Scripted(lambda message: [result(message, description(other, other.version))])
    with pytest.raises((NoCommonRevision, WrongAnswer)):
        await Client(pipe, adapter).initialize()
    assert pipe.methods == [adapter.description_method]


async def test_a_handshake_that_agrees_on_what_nobody_knows_ends_it(session_adapter: Adapter) -> None:
    def script(message: dict[str, Any]) -> list[Any]:
        given = description(session_adapter)
        return [result(message, {**given, "protocolVersion": "1999-01-01"})]

    with pytest.raises(NoCommonRevision, match="1999-01-01"):
        await Client(Scripted(script), session_adapter).initialize()


@pytest.mark.parametrize(
    "said", [None, {}, {"supportedVersions": "all", "protocolVersion": 5}, {"supportedVersions": [7]}]
)
async def test_what_is_no_description_is_the_fault_of_the_server(adapter: Adapter, said: Any) -> None:
    pipe = Scripted(lambda message: [result(message, said)])
    with pytest.raises(WrongAnswer):
        await Client(pipe, adapter).initialize()


async def test_a_server_that_never_answers_is_given_up(adapter: Adapter) -> None:
    with pytest.raises(NoAnswer):
        await Client(Scripted(lambda message: []), adapter, timeout_seconds=0.05).initialize()


# --- Over HTTP: the status and the body decide ---


@pytest.mark.parametrize("status", [401, 403, 429, 500, 503])
async def test_a_status_that_says_nothing_of_revisions_is_told_as_it_is(status: int) -> None:
    async with scripted_http(lambda message, headers: replied(None, status)) as (url, said):
        with pytest.raises(HttpRefused) as raised:
            await Client(url).initialize()
    assert raised.value.status == status
    assert set(said.methods) == {NEWEST.description_method}


async def test_a_refusal_without_an_id_leads_to_a_handshake(session_adapter: Adapter) -> None:
    def script(message: dict[str, Any], headers: dict[str, str]) -> Any:
        if message["method"] == NEWEST.description_method:
            refusal = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Missing ID field"}}
            return replied(refusal, 400)
        return replied(
            result(message, description(session_adapter)) if "id" in message else None, 200 if "id" in message else 202
        )

    async with scripted_http(script) as (url, said), Client(url) as client:
        await client.initialize()
        assert client.revision == session_adapter.version
    assert said.methods[:2] == [NEWEST.description_method, session_adapter.description_method]


async def test_an_unsupported_version_over_http_names_what_there_is() -> None:
    def script(message: dict[str, Any], headers: dict[str, str]) -> Any:
        return replied(error(message, UNSUPPORTED, {"supported": ["2027-01-01"], "requested": NEWEST.version}), 400)

    async with scripted_http(script) as (url, said):
        with pytest.raises(NoCommonRevision, match="2027-01-01"):
            await Client(url).initialize()
    assert said.methods == [NEWEST.description_method]


# --- Later ---


@pytest.mark.parametrize("pinned", [False, True])
async def test_a_session_is_opened_anew_in_the_revision_that_the_server_speaks_now(pinned: bool) -> None:
    """It was replaced by another one meanwhile. Specification: basic/transports#session-management, basic/lifecycle#version-negotiation"""
    before, after = (
        ADAPTERS.by_version[ADAPTERS.handshake_versions[0]],
        ADAPTERS.by_version[ADAPTERS.handshake_versions[1]],
    )
    assert before.session_header is not None
    served = [before]

    def script(message: dict[str, Any], headers: dict[str, str]) -> Any:
        now = served[0]
        if message["method"] == now.description_method:
            return replied(result(message, description(now)), **{str(now.session_header): now.version})
        if message["method"] == NEWEST.description_method:
            return replied(error(message, now.error_codes["method_not_found"]))
        if headers.get(str(now.session_header).lower()) != now.version:
            return replied(None, now.error_statuses["session_unknown"])
        if "id" not in message:
            return replied(None, now.accepted_status)
        return replied(result(message, {"tools": []}))

    async with scripted_http(script) as (url, _), Client(url, before if pinned else None, transport="http") as client:
        assert await client.list_tools() == []
        assert client.revision == before.version
        served[0] = after
        if pinned:
            with pytest.raises(NoCommonRevision):
                await client.list_tools()
        else:
            assert await client.list_tools() == []
            assert client.revision == after.version
