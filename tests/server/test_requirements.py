"""What is declared to need a client capability is refused before it runs, with the status that the revision has for it.

Citations: basic/index#_meta.
"""

from __future__ import annotations

from typing import Any

import pytest
from mcp_anyrev import Registry
from mcp_anyrev.declaring.around import Invocation, Proceed
from mcp_contract import Declaration
from mcp_revisions.protocol import Adapter
from raw_client import INFORMATION, RawClient, serving

CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("tools/call", {"name": "needs", "arguments": {}}),
    ("prompts/get", {"name": "needs"}),
    ("resources/read", {"uri": "needs://it"}),
)


def registry(ran: list[str], hooks: bool) -> Registry:
    made = Registry("requirements", "1.0")

    def needs() -> str:
        ran.append("ran")
        return "fine"

    made.tool(requires=["sampling"])(needs)
    made.prompt(requires=["sampling"])(needs)
    made.resource("needs://it", requires=["sampling"])(needs)
    if hooks:

        @made.around
        async def see(invocation: Invocation, proceed: Proceed) -> dict[str, Any]:
            return await proceed(invocation)

    return made


@pytest.mark.parametrize("hooks", [False, True])
@pytest.mark.parametrize(("method", "params"), CALLS)
async def test_what_is_required_is_declared_or_nothing_runs(
    adapter: Adapter, method: str, params: dict[str, Any], hooks: bool
) -> None:
    ran: list[str] = []
    async with serving(registry(ran, hooks)) as url:
        async with RawClient(url, adapter, mode=None) as client:
            reply = await client.call(method, params)
        assert ran == [] and not reply.streamed
        if adapter.refuses_undeclared:
            assert reply.status == adapter.error_statuses["missing_client_capability"]
            assert reply.error["code"] == adapter.error_codes["missing_client_capability"]
            assert reply.error["data"]["requiredCapabilities"] == {"sampling": {}}
        elif method == "tools/call":
            assert reply.result["isError"] and "sampling" in reply.text
        else:
            assert "sampling" in reply.error["message"]
        client = RawClient(url, adapter)
        client.declaration = Declaration(adapter.encode_client_capabilities({"sampling": {}}), INFORMATION)
        async with client:
            assert "result" in (await client.call(method, params)).message and ran == ["ran"]
