"""Fixtures of all tests that speak the protocol: every revision there is, every kind of revision, and both bindings.

Rule: no revision is named here or in the tests; what a revision is like, its adapter says. A test that is a coroutine function runs in
an event loop of its own, for a bounded time.
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
    """Run a test that is a coroutine function."""
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


@pytest.fixture(params=_with("can_ask"))
def result_adapter(request: pytest.FixtureRequest) -> Adapter:
    """Each revision whose question is the result."""
    return ADAPTERS.by_version[request.param]


@pytest.fixture(params=_with("can_push_ask"))
def push_adapter(request: pytest.FixtureRequest) -> Adapter:
    """Each revision whose question is pushed."""
    return ADAPTERS.by_version[request.param]


@pytest.fixture(params=_with("asks_in_arguments"))
def arguments_adapter(request: pytest.FixtureRequest) -> Adapter:
    """Each revision whose question rides in the tool call."""
    return ADAPTERS.by_version[request.param]


@pytest.fixture(params=[*_with("can_ask"), *_with("asks_in_arguments")])
def round_adapter(request: pytest.FixtureRequest) -> Adapter:
    """Each revision where the client answers by calling again, so that a handler starts over with each answer."""
    return ADAPTERS.by_version[request.param]


@pytest.fixture(params=_with("has_handshake"))
def session_adapter(request: pytest.FixtureRequest) -> Adapter:
    """Each revision with a handshake, and so with sessions."""
    return ADAPTERS.by_version[request.param]


@pytest.fixture(params=_with("declares_extensions"))
def native_adapter(request: pytest.FixtureRequest) -> Adapter:
    """Each revision that has extensions."""
    return ADAPTERS.by_version[request.param]


@pytest.fixture(params=[version for version in ADAPTERS.versions if version not in _with("declares_extensions")])
def routed_adapter(request: pytest.FixtureRequest) -> Adapter:
    """Each revision that has none."""
    return ADAPTERS.by_version[request.param]


@pytest.fixture(params=["aiohttp", "asgi"])
def binding(request: pytest.FixtureRequest) -> str:
    """Each binding."""
    return str(request.param)
