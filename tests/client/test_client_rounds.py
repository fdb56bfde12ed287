"""Requests that the server asks something before it answers them. Specification: basic/patterns/mrtr#basic-workflow"""

from __future__ import annotations

from typing import Any

import pytest
from descriptions import description, finished
from hypothesis import example, given
from hypothesis import strategies as st
from mcp_anyrev import Client, NotOffered, Unfinished, WrongAnswer
from mcp_revisions.canonical import ElicitResult
from mcp_revisions.protocol import Adapter
from scripted import Scripted, result

FORM = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "default": 7}},
    "required": ["name"],
}


def asking(adapter: Adapter, rounds: list[Any], tool: str = "t") -> Any:
    """A server whose calls end in these, one after the other; whatever else is called is done at once."""
    given = iter(rounds)

    def script(message: dict[str, Any]) -> list[Any]:
        if message.get("method") == adapter.description_method:
            return [result(message, description(adapter))]
        if message.get("method") != "tools/call":
            return []
        if message["params"]["name"] != tool:
            return [result(message, done(adapter))]
        return [result(message, next(given))]

    return script


def done(adapter: Adapter) -> dict[str, Any]:
    return finished(adapter, "tools/call", {"content": [{"type": "text", "text": "done"}]})


def question(adapter: Adapter, state: str | None, **asked: Any) -> dict[str, Any]:
    """A result that asks, as the revision has it; without a state where there is none."""
    questions = {
        key: {"method": "elicitation/create", "params": {"message": "?", "requestedSchema": form}}
        for key, form in asked.items()
    }
    call: dict[str, Any] = {"name": "t", "arguments": {}}
    if state is not None:
        return adapter.questions_result(questions, state, call)
    told = adapter.questions_result(questions, "a state", call)
    return {name: value for name, value in told.items() if value != "a state"}


def answers_in(adapter: Adapter, call: dict[str, Any]) -> Any:
    """The answers that a call brings, wherever the revision has them."""
    return adapter.read_answers(call["params"]).answers


def calls(server: Scripted) -> list[dict[str, Any]]:
    return [message for message in server.sent if message.get("method") == "tools/call"]


async def test_the_state_comes_back_exactly_or_not_at_all(result_adapter: Adapter) -> None:
    for state in (None, "", 'a\\u2028 b"\\\\', "\\u2028", "0"):
        rounds = [question(result_adapter, state, k=FORM), done(result_adapter)]
        server = Scripted(asking(result_adapter, rounds))
        async with Client(server, result_adapter, on_ask=lambda asked: {"name": "Ada"}) as client:
            assert (await client.call_tool("t", {"a": 1})).text == "done"
            await client.call_tool("other")
        first, second, other = calls(server)
        assert result_adapter.read_answers(second["params"]).state == state
        assert len(second["params"]) - len(first["params"]) == 1 + (state is not None)
        assert answers_in(result_adapter, second) == {"k": {"action": "accept", "content": {"name": "Ada", "age": 7}}}
        assert second["params"]["arguments"] == first["params"]["arguments"] == {"a": 1}
        assert len({message["id"] for message in (first, second, other)}) == 3
        for call in (first, other):
            assert result_adapter.read_answers(call["params"]) == (call["params"], {}, None)


@given(st.text(max_size=50))
@example('\\u2028"\\\\')
def test_any_state_comes_back_as_it_came(state: str) -> None:
    import asyncio

    from descriptions import ADAPTERS

    async def run(adapter: Adapter) -> None:
        server = Scripted(asking(adapter, [question(adapter, state, k=FORM), done(adapter)]))
        async with Client(server, adapter, on_ask=lambda asked: {"name": "Ada"}) as client:
            await client.call_tool("t")
        assert adapter.read_answers(calls(server)[1]["params"]).state == state

    for adapter in ADAPTERS.by_version.values():
        if adapter.can_ask:
            asyncio.run(run(adapter))


