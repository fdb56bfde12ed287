"""Fixtures of the tests of standard streams: every revision there is.

Rule: no revision is named here or in the tests; what a revision is like, its adapter says.
"""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest
from bounds import bounded
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter

ADAPTERS = AdapterSet.default()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine function in an event loop of its own, for a bounded time."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments: dict[str, Any] = {
        name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters
    }

    async def run() -> None:
        async with bounded():
            await pyfuncitem.obj(**arguments)

    asyncio.run(run())
    return True


def _with(flag: str) -> list[str]:
    return [version for version, adapter in ADAPTERS.by_version.items() if getattr(adapter, flag)]


@pytest.fixture(params=ADAPTERS.versions)
def adapter(request: pytest.FixtureRequest) -> Adapter:
    """Each revision."""
    return ADAPTERS.by_version[request.param]


@pytest.fixture(params=_with("has_handshake"))
def session_adapter(request: pytest.FixtureRequest) -> Adapter:
    """Each revision with a handshake."""
    return ADAPTERS.by_version[request.param]
