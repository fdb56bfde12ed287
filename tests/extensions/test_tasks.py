"""Calls that are answered later, on every revision that has tasks, and at once on the others.

Citations: basic/utilities/tasks (2025-11-25); the tasks extension (SEP-2663) on later revisions.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_anyrev import (
    Client,
    ClientTask,
    ErrorAnswer,
    Exchange,
    Limits,
    NotOffered,
    Principal,
    RegistrationError,
    Registry,
    RequestRefused,
    Server,
    Settings,
    TaskGivenUp,
    ToolError,
    elicit,
)
from mcp_anyrev.server.core import Core
from mcp_anyrev.storage.memory import MemoryHub, MemoryStore
from mcp_anyrev.transports.memory import MemoryTransport
from mcp_contract import InvalidParams, MethodNotFound, MissingClientCapability
from mcp_contract.tasks import LISTENED_TO, NOTIFICATION, TASKS_EXTENSION
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from pydantic import BaseModel

ADAPTERS = AdapterSet.default().by_version
WITH_TASKS = [version for version, adapter in ADAPTERS.items() if adapter.task_methods]
DECIDED_BY_SERVER = [version for version in WITH_TASKS if ADAPTERS[version].listens_to_tasks]
ASKED_BY_CLIENT = [version for version in WITH_TASKS if version not in DECIDED_BY_SERVER]
QUICK = Settings(task_poll_seconds=0.05)


class Name(BaseModel):
    name: str


class Yard:
    """An application, and what has become of its work."""

    def __init__(self) -> None:
        self.registry = registry = Registry("yard", "1.0")
        self.given_up = 0
        self.going = asyncio.Event()
        self.may_end = asyncio.Event()

        @registry.tool(task_support="optional")
        async def dig(depth: int = 1) -> dict[str, int]:
            return {"depth": depth}

        @registry.tool(task_support="optional")
        async def dig_long(ex: Exchange) -> str:
            await ex.answer_later()
            self.going.set()
            try:
                await ex.progress(1, message="still digging")
                await self.may_end.wait()
            except asyncio.CancelledError:
                self.given_up += 1
                assert ex.cancelled
                raise
            return "dug"

        @registry.tool(task_support="optional")
        async def ask(ex: Exchange) -> str:
            first = await ex.ask("first", elicit("Who begins?", Name))
            later = await ex.answer_later()
            others = await ex.ask_all(second=elicit("Who goes on?", Name), third=elicit("Who ends?", Name))
            said = [one.data.name if one.accepted else str(one.action) for one in (first, *others.values())]
            return f"{later}: {' '.join(said)}"

        @registry.tool(task_support="required")
        async def sink() -> str:
            raise ToolError("the boat sank")

        @registry.tool(task_support="optional")
        async def break_down() -> str:
            raise InvalidParams("the engine does not take this")

        @registry.tool(task_support="optional")
        def fail() -> str:
            raise RuntimeError("a secret of the yard")

        @registry.tool
        def greet() -> str:
            return "hello"


def named(*names: str) -> Callable[[Any], dict[str, str]]:
    left = iter(names)
    return lambda asked: {"name": next(left)}


@contextlib.asynccontextmanager
async def connected(
    version: str, yard: Yard | None = None, run: Settings = QUICK, principal: Principal | None = None, **options: Any
) -> AsyncIterator[Client]:
    async with (
        Server((yard or Yard()).registry, run) as server,
        Client(lambda: server.connect(principal), ADAPTERS[version], **options) as client,
    ):
        await client.initialize()
        yield client


def words(result: Any) -> str:
    return str(result.content[0].text)


async def raw(client: Client, name: str, identifier: str, **params: Any) -> Any:
    """A request about a task, as it goes over the wire."""
    return await client.request(client.adapter.task_methods[name], {"taskId": identifier, **params})


async def until(holds: Callable[[], Any]) -> None:
    while True:
        held = holds()
        if await held if inspect.isawaitable(held) else held:
            return
        await asyncio.sleep(0.01)


async def until_it_is(status: str, task: ClientTask) -> Any:
    state = None

    async def holds() -> bool:
        nonlocal state
        state = await task.state()
        return state is not None and state.status == status

    await until(holds)
    return state


# --- The same on every revision ---


async def test_a_call_gives_the_same_whether_it_is_answered_later_or_not(adapter: Adapter) -> None:
    async with connected(adapter.version, on_ask=named("Ann", "Bea", "Cy")) as client:
        assert words(await client.call_tool("dig", {"depth": 3})) == '{"depth":3}'
        assert words(await client.call_tool("greet")) == "hello"
        assert words(await client.call_tool("ask")).endswith(": Ann Bea Cy")
        sunk = await client.call_tool("sink")
        assert (sunk.is_error, words(sunk)) == (True, "the boat sank")
        failed = await client.call_tool("fail")
        assert failed.is_error is True and "secret" not in words(failed)


async def test_an_error_of_the_protocol_stays_one(adapter: Adapter) -> None:
    async with connected(adapter.version) as client:
        with pytest.raises(ErrorAnswer) as refused:
            await client.call_tool("break_down")
        assert "the engine does not take this" in refused.value.message


async def test_whoever_does_not_wait_any_longer_ends_the_work(adapter: Adapter) -> None:
    yard = Yard()
    async with connected(adapter.version, yard) as client:
        call = asyncio.create_task(client.call_tool("dig_long"))
        await yard.going.wait()
        await asyncio.sleep(0.1)  # until the client has heard that it is a task
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await until(lambda: yard.given_up)


async def test_where_there_are_no_tasks_nothing_is_said_of_them(adapter: Adapter) -> None:
    if adapter.task_methods:
        pytest.skip("it has tasks")
    async with connected(adapter.version) as client:
        assert "tasks" not in client.description["capabilities"]
        assert "extensions" not in client.description["capabilities"]
        assert all(tool.execution is None for tool in await client.list_tools())
        task = await client.start_tool("dig")
        assert task.identifier is None
        assert words(await task.result()) == '{"depth":1}'
        with pytest.raises(NotOffered):
            await client.list_tasks()


# --- Where there are tasks ---


@pytest.mark.parametrize("version", WITH_TASKS)
async def test_a_task_can_be_left_and_found_again(version: str) -> None:
    """basic/utilities/tasks#getting-tasks"""
    yard = Yard()
    async with connected(version, yard, principal=Principal("ann")) as client:
        begun = await client.start_tool("dig_long")
        assert begun.identifier is not None
        again = client.task(begun.identifier)
        state = await until_it_is("working", again)
        assert state.ttl == 3_600_000 and state.poll_interval == 50
        assert state.created_at <= state.last_updated_at
        await yard.going.wait()

        async def told() -> bool:
            state = await again.state()
            return state is not None and state.status_message == "still digging"

        await until(told)
        yard.may_end.set()
        assert words(await again.result()) == "dug"
        ended = await until_it_is("completed", again)
        assert ended.status_message is None
        assert ended.last_updated_at >= state.last_updated_at


