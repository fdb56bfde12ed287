"""What one message may hold, and what is said of one that does not fit: both bounded, on either binding.

Citations: server/tools#error-handling, basic/index#responses.
"""

from __future__ import annotations

import asyncio
import gc
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import pytest
from covering import in_turn
from mcp_anyrev import Exchange, Limits, Registry, Settings
from mcp_anyrev.declaring.model_schemas import schema_of
from mcp_anyrev.extent import deeper_than, holds_at_most
from mcp_anyrev.messages import LONGEST_INTEGER, parse
from mcp_anyrev.schemas import JsonValidator
from mcp_contract import ParseError, ProtocolError
from mcp_contract.frames import LONGEST_IDENTIFIER
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from pydantic import AfterValidator, BaseModel
from raw_client import RawClient, serving

ADAPTERS = AdapterSet.default()
FEW = Limits(values=1_000)
LONG = "x" * 1_000_000


class Leaf(BaseModel, extra="forbid"):
    kind: Literal["leaf"]
    size: int


class Branch(BaseModel):
    kind: Literal["branch"]
    inner: list[Leaf]


def _even(number: int) -> int:
    if number % 2:
        raise ValueError("an even number is wanted")
    return number


Even = Annotated[int, AfterValidator(_even)]


def registry() -> Registry:
    made = Registry("bounded", "1.0")

    @made.tool(input_schema={"type": "object"})
    async def anything(given: dict[str, Any]) -> str:
        return "taken"

    @made.tool
    async def rows(rows: list[Leaf]) -> str:
        return "taken"

    @made.tool
    async def numbers(numbers: set[int]) -> str:
        return "taken"

    @made.tool
    async def even(numbers: list[Even]) -> str:
        return "taken"

    @made.tool
    async def far(ex: Exchange) -> str:
        await ex.progress(1)
        return "arrived"

    @made.prompt
    async def words(one: str = "") -> str:
        return one

    @made.resource("mx://one")
    async def one() -> str:
        return "1"

    return made


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """What happens takes at most so many seconds of the processor."""
    gc.collect()  # what other tests have left behind is not counted
    started = time.process_time()
    yield
    assert time.process_time() - started < seconds


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("[" + ",".join(["1"] * 50) + "]", 50),
        ("[" + ", ".join(["[ ]", "{\n}"] * 20) + "]", 40),
        ('{"a": {"b": [1, 2]}}', 4),
        ('["a,b,[,{,", "\\",[\\\\", "\\\\"]', 3),
    ],
)
def test_only_what_is_a_value_counts_as_one(text: str, values: int) -> None:
    assert holds_at_most(text.encode(), values)
    assert not holds_at_most(text.encode(), values - 1)


