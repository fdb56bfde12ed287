"""PostgreSQL that is away, comes back, forgets, or loses an answer: whoever asked is told, and nothing comes twice."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import asyncpg
import pytest
from backends_under_test import crash_under_load, reachable, two_workers, until, worker
from mcp_anyrev.storage.backends import backend
from mcp_anyrev.storage.bounds import HubBounds, StoreBounds
from mcp_anyrev.storage.keys import key, new_name
from mcp_contract import Unavailable
from postgres_server import PostgresServer


@pytest.fixture(scope="module")
def own_server() -> Iterator[tuple[PostgresServer, str]]:
    """A server of this module's own, which is running between tests."""
    made = PostgresServer(new_name())
    with made as url:
        yield made, url


@pytest.mark.long
def test_it_crashes_under_load_and_no_message_is_lost_or_comes_twice(own_server: tuple[PostgresServer, str]) -> None:
    server, url = own_server
    asyncio.run(crash_under_load(url, server.crash, server.start))


def test_one_that_is_away_is_told_soon_and_used_once_it_is_there(
    tmp_path: Path, own_server: tuple[PostgresServer, str], caplog: pytest.LogCaptureFixture
) -> None:
    _, url = own_server
    there = parse_qs(urlsplit(url).query)["host"][0]
    socket = tmp_path / ".s.PGSQL.5432"

    async def test() -> None:
        async with worker(f"postgresql://postgres:s3cret@/postgres?host={tmp_path}") as made:
            begun = time.monotonic()
            for _ in range(3):
                with pytest.raises(Unavailable) as told:
                    await made.store.get(key("value", new_name()))
                assert "s3cret" not in told.value.message and str(tmp_path) not in told.value.message
            assert time.monotonic() - begun < 4 and made.fault is not None and "s3cret" not in made.fault
            socket.symlink_to(f"{there}/.s.PGSQL.5432")
            await until(lambda: reachable(made))
            assert made.fault is None

    asyncio.run(test())
    told = [record.levelname for record in caplog.records if record.name == "mcp_anyrev.storage"]
    assert told == ["ERROR", "WARNING"] and "s3cret" not in caplog.text


@pytest.mark.parametrize("user", ["nobody:s3cret", "postgres:s3cret"])
def test_what_it_refuses_is_told_without_credentials(user: str, postgres_url: str) -> None:
    url = postgres_url.replace("postgres@/postgres", f"{user}@/nosuch")

    async def test() -> None:
        async with worker(url) as made:
            with pytest.raises(Unavailable):
                await made.store.get(key("value", new_name()))
            assert "does not exist" in str(made.fault) and "s3cret" not in str(made.fault)

    asyncio.run(test())


def test_a_url_that_names_no_place_is_refused_without_its_credentials() -> None:
    with pytest.raises(ValueError, match="names no place") as told:
        backend("postgres://u:s3cret@host:port/x", "x", StoreBounds(), HubBounds())
    assert "s3cret" not in f"{told.value!r} {told.value.__cause__!r}"


@asynccontextmanager
async def losing_answers(url: str, folder: Path) -> AsyncIterator[tuple[str, list[bytes]]]:
    """A way to the server that loses the answer to what has given words in it, once; then it is as before."""
    lose: list[bytes] = []
    there = parse_qs(urlsplit(url).query)["host"][0]
    connections: set[asyncio.Task[None]] = set()

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        inner, outer = await asyncio.open_unix_connection(f"{there}/.s.PGSQL.5432")

        async def back() -> None:
            while piece := await inner.read(65_536):
                writer.write(piece)

        backwards = asyncio.ensure_future(back())
        try:
            while piece := await reader.read(65_536):
                lost = next((words for words in lose if words in piece), None)
                if lost is not None:
                    backwards.cancel()
                    await asyncio.wait((backwards,))
                    outer.write(piece)
                    await inner.read(65_536)
                    lose.remove(lost)
                    break
                outer.write(piece)
        finally:
            backwards.cancel()
            outer.close()
            writer.close()

    server = await asyncio.start_unix_server(pass_on, folder / ".s.PGSQL.5432")
    try:
        yield url.replace(there, str(folder)), lose
    finally:
        server.close()
        await asyncio.gather(*connections)


def test_what_is_done_again_since_its_answer_was_lost_is_done_once(postgres_url: str, tmp_path: Path) -> None:
    async def test() -> None:
        async with losing_answers(postgres_url, tmp_path) as (url, lose), worker(url) as made:
            topic, at = key("topic", new_name()), key("value", new_name())
            start = await made.hub.open(topic, owner="a")
            for number in range(3):
                await made.hub.publish(topic, b"before %d" % number)
            lose.append(b"only once")
            position = await made.hub.publish(topic, b"only once")
            assert not lose, "an answer was lost"
            found = await made.hub.read(topic, start, 0)
            assert found is not None and [message.body for message in found.messages].count(b"only once") == 1
            assert found.messages[-1].position == position

            await made.store.put_if(key("value", new_name()), None, b"0", 60, owner="a")
            lose.append(b"first value")
            version = await made.store.put_if(at, None, b"first value", 60, owner="a")
            assert not lose and version is not None
            lose.append(b"second value")
            assert await made.store.put_if(at, version, b"second value", 60, owner="a") is not None and not lose

            await made.store.consume(key("value", new_name()))
            lose.append(at.encode())
            with pytest.raises(Unavailable):  # it cannot be known who has it, and it must not be said that nobody had
                await made.store.consume(at)
            assert not lose and await made.store.get(at) is None

    asyncio.run(test())


def test_what_somebody_has_dropped_is_made_anew_and_whoever_reads_is_told(postgres_url: str) -> None:
    async def test() -> None:
        topic, name = key("topic", new_name()), new_name()
        async with two_workers(postgres_url, application=name) as (one, other):
            start = await one.hub.open(topic, owner="a")
            connection = await asyncpg.connect(postgres_url)
            described = "SELECT nspname FROM pg_namespace WHERE obj_description(oid) LIKE '%' || $1"
            schema = await connection.fetchval(described, name)
            assert schema.startswith("mcp_anyrev_1_"), "a person finds whose it is"
            await connection.execute(f'DROP SCHEMA "{schema}" CASCADE')
            await connection.close()
            again = await one.hub.open(topic, owner="a")
            assert again != start
            await one.hub.publish(topic, b"1")
            found = await other.hub.read(topic, start, 5)
            assert found is not None and found.missed and len(found.messages) == 1

    asyncio.run(test())


def test_connections_that_are_ended_are_made_anew(own_server: tuple[PostgresServer, str]) -> None:
    _, postgres_url = own_server

    async def test() -> None:
        topic, name = key("topic", new_name()), new_name()
        async with two_workers(postgres_url, application=name) as (one, other):
            at = await one.hub.open(topic, owner="a")
            for number in range(3):
                waiting = asyncio.ensure_future(other.hub.read(topic, at, 20))
                await asyncio.sleep(0.05)
                connection = await asyncpg.connect(postgres_url)
                with contextlib.suppress(asyncpg.PostgresError):
                    ended = (
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'mcp-anyrev'"
                    )
                    await connection.execute(ended)
                await connection.close()
                await one.hub.publish(topic, b"%d" % number)
                found = await asyncio.wait_for(waiting, 10)
                assert found is not None and [message.body for message in found.messages] == [b"%d" % number]
                at = found.position

    asyncio.run(test())
