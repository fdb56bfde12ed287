"""Declarations that cannot be served: each fails where it is made, with these words."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_anyrev import Exchange, RegistrationError, Registry
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
