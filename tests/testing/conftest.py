"""Fixtures of the tests of what makes an application easy to test: every revision there is.

Rule: no revision is named here or in the tests; what a revision is like, its adapter says.
"""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter

ADAPTERS = AdapterSet.default()
TEST_SECONDS = 20


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine function in an event loop of its own, for a bounded time."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments: dict[str, Any] = {
        name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters
    }

    async def run() -> None:
        async with asyncio.timeout(TEST_SECONDS):
            await pyfuncitem.obj(**arguments)

    asyncio.run(run())
    return True


@pytest.fixture(params=ADAPTERS.versions)
def adapter(request: pytest.FixtureRequest) -> Adapter:
    """Each revision."""
    return ADAPTERS.by_version[request.param]


@pytest.fixture(
    params=[version for version, one in ADAPTERS.by_version.items() if one.can_ask or one.asks_in_arguments]
)
def round_adapter(request: pytest.FixtureRequest) -> Adapter:
    """Each revision where a handler starts over with each answer."""
    return ADAPTERS.by_version[request.param]
