"""What people write as functions and parameters: it works, or is refused where it is declared, with its name."""

from __future__ import annotations

import asyncio
import datetime
import decimal
import enum
import functools
import json
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated, Any

import fastapi
import pydantic
import pytest
from mcp_anyrev import Depends, Exchange, RegistrationError, Registry
from mcp_anyrev.declaring import model_schemas
from mcp_revisions.protocol import Adapter
from pydantic import BaseModel, ConfigDict, Field, SecretStr, Strict
from raw_client import RawClient, serving


class Visit(BaseModel):
    model_config = ConfigDict(strict=True)

    day: datetime.date
    place: tuple[int, int]
    tags: frozenset[str] = frozenset()


class Cat(BaseModel):
    name: str
    age: int = 3
    chip: SecretStr = SecretStr("hunter2")


TOM = Cat(name="Tom", chip=SecretStr("4711"))


async def strict_model(args: Visit) -> str:
    return f"{args.day.year} {args.place[1]} {len(args.tags)}"


async def strict_parameter(day: Annotated[datetime.date, Strict()], visit: Visit | None = None) -> str:
    return f"{day.year} {visit and visit.place}"


async def default_inside(number: Annotated[int, Field(default=5, description="How many.")]) -> int:
    return number


async def made_default(words: Annotated[list[str], Field(default_factory=lambda: ["a"])]) -> str:
    return ",".join(words)


async def whole_default(cat: Cat = TOM) -> str:
    return f"{cat.name} {cat.age} {cat.chip.get_secret_value()}"


async def names(model_config: str, schema: int, copy: bool = True, json: str = "j", model_fields: str = "m") -> str:
    return f"{model_config} {schema} {copy} {json} {model_fields}"


async def amount(cents: decimal.Decimal) -> str:
    return str(cents * 2)


async def maybe_exchange(word: str, ex: Exchange | None = None) -> str:
    return f"{word} {ex is not None}"


async def noted_exchange(word: str, ex: Annotated[Exchange, "the call"]) -> str:
    return f"{word} {ex.session is not None}"


def wrapped(function: Callable[..., Awaitable[str]]) -> Callable[..., Any]:
    @functools.wraps(function)
    def around(*given: Any, **named: Any) -> Any:
        return function(*given, **named)

    return around