@pytest.mark.parametrize("version", WITH_TASKS)
async def test_a_task_that_is_given_up_stays_so(version: str) -> None:
    """basic/utilities/tasks#task-cancellation"""
    yard = Yard()
    async with connected(version, yard) as client:
        task = await client.start_tool("dig_long")
        await yard.going.wait()
        await task.cancel()
        state = await task.state()
        assert state is not None and state.status == "cancelled"
        with pytest.raises(TaskGivenUp):
            await task.result()
        await until(lambda: yard.given_up)
        yard.may_end.set()
        await asyncio.sleep(0)
        assert (await until_it_is("cancelled", task)).status == "cancelled"
        if version in DECIDED_BY_SERVER:
            await task.cancel()  # is acknowledged all the same
        else:
            with pytest.raises(RequestRefused):
                await task.cancel()


@pytest.mark.parametrize("version", WITH_TASKS)
async def test_no_task_is_there_for_others_or_by_any_other_name(version: str) -> None:
    """basic/utilities/tasks#task-isolation-and-access-control"""
    yard = Yard()
    async with Server(yard.registry, QUICK) as server:
        ann, bea = (lambda who=who: server.connect(Principal(who)) for who in ("ann", "bea"))
        async with Client(ann, ADAPTERS[version]) as owner, Client(bea, ADAPTERS[version]) as other:
            task = await owner.start_tool("dig")
            assert task.identifier is not None
            await other.initialize()
            for wrong in (task.identifier, task.identifier[:-1], "../x", "", "é", "x" * 10_000):
                for name in other.adapter.task_methods.keys() - {"list"}:
                    with pytest.raises(RequestRefused) as refused:
                        await raw(other, name, wrong, inputResponses={})
                    assert refused.value.kind == InvalidParams.kind
            assert words(await task.result()) == '{"depth":1}'


