"""Our client against the official SDK's server, on every revision that it speaks, over every transport that it has."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hosting import on_uvicorn
from mcp_anyrev import Client, ErrorAnswer, NotOffered, RequestRefused
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter

pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated.*")  # it warns its users of what is
ROOT = "file:///work"


@contextlib.asynccontextmanager
async def over_http(**options: Any) -> AsyncIterator[dict[str, Any]]:
    from official_server import server

    async with on_uvicorn(server.streamable_http_app()) as url:
        yield {"target": f"{url}/mcp", "transport": "http", **options}


@contextlib.asynccontextmanager
async def over_http_sse(**options: Any) -> AsyncIterator[dict[str, Any]]:
    from official_server import server

    async with on_uvicorn(server.sse_app()) as url:
        yield {"target": f"{url}/sse", "transport": "sse", **options}


@contextlib.asynccontextmanager
async def over_stdio(**options: Any) -> AsyncIterator[dict[str, Any]]:
    server = pathlib.Path(__file__).with_name("official_server.py")
    yield {"target": [sys.executable, "-W", "ignore", str(server)], "on_stderr": lambda line: None, **options}


TRANSPORTS = {"http": over_http, "http_sse": over_http_sse, "stdio": over_stdio}
EACH = [
    (version, transport)
    for version, adapter in AdapterSet.default().by_version.items()
    for transport in TRANSPORTS
    if transport != "http_sse" or adapter.served_on_http_sse
]


TOOLS = {"add", "fail", "steps", "noisy", "name", "others", "slow", "fate", "grow"}


@pytest.mark.parametrize(("revision", "transport"), EACH)
async def test_everything_that_it_has_is_there(revision: str, transport: str) -> None:
    from mcp_types.version import SUPPORTED_PROTOCOL_VERSIONS

    if revision not in SUPPORTED_PROTOCOL_VERSIONS:
        pytest.skip("it does not speak the revision")
    adapter = AdapterSet.default().by_version[revision]
    logs: list[Any] = []
    options = {
        "on_ask": lambda asked: {"name": "Ada"},
        "on_sample": lambda asked: "sampled",
        "on_roots": lambda: [ROOT],
        "on_log": lambda params: logs.append(params.data),
    }
    async with TRANSPORTS[transport](**options) as target, Client(adapter=adapter, **target) as client:
        await client.initialize()
        assert client.server is not None
        assert (client.revision, client.server.name, client.instructions) == (
            revision,
            "counterpart",
            "Ask for anything.",
        )
        assert {tool.name for tool in await client.list_tools()} == TOOLS
        assert [one.uri for one in await client.list_resources()] == ["mem://a"]
        assert [one.uri_template for one in await client.list_resource_templates()] == ["mem://n/{number}"]
        assert [one.name for one in await client.list_prompts()] == ["greet"]
        total = await client.call_tool("add", {"a": 1, "b": 2})
        assert '"total"' in total.text
        assert (await client.call_tool("fail")).is_error
        assert (await client.read_resource("mem://a")).contents[0].text == "A"  # type: ignore[union-attr]
        assert (await client.get_prompt("greet", {"who": "Ada"})).messages[0].content.text == "Hello Ada"  # type: ignore[union-attr]
        assert (await client.read_resource("mem://n/7")).contents[0].text == "number 7"  # type: ignore[union-attr]
        assert (await client.complete("who", "al", prompt="greet")).values == ["alan"]
        for wrong in (client.read_resource("mem://no"), client.get_prompt("no such")):
            with pytest.raises(ErrorAnswer):  # it has no code of its own for them
                await wrong
        steps: list[float] = []
        await client.call_tool("steps", on_progress=lambda params: steps.append(params.progress))
        with contextlib.suppress(NotOffered, RequestRefused):  # it logs in a session without being told how much
            await client.set_log_level("debug")
        await client.call_tool("noisy")
        if not adapter.asks_in_arguments:  # it has no way to ask there
            assert (await client.call_tool("name")).text == "Ada"
        assert (await client.call_tool("others")).text == f"sampled {ROOT}"
        assert await given_up(client) == "cancelled"
        assert await changed(client) == "tools"
        while len(steps) < 3 or not logs:  # noqa: ASYNC110  # callbacks note what they get
            await asyncio.sleep(0.001)
        assert steps == [1, 2, 3]
        assert logs == ["loud"]


async def given_up(client: Client) -> str:
    """What becomes of a call that is cancelled."""
    call = asyncio.ensure_future(client.call_tool("slow"))
    while (await client.call_tool("fate")).text != "running":  # noqa: ASYNC110  # it may be another process
        await asyncio.sleep(0.005)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    while (found := (await client.call_tool("fate")).text) == "running":  # noqa: ASYNC110  # as above
        await asyncio.sleep(0.005)
    return found


async def changed(client: Client) -> str:
    """What is said to have changed when it has."""
    async with client.listen("tools") as changes:
        await client.call_tool("grow")
        async for change in changes:
            return change.of
    return "nothing"


async def test_what_it_speaks_is_found_out(adapter: Adapter) -> None:
    """The newest revision that both speak, without being told."""
    from mcp_types.version import SUPPORTED_PROTOCOL_VERSIONS

    versions = AdapterSet.default().versions
    newest = next(version for version in versions if version in SUPPORTED_PROTOCOL_VERSIONS)
    async with over_http() as target, Client(**target) as client:
        await client.initialize()
        assert client.revision == newest
    async with over_http_sse() as target, Client(**{**target, "transport": None}) as client:
        await client.initialize()
        assert client.verdict.transport == "sse"


async def test_it_is_called_where_it_keeps_no_sessions_and_answers_in_json(adapter: Adapter) -> None:
    from mcp_types.version import SUPPORTED_PROTOCOL_VERSIONS
    from official_server import server

    if adapter.version not in SUPPORTED_PROTOCOL_VERSIONS:
        pytest.skip("it does not speak the revision")
    application = server.streamable_http_app(json_response=True, stateless_http=True)
    async with on_uvicorn(application) as url, Client(f"{url}/mcp", adapter) as client:
        assert '"total"' in (await client.call_tool("add", {"a": 1, "b": 2})).text
