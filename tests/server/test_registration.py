"""Declarations that cannot be served: each fails where it is made, with these words."""

from __future__ import annotations

import gc
import time
import weakref
from typing import Any

import pytest
from mcp_anyrev import Exchange, RegistrationError, Registry, elicit
from mcp_revisions import AdapterSet
from pydantic import BaseModel, RootModel

KNOWN = ", ".join(AdapterSet.default().versions)


class Many(RootModel[list[int]]):
    pass


class Reserved(BaseModel):
    mcpState: str  # the name under test


class Imposter:
    class Exchange:
        pass


async def fine() -> str:
    return "fine"


def asks_in_a_thread(ex: Exchange) -> str:
    return "never"


async def many(args: Many) -> str:
    return "never"


async def reserved(mcpAnswers: str) -> str:  # the name under test
    return mcpAnswers


async def reserved_in_model(args: Reserved) -> str:
    return "never"


async def starred(*words: str) -> str:
    return "never"


async def bare(word) -> str:  # type: ignore[no-untyped-def]  # what this tests
    return "never"


async def unknown(word: Missing) -> str:  # type: ignore[name-defined]  # noqa: F821
    return "never"


async def twice(one: Exchange, two: Exchange) -> str:
    return "never"


async def schemaless(word: object, call: type[Registry]) -> str:
    return "never"


async def two_dictionaries(one: dict[str, Any], two: dict[str, Any]) -> str:
    return "never"


@pytest.mark.parametrize(
    ("function", "options", "words"),
    [
        (fine, {"name": "a b"}, "tool 'a b': a name has 1 to 128 letters, digits, underscores, dots and hyphens"),
        (fine, {"name": "a\n"}, "tool 'a\\n': a name has 1 to 128 letters, digits, underscores, dots and hyphens"),
        (
            fine,
            {"name": "x" * 129},
            f"tool '{'x' * 129}': a name has 1 to 128 letters, digits, underscores, dots and hyphens",
        ),
        (fine, {"name": "naïve"}, "tool 'naïve': a name has 1 to 128 letters, digits, underscores, dots and hyphens"),
        (fine, {"min_revision": "banana"}, f"tool 'fine': 'banana' is no revision; known: {KNOWN}"),
        (fine, {"read_only": "yes"}, "tool 'fine': the hint read_only is true or false"),
        (
            asks_in_a_thread,
            {},
            "tool 'asks_in_a_thread': it takes the Exchange but is not async;"
            " only an async function can wait for an answer",
        ),
        (
            many,
            {},
            "tool 'many': its arguments are Many, a RootModel; arguments are always an object with members",
        ),
        (
            reserved,
            {},
            "tool 'reserved': a parameter cannot be named mcpAnswers: answers to questions travel under that name",
        ),
        (
            reserved_in_model,
            {},
            "tool 'reserved_in_model': a parameter cannot be named mcpState:"
            " answers to questions travel under that name",
        ),
        (starred, {}, "tool 'starred': the parameter words has no name that arguments could be given by"),
        (bare, {}, "tool 'bare': the parameter word has no annotation"),
        (unknown, {}, "tool 'unknown': an annotation cannot be read: name 'Missing' is not defined"),
        (twice, {}, "tool 'twice': it takes the Exchange twice: one, two"),
        (
            two_dictionaries,
            {"input_schema": {"type": "object"}},
            "tool 'two_dictionaries': with an input schema it takes one dictionary, not 2 parameters",
        ),
        (
            fine,
            {"input_schema": {"type": "array"}},
            'tool \'fine\': its input schema lacks "type": "object"; arguments are always an object',
        ),
    ],
)
def test_a_wrong_tool_is_refused_with_its_name_and_the_reason(function: Any, options: Any, words: str) -> None:
    with pytest.raises(RegistrationError) as caught:
        Registry("wrong", "1.0").tool(**options)(function)
    assert str(caught.value) == words


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": "nonsense"}}},
        {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/other.json"}}},
        {"type": "object", "properties": {"a": {"$ref": "file:///etc/hostname"}}},
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}},
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "(a)\\1"}}},
    ],
)
def test_a_schema_that_cannot_be_used_safely_is_refused(schema: Any) -> None:
    with pytest.raises(RegistrationError, match=r"^tool 'fine': its schema cannot be used: "):
        Registry("wrong", "1.0").tool(input_schema=schema)(fine)
    with pytest.raises(RegistrationError, match=r"^tool 'fine': its schema cannot be used: "):
        Registry("wrong", "1.0").tool(output_schema=schema)(fine)