async def test_all_answers_so_far_go_out_again(result_adapter: Adapter) -> None:
    rounds = [question(result_adapter, "1", a=FORM), question(result_adapter, "2", b=FORM), done(result_adapter)]
    server = Scripted(asking(result_adapter, rounds))
    names = iter(["Ada", "Alan"])
    async with Client(server, result_adapter, on_ask=lambda asked: {"name": next(names)}) as client:
        await client.call_tool("t")
    answers = answers_in(result_adapter, calls(server)[2])
    assert [answers[key]["content"]["name"] for key in ("a", "b")] == ["Ada", "Alan"]


@pytest.mark.parametrize("asked", [{"k": FORM}, {}])
async def test_a_server_that_asks_without_end_is_given_up(result_adapter: Adapter, asked: dict[str, Any]) -> None:
    endless = [question(result_adapter, str(number), **asked) for number in range(100)]
    server = Scripted(asking(result_adapter, endless))
    async with Client(server, result_adapter, on_ask=lambda asked: {"name": "Ada"}, rounds=3) as client:
        with pytest.raises(Unfinished, match="4 times"):
            await client.call_tool("t")
    assert len(calls(server)) == 4


async def test_what_there_is_no_callback_for_is_not_answered(result_adapter: Adapter) -> None:
    server = Scripted(asking(result_adapter, [question(result_adapter, "s", k=FORM)]))
    async with Client(server, result_adapter) as client:
        with pytest.raises(NotOffered, match="elicitation/create"):
            await client.call_tool("t")


@pytest.mark.parametrize(
    ("said", "action", "content"),
    [
        (None, "cancel", None),
        (False, "decline", None),
        ({"name": "Ada"}, "accept", {"name": "Ada", "age": 7}),
        (ElicitResult(action="decline"), "decline", None),
        (ElicitResult(action="accept", content={"name": "Ada", "age": 8}), "accept", {"name": "Ada", "age": 8}),
    ],
)
async def test_what_a_callback_gives_is_said_to_the_server(
    result_adapter: Adapter, said: Any, action: str, content: Any
) -> None:
    """Specification: client/elicitation#response-actions"""
    server = Scripted(asking(result_adapter, [question(result_adapter, "s", k=FORM), done(result_adapter)]))
    async with Client(server, result_adapter, on_ask=lambda asked: said) as client:
        await client.call_tool("t")
    told = {"action": action} if content is None else {"action": action, "content": content}
    assert answers_in(result_adapter, calls(server)[1])["k"] == told


async def test_what_does_not_fit_the_form_is_not_sent(result_adapter: Adapter) -> None:
    server = Scripted(asking(result_adapter, [question(result_adapter, "s", k=FORM)]))
    async with Client(server, result_adapter, on_ask=lambda asked: {"age": "old"}) as client:
        with pytest.raises(ValueError, match="/age"):
            await client.call_tool("t")
    assert len(calls(server)) == 1


@pytest.mark.parametrize(
    "asked",
    [
        5,
        {},
        {"method": 5},
        {"method": "elicitation/create", "params": 5},
        {"method": "elicitation/create", "params": {}},
    ],
)
async def test_a_question_that_is_none_is_the_fault_of_the_server(result_adapter: Adapter, asked: Any) -> None:
    told = question(result_adapter, "s", k=FORM)
    (name,) = (name for name, value in told.items() if isinstance(value, dict) and "k" in value)
    told = {**told, name: {"k": asked}}
    async with Client(Scripted(asking(result_adapter, [told])), result_adapter, on_ask=lambda asked: True) as client:
        with pytest.raises((WrongAnswer, NotOffered)):
            await client.call_tool("t")


async def test_a_result_of_a_type_that_nobody_knows_is_no_result(result_adapter: Adapter) -> None:
    """Specification: basic/index#resulttype"""
    told = {**done(result_adapter), "resultType": "postponed"}
    async with Client(Scripted(asking(result_adapter, [told])), result_adapter) as client:
        with pytest.raises(WrongAnswer, match="postponed"):
            await client.call_tool("t")


async def test_a_result_without_a_type_is_finished(result_adapter: Adapter) -> None:
    told = {name: value for name, value in done(result_adapter).items() if name != "resultType"}
    async with Client(Scripted(asking(result_adapter, [told])), result_adapter) as client:
        assert (await client.call_tool("t")).text == "done"