@pytest.mark.parametrize("version", WITH_TASKS)
async def test_so_many_tasks_are_at_work_at_once_and_no_more(version: str) -> None:
    yard = Yard()
    run = Settings(task_poll_seconds=0.05, limits=Limits(tasks_of_principal=2))
    async with connected(version, yard, run) as client:
        tasks = [await client.start_tool("dig_long") for _ in range(2)]
        with pytest.raises(ErrorAnswer, match="2 tasks"):
            await client.start_tool("dig_long")
        await tasks[0].cancel()
        await until(lambda: yard.given_up)
        yard.may_end.set()
        assert words(await (await client.start_tool("dig_long")).result()) == "dug"


@pytest.mark.parametrize("version", WITH_TASKS)
async def test_a_task_is_kept_for_so_long(version: str) -> None:
    """basic/utilities/tasks#ttl-and-resource-management"""
    yard = Yard()
    async with connected(version, yard, Settings(task_seconds=1, task_poll_seconds=0.05)) as client:
        task = await client.start_tool("dig_long", keep_seconds=3600)
        state = await task.state()
        assert state is not None and state.ttl == 1000
        begun = time.monotonic()
        await until(lambda: yard.given_up)
        assert time.monotonic() - begun < 5


@pytest.mark.parametrize("version", WITH_TASKS)
async def test_the_end_of_the_server_ends_its_tasks_with_an_error(version: str) -> None:
    yard, store = Yard(), MemoryStore()
    run = Settings(task_poll_seconds=0.05, store=store, shutdown_seconds=0)
    ann = Principal("ann")
    async with Server(yard.registry, run) as first, Client(lambda: first.connect(ann), ADAPTERS[version]) as client:
        task = await client.start_tool("dig_long")
        await yard.going.wait()
    assert yard.given_up == 1 and task.identifier is not None
    async with Server(yard.registry, run) as second, Client(lambda: second.connect(ann), ADAPTERS[version]) as client:
        with pytest.raises(ErrorAnswer, match="the server ended the task"):
            await client.task(task.identifier).result()


@pytest.mark.parametrize("version", WITH_TASKS)
async def test_any_worker_answers_and_one_that_is_gone_is_noticed(version: str) -> None:
    yard, hub, store = Yard(), MemoryHub(), MemoryStore()
    run = Settings(task_poll_seconds=0.05, store=store, hub=hub)
    ahead = 0.0
    cores = [Core(yard.registry, run), Core(yard.registry, run, lambda: time.time() + ahead)]
    ann = Principal("ann")
    for core in cores:
        await core.start()
    try:
        async with (
            Client(lambda: MemoryTransport(cores[0], ann), ADAPTERS[version], on_ask=named("Ann")) as here,
            Client(
                lambda: MemoryTransport(cores[1], ann), ADAPTERS[version], on_ask=named("Bea", "Cy", "Dee")
            ) as there,
        ):
            asking = await here.start_tool("ask")
            assert asking.identifier is not None
            said = words(await there.task(asking.identifier).result())
            assert said == ("True: Ann Bea Cy" if version in DECIDED_BY_SERVER else "True: Bea Cy Dee")

            digging = await here.start_tool("dig_long")
            assert digging.identifier is not None
            await yard.going.wait()
            await there.task(digging.identifier).cancel()
            await until(lambda: yard.given_up)

            lost = await here.start_tool("dig_long")
            assert lost.identifier is not None
            ahead = 120.0  # the worker has not been heard of for so long
            with pytest.raises(ErrorAnswer, match="is gone"):
                await there.task(lost.identifier).result()
            yard.may_end.set()
    finally:
        for core in cores:
            await core.close()


@pytest.mark.parametrize("version", WITH_TASKS)
@settings(max_examples=10)
@given(
    moves=st.lists(
        st.tuples(st.sampled_from(["ann", "bea"]), st.sampled_from(["begin", "get", "cancel"]), st.integers(0, 5))
    )
)
def test_two_principals_never_see_each_others_tasks(version: str, moves: list[tuple[str, str, int]]) -> None:
    async def interleaved() -> None:
        yard = Yard()
        async with contextlib.AsyncExitStack() as stack:
            server = await stack.enter_async_context(Server(yard.registry, QUICK))
            clients = {
                who: await stack.enter_async_context(
                    Client(lambda who=who: server.connect(Principal(who)), ADAPTERS[version])  # type: ignore[misc]
                )
                for who in ("ann", "bea")
            }
            begun: list[tuple[str, str]] = []
            for who, move, number in moves:
                if move == "begin" or not begun:
                    task = await clients[who].start_tool("dig_long")
                    assert task.identifier is not None
                    begun.append((who, task.identifier))
                    continue
                await clients[who].initialize()
                owner, identifier = begun[number % len(begun)]
                with contextlib.nullcontext() if owner == who else pytest.raises(RequestRefused):
                    try:
                        await raw(clients[who], move, identifier)
                    except RequestRefused as refused:
                        if owner != who or "is over" not in refused.message:
                            raise
            for who, client in clients.items():
                if "list" in ADAPTERS[version].task_methods:
                    listed = {one.task_id for one in await client.list_tasks()} if begun else set()
                    assert listed == {identifier for owner, identifier in begun if owner == who}
            yard.may_end.set()

    asyncio.run(interleaved())