def test_a_misspelt_option_is_refused() -> None:
    with pytest.raises(RegistrationError, match=r"^tool 'fine': there is no option 'titel'; options: name, title, "):
        Registry("wrong", "1.0").tool(titel="x")(fine)  # type: ignore[call-overload]  # what this tests


def test_a_second_tool_of_the_same_name_is_refused() -> None:
    registry = Registry("twice", "1.0")
    registry.tool(fine)
    with pytest.raises(RegistrationError, match=r"^tool 'fine': there is one of this name already$"):
        registry.tool(fine)


@pytest.mark.parametrize(("name", "version"), [("", "1.0"), ("x", "")])
def test_a_server_has_a_name_and_a_version(name: str, version: str) -> None:
    with pytest.raises(RegistrationError, match=r"a server has a name and a version$"):
        Registry(name, version)


def test_a_class_that_is_only_named_like_the_exchange_is_none() -> None:
    async def confused(ex: Imposter.Exchange) -> str:
        return "never"

    with pytest.raises(RegistrationError):
        Registry("imposter", "1.0").tool(confused)


def test_a_declared_function_stays_what_it_was() -> None:
    registry = Registry("same", "1.0")
    assert registry.tool(fine) is fine
    assert registry.tool(name="other")(fine) is fine


def test_models_of_the_place_of_declaration_are_found() -> None:
    class Here(BaseModel):
        word: str

    registry = Registry("here", "1.0")

    @registry.tool
    async def local(args: Here) -> str:
        return args.word

    assert registry.tools["local"].description["inputSchema"]["properties"] == {"word": {"type": "string"}}


async def of_words(words: list[str]) -> str:
    return " ".join(words)


async def of_word(word: str) -> str:
    return word


async def of_more(word: str, more: int) -> str:
    return f"{word} {more}"


async def without_value(word: str) -> list[str]:
    return [word]


@pytest.mark.parametrize(
    ("uri", "function", "options", "words"),
    [
        ("note", fine, {}, "an address begins with a scheme, such as file: or one of your own"),
        ("mx://a b", fine, {}, "an address has no blanks, no control characters, and is not overlong"),
        ("mx://a\n", fine, {}, "an address has no blanks, no control characters, and is not overlong"),
        ("mx://[", fine, {}, "it is no address: Invalid IPv6 URL"),
        ("mx://note", of_word, {}, "its function takes word, but the address has no variables"),
        ("mx://{word}", fine, {}, "its function does not take the variable word"),
        ("mx://{word}", of_more, {}, "its function takes more, which is no variable of the template"),
        ("mx://{words}", of_words, {}, "the parameter words takes one value, since the variable has no *"),
        ("mx://{word*}", of_word, {}, "the parameter word takes a list, since the variable has a *"),
        ("mx://{word", of_word, {}, "it has no variable"),
        ("mx://{word}{more}", of_more, {}, "nothing stands between word and what follows"),
        ("mx://{word}", of_word, {"size": 3}, "the resources of a template have no common size"),
        ("mx://note", fine, {"size": -1}, "the option size is a whole number from 0 on"),
        ("mx://note", fine, {"ttl_ms": 1.5}, "the option ttl_ms is a whole number from 0 on"),
        ("mx://note", fine, {"cache_scope": "all"}, "the cache_scope is one of public, private"),
        ("mx://note", fine, {"title": 3}, "the title is text"),
        ("mx://note", fine, {"meta": []}, "the meta is an object"),
        (
            "mx://note",
            fine,
            {"icons": [{"url": "x"}]},
            "the icons are a list of pictures, each with its address as src",
        ),
        ("mx://note", fine, {"annotations": 1}, "the annotations are an object"),
        (
            "mx://note",
            asks_in_a_thread,
            {},
            "it takes the Exchange but is not async; only an async function can wait for an answer",
        ),
    ],
)
def test_a_wrong_resource_is_refused_with_its_address_and_the_reason(
    uri: str, function: Any, options: Any, words: str
) -> None:
    with pytest.raises(RegistrationError) as caught:
        Registry("wrong", "1.0").resource(uri, **options)(function)
    assert str(caught.value) == f"resource {uri!r}: {words}"


