"""The official SDK's client against our server: every feature, over every transport, on every revision that it speaks."""

from __future__ import annotations

import contextlib
import pathlib
import sys
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

import pytest
from bounds import starting
from features import declared, lacks
from hosting import on_uvicorn
from its_features import FEATURES, Told, callbacks, expected_of
from mcp_anyrev import Settings, asgi, serve
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter

if TYPE_CHECKING:
    import mcp

pytestmark = pytest.mark.filterwarnings("ignore:.*(deprecated|removed).*")  # it warns its users of what is

Connected = Callable[[Adapter, dict[str, Any]], contextlib.AbstractAsyncContextManager["mcp.Client"]]


@contextlib.asynccontextmanager
async def over_aiohttp(adapter: Adapter, options: dict[str, Any]) -> AsyncIterator[mcp.Client]:
    import mcp

    async with serve(declared(), only(adapter)) as url, mcp.Client(url, **options) as client:
        yield client


@contextlib.asynccontextmanager
async def over_asgi(adapter: Adapter, options: dict[str, Any]) -> AsyncIterator[mcp.Client]:
    import mcp

    async with on_uvicorn(asgi(declared(), only(adapter))) as url, mcp.Client(f"{url}/mcp", **options) as client:
        yield client


@contextlib.asynccontextmanager
async def over_http_sse(adapter: Adapter, options: dict[str, Any]) -> AsyncIterator[mcp.Client]:
    import mcp
    from mcp.client.sse import sse_client

    served = serve(declared(), only(adapter), path=None, sse_path="/sse")
    async with served as url, mcp.Client(sse_client(url), **options) as client:
        yield client


@contextlib.asynccontextmanager
async def over_stdio(adapter: Adapter, options: dict[str, Any]) -> AsyncIterator[mcp.Client]:
    import mcp

    program = pathlib.Path(__file__).parents[1] / "client" / "features.py"
    parameters = mcp.StdioServerParameters(command=sys.executable, args=[str(program), adapter.version])
    async with contextlib.AsyncExitStack() as stack:
        with starting():
            client = await stack.enter_async_context(mcp.Client(parameters, **options))
        yield client


def spoken() -> tuple[str, ...]:
    """The revisions that it speaks."""
    from mcp_types.version import SUPPORTED_PROTOCOL_VERSIONS

    return tuple(SUPPORTED_PROTOCOL_VERSIONS)


def only(adapter: Adapter) -> Settings:
    """It asks for its newest revision with a handshake, unless the server has only another one."""
    return Settings(revisions=[adapter.version])


TRANSPORTS: dict[str, Connected] = {
    "aiohttp": over_aiohttp,
    "asgi": over_asgi,
    "http_sse": over_http_sse,
    "stdio": over_stdio,
}
EACH = [
    (version, transport)
    for version, adapter in AdapterSet.default().by_version.items()
    for transport in TRANSPORTS
    if transport != "http_sse" or adapter.served_on_http_sse
]


@pytest.mark.parametrize(("revision", "transport"), EACH)
async def test_every_feature_is_there(revision: str, transport: str) -> None:
    adapter = AdapterSet.default().by_version[revision]
    if revision not in spoken():
        pytest.skip("it does not speak the revision")
    told, found = Told(), {}
    mode = "legacy" if adapter.has_handshake else "auto"  # it describes a server only where it looked for one
    async with TRANSPORTS[transport](adapter, {"mode": mode, **callbacks(told, adapter)}) as client:
        for feature in (one for one in FEATURES if not lacks(adapter, one.__name__)):
            found[feature.__name__] = await feature(client, told)
    assert found == expected_of(adapter)


@pytest.mark.parametrize("transport", [over_aiohttp, over_asgi])
async def test_it_finds_out_which_revision_to_speak(transport: Connected) -> None:
    adapters = AdapterSet.default()
    newest = adapters.by_version[next(version for version in adapters.versions if version in spoken())]
    async with transport(newest, {}) as client:
        assert client.protocol_version == newest.version
    handshake = adapters.newest_with_handshake
    async with transport(handshake, {}) as client:
        assert client.protocol_version == handshake.version
