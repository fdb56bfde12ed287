"""A conversation needs nothing of HTTP: the smallest transport there can be, two queues, carries every revision.

Citations: basic/index#messages, basic/utilities/cancellation#behavior-requirements.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

from mcp_anyrev import Exchange, Registry, Settings, elicit
from mcp_anyrev.conversation.conversation import Conversation
from mcp_anyrev.server.core import NOT_AGREED, Core
from mcp_contract import Declaration
from mcp_revisions.protocol import Adapter
from raw_client import worded
from sent_messages import check_sent

ACCEPTED = {"action": "accept", "content": {}}
DECLARED = Declaration({"elicitation": {}}, {"name": "pipe", "version": "1.0"})


def registry(fate: list[str]) -> Registry:
    made = Registry("piped", "1.0")

    @made.tool
    async def gate(ex: Exchange) -> str:
        return "went ahead" if (await ex.ask("go", elicit("Go ahead?"))).accepted else "stopped"

    @made.tool
    async def waits(ex: Exchange) -> str:
        await ex.progress(1)
        try:
            await asyncio.sleep(60)
        finally:
            fate.append("ended")
        return "waited"

    return made


class Pipe:
    """The server's end: every frame is a conversation in the session of the connection, and everything goes out on one queue."""

    def __init__(self, core: Core, adapter: Adapter) -> None:
        self.core = core
        self.adapter = adapter
        self.out: asyncio.Queue[Any] = asyncio.Queue()
        self.working: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        empty = Declaration({}, None)
        self.session = await self.core.sessions.open(NOT_AGREED, None, "anonymous", empty, connection=True)

    def send(self, message: bytes, same: str | None = None) -> None:
        self.out.put_nowait(json.loads(message))

    async def room(self) -> bool:
        return True

    def release(self, retry: int) -> None:
        pass

    def watch(self, lost: Any) -> None:
        pass

    def unwatch(self, lost: Any) -> None:
        pass

    async def write(self, payload: Any) -> None:
        """A frame from the client."""
        session = await self.core.sessions.find(self.session.name, None)
        adapter, refused = self.core.adapters.select(payload, {}, session.version or None if session else None)
        assert refused is None, refused
        agreed = session if adapter.has_handshake else None
        conversation = Conversation(
            self.core, adapter, self, agreed, None, cancels=True, scope=None if agreed else self.session.name
        )
        in_batch = isinstance(payload, list)
        requests = await conversation.receive(adapter.batching(payload), in_batch=in_batch)
        if requests:
            self.working.append(asyncio.ensure_future(self._answer(conversation, requests, in_batch)))

    async def _answer(self, conversation: Conversation, requests: list[Any], in_batch: bool) -> None:
        work = conversation.answer_all(requests) if in_batch else conversation.answer(requests[0])
        response = await work
        if response is not None:
            self.send(response.message)


class Client:
    """The other end."""

    def __init__(self, pipe: Pipe) -> None:
        self.pipe = pipe
        self.adapter = pipe.adapter

    def request(self, identifier: Any, method: str, params: dict[str, Any]) -> dict[str, Any]:
        declared = self.adapter.declared_params(params, DECLARED)
        return {"jsonrpc": "2.0", "id": identifier, "method": method, "params": declared}

    async def say(self, message: Any) -> None:
        await self.pipe.write(message)

    async def next(self, method: str | None = None) -> Any:
        async with asyncio.timeout(3):
            message = await self.pipe.out.get()
        check_sent(self.adapter.version, message, method if "result" in message else None)
        return message

    async def call(self, name: str, identifier: Any = 1, **params: Any) -> None:
        await self.say(self.request(identifier, "tools/call", {"name": name, "arguments": {}, **params}))


@contextlib.asynccontextmanager
async def talking(adapter: Adapter, fate: list[str]) -> AsyncIterator[Client]:
    core = Core(registry(fate), Settings(shutdown_seconds=0.1))
    await core.start()
    pipe = Pipe(core, adapter)
    await pipe.start()
    client = Client(pipe)
    try:
        if adapter.has_handshake:
            params = adapter.description_params(DECLARED)
            await client.say({"jsonrpc": "2.0", "id": 0, "method": adapter.description_method, "params": params})
            assert (await client.next(adapter.description_method))["result"]["protocolVersion"] == adapter.version
            await client.say({"jsonrpc": "2.0", "method": adapter.ready_notification})
        yield client
    finally:
        await core.close()
        await asyncio.gather(*pipe.working)


async def test_a_question_is_asked_and_answered_in_the_way_of_the_revision(adapter: Adapter) -> None:
    async with talking(adapter, []) as client:
        await client.call("gate", 7)
        message = await client.next("tools/call")
        if adapter.can_push_ask:
            assert message["method"] == "elicitation/create"
            await client.say({"jsonrpc": "2.0", "id": message["id"], "result": worded(adapter, ACCEPTED)})
        else:
            questions = adapter.read_questions(message["result"])
            assert questions is not None
            params = {"name": "gate", "arguments": {}}
            params = adapter.answer_params(
                params, dict.fromkeys(questions.questions, worded(adapter, ACCEPTED)), questions.state
            )
            await client.say(client.request(7, "tools/call", params))
        answer = await client.next("tools/call")
        assert answer["id"] == 7 and answer["result"]["content"][0]["text"] == "went ahead"


async def test_a_call_is_given_up_by_a_notification(adapter: Adapter) -> None:
    fate: list[str] = []
    async with talking(adapter, fate) as client:
        await client.call("waits", "long", _meta={"progressToken": 1})
        assert (await client.next())["method"] == "notifications/progress"
        await client.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "long"}})
        await asyncio.gather(*client.pipe.working)
        assert fate == ["ended"] and client.pipe.out.empty()


async def test_the_end_of_the_server_is_an_answer(adapter: Adapter) -> None:
    fate: list[str] = []
    async with talking(adapter, fate) as client:
        await client.call("waits", "long", _meta={"progressToken": 1})
        await client.next()
    answer = await client.next("tools/call")
    assert answer["id"] == "long" and answer["error"]["code"] == adapter.error_codes["internal_error"]
    assert fate == ["ended"]


async def test_in_a_batch_each_is_given_up_and_answered_for_itself(adapter: Adapter) -> None:
    batch = [
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "waits", "arguments": {}}},
        {"jsonrpc": "2.0", "id": 3, "method": "no such method"},
    ]
    async with talking(adapter, []) as client:
        try:
            adapter.batching(batch)
        except Exception:
            return  # the revision has none
        await client.say(batch)
        await asyncio.sleep(0.05)
        await client.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}})
        answers = await client.next()
    assert {answer["id"]: "result" in answer for answer in answers} == {1: True, 3: False}
