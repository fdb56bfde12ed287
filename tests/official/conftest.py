"""The official SDK as the counterpart: its server for our client, its client for our server.

Rule: it is imported where it is used, since every process that shares the tests imports these modules, which would cost it half a second.
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


@pytest.fixture(params=ADAPTERS.versions)
def adapter(request: pytest.FixtureRequest) -> Adapter:
    """Each revision."""
    return ADAPTERS.by_version[request.param]
