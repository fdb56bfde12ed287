"""How often one client may call.

Citations: server/tools#security-considerations, server/utilities/completion#security.
"""

from __future__ import annotations

from mcp_anyrev import Limits, Registry, Settings
from mcp_anyrev.server.rate import Rate
from mcp_contract import Busy
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving

SETTINGS = Settings(limits=Limits(calls_per_minute=2), principal=lambda head: head.headers.get("x-principal"))


def registry() -> Registry:
    made = Registry("rate", "1.0")

    @made.tool
    def plain() -> str:
        return "fine"

    @made.prompt
    def greet(name: str) -> str:
        return name

    @made.completion("name", prompt="greet")
    def names(value: str) -> list[str]:
        return ["Ada"]

    return made


async def test_who_calls_too_often_is_told_when_to_call_again(adapter: Adapter, binding: str) -> None:
    async with serving(registry(), SETTINGS, binding) as url, RawClient(url, adapter) as client:
        assert (await client.tool("plain")).text == "fine"
        completing = {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "name", "value": ""}}
        assert "result" in (await client.call("completion/complete", completing)).message
        for method, params in (
            ("tools/call", {"name": "plain", "arguments": {}}),
            ("completion/complete", completing),
            ("prompts/get", {"name": "greet", "arguments": {"name": "x"}}),
        ):
            refused = await client.call(method, params)
            assert refused.error["code"] == adapter.error_codes["busy"]
            assert refused.status == adapter.error_statuses["busy"] and 1 <= int(refused.headers["retry-after"]) <= 60
        assert "result" in (await client.call("tools/list")).message
        async with RawClient(url, adapter, headers={"X-Principal": "eve"}) as eve:
            assert (await eve.tool("plain")).text == "fine"


def test_what_is_used_up_comes_back_with_time() -> None:
    moments = [0.0]
    rate = Rate(2, lambda: moments[-1])
    counted = []
    for moment in (0.0, 0.0, 0.0, 29.0, 31.0, 31.0, 1000.0, 1000.0, 1000.0):
        moments.append(moment)
        try:
            rate.count("ada")
            counted.append(0)
        except Busy as busy:
            counted.append(busy.retry_after_seconds)
    assert counted == [0, 0, 30, 1, 0, 29, 0, 0, 30]


def test_so_many_clients_are_known_and_no_more() -> None:
    rate = Rate(1, lambda: 0.0)
    for number in range(10_100):
        rate.count(str(number))
    assert len(rate._full) == 10_000