@pytest.mark.parametrize(
    "piece", [b"[],", b"0,", b'"",', b'{"a":1},', b"[[[[[[[]]]]]]],", b'"k":{},', b"\\", b'"', b'\\"']
)
def test_a_message_of_too_many_values_is_refused_at_once(piece: bytes) -> None:
    with within(0.5), pytest.raises(ProtocolError):
        parse(b"[" + piece * (Limits().body_bytes // len(piece)) + b"0]", Limits())


def test_text_may_hold_whatever_separates_values() -> None:
    assert parse(json.dumps([LONG, "1,[{" * 1_000_000]).encode(), Limits())[1][:4] == "1,[{"


@pytest.mark.parametrize("number", ["1" * (LONGEST_INTEGER + 1), "1" * 5_000, "1e999", "-" + "9" * 1_100])
def test_a_number_that_is_too_large_is_refused(number: str) -> None:
    with pytest.raises(ParseError):
        parse(f'[{{"a": {number}}}]'.encode(), Limits())
    assert parse(f'"{number}"'.encode(), Limits()) == number
    assert parse(b"1" * LONGEST_INTEGER, Limits()) == int("1" * LONGEST_INTEGER)


async def test_a_message_of_too_many_values_is_too_large(adapter: Adapter, binding: str) -> None:
    async with serving(registry(), Settings(limits=FEW), binding) as url, RawClient(url, adapter) as client:
        many = {"many": list(range(2_000))}
        reply = await client.post(client.request("tools/call", {"name": "anything", "arguments": many}))
        assert reply.status == adapter.error_statuses["too_large"]
        assert "1000 values" in reply.error["message"]
        assert (await client.tool("anything", {"few": list(range(900))})).text == "taken"
        assert (await client.tool("anything", {"long": "1," * 2_000})).text == "taken"


def nested(levels: int) -> dict[str, Any]:
    value: Any = {}
    for level in range(levels - 1):
        value = {"a/b": value} if level % 2 else [1, value]
    return value if isinstance(value, dict) else {"top": value[1]}


async def test_arguments_that_are_nested_too_deeply_are_wrong(adapter: Adapter, binding: str) -> None:
    settings = Settings(limits=Limits(nesting=6))
    async with serving(registry(), settings, binding) as url, RawClient(url, adapter) as client:
        assert (await client.tool("anything", {"a": [{"b": [{"c": {}}]}]})).text == "taken"
        reply = await client.tool("anything", {"a": [{"b": [1, {"c": {}}, {"c/d": {"e": {}}}]}]})
        assert reply.result["isError"]
        assert reply.text.startswith("wrong arguments: /a/0/b/2/c~1d/e is nested too deeply; at most 6 ")


def test_by_default_arguments_go_32_levels_deep() -> None:
    most = Limits().nesting
    assert most == 32
    assert deeper_than(nested(most), most) is None
    assert deeper_than(nested(most + 1), most) is not None


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([{"kind": "leaf", "size": "x"}], '/0/size is not of type "integer"'),
        ([{"kind": "branch", "inner": [{"kind": "leaf"}]}], "/0/inner/0/size is missing"),
        (
            [{"kind": "twig"}],
            "/0 fits no form that is allowed: an object with kind 'leaf', size or an object with kind",
        ),
        ([7], "/0 fits no form that is allowed"),
        (None, '/ is not of type "array"'),
        ([{"kind": "leaf", "size": 1, "~/": 2}], "/0/~0~1 is not allowed; allowed: kind, size"),
    ],
)
def test_what_is_wrong_is_named_by_pointer_with_what_is_allowed(value: Any, words: str) -> None:
    validator = JsonValidator(schema_of(list[Leaf | Branch]))
    assert not validator.accepts(value)
    assert validator.faults(value).startswith(words)


@pytest.mark.parametrize(
    ("rows", "words"),
    [([{"kind": "leaf", "size": "x"}], '/rows/0/size is not of type "integer"'), ([{}], "/rows/0/kind is missing")],
)
async def test_wrong_arguments_are_named(adapter: Adapter, rows: Any, words: str) -> None:
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        reply = await client.tool("rows", {"rows": rows})
        assert reply.result["isError"] and reply.text.startswith(f"wrong arguments: {words}")


WRONG: dict[str, dict[str, Any]] = {
    "all wrong": {"rows": [{"kind": "leaf", "size": "x"}] * 30_000},
    "last wrong": {"rows": [{"kind": "leaf", "size": 1}] * 30_000 + [{"kind": "leaf"}]},
    "unknown members": {"rows": [], **{f"k{number}": 0 for number in range(90_000)}},
    "long name": {"rows": [], LONG: 0},
    "long text": {"rows": LONG},
    "huge integers": {"numbers": [10**900 + number for number in range(4_000)]},
    "large integers": {"numbers": [2**63 + number for number in range(90_000)]},
}


@pytest.mark.parametrize(("adapter", "wrong"), in_turn(ADAPTERS.versions, list(WRONG)), indirect=["adapter"])
async def test_wrong_arguments_cost_little_and_are_told_in_few_words(adapter: Adapter, wrong: str) -> None:
    arguments = WRONG[wrong]
    (name,) = arguments.keys() & {"rows", "numbers"}
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        body = client.request("tools/call", {"name": name, "arguments": arguments})
        with within(3):  # client and server are one process here, and the client reads and checks as well
            reply = await client.post(body)
        assert reply.result["isError"] and 20 < len(reply.text) < 1_200


def recursive(levels: int) -> Any:
    value: Any = "bad"
    for _ in range(levels):
        value = {"inner": value}
    return value


