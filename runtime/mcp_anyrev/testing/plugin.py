"""A plugin of pytest: tests of an application that run once for each revision.

Rule: it is loaded only where it is asked for, by `pytest_plugins = ["mcp_anyrev.testing.plugin"]` in the topmost conftest.py, so whoever
does not use it pays nothing. Its fixtures are not async, so they work with every plugin that runs async tests, and with none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

import pytest
from mcp_revisions import VERSIONS, AdapterSet

if TYPE_CHECKING:
    from mcp_anyrev.declaring.registry import Registry
    from mcp_anyrev.serving.client import Client
    from mcp_anyrev.serving.server import Server

_OPTION, _INI = "--mcp-revision", "mcp_revisions"


def pytest_addoption(parser: pytest.Parser) -> None:
    """See `pytest`."""
    words = "Have the fixture `revision` be only this revision; may be repeated."
    parser.getgroup("mcp-anyrev").addoption(_OPTION, action="append", metavar="REV", default=[], help=words)
    parser.addini(_INI, "The revisions that the fixture `revision` is, one after the other; all if not given.", "args")


def pytest_configure(config: pytest.Config) -> None:
    """See `pytest`."""
    chosen = config.getoption(_OPTION) or config.getini(_INI) or AdapterSet.default().versions
    unknown = [one for one in chosen if one not in VERSIONS]
    if unknown:
        raise pytest.UsageError(f"{', '.join(unknown)}: no such revision; known: {', '.join(VERSIONS)}")
    config.pluginmanager.register(_made_for(chosen), "mcp-anyrev-revisions")


@pytest.fixture
def mcp_client(revision: str) -> Callable[..., AbstractAsyncContextManager[Client]]:
    """Makes in-memory clients of the revision: `async with mcp_client(registry, on_ask=…) as client: …`; see `testing.client`."""
    from mcp_anyrev.testing import client

    def make(served: Registry | Server, **options: Any) -> AbstractAsyncContextManager[Client]:
        return client(served, revision, **options)

    return make


def _made_for(revisions: Sequence[str]) -> object:
    """What holds the fixture `revision`, whose params are known only once the command line has been read."""

    class Revisions:
        @pytest.fixture(params=revisions)
        def revision(self, request: pytest.FixtureRequest) -> str:
            """Each revision that is tested."""
            return str(request.param)

    return Revisions()