@pytest.mark.parametrize(
    ("function", "options", "words"),
    [
        (fine, {"name": "a b"}, "prompt 'a b': a name has 1 to 128 letters, digits, underscores, dots and hyphens"),
        (
            of_words,
            {},
            "prompt 'of_words': the argument words cannot be read from text, and arguments of a prompt are text",
        ),
        (
            fine,
            {"arguments": []},
            "prompt 'fine': there is no option 'arguments'; options: name, title, description, icons, meta, visible, asks, requires",
        ),
        (bare, {}, "prompt 'bare': the parameter word has no annotation"),
    ],
)
def test_a_wrong_prompt_is_refused_with_its_name_and_the_reason(function: Any, options: Any, words: str) -> None:
    with pytest.raises(RegistrationError) as caught:
        Registry("wrong", "1.0").prompt(**options)(function)
    assert str(caught.value) == words


@pytest.mark.parametrize(
    ("of", "function", "words"),
    [
        (
            {"prompt": "absent"},
            fine,
            "completion of 'absent', argument 'word': there is no such prompt; declare it first",
        ),
        (
            {"template": "mx://x"},
            fine,
            "completion of 'mx://x', argument 'word': there is no such template; declare it first",
        ),
        ({"prompt": "fine"}, fine, "completion of 'fine', argument 'word': it has no argument word; arguments: none"),
        (
            {"prompt": "of_word"},
            without_value,
            "completion of 'of_word', argument 'word': its function takes value, what has been typed, and may take"
            " arguments, what the others are",
        ),
        ({}, fine, "completion of argument 'word': it is for a prompt or for a template"),
    ],
)
def test_a_wrong_completion_is_refused_with_what_it_is_for_and_the_reason(of: Any, function: Any, words: str) -> None:
    registry = Registry("wrong", "1.0")
    registry.prompt(fine)
    registry.prompt(of_word)
    with pytest.raises(RegistrationError) as caught:
        registry.completion("word", **of)(function)
    assert str(caught.value) == words


