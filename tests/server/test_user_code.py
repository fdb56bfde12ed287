"""Whatever code of the application raises is answered, and ends nothing but the request that it was run for.

Citations: server/tools#error-handling, basic/index#error-responses.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Annotated, Any

import pytest
from aiohttp import web
from hosting import on_aiohttp, on_uvicorn
from mcp_anyrev import Depends, Exchange, Forbidden, Principal, Registry, Server, Settings, elicit
from mcp_anyrev.declaring.around import Invocation
from mcp_anyrev.errors import ToolError
from mcp_anyrev.head import Head
from mcp_anyrev.serving.event_loop import run_to_the_end
from mcp_anyrev.user_code import Contained, Suspended, awaited, called, raised
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from pydantic import BaseModel, field_serializer, field_validator
from raw_client import RawClient, Reply, call_answering, serving
from starlette.applications import Starlette
from starlette.routing import Mount

ADAPTER = AdapterSet.default().newest_with_handshake


class Ending(BaseException):
    """Of nobody's making but the application's."""


RAISED: dict[str, Callable[[], BaseException]] = {
    "Exception": lambda: RuntimeError("hunter2"),
    "SystemExit": lambda: SystemExit(2),
    "KeyboardInterrupt": KeyboardInterrupt,
    "CancelledError": asyncio.CancelledError,
    "GeneratorExit": GeneratorExit,
    "BaseException": lambda: Ending("hunter2"),
    "StopIteration": lambda: StopIteration("hunter2"),
    "StopAsyncIteration": StopAsyncIteration,
    "ExceptionGroup": lambda: ExceptionGroup("hunter2", [RuntimeError("hunter2"), ValueError()]),
    "BaseExceptionGroup": lambda: BaseExceptionGroup(
        "", [SystemExit(1), BaseExceptionGroup("", [KeyboardInterrupt()])]
    ),
}


@pytest.fixture(params=RAISED)
def make(request: pytest.FixtureRequest) -> Callable[[], BaseException]:
    """Each thing that can be raised."""
    return RAISED[request.param]


def registry(make: Callable[[], BaseException]) -> Registry:
    """One thing for each place where code of the application runs for a request that uses something."""

    def fail() -> Any:
        raise make()

    def before() -> str:
        return str(fail())

    async def async_before() -> str:
        return str(fail())

    def opening() -> Iterator[str]:
        fail()
        yield "never"

    async def async_opening() -> AsyncIterator[str]:
        fail()
        yield "never"

    def closing() -> Iterator[str]:
        yield "open"
        fail()

    async def async_closing() -> AsyncIterator[str]:
        yield "open"
        fail()

    class Strict(BaseModel):
        word: str = "x"

        @field_validator("word", mode="after")
        @classmethod
        def check(cls, value: str) -> str:
            return str(fail())

    class Written(BaseModel):
        word: str

        @field_serializer("word")
        def write(self, value: str) -> str:
            return str(fail())

    made = Registry("failing", "1.0")

    @made.tool
    async def handler() -> str:
        return str(fail())

    @made.tool
    async def handler_that_has_waited() -> str:
        await asyncio.sleep(0)
        return str(fail())

    @made.tool
    def sync_handler() -> str:
        return str(fail())

    @made.tool
    async def handler_with_exchange(ex: Exchange) -> str:
        await ex.progress(1)
        return str(fail())

    @made.tool
    async def remembering(ex: Exchange) -> str:
        return str(await ex.remember("it", fail))

    for provider in (before, async_before, opening, async_opening, closing, async_closing):

        def use(one: Annotated[str, Depends(provider)]) -> str:
            return one

        async def use_async(one: Annotated[str, Depends(provider)]) -> str:
            return one

        made.tool(name=f"provided_{provider.__name__}")(use)
        made.tool(name=f"provided_to_async_{provider.__name__}")(use_async)

    @made.tool
    async def validated(args: Strict) -> str:
        return args.word

    @made.tool
    async def written() -> Written:
        return Written(word="x")

    @made.resource("fail://fixed")
    async def fixed() -> str:
        return str(fail())

    @made.resource("fail://many/{name}")
    def template(name: str) -> str:
        return str(fail())

    @made.prompt
    async def prompt(word: str = "") -> str:
        return str(fail())

    @made.completion("word", prompt="prompt")
    def complete(value: str) -> list[str]:
        return [str(fail())]

    @made.tool
    async def fine() -> str:
        return "fine"

    return made


def refused(reply: Reply) -> bool:
    """Is it an answer that says that something went wrong, and nothing about what?"""
    assert "hunter2" not in str(reply.message)
    return bool(reply.message["result"].get("isError")) if "result" in reply.message else "error" in reply.message


async def test_wherever_it_is_raised_it_is_answered(make: Callable[[], BaseException], binding: str) -> None:
    made = registry(make)
    async with serving(made, binding=binding) as url, RawClient(url, ADAPTER) as client:
        for name in made.tools:
            reply = await asyncio.wait_for(client.tool(name, {"word": "x"} if name == "validated" else {}), 5)
            assert refused(reply) == (name != "fine"), (name, reply.message)
        for method, params in (
            ("resources/read", {"uri": "fail://fixed"}),
            ("resources/read", {"uri": "fail://many/one"}),
            ("prompts/get", {"name": "prompt"}),
            (
                "completion/complete",
                {"ref": {"type": "ref/prompt", "name": "prompt"}, "argument": {"name": "word", "value": ""}},
            ),
        ):
            reply = await asyncio.wait_for(client.call(method, params), 5)
            assert reply.error["code"] == ADAPTER.error_codes["internal_error"], (method, reply.message)
        assert (await client.tool("fine")).text == "fine"


async def test_it_is_answered_in_each_revision(adapter: Adapter) -> None:
    async with serving(registry(RAISED["SystemExit"])) as url, RawClient(url, adapter) as client:
        for name in ("handler", "handler_that_has_waited", "sync_handler", "handler_with_exchange"):
            assert refused(await asyncio.wait_for(client.tool(name), 5)), name


@pytest.mark.parametrize("place", ["before", "after", "listing"])
async def test_what_a_hook_raises_is_answered(make: Callable[[], BaseException], place: str) -> None:
    made = registry(make)

    @made.around
    async def hook(invocation: Invocation, proceed: Callable[..., Awaitable[Any]]) -> Any:
        if invocation.target == "fine" and place == "before":
            raise make()
        result = await proceed(invocation)
        if invocation.target == "fine" or (invocation.target is None and place == "listing"):
            raise make()
        return result

    async with serving(made) as url, RawClient(url, ADAPTER) as client:
        assert refused(await asyncio.wait_for(client.tool("fine"), 5))
        if place == "listing":
            assert "error" in (await asyncio.wait_for(client.call("tools/list"), 5)).message
        assert (await client.call("ping")).result == {}


@pytest.mark.parametrize("given", [None, "text", [], {"content": [{"type": "text", "text": object()}]}])
async def test_what_a_hook_must_not_return_is_answered(given: Any) -> None:
    made = Registry("hooked", "1.0")

    @made.tool
    async def plain() -> str:
        return "fine"

    @made.around
    async def hook(invocation: Invocation, proceed: Callable[..., Awaitable[Any]]) -> Any:
        return given if invocation.target == "plain" else await proceed(invocation)

    async with serving(made) as url, RawClient(url, ADAPTER) as client:
        assert refused(await client.tool("plain"))
        assert (await client.call("tools/list")).result["tools"]


async def test_what_visible_raises_hides_it(make: Callable[[], BaseException]) -> None:
    def seen(principal: Principal | None) -> bool:
        raise make()

    made = Registry("hiding", "1.0")

    @made.tool(visible=seen)
    async def hidden() -> str:
        return "never"

    @made.tool
    async def plain() -> str:
        return "fine"

    async with serving(made) as url, RawClient(url, ADAPTER) as client:
        assert [one["name"] for one in (await client.call("tools/list")).result["tools"]] == ["plain"]
        assert (await client.tool("hidden")).error["code"] == ADAPTER.error_codes["invalid_params"]
        assert (await client.tool("plain")).text == "fine"


@pytest.mark.parametrize("waits", [False, True])
async def test_what_principal_raises_lets_nobody_in(
    make: Callable[[], BaseException], binding: str, waits: bool
) -> None:
    def recognise(head: Head) -> str:
        if "x-good" not in head.headers:
            raise make()
        return "ada"

    async def recognise_waiting(head: Head) -> str:
        return recognise(head)

    settings = Settings(principal=recognise_waiting if waits else recognise)
    good = {"X-Good": "yes"}
    async with (
        serving(registry(make), settings, binding) as url,
        RawClient(url, ADAPTER, headers=good) as client,
    ):
        reply = await asyncio.wait_for(client.tool("fine", change={"X-Good": None}), 5)
        assert reply.status == ADAPTER.error_statuses["unauthorized"] and refused(reply)
        assert (await client.tool("fine")).text == "fine"


async def test_what_principal_refuses_with_is_told() -> None:
    def recognise(head: Head) -> str:
        raise Forbidden("not from here")

    async with serving(Registry("guarded", "1.0"), Settings(principal=recognise)) as url:
        newest = AdapterSet.default().by_version[AdapterSet.default().versions[0]]
        async with RawClient(url, newest) as client:
            reply = await client.call("tools/list")
            assert reply.status == newest.error_statuses["forbidden"] and reply.error["message"] == "not from here"


@pytest.mark.parametrize("when", ["calling", "entering", "leaving"])
async def test_what_a_lifespan_raises_is_told_to_who_starts_and_stops(
    make: Callable[[], BaseException], when: str
) -> None:
    @contextlib.asynccontextmanager
    async def managed(registry: Registry) -> AsyncIterator[None]:
        if when == "entering":
            raise make()
        yield
        if when == "leaving":
            raise make()

    def lifespan(registry: Registry) -> contextlib.AbstractAsyncContextManager[None]:
        if when == "calling":
            raise make()
        return managed(registry)

    server = Server(Registry("living", "1.0", lifespan=lifespan))
    if when != "leaving":
        with pytest.raises(Exception):  # noqa: B017  # and not what would end the process
            await server.start()
    else:
        await server.start()
    if when == "leaving":
        with pytest.raises(Exception):  # noqa: B017
            await server.close()
    assert (await server.health())["running"] is False


async def test_a_request_is_told_that_a_server_cannot_start(binding: str, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing has started this one before a request does."""

    @contextlib.asynccontextmanager
    async def lifespan(registry: Registry) -> AsyncIterator[None]:
        raise SystemExit("password=hunter2")
        yield

    made = Registry("living", "1.0", lifespan=lifespan)
    newest = AdapterSet.default().by_version[AdapterSet.default().versions[0]]
    with caplog.at_level(logging.ERROR):
        async with _unstarted(Server(made), binding) as url, RawClient(url, newest) as client:
            for _ in range(2):
                reply = await client.call("tools/list")
                assert reply.status == newest.error_statuses["unavailable"] and refused(reply)
    assert "hunter2" in caplog.text


