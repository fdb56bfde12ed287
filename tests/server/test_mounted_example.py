"""The example inside a web framework: both kinds of callers reach the same application."""

from __future__ import annotations

import asyncio
import importlib.util
import pathlib
import socket
from typing import Any

import pytest
from mcp_revisions.protocol import Adapter
from raw_client import RawClient

EXAMPLE = pathlib.Path(__file__).parents[2] / "examples" / "mounted.py"


@pytest.fixture
def application() -> Any:
    specification = importlib.util.spec_from_file_location("mounted_example", EXAMPLE)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.app


async def test_people_and_models_are_served_by_one_application(application: Any, adapter: Adapter) -> None:
    import uvicorn

    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(application, log_level="warning", lifespan="on"))
    running = asyncio.ensure_future(server.serve(sockets=[listening]))
    try:
        while not server.started:  # noqa: ASYNC110  # it has no event to wait for
            await asyncio.sleep(0.01)
        base = f"http://127.0.0.1:{listening.getsockname()[1]}"
        async with RawClient(f"{base}/mcp", adapter) as client:
            found = await client.tool("find", {"author": "lem"})
            async with client.http.get(f"{base}/books/lem") as response:
                assert (await response.json()) == {"title": "Solaris"}
    finally:
        server.should_exit = True
        async with asyncio.timeout(5):
            await running
    assert found.text == '{"lem":"Solaris"}'