@pytest.mark.parametrize(
    ("member", "words"),
    [
        ({"type": "array", "items": {"type": "string"}, "x-mcp-header": "X"}, "on type 'array'"),
        ({"type": "number", "x-mcp-header": "X"}, "on type 'number'"),
        (
            {"anyOf": [{"type": "string", "x-mcp-header": "X"}, {"type": "null"}]},
            "may stand only where properties alone lead",
        ),
        (
            {"type": "array", "items": {"type": "string", "x-mcp-header": "X"}},
            "may stand only where properties alone lead",
        ),
        ({"$ref": "#/$defs/A"}, "may stand only where properties alone lead"),
        ({"type": "string", "x-mcp-header": ""}, "allowed: a name of visible ASCII without separators"),
        ({"type": "string", "x-mcp-header": "a b"}, "allowed: a name of visible ASCII without separators"),
        ({"type": "string", "x-mcp-header": "Taken"}, "is given twice"),
    ],
)
def test_an_annotation_that_makes_clients_drop_the_tool_is_refused(member: Any, words: str) -> None:
    """basic/transports/streamable-http#custom-headers-from-tool-parameters"""
    schema = {
        "type": "object",
        "properties": {"taken": {"type": "string", "x-mcp-header": "taken"}, "x": member},
        "$defs": {"A": {"type": "object", "properties": {"y": {"type": "string", "x-mcp-header": "Y"}}}},
    }
    if member != {"$ref": "#/$defs/A"}:
        del schema["$defs"]
    with pytest.raises(RegistrationError, match=r"^tool 'fine': ") as caught:
        Registry("wrong", "1.0").tool(input_schema=schema)(fine)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"once": True}, "once is for a tool that asks; this one takes no Exchange, or is declared with asks=False"),
        ({"schemas": "flat"}, "schemas is one of 'plain', 'declared', or not given, not 'flat'"),
        ({"wrap_output": 1}, "the option wrap_output is true or false"),
        ({"asks": 1}, "the option asks is true or false"),
        ({"requires": "sampling"}, 'the requires are a list of client capabilities, such as ["sampling.tools"]'),
        ({"requires": [7]}, 'the requires are a list of client capabilities, such as ["sampling.tools"]'),
        ({"meta": "x"}, "the meta is an object"),
        ({"icons": "x"}, "the icons are a list of pictures, each with its address as src"),
        ({"description": 1}, "the description is text"),
    ],
)
def test_options_of_the_wrong_kind_are_refused(options: Any, words: str) -> None:
    with pytest.raises(RegistrationError) as caught:
        Registry("wrong", "1.0").tool(**options)(fine)
    assert str(caught.value) == f"tool 'fine': {words}"


def test_a_schema_deeper_than_can_be_walked_is_refused() -> None:
    schema: Any = {"type": "string"}
    for _ in range(200):
        schema = {"type": "object", "properties": {"a": schema}}
    with pytest.raises(RegistrationError, match=r"^tool 'fine': "):
        Registry("wrong", "1.0").tool(input_schema=schema)(fine)


def test_one_address_in_two_spellings_is_refused() -> None:
    registry = Registry("twice", "1.0")
    registry.resource("mx://é")(fine)
    with pytest.raises(RegistrationError, match=r"^resource 'mx://%C3%A9': it is the same address as 'mx://é'$"):
        registry.resource("mx://%C3%A9")(fine)
    with pytest.raises(RegistrationError, match=r"^resource 'mx://é': there is one of this name already$"):
        registry.resource("mx://é")(fine)


def registering(count: int) -> float:
    registry = Registry("many", "1.0")

    async def contents() -> str:
        return ""

    started = time.process_time()
    for number in range(count):
        registry.resource(f"mx://{number}")(contents)
    return time.process_time() - started


def test_thousands_of_resources_are_declared_within_a_second() -> None:
    assert min(registering(4_000) for _ in range(3)) < 0.8


def test_nothing_is_kept_of_what_came_and_went() -> None:
    registry = Registry("passing", "1.0")
    made: list[weakref.ref[Any]] = []

    def pass_by() -> None:
        class Given(BaseModel):
            a: int

        async def tool(args: Given) -> Given:
            return args

        async def contents(a: str) -> str:
            return a

        tool.__annotations__ = {"args": Given, "return": Given}
        registry.tool(tool)
        registry.resource("mx://{a}")(contents)
        registry.prompt(contents)
        elicit("?", Given)
        registry.remove_tool("tool")
        registry.remove_resource("mx://{a}")
        registry.remove_prompt("contents")
        made.extend((weakref.ref(Given), weakref.ref(tool), weakref.ref(contents)))

    for _ in range(5):
        pass_by()
    gc.collect()
    assert [one() for one in made] == [None] * 15


def test_an_address_that_was_taken_out_is_free_again() -> None:
    registry = Registry("free", "1.0")

    async def contents() -> str:
        return ""

    for _ in range(2):
        registry.resource("mx://\u00e9")(contents)
        with pytest.raises(RegistrationError, match="same address"):
            registry.resource("mx://%C3%A9")(contents)
        registry.remove_resource("mx://\u00e9")