# --- Where the server decides ---


@pytest.mark.parametrize("version", DECIDED_BY_SERVER)
async def test_only_a_client_that_declared_tasks_gets_one(version: str) -> None:
    async with connected(version, capabilities={"extensions": {}}) as client:
        assert client.description["capabilities"]["extensions"] == {TASKS_EXTENSION: {}}
        assert words(await client.call_tool("dig")) == '{"depth":1}'
        for method, params in (
            ("tools/call", {"name": "sink", "arguments": {}}),
            *((method, {"taskId": "x"}) for method in client.adapter.task_methods.values()),
        ):
            with pytest.raises(RequestRefused) as refused:
                await client.request(method, params)
            assert refused.value.kind == MissingClientCapability.kind, method
            assert refused.value.data == {"requiredCapabilities": {"extensions": {TASKS_EXTENSION: {}}}}
        with pytest.raises(RequestRefused) as refused:
            async with client.listen(wanted={LISTENED_TO: ["x"]}):
                pass
        assert refused.value.kind == MissingClientCapability.kind


@pytest.mark.parametrize("version", DECIDED_BY_SERVER)
async def test_questions_of_a_task_are_answered_one_by_one(version: str) -> None:
    async with connected(version, on_ask=named("Ann")) as client:
        task = await client.start_tool("ask")
        assert task.identifier is not None
        await until_it_is("input_required", task)

        async def asked() -> set[str]:
            return set((await raw(client, "get", task.identifier or "")).get("inputRequests", ()))

        async def both() -> bool:
            return await asked() == {"second", "third"}

        await until(both)

        unknown = {"nobody": {"action": "accept", "content": {}}}
        told = await raw(client, "update", task.identifier, inputResponses=unknown)
        assert told.keys() <= {"resultType", "_meta"}
        for wrong in ({"second": 3}, {"second": {"action": "perhaps"}}, [], None):
            with pytest.raises(RequestRefused) as refused:
                await raw(client, "update", task.identifier, inputResponses=wrong)
            assert refused.value.kind == InvalidParams.kind

        def accepted(name: str) -> dict[str, Any]:
            return {"action": "accept", "content": {"name": name}}

        await raw(client, "update", task.identifier, inputResponses={"third": accepted("Cy")})
        await raw(client, "update", task.identifier, inputResponses={"third": accepted("Mallory")})
        assert (await raw(client, "get", task.identifier))["status"] == "input_required"
        assert await asked() == {"second"}

        # What does not fit is none; the question is put again, under a key that has not been used.
        unfit = {"second": {"action": "accept", "content": {"name": 3}}}
        await raw(client, "update", task.identifier, inputResponses=unfit)

        async def asked_again() -> bool:
            return bool(await asked() - {"second"})

        await until(asked_again)
        (key,) = await asked()
        await raw(client, "update", task.identifier, inputResponses={key: accepted("Bea")})
        assert words(await task.result()) == "True: Ann Bea Cy"


@pytest.mark.parametrize("version", DECIDED_BY_SERVER)
async def test_whoever_listens_is_told_how_a_task_stands(version: str) -> None:
    yard, heard = Yard(), list[Any]()

    def note(method: str, params: Any) -> None:
        if method == NOTIFICATION:
            heard.append(params)

    async with connected(version, yard, on_notification=note) as client:
        task = await client.start_tool("dig_long")
        assert task.identifier is not None
        async with client.listen(wanted={LISTENED_TO: [task.identifier, "another"]}):
            await until(lambda: heard)
            yard.may_end.set()
            await until(lambda: heard[-1]["status"] == "completed")
        assert {one["taskId"] for one in heard} == {task.identifier}
        state = await raw(client, "get", task.identifier)
        told = {name: value for name, value in heard[-1].items() if name != "_meta"}
        assert told == {name: value for name, value in state.items() if name not in ("_meta", "resultType")}


@pytest.mark.parametrize("version", DECIDED_BY_SERVER)
async def test_what_older_revisions_ask_for_is_not_read(version: str) -> None:
    async with connected(version) as client:
        given = await client.request("tools/call", {"name": "greet", "arguments": {}, "task": {"ttl": 1}})
        assert given["content"][0]["text"] == "hello"
        for method in ("tasks/result", "tasks/list"):
            assert method not in client.adapter.task_methods.values()


