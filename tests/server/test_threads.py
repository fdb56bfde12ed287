"""What is not async of one call runs in one thread, what cleans up included, and holds up nobody else."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import pathlib
import sqlite3
import threading
import time
from collections.abc import Iterator
from typing import Annotated

from mcp_anyrev import Depends, Limits, Registry, Settings
from mcp_anyrev.declaring.threads import CallThread, Threads
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving


async def test_a_database_that_belongs_to_its_thread_is_used_as_it_is(adapter: Adapter, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "stock.db"
    with contextlib.closing(sqlite3.connect(path)) as made_before:
        made_before.execute("create table stock (article text, number int)")
    closed: list[int] = []
    made = Registry("threads", "1.0")

    def database() -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(path)  # by default it can be used, and closed, in this thread only
        try:
            with connection:
                yield connection
        finally:
            connection.close()
            closed.append(threading.get_ident())

    Database = Annotated[sqlite3.Connection, Depends(database)]

    def clerk(connection: Database) -> str:
        return str(connection.execute("select 'clerk'").fetchone()[0])

    @made.tool
    def order(article: str, connection: Database, who: Annotated[str, Depends(clerk)]) -> str:
        time.sleep(0.02)  # so that calls at the same time meet
        connection.execute("insert into stock values (?, 1)", (article,))
        return f"{who} {threading.get_ident()}"

    @made.tool
    def fail(article: str, connection: Database) -> str:
        connection.execute("insert into stock values (?, 1)", (article,))
        raise RuntimeError("rolled back")

    limits = Limits(threads=3)
    async with serving(made, Settings(limits=limits)) as url, RawClient(url, adapter) as client:
        replies = await asyncio.gather(*(client.tool("order", {"article": f"a{number}"}) for number in range(12)))
        assert all(reply.text.startswith("clerk ") for reply in replies), [reply.text for reply in replies]
        assert (await client.tool("fail", {"article": "none"})).result["isError"] is True
    used = {reply.text.removeprefix("clerk ") for reply in replies}
    assert len(used) <= 3 and str(threading.get_ident()) not in used
    assert used <= {str(ident) for ident in closed} and len(closed) == 13
    with contextlib.closing(sqlite3.connect(path)) as afterwards:
        assert afterwards.execute("select count(*) from stock").fetchone() == (12,)


async def test_a_provider_that_waits_does_not_hold_the_event_loop(adapter: Adapter) -> None:
    made = Registry("threads", "1.0")
    entered = threading.Event()
    go_on = threading.Event()

    def slow() -> str:
        entered.set()
        assert go_on.wait(10)
        return "slow"

    @made.tool
    async def use(one: Annotated[str, Depends(slow)]) -> str:
        return one

    @made.tool
    async def quick() -> str:
        return "quick"

    async with serving(made) as url, RawClient(url, adapter) as client:
        using = asyncio.ensure_future(client.tool("use"))
        await asyncio.to_thread(entered.wait, 10)
        assert (await client.tool("quick")).text == "quick"
        go_on.set()
        assert (await using).text == "slow"


async def test_a_thread_is_one_calls_alone_until_it_has_left() -> None:
    threads, order = Threads(1), []
    first, second = CallThread(threads), CallThread(threads)
    await first.run(order.append, "first")
    waiting = asyncio.ensure_future(second.run(order.append, "second"))
    await asyncio.sleep(0.05)
    await first.run(order.append, "first again")
    first.leave()
    await asyncio.wait_for(waiting, 5)
    second.leave()
    assert order == ["first", "first again", "second"]


async def test_what_waits_for_a_thread_gets_one_or_is_given_up() -> None:
    threads, go_on = Threads(1), threading.Event()
    blocked = CallThread(threads)
    blocking = asyncio.ensure_future(blocked.run(go_on.wait, 10))
    await asyncio.sleep(0.05)
    ran: list[str] = []
    given_up = asyncio.ensure_future(threads.run(ran.append, {}))
    waiting = asyncio.ensure_future(threads.run(lambda: ran.append("waited"), {}))
    await asyncio.sleep(0.05)
    given_up.cancel()
    await asyncio.sleep(0)
    assert not waiting.done()
    go_on.set()
    assert await blocking is True
    blocked.leave()
    await asyncio.wait_for(waiting, 5)
    assert given_up.cancelled() and ran == ["waited"]


async def test_what_was_opened_for_a_call_that_was_given_up_meanwhile_is_closed() -> None:
    opened, go_on, closed = threading.Event(), threading.Event(), threading.Event()
    made = Registry("threads", "1.0")

    def slow() -> Iterator[str]:
        opened.set()
        assert go_on.wait(10)
        try:
            yield "slow"
        finally:
            closed.set()

    @made.tool
    async def use(one: Annotated[str, Depends(slow)]) -> str:
        return one

    call = made.tools["use"].call
    working = asyncio.ensure_future(call({}, None, Threads(2)))  # type: ignore[arg-type]  # it is a coroutine
    await asyncio.to_thread(opened.wait, 10)
    working.cancel()
    await asyncio.wait((working,))
    go_on.set()
    assert await asyncio.to_thread(closed.wait, 5)


async def test_steps_of_one_call_share_their_context_and_their_failures_are_their_own() -> None:
    number: contextvars.ContextVar[int] = contextvars.ContextVar("number", default=0)
    thread = CallThread(Threads(1))
    await thread.run(number.set, 7)
    assert await thread.run(number.get) == 7 and number.get() == 0

    def stops() -> None:
        raise StopIteration

    try:
        await thread.run(stops)
    except RuntimeError as error:
        assert "StopIteration" in str(error)
    else:
        raise AssertionError("it raised nothing")
    thread.leave()
