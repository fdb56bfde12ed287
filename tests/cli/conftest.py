"""Runs commands: in this process, as click does for tests; and a server on HTTP that they may call.

Rule: no revision is named here or in the tests.
"""

from __future__ import annotations

import asyncio
import pathlib
import threading
from collections.abc import Callable, Iterator

import pytest
from click.testing import CliRunner, Result
from mcp_anyrev import serve
from mcp_anyrev.cli.main import group
from mcp_anyrev.cli.targets import load_registry
from mcp_revisions import AdapterSet

HERE = pathlib.Path(__file__).parent
VERSIONS = AdapterSet.default().versions

Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `mcp-anyrev` with arguments, without a terminal."""
    monkeypatch.chdir(HERE)

    def command(*arguments: str, text: str | None = None) -> Result:
        return CliRunner().invoke(group, arguments, input=text, prog_name="mcp-anyrev")

    return command


@pytest.fixture(params=VERSIONS)
def revision(request: pytest.FixtureRequest) -> str:
    """Each revision."""
    return str(request.param)


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    """The address of the offering, on Streamable HTTP; `/sse` in its place for HTTP+SSE."""
    found: list[str] = []
    ready, loop = threading.Event(), asyncio.new_event_loop()
    ending = asyncio.Event()

    async def hold() -> None:
        async with serve(load_registry(f"{HERE / 'offering.py'}:registry"), sse_path="/sse") as address:
            found.append(address)
            ready.set()
            await ending.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(hold(),))
    thread.start()
    assert ready.wait(10)
    yield found[0]
    loop.call_soon_threadsafe(ending.set)
    thread.join(10)
    loop.close()