# --- Where the client decides ---


@pytest.mark.parametrize("version", ASKED_BY_CLIENT)
async def test_a_tool_says_whether_it_runs_as_a_task(version: str) -> None:
    """basic/utilities/tasks#tool-level-negotiation"""
    async with connected(version) as client:
        assert client.description["capabilities"]["tasks"]["requests"] == {"tools": {"call": {}}}
        support = {tool.name: tool.execution and tool.execution.task_support for tool in await client.list_tools()}
        assert (support["dig"], support["sink"], support["greet"]) == ("optional", "required", None)
        for params in (
            {"name": "greet", "arguments": {}, "task": {}},
            {"name": "sink", "arguments": {}},
        ):
            with pytest.raises(RequestRefused) as refused:
                await client.request("tools/call", params)
            assert refused.value.kind == MethodNotFound.kind


@pytest.mark.parametrize("version", ASKED_BY_CLIENT)
async def test_a_result_says_of_which_task_it_is_and_waits_for_its_end(version: str) -> None:
    """basic/utilities/tasks#result-retrieval"""
    yard = Yard()
    async with connected(version, yard) as client:
        begun = await client.request("tools/call", {"name": "dig_long", "arguments": {}, "task": {"ttl": 60_000}})
        identifier = begun["task"]["taskId"]
        assert (begun["task"]["status"], begun["task"]["ttl"]) == ("working", 60_000)
        waiting = asyncio.create_task(raw(client, "result", identifier))
        await yard.going.wait()
        assert (await raw(client, "get", identifier))["status"] == "working" and not waiting.done()
        yard.may_end.set()
        result = await waiting
        assert result["content"][0]["text"] == "dug"
        assert result["_meta"] == {"io.modelcontextprotocol/related-task": {"taskId": identifier}}

        sunk = await client.request("tools/call", {"name": "sink", "arguments": {}, "task": {}})
        assert (await raw(client, "result", sunk["task"]["taskId"]))["isError"] is True
        assert (await raw(client, "get", sunk["task"]["taskId"]))["status"] == "failed"


@pytest.mark.parametrize("version", ASKED_BY_CLIENT)
async def test_tasks_are_listed_page_by_page(version: str) -> None:
    """basic/utilities/tasks#task-listing"""
    async with connected(version, run=Settings(page_size=2, task_poll_seconds=0.05)) as client:
        begun = [(await client.start_tool("dig")).identifier for _ in range(5)]
        assert [one.task_id for one in await client.list_tasks()] == begun
        method = client.adapter.task_methods["list"]
        assert len((await client.request(method))["tasks"]) == 2
        with pytest.raises(RequestRefused) as refused:
            await client.request(method, {"cursor": "nowhere"})
        assert refused.value.kind == InvalidParams.kind


@pytest.mark.parametrize("version", ASKED_BY_CLIENT)
async def test_a_question_of_a_task_says_so(version: str) -> None:
    """basic/utilities/tasks#associating-task-related-messages"""
    sent: list[str] = []
    async with connected(
        version, on_ask=named("Ann", "Bea", "Cy"), on_wire=lambda one: sent.append(str(getattr(one, "content", "")))
    ) as client:
        task = await client.start_tool("ask")
        assert words(await task.result()) == "True: Ann Bea Cy"
    questions = [one for one in sent if "elicitation/create" in one]
    assert len(questions) == 3
    assert all(f'"io.modelcontextprotocol/related-task":{{"taskId":"{task.identifier}"}}' in one for one in questions)


@pytest.mark.parametrize("version", ASKED_BY_CLIENT)
async def test_where_no_tool_runs_as_a_task_asking_for_one_is_ignored(version: str) -> None:
    """basic/utilities/tasks#task-support-and-handling"""
    registry = Registry("plain", "1.0")

    @registry.tool
    def greet() -> str:
        return "hello"

    async with Server(registry) as server, Client(server.connect, ADAPTERS[version]) as client:
        given = await client.request("tools/call", {"name": "greet", "arguments": {}, "task": {"ttl": "soon"}})
        assert given["content"][0]["text"] == "hello"


# --- Declaring ---


def test_a_wrong_declaration_is_refused() -> None:
    with pytest.raises(RegistrationError, match="task_support is one of 'optional', 'required'"):
        Registry("wrong", "1.0").tool(name="x", task_support="forbidden")(lambda: "x")  # type: ignore[call-overload]