async def test_a_callback_that_fails_is_seen_by_who_called(result_adapter: Adapter) -> None:
    def on_ask(asked: Any) -> Any:
        raise LookupError("no person here")

    async with Client(
        Scripted(asking(result_adapter, [question(result_adapter, "s", k=FORM)])), result_adapter, on_ask=on_ask
    ) as client:
        with pytest.raises(LookupError, match="no person"):
            await client.call_tool("t")


async def test_a_callback_that_fails_with_a_pushed_question_is_an_error_to_the_server(push_adapter: Adapter) -> None:
    """A server that asks always gets an answer. Specification: client/elicitation#error-handling"""

    def on_ask(asked: Any) -> Any:
        raise LookupError("no person here")

    def script(message: dict[str, Any]) -> list[Any]:
        if message.get("method") == push_adapter.description_method:
            return [result(message, description(push_adapter))]
        if message.get("method") == "tools/call":
            asked = {"message": "?", "requestedSchema": FORM}
            return [push_adapter.question_request("q", {"method": "elicitation/create", "params": asked})]
        if message.get("id") == "q":
            call = next(one for one in server.sent if one.get("method") == "tools/call")
            return [result(call, {"content": [{"type": "text", "text": str(message["error"]["code"])}]})]
        return []

    server = Scripted(script)
    async with Client(server, push_adapter, on_ask=on_ask) as client:
        assert (await client.call_tool("t")).text == str(push_adapter.error_codes["internal_error"])
    server = Scripted(script)
    async with Client(server, push_adapter) as client:  # without a callback there is no such method
        assert (await client.call_tool("t")).text == str(push_adapter.error_codes["method_not_found"])


def declared_by(server: Scripted, adapter: Adapter) -> dict[str, Any]:
    message = server.sent[0]
    params = message.get("params", {})
    return adapter.client_declaration(params, None).capabilities


async def test_only_what_there_is_a_callback_for_is_declared(adapter: Adapter) -> None:
    """Specification: client/elicitation#capabilities, client/sampling#capabilities, client/roots#capabilities"""
    kinds = {"elicitation": "on_ask", "sampling": "on_sample", "roots": "on_roots"}
    for capability, name in kinds.items():
        for callbacks in ({}, {name: lambda *given: None}):
            server = Scripted(lambda message: [result(message, description(adapter))] if "id" in message else [])
            async with Client(server, adapter, **callbacks) as client:
                await client.initialize()
            known = capability in adapter.encode_client_capabilities({capability: {}})
            assert (capability in declared_by(server, adapter)) is (bool(callbacks) and known)


async def test_a_request_of_a_server_is_not_answered_where_servers_send_none(adapter: Adapter) -> None:
    """Specification: basic/transports/stdio#sending-messages (a client writes no responses)"""
    server = Scripted(asking(adapter, [], tool="none"))
    async with Client(server, adapter) as client:
        await client.initialize()
        server.say({"jsonrpc": "2.0", "id": "q", "method": "ping"})
        await client.call_tool("t")
        await client.call_tool("t")  # what answers the ping was put on its way before
    answers = [message for message in server.sent if "method" not in message]
    assert [one["id"] for one in answers] == (["q"] if adapter.stdio_server_requests else [])


async def test_an_unknown_method_of_a_server_is_refused_and_a_ping_answered(session_adapter: Adapter) -> None:
    def script(message: dict[str, Any]) -> list[Any]:
        if message.get("method") == session_adapter.description_method:
            return [result(message, description(session_adapter))]
        if message.get("method") == "tools/list":
            pinged = {"jsonrpc": "2.0", "id": "p", "method": "ping"}
            return [pinged, {"jsonrpc": "2.0", "id": "u", "method": "no/such"}, result(message, {"tools": []})]
        return []

    server = Scripted(script)
    async with Client(server, session_adapter) as client:
        await client.list_tools()
        await client.list_tools()
    answers = {message["id"]: message for message in server.sent if "method" not in message}
    assert answers["p"] == {"jsonrpc": "2.0", "id": "p", "result": {}}
    assert answers["u"]["error"]["code"] == session_adapter.error_codes["method_not_found"]