@contextlib.asynccontextmanager
async def _unstarted(server: Server, binding: str) -> AsyncIterator[str]:
    if binding == "aiohttp":
        application = web.Application()
        application.add_routes(server.routes())
        hosted = on_aiohttp(application)
    else:
        hosted = on_uvicorn(Starlette(routes=[Mount("/", server.asgi())]))  # which does not pass lifespans on
    async with hosted as root:
        yield f"{root}/mcp"


def swallowing() -> Iterator[str]:
    with contextlib.suppress(BaseException):
        yield "open"


async def async_swallowing() -> AsyncIterator[str]:
    with contextlib.suppress(BaseException):
        yield "open"


@contextlib.contextmanager
def managing() -> Iterator[str]:
    with contextlib.suppress(BaseException):
        yield "open"


@contextlib.asynccontextmanager
async def async_managing() -> AsyncIterator[str]:
    with contextlib.suppress(BaseException):
        yield "open"


@pytest.mark.parametrize("provider", [swallowing, async_swallowing, managing, async_managing])
async def test_a_provider_that_swallows_makes_no_success_of_a_failure(
    provider: Callable[[], Any], adapter: Adapter
) -> None:
    made = Registry("swallowing", "1.0")

    @made.tool
    async def fail(one: Annotated[str, Depends(provider)]) -> str:
        raise RuntimeError

    @made.tool
    async def words(one: Annotated[str, Depends(provider)]) -> str:
        raise ToolError("in words")

    @made.tool
    async def asks(one: Annotated[str, Depends(provider)], ex: Exchange) -> str:
        return "went" if (await ex.ask("go", elicit("Go?"))).accepted else "stopped"

    async with serving(made) as url, RawClient(url, adapter) as client:
        assert (await client.tool("fail")).result["isError"] is True
        reply = await client.tool("words")
        assert reply.result["isError"] is True and reply.text == "in words"
        answer = {"action": "accept", "content": {}}
        assert (await call_answering(client, "asks", {}, {"Go?": answer})).text == "went"