@pytest.mark.parametrize("word", ["anyOf", "oneOf"])
def test_a_union_that_leads_back_to_itself_is_told_wrong_in_no_time(word: str) -> None:
    names = [f"F{number}" for number in range(4)]
    forms = {
        name: {"type": "object", "properties": {"inner": {"$ref": "#/$defs/any"}, name: {"type": "integer"}}}
        for name in names
    }
    union = {"any": {word: [{"$ref": f"#/$defs/{name}"} for name in names]}}
    schema = {"type": "object", "properties": {"it": {"$ref": "#/$defs/any"}}, "$defs": {**forms, **union}}
    validator, value = JsonValidator(schema), {"it": recursive(28)}
    assert not validator.accepts(value)
    with within(0.5):
        assert "/it" in validator.faults(value)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": LONG}),
        ("tools/call", {"name": "no\x00such"}),
        ("tools/call", {"name": "anything", "arguments": [0] * 90_000}),
        ("prompts/get", {"name": LONG}),
        ("prompts/get", {"name": "words", "arguments": {f"k{number}": 0 for number in range(90_000)}}),
        ("resources/read", {"uri": "mx://" + LONG}),
        ("completion/complete", {"ref": {"type": "ref/prompt", "name": LONG}, "argument": {"name": "x", "value": ""}}),
        ("tools/list", {"cursor": LONG}),
        (LONG, {}),
    ],
    ids=["tool", "nul", "arguments", "prompt", "texts", "uri", "completion", "cursor", "method"],
)
async def test_a_refusal_repeats_little_of_what_was_sent(
    adapter: Adapter, binding: str, method: str, params: dict[str, Any]
) -> None:
    async with serving(registry(), None, binding) as url, RawClient(url, adapter) as client:
        # A header cannot be as long; where one has to repeat the word, the refusal is that it does not.
        change = dict.fromkeys(name for name in (adapter.method_header, adapter.name_header) if name is not None)
        reply = await client.post(client.request(method, params), like=client.request("ping"), change=change)
        assert len(json.dumps(reply.message)) < 8_000
        assert (await client.tool("anything")).text == "taken"


async def test_wrong_addresses_to_be_told_of_are_told_wrong_at_once(adapter: Adapter, binding: str) -> None:
    if not adapter.listens:
        pytest.skip("changes come on a stream of the session")
    async with serving(registry(), None, binding) as url, RawClient(url, adapter) as client:
        wanted = {"resourceSubscriptions": [7] * 90_000}
        with within(1):
            reply = await client.call("subscriptions/listen", {"notifications": wanted})
        assert "/params/notifications/resourceSubscriptions/0: " in reply.error["message"]
        assert len(reply.error["message"]) < 1_200


@pytest.mark.parametrize("value", [b"\xff\xfe", b"\xed\xa0\x80", b"x" * 7_000], ids=["bytes", "surrogate", "long"])
async def test_a_header_of_any_bytes_is_refused_in_few_words(adapter: Adapter, binding: str, value: bytes) -> None:
    if adapter.version_header is None:
        pytest.skip("the revision names no revision in a header")
    async with serving(registry(), Settings(revisions=[adapter.version]), binding) as url:
        address = urlsplit(url)
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
        head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {len(body)}\r\n"
        writer.write(head.encode() + adapter.version_header.encode() + b": " + value + b"\r\n\r\n" + body)
        answer = await reader.read()
        writer.close()
        refused = {400, *(adapter.error_statuses.get(kind) for kind in ("version_header", "unsupported_version"))}
        assert int(answer.split()[1]) in refused and len(answer) < 3_000
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["id"] == 1


async def test_what_a_model_finds_wrong_is_told_in_few_words_and_little_time(adapter: Adapter) -> None:
    """What the schema does not say, only the model finds; pydantic would word each of its faults."""
    async with serving(registry()) as url, RawClient(url, adapter) as client:
        reply = await client.tool("even", {"numbers": [2, 4, 5, 7]})
        assert reply.result["isError"] and "/numbers/2: Value error, an even number is wanted; /numbers/3" in reply.text
        reply = await client.tool("even", {"numbers": [1] * 90_000})
        assert reply.result["isError"] and "90000 members do not fit" in reply.text
        assert (await client.tool("even", {"numbers": [2]})).text == "taken"


async def test_a_progress_token_is_as_short_as_an_id(adapter: Adapter, binding: str) -> None:
    """It is repeated in every message of the progress."""
    async with serving(registry(), None, binding) as url, RawClient(url, adapter) as client:
        request = client.request("tools/call", {"name": "far", "arguments": {}})

        def with_token(token: Any) -> dict[str, Any]:
            params = request["params"]
            return {**request, "params": {**params, "_meta": {**params.get("_meta", {}), "progressToken": token}}}

        for token in (LONG, "x" * (LONGEST_IDENTIFIER + 1)):
            reply = await client.post(with_token(token))
            assert reply.error["code"] == adapter.error_codes["invalid_request"]
            assert "progressToken" in reply.error["message"] and not reply.earlier
        for token in ("x" * LONGEST_IDENTIFIER, 7):
            reply = await client.post(with_token(token))
            assert reply.text == "arrived" and reply.earlier[0]["params"]["progressToken"] == token
