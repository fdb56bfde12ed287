"""A store that is away: a server starts, calls that need no state go on, the rest are told so, and the health report says why."""

from __future__ import annotations

from pathlib import Path

import aiohttp
from mcp_anyrev import Registry, Server, Settings
from mcp_revisions.protocol import Adapter
from raw_client import RawClient
from test_server import on_routes


async def test_what_needs_no_state_goes_on_and_the_rest_is_told(adapter: Adapter, tmp_path: Path) -> None:
    made = Registry("away", "1.0")

    @made.tool
    def add(a: int, b: int) -> int:
        return a + b

    server = Server(made, Settings(store=f"unix://{tmp_path}/socket?password=s3cret"))
    async with on_routes(server.routes(), server=server) as root:
        client = RawClient(f"{root}/mcp", adapter)
        if adapter.has_handshake:
            async with aiohttp.ClientSession() as client.http:
                reply = await client.call(adapter.description_method, adapter.description_params(client.declaration))
            assert reply.status == adapter.error_statuses["unavailable"]
            assert reply.error["code"] == adapter.error_codes["unavailable"] and "socket" not in reply.error["message"]
        else:
            async with client:
                assert (await client.tool("add", {"a": 1, "b": 2})).text == "3"
        health = await server.health()
        assert health["running"] and not health["store"] and not health["hub"]
        assert set(health["faults"]) == {"store", "hub"}
        assert f"unix://{tmp_path}/socket" in health["faults"]["store"] and "s3cret" not in f"{health}"
