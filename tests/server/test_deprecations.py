"""What is used and deprecated is told in the log, once: what is declared at start, what a handler does when it does it.

Citations: deprecated#deprecated.
"""

from __future__ import annotations

from typing import Any

import pytest
from mcp_anyrev import Exchange, Registry, Server, Settings, elicit, roots, sample
from mcp_contract import Declaration
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from raw_client import INFORMATION, RawClient, serving

WHAT = ("sampling", "roots", "logging")
EMBEDDED = {
    "sampling": {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"},
    "roots": {"roots": []},
}


def registry() -> Registry:
    made = Registry("deprecated", "1.0")

    @made.tool
    async def plain(ex: Exchange) -> str:
        await ex.progress(1)
        return "fine"

    @made.tool
    async def sampling(ex: Exchange) -> str:
        await ex.ask("a", sample("Hello?", max_tokens=5), timeout_seconds=0.1)
        return "sampling"

    @made.tool(name="roots")
    async def asks_roots(ex: Exchange) -> str:
        await ex.ask("a", roots(), timeout_seconds=0.1)
        return "roots"

    @made.tool
    async def logging(ex: Exchange) -> str:
        await ex.log("error", "a word")
        return "logging"

    @made.tool
    async def elicitation(ex: Exchange) -> str:
        await ex.ask("a", elicit("Go?"), timeout_seconds=0.1)
        return "elicitation"

    return made


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if "deprecated" in record.getMessage()]


async def test_what_a_handler_uses_is_told_once(adapter: Adapter, caplog: pytest.LogCaptureFixture) -> None:
    async with serving(registry()) as url:
        client = RawClient(url, adapter)
        declared = {"sampling": {}, "roots": {}, "elicitation": {"form": {}}}
        client.declaration = Declaration(adapter.encode_client_capabilities(declared), INFORMATION)
        async with client:
            await client.tool("plain")
            await client.tool("elicitation")
            assert told(caplog) == []
            for what in WHAT:
                for _ in range(2):
                    params: dict[str, Any] = {"name": what, "arguments": {}}
                    await client.call("tools/call", adapter.log_level_params(params, "debug"))
    wanted = [
        f"{what} is used here, and deprecated in {adapter.version}; use {adapter.deprecated[what]}"
        for what in WHAT
        if what in adapter.deprecated
    ]
    assert told(caplog) == wanted


async def test_what_is_declared_is_told_at_start(adapter: Adapter, caplog: pytest.LogCaptureFixture) -> None:
    made = Registry("deprecated", "1.0")

    def fine() -> str:
        return "fine"

    made.tool(requires=["sampling.tools"])(fine)
    made.tool(name="again", requires=["sampling"])(fine)
    made.prompt(requires=["elicitation"])(fine)
    made.resource("a://b", requires=["roots"])(fine)
    async with Server(made, Settings(revisions=[adapter.version])):
        pass
    assert [line.split()[0] for line in told(caplog)] == [
        what for what in ("sampling", "roots") if what in adapter.deprecated
    ]


def test_every_row_is_told_or_cannot_be_used() -> None:
    """`sample` has no includeContext, and a server registers nobody; HTTP+SSE says so itself, see test_http_sse."""
    rows = {row for adapter in AdapterSet.default().by_version.values() for row in adapter.deprecated}
    assert rows == {*WHAT, "http_sse", "include_context", "dynamic_client_registration"}
