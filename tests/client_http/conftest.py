"""What the tests of the client's half of HTTP share with those of the server: its hosting, and how long a test may take."""

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


@pytest.fixture(params=[version for version in ADAPTERS.versions if ADAPTERS.by_version[version].has_handshake])
def session_adapter(request: pytest.FixtureRequest) -> Adapter:
    """Each revision with a handshake, and so with sessions."""
    return ADAPTERS.by_version[request.param]


@pytest.fixture(params=["aiohttp", "asgi"])
def binding(request: pytest.FixtureRequest) -> str:
    """Each binding."""
    return str(request.param)