def blocking(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def around(*given: Any, **named: Any) -> Any:
        return asyncio.run(function(*given, **named))

    return around


async def echo(word: str, times: int = 1) -> str:
    """Says it again."""
    await asyncio.sleep(0)
    return word * times


class Repeater:
    """Repeats."""

    async def __call__(self, word: str) -> str:
        return word * 2

    def method(self, word: str) -> str:
        return word * 3


class Silent:
    def __call__(self, word: str) -> str:
        return word


def calls_async(word: str) -> Awaitable[str]:
    return echo(word, 2)


@pytest.mark.parametrize(
    ("function", "arguments", "text"),
    [
        (strict_model, {"day": "2026-01-02", "place": [1, 2], "tags": ["a"]}, "2026 2 1"),
        (strict_parameter, {"day": "2026-01-02"}, "2026 None"),
        (strict_parameter, {"day": "2026-01-02", "visit": {"day": "2026-01-03", "place": [3, 4]}}, "2026 (3, 4)"),
        (default_inside, {}, "5"),
        (default_inside, {"number": 6}, "6"),
        (made_default, {}, "a"),
        (whole_default, {}, "Tom 3 4711"),
        (whole_default, {"age": 4}, "Tom 4 4711"),
        (whole_default, {"name": "Kit", "chip": "x"}, "Kit 3 x"),
        (names, {"model_config": "c", "schema": 1}, "c 1 True j m"),
        (names, {"model_config": "c", "schema": 1, "copy": False, "json": "x", "model_fields": "y"}, "c 1 False x y"),
        (amount, {"cents": "1.5"}, "3.0"),
        (amount, {"cents": 2}, "4"),
        (maybe_exchange, {"word": "a"}, "a True"),
        (wrapped(echo), {"word": "a"}, "a"),
        (wrapped(noted_exchange), {"word": "a"}, None),
        (blocking(echo), {"word": "a", "times": 2}, "aa"),
        (functools.partial(echo, times=3), {"word": "a"}, "aaa"),
        (functools.partial(calls_async), {"word": "a"}, "aa"),
        (Repeater(), {"word": "a"}, "aa"),
        (Repeater().method, {"word": "a"}, "aaa"),
        (Silent(), {"word": "a"}, "a"),
        (calls_async, {"word": "a"}, "aa"),
    ],
)
async def test_it_works(adapter: Adapter, function: Any, arguments: dict[str, Any], text: str | None) -> None:
    registry = Registry("written", "1.0")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        registry.tool(name="written")(function)
    async with serving(registry) as url, RawClient(url, adapter) as client:
        reply = await client.tool("written", arguments)
    assert "isError" not in reply.result or reply.result["isError"] is False, reply.text
    assert text is None or reply.text == text


async def test_what_does_not_fit_is_named_by_what_was_sent(adapter: Adapter) -> None:
    registry = Registry("written", "1.0")
    registry.tool(names)
    registry.tool(whole_default)
    registry.tool(strict_model)
    async with serving(registry) as url, RawClient(url, adapter) as client:
        assert "/schema" in (await client.tool("names", {"model_config": "c", "schema": "x"})).text
        assert "/age" in (await client.tool("whole_default", {"age": "x"})).text
        reply = await client.tool("strict_model", {"day": "2026-13-02", "place": [1, 2]})
        assert reply.result["isError"] is True and "/day" in reply.text


def test_a_default_is_listed() -> None:
    registry = Registry("written", "1.0")
    registry.tool(default_inside)
    registry.tool(whole_default)
    registry.tool(functools.partial(echo, times=3))
    registry.tool(names)
    schema = registry.tools["default_inside"].description["inputSchema"]
    assert schema["properties"]["number"] == {"default": 5, "description": "How many.", "type": "integer"}
    whole = registry.tools["whole_default"].description["inputSchema"]
    assert "required" not in whole and whole["properties"]["name"]["default"] == "Tom"
    assert "4711" not in json.dumps(whole)
    partial = registry.tools["echo"].description
    assert list(partial["inputSchema"]["properties"]) == ["word"] and partial["description"] == "Says it again."
    assert list(registry.tools["names"].description["inputSchema"]["properties"]) == [
        "model_config",
        "schema",
        "copy",
        "json",
        "model_fields",
    ]


async def counting() -> AsyncIterator[str]:
    yield "1"


async def depends_as_default(user: str = fastapi.Depends(echo)) -> str:
    return user


async def depends_in_annotation(user: Annotated[str, fastapi.Depends(echo)]) -> str:
    return user


async def query(page: int = fastapi.Query(1)) -> str:
    return str(page)


async def pattern(name: str, word: Annotated[str, Field(pattern="(?=x)y")]) -> str:
    return word


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (counting, "tool 'counting': it is an async generator, but a result goes out as a whole: return a list"),
        (
            depends_as_default,
            "tool 'depends_as_default': the parameter user has Depends of fastapi, which means nothing",
        ),
        (depends_in_annotation, "the parameter user has Depends of fastapi, which means nothing here"),
        (query, "the parameter page has Query of fastapi, which means nothing here"),
        (pattern, "the parameter word has a pattern that cannot be used: '(?=x)y'"),
        (Repeater(), "has no name of its own; give it one with name=…"),
        (Repeater, "tool 'Repeater': it is a class, and what it makes is no result; declare a function"),
        ("search", "tool: 'search' is no function; a name is an option: @registry.tool(name='search')"),
        (7, "tool: 7 is no function"),
    ],
)
def test_it_is_refused_where_it_is_declared(function: Any, words: str) -> None:
    with pytest.raises(RegistrationError) as raised:
        Registry("written", "1.0").tool(function)
    assert words in str(raised.value)


def test_decorators_without_what_they_need_say_so() -> None:
    registry = Registry("written", "1.0")
    with pytest.raises(RegistrationError, match=r"^resource: .*echo.* is no address; write @registry.resource"):
        registry.resource(echo)  # type: ignore[arg-type]  # what this tests
    with pytest.raises(RegistrationError, match=r"^prompt: 'greet' is no function; .*prompt\(name='greet'\)"):
        registry.prompt("greet")  # type: ignore[call-overload]  # what this tests
    with pytest.raises(RegistrationError, match=r"^completion: .*echo.* is no name of an argument"):
        registry.completion(echo)  # type: ignore[arg-type]  # what this tests


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"properties": {"a": {"items": {"pattern": "(a)\\1"}}}}, "/properties/a/items/pattern"),
        ({"properties": {"a": {"pattern": "["}}}, "/properties/a/pattern"),
        ({"patternProperties": {"(?!x)": {}}}, "/patternProperties/(?!x)"),
        (
            {"$defs": {"A/B": {"pattern": "(?<=x)"}}, "properties": {"a": {"$ref": "#/$defs/A~1B"}}},
            "/$defs/A~1B/pattern",
        ),
    ],
)
def test_a_pattern_that_cannot_be_used_is_named_with_its_place(schema: dict[str, Any], place: str) -> None:
    async def raw(arguments: dict[str, Any]) -> str:
        return "never"

    with pytest.raises(RegistrationError) as raised:
        Registry("written", "1.0").tool(input_schema={"type": "object", **schema})(raw)
    assert f"tool 'raw': its schema cannot be used: the pattern at {place} cannot be used" in str(raised.value)