async def test_a_provider_may_put_another_failure_in_the_place_of_one() -> None:
    made = Registry("translating", "1.0")

    def translating() -> Iterator[str]:
        try:
            yield "open"
        except KeyError as error:
            raise ToolError(f"there is no {error}") from None

    @made.tool
    async def look(one: Annotated[str, Depends(translating)]) -> str:
        raise KeyError("chair")

    async with serving(made) as url, RawClient(url, ADAPTER) as client:
        reply = await client.tool("look")
        assert reply.result["isError"] is True and reply.text == "there is no 'chair'"


async def test_words_survive_in_a_group(adapter: Adapter, caplog: pytest.LogCaptureFixture) -> None:
    made = Registry("grouping", "1.0")

    async def fail(words: str) -> None:
        raise ToolError(words)

    @made.tool
    async def together() -> str:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(fail("the first"))
            tasks.create_task(fail("the second"))
        return "never"

    @made.tool
    async def mixed() -> str:
        raise BaseExceptionGroup("", [SystemExit("hunter2"), ExceptionGroup("", [ToolError("told"), ValueError("x")])])

    @made.tool
    async def refusing() -> str:
        raise ExceptionGroup("", [ToolError("told"), Forbidden("not you")])

    with caplog.at_level(logging.ERROR):
        async with serving(made) as url, RawClient(url, adapter) as client:
            assert (await client.tool("together")).text == "the first\nthe second"
            assert (await client.tool("mixed")).text == "told"
            assert (await client.tool("refusing")).error["code"] == adapter.error_codes["forbidden"]
    assert "hunter2" in caplog.text


