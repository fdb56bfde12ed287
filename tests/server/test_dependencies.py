"""What handlers need and no client sends: dependencies, the lifespan's value, and the hook around a call."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any

import pytest
from aiohttp import web
from mcp_anyrev import (
    Depends,
    Exchange,
    Invocation,
    RegistrationError,
    Registry,
    Server,
    ToolError,
    asgi,
    elicit,
    lifespan_value,
)
from mcp_anyrev.testing import serve
from mcp_contract import JsonObject
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, call_answering, request_answering, serving

Events = list[str]
YES = {"Go ahead?": {"action": "accept", "content": {}}}


async def confirmed(ex: Exchange) -> bool:
    return (await ex.ask("go", elicit("Go ahead?"))).accepted


def caller(ex: Exchange) -> str:
    return "nobody" if ex.principal is None else ex.principal.name


Confirmed = Annotated[bool, Depends(confirmed)]


async def test_dependencies_are_made_once_in_order_and_closed_in_reverse(adapter: Adapter) -> None:
    events: Events = []
    made = Registry("depends", "1.0")

    async def first() -> AsyncIterator[str]:
        events.append("open first")
        yield "first"
        events.append("close first")

    @contextlib.contextmanager
    def second(one: Annotated[str, Depends(first)]) -> Iterator[str]:
        events.append("open second")
        yield f"{one} second"
        events.append("close second")

    class Third:
        def __init__(self, one: Annotated[str, Depends(first)], suffix: str = "!") -> None:
            self.text = one + suffix

    @made.tool
    async def use(word: str, two: Annotated[str, Depends(second)], three: Annotated[Third, Depends(Third)]) -> str:
        events.append("use")
        return f"{word} {two} {three.text}"

    @made.tool
    def in_thread(two: Annotated[str, Depends(second)]) -> str:
        raise ToolError(two)

    async with serving(made) as url, RawClient(url, adapter) as client:
        assert (await client.tool("use", {"word": "w"})).text == "w first second first!"
        assert events == ["open first", "open second", "use", "close second", "close first"]
        events.clear()
        assert (await client.tool("in_thread")).text == "first second"
        assert events == ["open first", "open second"]  # a generator that is not written for failures sees them raised
        listed = {tool["name"]: tool for tool in (await client.call("tools/list")).result["tools"]}
    assert set(listed["use"]["inputSchema"]["properties"]) == {"word"}


async def test_wrong_arguments_open_nothing(adapter: Adapter) -> None:
    events: Events = []
    made = Registry("depends", "1.0")

    async def opened() -> str:
        events.append("open")
        return "open"

    @made.tool
    async def use(word: str, one: Annotated[str, Depends(opened)]) -> str:
        return one

    async with serving(made) as url, RawClient(url, adapter) as client:
        assert (await client.tool("use", {"wrod": "w"})).result["isError"] is True
    assert events == []


async def test_a_tool_that_asks_through_a_dependency_asks(adapter: Adapter) -> None:
    made = Registry("depends", "1.0")

    @made.tool
    async def go(word: str, ahead: Confirmed) -> str:
        return f"{word} {ahead}"

    @made.tool
    async def who(name: Annotated[str, Depends(caller)]) -> str:
        return name

    @made.resource("mx://{id}")
    async def item(id: str, ahead: Confirmed) -> str:
        return f"{id} {ahead}"

    async with serving(made) as url, RawClient(url, adapter) as client:
        listed = {
            tool["name"]: set(tool["inputSchema"]["properties"])
            for tool in (await client.call("tools/list")).result["tools"]
        }
        assert (listed["go"] > {"word"}) == adapter.asks_in_arguments
        assert listed["who"] == set()  # it can see who calls, but cannot wait for an answer
        assert (await call_answering(client, "go", {"word": "w"}, YES)).text == "w True"
        assert (await client.tool("who")).text == "nobody"
        reply = await request_answering(client, "resources/read", {"uri": "mx://7"}, YES)
        if adapter.askable_methods.get("resources/read"):
            assert reply.result["contents"][0]["text"] == "7 True"


def needy(missing: int) -> int:
    return missing


async def takes_needy(one: Annotated[int, Depends(needy)]) -> str:
    return "never"


async def takes_default(one: Any = Depends(needy)) -> str:  # noqa: B008  # what this tests
    return "never"


async def takes_nothing(one: Annotated[int, Depends(7)]) -> str:  # type: ignore[arg-type]  # what this tests
    return "never"


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (takes_needy, "the dependency needy has a parameter missing that nothing gives a value"),
        (takes_default, "the parameter one has Depends for a default; write Annotated[…, Depends(…)]"),
        (takes_nothing, "Depends takes a function, not 7"),
    ],
)
def test_a_wrong_dependency_is_refused_where_it_is_declared(function: Any, words: str) -> None:
    with pytest.raises(RegistrationError) as caught:
        Registry("wrong", "1.0").tool(function)
    assert str(caught.value) == f"tool '{function.__name__}': {words}"


def test_a_dependency_that_needs_itself_is_refused() -> None:
    def egg(hen: Any) -> Any:
        return hen

    def hen(egg: Any) -> Any:
        return egg

    egg.__annotations__["hen"] = Annotated[Any, Depends(hen)]
    hen.__annotations__["egg"] = Annotated[Any, Depends(egg)]

    async def breakfast(one: Annotated[Any, Depends(egg)]) -> str:
        return "never"

    with pytest.raises(RegistrationError, match=r"^tool 'breakfast': the dependency egg needs itself$"):
        Registry("wrong", "1.0").tool(breakfast)


def with_lifespan(events: Events, name: str = "lifespan") -> Registry:
    @contextlib.asynccontextmanager
    async def lifespan(registry: Registry) -> AsyncIterator[str]:
        events.append(f"enter {registry.name}")
        try:
            yield f"value of {registry.name}"
        finally:
            events.append(f"leave {registry.name}")

    made = Registry(name, "1.0", lifespan=lifespan)

    @made.tool(name=f"{name}-value")
    async def value(given: Annotated[str, Depends(lifespan_value)]) -> str:
        return given

    @made.tool(name=f"{name}-thread")
    def in_thread() -> str:
        return str(lifespan_value())

    return made


async def test_the_lifespan_is_entered_with_the_server_and_left_with_it(adapter: Adapter, binding: str) -> None:
    events: Events = []
    async with serving(with_lifespan(events), binding=binding) as url:
        assert events == ["enter lifespan"]
        async with RawClient(url, adapter) as client:
            assert (await client.tool("lifespan-value")).text == "value of lifespan"
            assert (await client.tool("lifespan-thread")).text == "value of lifespan"
    assert events == ["enter lifespan", "leave lifespan"]


async def test_routes_start_and_end_the_lifespan(adapter: Adapter) -> None:
    events: Events = []
    server = Server(with_lifespan(events))
    application = web.Application()
    application.add_routes(server.routes())
    application.on_startup.append(server.start)
    application.on_shutdown.append(server.close)
    runner = web.AppRunner(application)
    await runner.setup()
    assert events == ["enter lifespan"]
    await runner.cleanup()
    assert events == ["enter lifespan", "leave lifespan"]


async def test_a_server_that_nobody_starts_starts_with_its_first_request(adapter: Adapter) -> None:
    events: Events = []
    application = web.Application()
    application.add_routes(Server(with_lifespan(events)).routes())
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    assert events == []
    try:
        async with RawClient(f"http://127.0.0.1:{runner.addresses[0][1]}/mcp", adapter) as client:
            replies = await asyncio.gather(*(client.tool("lifespan-value") for _ in range(3)))
            assert {reply.text for reply in replies} == {"value of lifespan"}
            assert events == ["enter lifespan"]
    finally:
        await runner.cleanup()


async def test_a_lifespan_that_fails_keeps_the_server_from_starting() -> None:
    @contextlib.asynccontextmanager
    async def lifespan(registry: Registry) -> AsyncIterator[None]:
        raise RuntimeError("no database")
        yield

    made = Registry("broken", "1.0", lifespan=lifespan)
    with pytest.raises(RuntimeError, match="no database"):
        async with serve(made):
            pass
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "lifespan.startup"}

    async def send(message: Any) -> None:
        sent.append(message)

    await asgi(made)({"type": "lifespan"}, receive, send)
    assert [message["type"] for message in sent] == ["lifespan.startup.failed"]
    assert "database" not in str(sent)


async def test_an_included_registry_brings_its_lifespan_and_its_hook(adapter: Adapter) -> None:
    events: Events = []
    outer, inner = with_lifespan(events, "outer"), with_lifespan(events, "inner")
    outer.include(inner, prefix="in.")

    @outer.around
    async def around_outer(invocation: Invocation, proceed: Any) -> JsonObject:
        events.append(f"outer {invocation.target}")
        result: JsonObject = await proceed(invocation)
        return result

    @inner.around
    async def around_inner(invocation: Invocation, proceed: Any) -> JsonObject:
        events.append(f"inner {invocation.target}")
        result: JsonObject = await proceed(invocation)
        return result

    async with serving(outer) as url, RawClient(url, adapter) as client:
        assert (await client.tool("in.inner-value")).text == "value of inner"
        assert (await client.tool("outer-value")).text == "value of outer"
    assert events == [
        "enter outer",
        "enter inner",
        "outer in.inner-value",
        "inner in.inner-value",
        "outer outer-value",
        "leave inner",
        "leave outer",
    ]


async def test_the_hook_sees_canonical_values_of_every_kind_and_may_change_them(adapter: Adapter) -> None:
    seen: list[Invocation] = []
    made = Registry("around", "1.0")

    @made.tool
    async def numbers(count: int) -> list[int]:
        return list(range(count))

    @made.tool
    async def go(ahead: Confirmed) -> str:
        return f"{ahead}"

    @made.resource("mx://{id}")
    async def item(id: str) -> str:
        return id

    @made.prompt
    async def greet(name: str) -> str:
        return name

    @made.completion("name", prompt="greet")
    async def names(value: str) -> list[str]:
        return [value]

    @made.around
    async def hook(invocation: Invocation, proceed: Any) -> JsonObject:
        seen.append(invocation)
        result: JsonObject = await proceed(invocation)
        if "structuredContent" in result:
            assert result["structuredContent"] == [0, 1]  # whatever the revision can send of it
            return {"content": [{"type": "text", "text": "changed"}]}
        return result

    async with serving(made) as url, RawClient(url, adapter) as client:
        assert (await client.tool("numbers", {"count": 2})).text == "changed"
        assert (await client.tool("numbers", {"count": "two"})).result["isError"] is True
        await client.call("resources/read", {"uri": "mx://7"})
        await client.call("prompts/get", {"name": "greet", "arguments": {"name": "Ada"}})
        ref = {"type": "ref/prompt", "name": "greet"}
        completes = "completion/complete" in adapter.client_requests
        await client.call("completion/complete", {"ref": ref, "argument": {"name": "name", "value": "a"}})
        assert [(one.method, one.target) for one in seen] == [
            ("tools/call", "numbers"),
            ("tools/call", "numbers"),
            ("resources/read", "mx://7"),
            ("prompts/get", "greet"),
            *([("completion/complete", "greet")] if completes else []),
        ]
        assert seen[0].params["arguments"] == {"count": 2} and seen[0].principal is None
        seen.clear()
        assert (await call_answering(client, "go", {}, YES)).text == "True"
        assert all("mcpAnswers" not in one.params.get("arguments", {}) for one in seen)
        assert len(seen) == (1 if adapter.can_push_ask else 2)


async def test_hooks_stand_in_order_around_every_request_and_see_what_was_raised(adapter: Adapter) -> None:
    seen: list[str] = []
    made = Registry("around", "1.0")

    @made.tool
    async def fail(word: str) -> str:
        raise KeyError(word)

    @made.resource("mx://{id}")
    async def item(id: str) -> str:
        return id

    @made.around
    async def outer(invocation: Invocation, proceed: Any) -> JsonObject:
        seen.append(f"outer {invocation.method} {invocation.target}")
        try:
            result: JsonObject = await proceed(invocation)
        except Exception as error:
            seen.append(f"outer saw {type(error).__name__}")
            raise
        return result

    @made.around
    async def inner(invocation: Invocation, proceed: Any) -> JsonObject:
        seen.append(f"inner {invocation.method}")
        try:
            result: JsonObject = await proceed(invocation)
        except KeyError as error:
            raise ToolError(f"translated {error}") from None
        if "tools" in result:
            result["tools"] = [{**tool, "description": "seen"} for tool in result["tools"]]
        return result

    async with serving(made) as url, RawClient(url, adapter) as client:
        seen.clear()
        listed = (await client.call("tools/list")).result["tools"]
        assert [tool["description"] for tool in listed] == ["seen"]
        assert seen == ["outer tools/list None", "inner tools/list"]
        seen.clear()
        reply = await client.tool("fail", {"word": "w"})
        assert reply.result["isError"] is True and reply.text == "translated 'w'"
        assert seen == ["outer tools/call fail", "inner tools/call", "outer saw ToolError"]
        seen.clear()
        assert (await client.tool("fail", {"wrod": "w"})).result["isError"] is True
        assert seen[-1] == "outer saw WrongArguments"
        seen.clear()
        missing = await client.call("resources/read", {"uri": "other://7"})
        assert missing.error["code"] == adapter.error_codes["resource_not_found"]
        assert seen == ["outer resources/read other://7", "inner resources/read", "outer saw ResourceNotFound"]
        if "resources/subscribe" in adapter.client_requests:
            seen.clear()
            assert (await client.call("resources/subscribe", {"uri": "mx://7"})).result == {}
            assert seen == ["outer resources/subscribe mx://7", "inner resources/subscribe"]
        seen.clear()
        await client.call(adapter.description_method, adapter.description_params(client.declaration))
        assert seen == []


def test_a_hook_is_async() -> None:
    made = Registry("around", "1.0")
    with pytest.raises(RegistrationError, match=r"^server 'around': the around hook is not async$"):
        made.around(lambda invocation, proceed: proceed(invocation))


def test_a_lifespan_takes_the_registry() -> None:
    with pytest.raises(RegistrationError, match=r"the lifespan is a function that takes the registry$"):
        Registry("wrong", "1.0", lifespan=lambda: contextlib.nullcontext())  # type: ignore[misc,arg-type]


def test_a_tool_that_needs_nothing_is_called_directly() -> None:
    made = Registry("direct", "1.0")

    @made.tool
    async def plain() -> str:
        return ""

    assert made.tools["plain"].stands_alone
    outer = Registry("outer", "1.0")
    outer.include(made)

    @outer.around
    async def hook(invocation: Invocation, proceed: Any) -> JsonObject:
        result: JsonObject = await proceed(invocation)
        return result

    assert made.tools["plain"].stands_alone and not outer.tools["plain"].stands_alone