@pytest.mark.parametrize(
    "pattern",
    [
        r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$",
        r"^(?!^[-+.]*$)[+-]?0*(?:\d{0,3}|(?=[\d.]{1,6}0*$)\d{0,3}\.\d{0,2}0*$)",
    ],
)
def test_a_number_as_text_has_no_pattern_that_looks_around(monkeypatch: pytest.MonkeyPatch, pattern: str) -> None:
    """Some releases of pydantic describe it with a pattern that looks ahead."""
    described = {"anyOf": [{"type": "number"}, {"type": "string", "pattern": pattern}]}
    monkeypatch.setattr(pydantic.json_schema.GenerateJsonSchema, "decimal_schema", lambda self, schema: described)
    schema = model_schemas.schema_of(decimal.Decimal)
    assert schema["anyOf"][1] == {"type": "string", "pattern": r"\d"}
    registry = Registry("written", "1.0")
    registry.tool(amount)
    assert registry.tools["amount"].arguments.accepts({"cents": "1.5"})


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"properties": {"a": {"type": "strin"}}}, "/properties/a/type is not valid"),
        ({"properties": {"a": {"minimum": "x"}}}, "/properties/a/minimum is not of type"),
        ({"required": "a"}, "/required is not of type"),
        (
            {"$schema": "http://json-schema.org/draft-03/schema#"},
            "its dialect 'http://json-schema.org/draft-03/schema#' is",
        ),
    ],
)
def test_a_schema_that_is_none_is_refused_with_its_place(schema: dict[str, Any], words: str) -> None:
    """basic/index#schema-validation: schemas are valid in their dialect."""

    async def raw(arguments: dict[str, Any]) -> str:
        return "never"

    for option in ("input_schema", "output_schema"):
        with pytest.raises(RegistrationError) as raised:
            Registry("written", "1.0").tool(
                **{"input_schema": {"type": "object"}, option: {"type": "object", **schema}}
            )(raw)
        assert f"tool 'raw': its schema cannot be used: {words}" in str(raised.value)


@pytest.mark.filterwarnings("error")
def test_a_default_that_is_no_json_is_none_of_the_schema() -> None:
    async def search(words: object = object(), *, kind: Any = Kind) -> str:  # what this tests
        return "found"

    registry = Registry("written", "1.0")
    registry.tool(search)
    properties = registry.tools["search"].description["inputSchema"]["properties"]
    assert all("default" not in member for member in properties.values())


def test_an_empty_name_is_none() -> None:
    with pytest.raises(RegistrationError, match="has no name; give it one"):
        Registry("written", "1.0").tool(name="")(echo)


class Kind(enum.Enum):
    A = "a"


@pytest.mark.parametrize("annotation", [dict[str, str], int, list[int], set[str], Kind | int])
def test_what_is_no_message_is_refused_where_a_prompt_is_declared(annotation: Any) -> None:
    def prompt() -> Any: ...

    prompt.__annotations__["return"] = annotation
    with pytest.raises(
        RegistrationError, match="prompt 'prompt': it returns something else than text, content, messages"
    ):
        Registry("written", "1.0").prompt(prompt)


@pytest.mark.parametrize("annotation", [str, set[str], dict[str, str], list[int], list[str] | None])
def test_what_is_no_list_of_texts_is_refused_where_a_completion_is_declared(annotation: Any) -> None:
    registry = Registry("written", "1.0")
    registry.prompt(name="greet")(echo)

    def complete(value: str) -> Any: ...

    complete.__annotations__["return"] = annotation
    with pytest.raises(
        RegistrationError, match="completion of 'greet', argument 'word': its function returns a list of texts"
    ):
        registry.completion("word", prompt="greet")(complete)


async def test_constants_that_stand_for_texts_are_texts_everywhere(adapter: Adapter) -> None:
    registry = Registry("written", "1.0")

    @registry.prompt
    async def one(word: str = "x") -> Kind:
        return Kind.A

    @registry.prompt
    async def several() -> tuple[Kind, str]:
        return Kind.A, "b"

    @registry.prompt
    async def none() -> str | None:
        return None

    @registry.completion("word", prompt="one")
    async def words(value: str) -> tuple[Kind, ...]:
        return (Kind.A,)

    async with serving(registry) as url, RawClient(url, adapter) as client:
        for name, texts in (("one", ["a"]), ("several", ["a", "b"]), ("none", [])):
            messages = (await client.call("prompts/get", {"name": name})).result["messages"]
            assert [message["content"]["text"] for message in messages] == texts
        params = {"ref": {"type": "ref/prompt", "name": "one"}, "argument": {"name": "word", "value": ""}}
        assert (await client.call("completion/complete", params)).result["completion"]["values"] == ["a"]


async def test_dependencies_may_be_partials_and_objects(adapter: Adapter) -> None:
    registry = Registry("written", "1.0")

    class Greeting:
        async def __call__(self, ex: Exchange | None) -> str:
            return f"hello {ex is not None}"

    @registry.tool
    async def needs(
        greeting: Annotated[str, Depends(Greeting())],
        word: Annotated[str, Depends(functools.partial(echo, word="a", times=2))],
        wrapped_word: Annotated[str, Depends(functools.partial(wrapped(echo), word="b"))],
    ) -> str:
        return f"{greeting} {word} {wrapped_word}"

    async with serving(registry) as url, RawClient(url, adapter) as client:
        assert (await client.tool("needs")).text == "hello True aa b"