async def test_a_question_asked_in_a_group_is_asked(round_adapter: Adapter) -> None:
    made = Registry("grouping", "1.0")

    @made.tool
    async def together(ex: Exchange) -> str:
        async with asyncio.TaskGroup() as tasks:
            one = tasks.create_task(ex.ask("one", elicit("One?")))
            tasks.create_task(asyncio.sleep(0))
        return str(one.result().accepted)

    async with serving(made) as url, RawClient(url, round_adapter) as client:
        reply = await call_answering(client, "together", {}, {"One?": {"action": "accept", "content": {}}})
        assert reply.text == "True"


async def test_a_cancellation_that_somebody_asked_for_passes() -> None:
    seen: list[str] = []

    async def work() -> str:
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise
        return "never"

    task = asyncio.ensure_future(awaited(work(), raised))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert task.cancelled() and seen == ["cancelled"]


def cancelling() -> Registry:
    """Whose code cancels the very task that it runs in, in each way there is."""
    made = Registry("cancelling", "1.0")

    def cancel() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()

    async def provided() -> AsyncIterator[str]:
        cancel()
        yield "x"
        await asyncio.sleep(0)

    @made.tool
    async def and_waits() -> str:
        cancel()
        await asyncio.sleep(1)
        return "fine"

    @made.tool
    async def having_waited() -> str:
        await asyncio.sleep(0.01)
        cancel()
        cancel()
        await asyncio.sleep(1)
        return "fine"

    @made.tool
    async def and_returns() -> str:
        cancel()
        return "fine"

    @made.tool
    async def and_raises() -> str:
        await asyncio.sleep(0)
        cancel()
        raise RuntimeError("hunter2")

    @made.tool
    async def and_tells(ex: Exchange) -> str:
        cancel()
        await ex.progress(1)
        return "fine"

    @made.tool
    async def in_time() -> str:
        async with asyncio.timeout(5):
            cancel()
            await asyncio.sleep(1)
        return "fine"

    @made.tool
    async def in_a_provider(one: Annotated[str, Depends(provided)]) -> str:
        return one

    @made.resource("cancels://itself")
    async def resource() -> str:
        cancel()
        await asyncio.sleep(1)
        return "fine"

    return made


