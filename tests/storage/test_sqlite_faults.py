"""A SQLite file that is locked, full, gone, or not where it can be shared, and a clock that jumps: what docs/stores.md promises happens."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from backends_under_test import reachable, two_workers, until, worker
from mcp_anyrev.storage.backends import is_shared, known_url
from mcp_anyrev.storage.bounds import HubBounds, StoreBounds
from mcp_anyrev.storage.keys import key, new_name
from mcp_anyrev.storage.sqlite import database, location
from mcp_anyrev.storage.sqlite.backend import SqliteBackend
from mcp_anyrev.storage.urls import StorageUrl
from mcp_contract import Busy, Unavailable

MOUNTS = """\
21 1 254:1 / / rw - ext4 /dev/vda1 rw
30 21 0:40 / /mnt/shared\\040files rw shared:1 - nfs4 server:/export rw,vers=4.2
31 30 0:41 / /mnt/shared\\040files/local rw - tmpfs tmpfs rw
32 21 0:42 / /home/me rw - fuse.sshfs me@there:/ rw
"""


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite://{tmp_path}/shared.db"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("sqlite:///var/lib/x.db", "/var/lib/x.db"),
        ("SQLITE:////var/lib/x.db", "/var/lib/x.db"),
        ("sqlite:///var/lib/with%20space.db", "/var/lib/with space.db"),
        ("sqlite:x.db", f"{Path.cwd()}/x.db"),
        ("sqlite:./data/x.db", f"{Path.cwd()}/data/x.db"),
        ("sqlite:/x.db", "/x.db"),
    ],
)
def test_a_url_names_a_file(text: str, named: str) -> None:
    assert location.path_of(StorageUrl(text)) == Path(named) and is_shared(text)


@pytest.mark.parametrize(
    "text",
    [
        "sqlite:",
        "sqlite://",
        "sqlite:///",
        "sqlite://x.db",
        "sqlite::memory:",
        "sqlite:///folder/",
        "sqlite:///x?mode=ro",
    ],
)
def test_a_url_that_names_no_file_is_refused_and_says_what_would(text: str) -> None:
    with pytest.raises(ValueError, match="sqlite:///absolute/path, or sqlite:relative/path"):
        known_url(text)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/mnt/shared files/x.db", "nfs4"),
        ("/mnt/shared files/deep/er/x.db", "nfs4"),
        ("/home/me/x.db", "fuse.sshfs"),
        ("/mnt/shared files/local/x.db", None),
        ("/mnt/shared files too/x.db", None),
        ("/x.db", None),
    ],
)
def test_a_network_file_system_is_refused(
    path: str, kind: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mountinfo").write_text(MOUNTS)
    monkeypatch.setattr(location, "_MOUNTS", tmp_path / "mountinfo")
    if kind is None:
        known_url(f"sqlite://{path}")
        return
    with pytest.raises(ValueError, match=f"network file system \\({kind}\\)"):
        known_url(f"sqlite://{path}")


def test_a_folder_that_is_away_at_first_is_told_and_used_once_it_is_there(tmp_path: Path) -> None:
    async def test() -> None:
        async with worker(f"sqlite://{tmp_path}/later/x.db") as made:
            begun = time.monotonic()
            with pytest.raises(Unavailable) as told:
                await made.store.get(key("value", new_name()))
            assert time.monotonic() - begun < 1 and "later" not in told.value.message
            assert made.fault is not None and "later/x.db" in made.fault
            (tmp_path / "later").mkdir()
            await until(lambda: reachable(made))
            assert made.fault is None
        assert stat.S_IMODE((tmp_path / "later" / "x.db").stat().st_mode) == 0o600, "nobody else may read it"

    asyncio.run(test())


def test_what_is_no_database_is_told_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no database, but long enough to be one " * 100)

    async def test() -> None:
        async with worker(f"sqlite://{tmp_path}/notes.txt") as made:
            assert not await reachable(made) and "not a database" in str(made.fault)

    asyncio.run(test())
    assert (tmp_path / "notes.txt").read_text().startswith("no database")


def test_while_it_is_locked_reading_goes_on_and_writing_is_told_soon(
    url: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_LOCKED_SECONDS", 0.3)

    async def test() -> None:
        at, topic = key("value", new_name()), key("topic", new_name())
        async with worker(url) as made:
            await made.store.put_if(at, None, b"1", 60, owner="a")
            start = await made.hub.open(topic, owner="a")
            await made.hub.publish(topic, b"before")
            other = sqlite3.connect(url.removeprefix("sqlite://"), isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            began = time.monotonic()
            with pytest.raises(Unavailable):
                await made.hub.publish(topic, b"refused")
            assert 0.25 < time.monotonic() - began < 1.5, "it may have been free again soon"
            began = time.monotonic()
            for _ in range(20):
                with pytest.raises(Unavailable):
                    await made.store.touch(at, 60)
                assert await made.store.get(at) is not None
                assert (await made.hub.read(topic, start, 0) or pytest.fail()).messages[0].body == b"before"
            assert time.monotonic() - began < 1, "nobody waits in vain for what is known to be locked"
            assert "locked" in str(made.fault)
            other.close()
            await until(lambda: reachable(made))
            assert made.fault is None
            await made.hub.publish(topic, b"after")
            found = await made.hub.read(topic, start, 0)
            assert found is not None and [message.body for message in found.messages] == [b"before", b"after"]

    asyncio.run(test())
    told = [record.levelname for record in caplog.records if record.name == "mcp_anyrev.storage"]
    assert told == ["ERROR", "WARNING"], "once when it is lost, once when it is there, however many wanted something"


def test_a_lock_that_is_short_is_waited_for(url: str) -> None:
    async def test() -> None:
        async with worker(url) as made:
            await made.store.delete(key("value", "x"))
            other = sqlite3.connect(url.removeprefix("sqlite://"), isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            asking = asyncio.ensure_future(made.store.put_if(key("value", "x"), None, b"1", 60, owner="a"))
            await asyncio.sleep(0.1)
            assert not asking.done()
            other.execute("COMMIT")
            assert await asking is not None and made.fault is None
            other.close()

    asyncio.run(test())


def test_a_full_disk_refuses_what_is_new_and_keeps_what_was_kept(
    url: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_SETTINGS", (*database._SETTINGS, "PRAGMA max_page_count = 80"))

    async def test() -> None:
        topic, kept = key("topic", new_name()), []
        async with two_workers(url) as (one, other):
            start = await one.hub.open(topic, owner="a")
            await one.hub.publish(topic, b"before")
            with pytest.raises(Unavailable):
                for _ in range(100):
                    at = key("value", new_name())
                    await one.store.put_if(at, None, bytes(8_000), 60, owner="a")
                    kept.append(at)
            assert len(kept) > 10 and "full" in str(one.fault)
            assert all([await other.store.get(at) is not None for at in kept])
            found = await other.hub.read(topic, start, 0)
            assert found is not None and len(found.messages) == 1
            for at in kept:
                await one.store.delete(at)
            assert one.fault is None and await other.store.put_if(kept[0], None, bytes(8_000), 60, owner="a")

    asyncio.run(test())
    assert [r.levelname for r in caplog.records if r.name == "mcp_anyrev.storage"] == ["ERROR", "WARNING"]


def test_a_file_that_somebody_has_removed_is_made_anew_and_whoever_reads_is_told(url: str) -> None:
    async def test() -> None:
        topic = key("topic", new_name())
        async with two_workers(url) as (one, other):
            start = await one.hub.open(topic, owner="a")
            waiting = asyncio.ensure_future(other.hub.read(topic, start, 20))
            await asyncio.sleep(0.05)
            for each in Path(url.removeprefix("sqlite://")).parent.iterdir():
                each.unlink()
            assert await asyncio.wait_for(waiting, 10) is None
            await until(lambda: reachable(one))
            again = await one.hub.open(topic, owner="a")
            assert again != start
            await one.hub.publish(topic, b"1")
            found = await other.hub.read(topic, start, 5)
            assert found is not None and found.missed and len(found.messages) == 1

    asyncio.run(test())


def test_whoever_comes_and_goes_takes_nothing_from_those_who_stay(url: str) -> None:
    """Locks on a file are those of a process, and closing it anywhere in that lets go of them: then others take the WAL away."""
    path = url.removeprefix("sqlite://")
    wal = Path(f"{path}-wal")
    look = f"import sqlite3; made = sqlite3.connect({path!r}); made.execute('SELECT * FROM sqlite_master').fetchall()"

    async def test() -> None:
        at = key("value", new_name())
        async with worker(url, "x") as stays, worker(url, "y") as comes:
            await stays.store.put_if(at, None, b"1", 60, owner="a")
            await comes.store.delete(at)
            await asyncio.to_thread(subprocess.run, [sys.executable, "-c", f"{look}; made.close()"], check=True)
            assert await asyncio.to_thread(wal.exists)
            assert await stays.store.get(at) is not None

    asyncio.run(test())


class Clock:
    ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead


def jumping(url: str, clock: Clock) -> SqliteBackend:
    bounds = StoreBounds(owner_bytes=4_000, in_use_seconds=60), HubBounds(seconds=300)
    return SqliteBackend(StorageUrl(url), "x", *bounds, clock)


@pytest.mark.parametrize("ahead", [3_600.0, -3_600.0])
def test_when_the_clock_jumps_nothing_is_kept_too_long_or_comes_twice_or_out_of_order(url: str, ahead: float) -> None:
    clock = Clock()

    async def test() -> None:
        made = jumping(url, clock)
        await made.open()
        short, topic = key("value", new_name()), key("topic", new_name())
        await made.store.put_if(short, None, b"1", 600, owner="b")
        start = await made.hub.open(topic, owner="a")
        positions = [await made.hub.publish(topic, b"0")]
        waiting = asyncio.ensure_future(made.hub.read(topic, positions[0] or "", 20))
        await asyncio.sleep(0.05)
        clock.ahead += ahead
        kept = await made.store.get(short)
        assert (kept is None) == (ahead > 0), "ahead, its time is over"
        await made.store.sweep()
        await made.hub.renew()
        positions += [await made.hub.publish(topic, b"%d" % number) for number in (1, 2)]
        assert (await waiting or pytest.fail()).messages[0].body == b"1", "who waits is waited for"
        found = await made.hub.read(topic, positions[0] or "", 0)
        assert found is not None and [message.body for message in found.messages] == [b"1", b"2"]
        assert len({start, *positions}) == 4
        if ahead < 0:
            kept = await made.store.get(short)
            assert kept is not None and kept.seconds <= 600, "back, it is kept for no longer than it was put for"
            clock.ahead += 301
            await made.hub.renew()
            assert await made.hub.read(topic, "", 0) is None, "nor is a topic that nobody uses"
        await made.close()

    asyncio.run(test())


def test_what_was_used_before_the_clock_was_set_back_may_go(url: str) -> None:
    clock = Clock()

    async def test() -> None:
        made = jumping(url, clock)
        await made.open()

        async def fill() -> None:
            for _ in range(3):
                at = key("value", new_name())
                await made.store.put_if(at, None, bytes(1_000), 6_000, owner="a")
                await made.store.touch(at, 6_000)

        with pytest.raises(Busy):
            await fill()
        clock.ahead -= 3_600
        await made.store.put_if(key("value", new_name()), None, bytes(1_000), 6_000, owner="a")
        await made.close()

    asyncio.run(test())
