"""Two principals whose requests come interleaved, to either of two workers: neither ever gets anything that is the other's.

Rule: each has a word that goes into everything that it has kept. The other tries what it could only have stolen: names of sessions, state of
questions, ids of events and of questions that were pushed.
Citations: basic/transports#session-management, basic/security_best_practices#session-hijacking
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from event_streams import listening, posting
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp_anyrev import Exchange, Principal, Registry, Settings, elicit
from mcp_anyrev.storage.keys import new_name
from mcp_anyrev.storage.memory import MemoryHub, MemoryStore
from mcp_anyrev.testing import serve
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from pydantic import BaseModel
from raw_client import RawClient, Reply
from test_asking_by_rounds import again

VERSIONS = AdapterSet.default().versions
WORDS = {"ann": "w0rd-of-ann", "eve": "w0rd-of-eve"}
OTHER = {"ann": "eve", "eve": "ann"}
ANSWER = {"action": "accept", "content": {"name": "x"}}


class Name(BaseModel):
    name: str


def registry(name: str) -> Registry:
    made = Registry(name, "1.0")

    @made.tool
    async def keep(ex: Exchange, word: str) -> str:
        if ex.session is None:
            return word
        before = await ex.session.get("word", word)
        await ex.session.set("word", word)
        return str(before)

    @made.tool
    async def ask(ex: Exchange, word: str) -> str:
        answer = await ex.ask("name", elicit(f"A name for {word}?", Name))
        return word if answer.accepted else "no name"

    @made.tool(once=True)
    async def ask_once(ex: Exchange, word: str) -> str:
        answer = await ex.ask("name", elicit(f"A name for {word}?", Name))
        return word if answer.accepted else "no name"

    @made.tool
    async def count(ex: Exchange, word: str) -> str:
        for number in range(1, 4):
            await ex.progress(number, 3, word)
        return word

    return made


class Someone:
    """A principal in one revision, and what it has got."""

    def __init__(self, name: str, adapter: Adapter, urls: list[str]) -> None:
        self.name = name
        self.word = WORDS[name]
        self.adapter = adapter
        self.clients = [RawClient(url, adapter, headers={"x-name": name}) for url in urls]
        self.states: dict[str, list[str | None]] = {"ask": [], "ask_once": []}
        self.events: list[str] = []
        self.pushed: list[Any] = []

    @contextlib.asynccontextmanager
    async def there(self) -> AsyncIterator[Someone]:
        async with self.clients[0] as one, self.clients[1] as other:
            other.session = one.session
            yield self

    def check(self, reply: Reply) -> Reply:
        assert WORDS[OTHER[self.name]] not in json.dumps([reply.message, reply.earlier])
        return reply

    async def does(self, what: str, client: RawClient, other: Someone) -> None:
        await getattr(self, what)(client, other)

    async def keeps(self, client: RawClient, _: Someone) -> None:
        assert self.check(await client.tool("keep", {"word": self.word})).text == self.word

    async def asks(self, client: RawClient, _: Someone) -> None:
        for name, states in self.states.items():

            async def answer(message: dict[str, Any]) -> None:
                if "id" in message:
                    self.pushed.append(message["id"])
                    await client.post({"jsonrpc": "2.0", "id": message["id"], "result": ANSWER})

            reply = self.check(await client.tool(name, {"word": self.word}, on_message=answer))
            questions = self.adapter.read_questions(reply.result)
            if questions is None:
                assert reply.text == self.word
            else:
                states.append(questions.state)

    async def answers(self, client: RawClient, _: Someone) -> None:
        for name, states in self.states.items():
            if states:
                state = states[-1] if name == "ask" else states.pop()
                assert (await again(client, name, {"name": ANSWER}, state, {"word": self.word})).text == self.word

    async def counts(self, client: RawClient, _: Someone) -> None:
        call = {"name": "count", "arguments": {"word": self.word}, "_meta": {"progressToken": "t"}}
        async with posting(client, "tools/call", call) as stream:
            told = await stream.messages()
        assert WORDS[OTHER[self.name]] not in json.dumps(told) and self.word in json.dumps(told)
        self.events += [event.identifier for event in stream.seen if event.identifier]

    async def steals_a_session(self, client: RawClient, other: Someone) -> None:
        if client.session is None:
            return
        stolen = {self.adapter.session_header: other.clients[0].session}
        reply = self.check(await client.tool("keep", {"word": self.word}, change=stolen))
        assert reply.status == self.adapter.error_statuses["session_unknown"]

    async def steals_state(self, client: RawClient, other: Someone) -> None:
        for name, states in other.states.items():
            for word in (self.word, other.word) if states else ():
                reply = self.check(await again(client, name, {"name": ANSWER}, states[-1], {"word": word}))
                assert "error" in reply.message or reply.result["isError"], "and it is not used up by that, see answers"

    async def steals_events(self, client: RawClient, other: Someone) -> None:
        if client.session is not None and other.events:
            async with listening(client, other.events[0]) as stream:
                assert await stream.silent(0.02)
                stream.response.close()

    async def steals_an_answer(self, client: RawClient, other: Someone) -> None:
        if not self.adapter.can_push_ask:
            return
        asked: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        asking = asyncio.ensure_future(other.clients[0].tool("ask", {"word": other.word}, on_message=asked.put))
        question = await asked.get()
        false = {"action": "decline"}
        await client.post({"jsonrpc": "2.0", "id": question["id"], "result": false})
        await other.clients[1].post({"jsonrpc": "2.0", "id": question["id"], "result": ANSWER})
        assert other.check(await asking).text == other.word, "the first that is its own counts"


DEEDS = ("keeps", "asks", "answers", "counts")
THEFTS = ("steals_a_session", "steals_state", "steals_events", "steals_an_answer")
STEPS = st.tuples(st.sampled_from(sorted(WORDS)), st.sampled_from(DEEDS) | st.sampled_from(THEFTS), st.integers(0, 1))


@pytest.fixture(params=["memory", "sqlite", "redis", "postgres", "sqlite and redis", "postgres and memory"])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """The store and the hub, both on each system, and some on two."""

    def place(system: str, member: str) -> Any:
        match system:
            case "memory":
                return MemoryStore() if member == "store" else MemoryHub()
            case "sqlite":
                return f"sqlite://{tmp_path}/shared.db"
            case "redis":
                return request.getfixturevalue("valkey_url")
        return request.getfixturevalue("postgres_url")

    store, _, hub = str(request.param).partition(" and ")
    return {"store": place(store, "store"), "hub": place(hub or store, "hub")}


@pytest.mark.hypothesis
def test_neither_gets_anything_of_the_other(shared: dict[str, Any]) -> None:
    made = Settings(principal=lambda head: Principal(head.headers["x-name"]), keys=[b"k" * 32], **shared)
    name = new_name()

    async def example(urls: list[str], version: str, steps: list[tuple[str, str, int]]) -> None:
        adapter = AdapterSet.default().by_version[version]
        async with (
            Someone("ann", adapter, urls).there() as ann,
            Someone("eve", adapter, urls).there() as eve,
            asyncio.timeout(30),
        ):
            people = {"ann": ann, "eve": eve}
            for each in people.values():  # so that there is something to steal
                await each.asks(each.clients[0], each)
                await each.counts(each.clients[1], each)
            for who, what, worker in steps:
                await people[who].does(what, people[who].clients[worker], people[OTHER[who]])

    with asyncio.Runner() as runner:
        stack = contextlib.AsyncExitStack()

        async def start() -> list[str]:
            return [await stack.enter_async_context(serve(registry(name), made)) for _ in range(2)]

        urls = runner.run(start())

        @settings(max_examples=10, suppress_health_check=list(HealthCheck))
        @given(st.sampled_from(VERSIONS), st.lists(STEPS, min_size=4, max_size=12))
        def attempt(version: str, steps: list[tuple[str, str, int]]) -> None:
            runner.run(example(urls, version, steps))

        try:
            attempt()
        finally:
            runner.run(stack.aclose())