async def test_what_cancels_its_own_task_is_answered(adapter: Adapter, binding: str) -> None:
    made = cancelling()
    async with serving(made, binding=binding) as url, RawClient(url, adapter) as client:
        for name in made.tools:
            reply = await asyncio.wait_for(client.tool(name), 5)
            assert (refused(reply) or reply.text == "fine") and reply.status == 200, name
        reply = await asyncio.wait_for(client.call("resources/read", {"uri": "cancels://itself"}), 5)
        assert reply.error["code"] == adapter.error_codes["internal_error"]


async def test_in_a_batch_what_cancels_its_own_task_spoils_nothing(binding: str) -> None:
    tried = 0
    for adapter in AdapterSet.default().by_version.values():
        async with serving(cancelling(), binding=binding) as url, RawClient(url, adapter) as client:
            names = ("and_waits", "and_returns", "having_waited")
            batch = [client.request("tools/call", {"name": name, "arguments": {}}) for name in names]
            ping = client.request("ping")
            reply = await asyncio.wait_for(client.post([*batch, ping], like=ping), 5)
            if isinstance(reply.message, list):
                tried += 1
                assert {one["id"] for one in reply.message} == {one["id"] for one in (*batch, ping)}
    assert tried


async def test_a_coroutine_that_is_put_away_runs_nothing_more() -> None:
    otherwise: list[Exception] = []
    coroutine = awaited(asyncio.sleep(10), otherwise.append)
    coroutine.send(None)
    await asyncio.get_running_loop().run_in_executor(None, coroutine.close)
    assert not otherwise


def test_suspension_passes() -> None:
    def suspend() -> None:
        raise Suspended

    def suspend_in_group() -> None:
        raise BaseExceptionGroup("", [ValueError(), BaseExceptionGroup("", [Suspended()])])

    for function in (suspend, suspend_in_group):
        with pytest.raises(Suspended):
            called(function, raised)


def test_what_a_signal_raises_passes() -> None:
    def ends(number: int, frame: object) -> None:
        raise SystemExit(7)

    with pytest.raises(KeyboardInterrupt):
        called(lambda: signal.raise_signal(signal.SIGINT), raised)
    before = signal.signal(signal.SIGTERM, ends)
    try:
        with pytest.raises(SystemExit) as ended:
            called(lambda: signal.raise_signal(signal.SIGTERM), raised)
        assert ended.value.code == 7
    finally:
        signal.signal(signal.SIGTERM, before)

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(Contained):
        called(interrupt, raised)


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt])
def test_a_task_that_a_handler_starts_does_not_end_a_server_that_is_alone(
    kind: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    made, begun = Registry("starting", "1.0"), []

    async def ends() -> None:
        raise kind

    @made.tool
    async def waits_for_it() -> str:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(ends())
        return "never"

    @made.tool
    async def leaves_it() -> str:
        begun.append(asyncio.create_task(ends()))
        return "fine"

    async def main() -> None:
        async with serving(made) as url, RawClient(url, ADAPTER) as client:
            failed = await client.tool("waits_for_it")
            assert failed.result["isError"] and "failed" in failed.text
            assert (await client.tool("leaves_it")).text == "fine"
            assert (await client.tool("leaves_it")).text == "fine"
        for task in begun:
            assert isinstance(task.exception(), kind)

    run_to_the_end(main())
    assert caplog.text.count("would have ended the process") == 3

    with pytest.raises(kind):
        run_to_the_end(ends())


async def test_what_a_signal_raises_passes_through_an_event_loop() -> None:
    """The second one does; the first asks the main task to end, and so asks for its cancellation."""

    async def work() -> None:
        signal.raise_signal(signal.SIGINT)
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        await awaited(work(), raised)
    task = asyncio.current_task()
    assert task is not None
    task.uncancel()
