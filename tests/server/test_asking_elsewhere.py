"""Questions of prompts and resources: asked where the revision lets such a request end in one, refused in plain words elsewhere.

Citations: basic/patterns/mrtr#supported-requests, client/elicitation#creating-elicitation-requests.
"""

from __future__ import annotations

from typing import Any

import pytest
from mcp_anyrev import Exchange, Registry, Settings, elicit, roots
from mcp_contract import Declaration
from mcp_revisions.canonical import ReadResourceResult, TextResourceContents
from mcp_revisions.protocol import Adapter
from raw_client import INFORMATION, RawClient, Reply, serving, worded

FORM = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
ANSWERS: dict[str, Any] = {
    "elicitation/create": {"action": "accept", "content": {"city": "Rome"}},
    "roots/list": {"roots": [{"uri": "file:///a"}]},
}
SETTINGS = Settings(keys=[b"0123456789abcdef"], principal=lambda head: head.headers.get("x-principal"))
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("prompts/get", {"name": "travel"}),
    ("resources/read", {"uri": "city://here"}),
    ("resources/read", {"uri": "city://of/ada"}),
)


def registry() -> Registry:
    made = Registry("elsewhere", "1.0")

    async def city(ex: Exchange) -> str:
        answer = await ex.ask("city", elicit("Which city?", FORM))
        return str(answer.content["city"]) if answer.accepted else f"nowhere: {answer.action}"

    @made.prompt
    async def travel(ex: Exchange) -> str:
        return f"Travel to {await city(ex)}"

    @made.resource("city://here")
    async def here(ex: Exchange) -> str:
        return await city(ex)

    @made.resource("city://of/{name}")
    async def of(name: str, ex: Exchange) -> str:
        return f"{name} in {await city(ex)}"

    @made.prompt
    async def folders(ex: Exchange) -> str:
        return f"{len((await ex.ask('roots', roots())).data.roots)} folders"

    @made.prompt
    async def resumed(ex: Exchange) -> str:
        if ex.state is None:
            await ex.suspend("again")
        return f"state {ex.state}"

    return made


def client_of(url: str, adapter: Adapter, **options: Any) -> RawClient:
    client = RawClient(url, adapter, **options)
    declared = {"elicitation": {"form": {}}, "roots": {}}
    client.declaration = Declaration(adapter.encode_client_capabilities(declared), INFORMATION)
    return client


async def use(
    client: RawClient, method: str, params: dict[str, Any], answers: dict[str, Any] = ANSWERS
) -> tuple[Reply, list[Any]]:
    """Send a request and answer what it asks; gives the last reply, and the state of each round."""

    async def pushed(message: dict[str, Any]) -> None:
        if "id" in message:
            said = worded(client.adapter, answers[message["method"]], message["method"])
            await client.post({"jsonrpc": "2.0", "id": message["id"], "result": said})

    states: list[Any] = []
    sent = params
    for _ in range(3):
        reply = await client.call(method, sent, on_message=pushed)
        questions = client.adapter.read_questions(reply.result) if "result" in reply.message else None
        if questions is None:
            return reply, states
        states.append(questions.state)
        given = {
            key: worded(client.adapter, answers[one["method"]], one["method"])
            for key, one in questions.questions.items()
        }
        sent = client.adapter.answer_params(params, given, questions.state)
    raise AssertionError("still asking")


def text(reply: Reply) -> str:
    result = reply.result
    return str(result["messages"][0]["content"]["text"] if "messages" in result else result["contents"][0]["text"])


@pytest.mark.parametrize(("method", "params"), CALLS)
async def test_prompts_and_resources_ask_where_they_can(
    adapter: Adapter, binding: str, method: str, params: dict[str, Any]
) -> None:
    async with serving(registry(), SETTINGS, binding) as url, client_of(url, adapter) as client:
        reply, _ = await use(client, method, params)
        if adapter.askable_methods.get(method):
            assert text(reply).endswith("Rome")
            declined, _ = await use(client, method, params, {"elicitation/create": {"action": "decline"}})
            assert text(declined).endswith("nowhere: decline")
        else:
            assert reply.error["code"] == adapter.error_codes["internal_error"]
            assert reply.error["message"] == f"{method} cannot ask anything in the negotiated revision"


async def test_roots_and_states_need_no_room_in_the_call(adapter: Adapter) -> None:
    async with serving(registry(), SETTINGS) as url, client_of(url, adapter) as client:
        assert text((await use(client, "prompts/get", {"name": "folders"}))[0]) == "1 folders"
        assert text((await use(client, "prompts/get", {"name": "resumed"}))[0]) == "state again"


async def test_a_state_is_of_one_request_alone(result_adapter: Adapter) -> None:
    async with serving(registry(), SETTINGS) as url, client_of(url, result_adapter) as client:
        states = [(await use(client, method, params))[1][0] for method, params in CALLS]
        for (method, params), foreign in zip(CALLS, states[1:] + states[:1], strict=True):
            given = {"city": worded(result_adapter, ANSWERS["elicitation/create"])}
            reply = await client.call(method, result_adapter.answer_params(params, given, foreign))
            assert reply.error["code"] == result_adapter.error_codes["invalid_params"]
        async with client_of(url, result_adapter, headers={"X-Principal": "eve"}) as eve:
            method, params = CALLS[0]
            reply = await eve.call(method, result_adapter.answer_params(params, {}, states[0]))
            assert reply.error["code"] == result_adapter.error_codes["invalid_params"]


async def test_a_client_that_declared_nothing_is_refused_in_plain_words(adapter: Adapter) -> None:
    async with serving(registry(), SETTINGS) as url, RawClient(url, adapter, mode=None) as client:
        for method, params in CALLS:
            reply = await client.call(method, params)
            assert reply.earlier == [] and reply.error["message"]
            if adapter.refuses_undeclared:
                assert reply.error["code"] == adapter.error_codes["missing_client_capability"]


async def test_what_depends_on_answers_is_kept_only_where_it_says_so_itself(result_adapter: Adapter) -> None:
    """Citation: server/utilities/caching#cacheable-results; a result of a retried request depends on what no key of a cache has."""
    made = Registry("hints", "1.0")

    @made.resource("a://plain", ttl_ms=60_000, cache_scope="public")
    async def plain(ex: Exchange) -> str:
        return "for all"

    @made.resource("a://asks", ttl_ms=60_000, cache_scope="public")
    async def asks(ex: Exchange) -> str:
        return f"for {(await ex.ask('city', elicit('Where to?'))).action}"

    @made.resource("a://goes-on", ttl_ms=60_000, cache_scope="public")
    async def goes_on(ex: Exchange) -> str:
        if ex.state is None:
            await ex.suspend("state")
        return "for one"

    @made.resource("a://says", ttl_ms=60_000, cache_scope="public")
    async def says(ex: Exchange) -> ReadResourceResult:
        await ex.ask("city", elicit("Where to?"))
        contents = [TextResourceContents(uri="a://says", text="for all")]
        return ReadResourceResult(contents=contents, ttl_ms=5, cache_scope="public")

    answers = {"elicitation/create": {"action": "accept", "content": {}}}
    wanted = {"plain": (60_000, "public"), "asks": (0, "private"), "goes-on": (0, "private"), "says": (5, "public")}
    async with serving(made, SETTINGS) as url, client_of(url, result_adapter) as client:
        for name, hints in wanted.items():
            reply, _ = await use(client, "resources/read", {"uri": f"a://{name}"}, answers)
            assert (reply.result["ttlMs"], reply.result["cacheScope"]) == hints, name
