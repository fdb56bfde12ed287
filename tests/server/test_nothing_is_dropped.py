"""What must arrive does, however much else there is to say, and changes that say the same are told once.

Citations: basic/utilities/cancellation#behavior-requirements, server/resources#subscriptions, basic/patterns/subscriptions#opening-a-stream.
"""

from __future__ import annotations

import asyncio
from typing import Any

from event_streams import listening, posting
from mcp_anyrev import Exchange, Limits, Registry, Settings, elicit
from mcp_revisions.protocol import Adapter
from raw_client import RawClient, serving

MANY = 900
FEW = Settings(limits=Limits(queue=50))
"""A queue that is much shorter than what there is to say."""


def registry() -> Registry:
    made = Registry("talkative", "1.0")

    @made.tool
    async def gate(ex: Exchange) -> str:
        for number in range(1, MANY + 1):
            await ex.progress(number)
        return "went ahead" if (await ex.ask("go", elicit("Go ahead?"))).accepted else "stopped"

    @made.resource("test://{number}")
    def numbered(number: int) -> str:
        return str(number)

    return made


async def test_a_question_arrives_after_more_reports_than_may_wait(push_adapter: Adapter) -> None:
    async with serving(registry(), FEW) as url, RawClient(url, push_adapter) as client:
        seen: list[Any] = []

        async def on_message(message: dict[str, Any]) -> None:
            seen.append(message.get("params", {}).get("progress", message["method"]))
            if "id" in message:
                answer = {"action": "accept", "content": {}}
                await client.post({"jsonrpc": "2.0", "id": message["id"], "result": answer})

        request = client.request("tools/call", {"name": "gate", "arguments": {}, "_meta": {"progressToken": 1}})
        reply = await client.post(request, on_message=on_message)
        assert reply.text == "went ahead" and seen == [*range(1, MANY + 1), "elicitation/create"]


async def test_changes_of_many_resources_at_once_are_all_told(adapter: Adapter) -> None:
    made = registry()
    uris = [f"test://{number}" for number in range(MANY)]
    async with serving(made, FEW) as url, RawClient(url, adapter) as client:
        wanted = {"notifications": {"resourceSubscriptions": uris}}
        if not adapter.listens:
            for start in range(0, MANY, 100):
                replies = [client.call("resources/subscribe", {"uri": uri}) for uri in uris[start : start + 100]]
                await asyncio.gather(*replies)
        opened = posting(client, "subscriptions/listen", wanted) if adapter.listens else listening(client)
        async with opened as stream:
            if adapter.listens:
                await stream.message()
            for uri in [*uris, *uris]:
                made.updated(uri)
            told: set[str] = set()
            while len(told) < MANY:
                message = await stream.message()
                assert message is not None and message["method"] == "notifications/resources/updated"
                told.add(message["params"]["uri"])
            assert await stream.silent()
        assert told == set(uris)
