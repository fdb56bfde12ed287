"""Everything that a server can be asked for, as one list: what a client does, and what comes of it as JSON.

    python tests/client/features.py [REVISION]

serves them on its standard streams, in every revision or in that one.

Rule: the same on every transport, to the letter; what a revision lacks, its adapter says.
"""

from __future__ import annotations

import asyncio
import base64
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from mcp_anyrev import (
    Audio,
    Client,
    Exchange,
    NotOffered,
    Registry,
    RequestRefused,
    Settings,
    elicit,
    roots,
    sample,
    stdio,
)
from mcp_revisions import canonical
from mcp_revisions.protocol import Adapter
from pydantic import BaseModel

SOUND = b"RIFF"
PLACE = "https://example.org/sign-in"
SETTINGS = Settings(task_poll_seconds=0.05)
ROOT = "file:///work"


class Person(BaseModel):
    name: str
    age: int = 30


class Told:
    """What a server told its client beside results."""

    def __init__(self) -> None:
        self.logs: list[Any] = []
        self.progress: list[Any] = []
        self.asked: list[str] = []


def declared() -> Registry:
    """A server with one thing for everything."""
    registry = Registry("features", "1.0", instructions="Ask for anything.")
    fates: dict[str, str] = {}

    @registry.tool(title="Adder")
    def add(a: int, b: int) -> dict[str, int]:
        """Adds."""
        return {"sum": a + b}

    @registry.tool
    def listed() -> list[int]:
        """A bare list."""
        return [1, 2, 3]

    @registry.tool
    async def gate(ex: Exchange) -> str:
        """One confirmation."""
        return "went ahead" if (await ex.ask("go", elicit("Go ahead?"))).accepted else "stopped"

    @registry.tool
    async def two(ex: Exchange) -> str:
        """Two questions, one after the other."""
        first = await ex.ask("who", elicit("Who?", Person))
        second = await ex.ask("sure", elicit(f"Is it {first.data.name}?"))
        return f"{first.data.name} {first.data.age} {second.action}"

    @registry.tool
    async def model(ex: Exchange) -> str:
        """Samples."""
        answer = await ex.ask("m", sample("Hello", max_tokens=5))
        return answer.data.content.text if answer.accepted else "nothing"  # type: ignore[union-attr]

    @registry.tool
    async def where(ex: Exchange) -> str:
        """Asks for the roots."""
        answer = await ex.ask("r", roots())
        return ",".join(root.uri for root in answer.data.roots) if answer.accepted else "nowhere"

    @registry.tool
    async def visit(ex: Exchange) -> str:
        """Asks to open an address."""
        return str((await ex.ask("place", elicit("Sign in:", url=PLACE))).action)

    @registry.tool(task_support="optional")
    async def later(number: int, ex: Exchange) -> str:
        """Answers later, where there is a way to, and asks on the way."""
        await ex.answer_later()
        return f"later {number}" if (await ex.ask("go", elicit("Go on?"))).accepted else "never"

    @registry.tool(asks=False)
    async def steps(ex: Exchange) -> str:
        """Reports how far it is."""
        for step in (1, 2, 3):
            await ex.progress(step, 3, f"step {step}")
        return "stepped"

    @registry.tool(asks=False)
    async def noisy(ex: Exchange) -> str:
        """Logs."""
        for level in ("debug", "warning", "error"):
            await ex.log(level, f"at {level}", "features")
        return "logged"

    @registry.tool
    async def slow(tag: str) -> str:
        """Takes long, and says what became of it."""
        fates[tag] = "running"
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            fates[tag] = "cancelled"
            raise
        return "slept"

    @registry.tool
    async def fate(tag: str) -> str:
        """What became of a slow call."""
        return fates.get(tag, "unknown")

    @registry.tool
    def contents() -> list[canonical.ResourceLink | Audio]:
        """A link and a sound."""
        link = canonical.ResourceLink(type="resource_link", uri="mem://a", name="a", title="A")
        return [link, Audio(SOUND, "audio/wav")]

    @registry.tool
    def grow() -> str:
        """Says that there are other tools now, and that a resource has changed."""
        registry.changed("tools")
        registry.updated("mem://a")
        return "grown"

    @registry.resource("mem://a", mime_type="text/plain")
    def a() -> str:
        """A text."""
        return "A"

    @registry.resource("mem://n/{number}")
    def numbered(number: int) -> str:
        """One for every number."""
        return f"number {number}"

    @registry.prompt(title="Greeting")
    def greet(who: str) -> str:
        """Greets."""
        return f"Hello {who}"

    @registry.completion("who", prompt="greet")
    def whoever(value: str) -> list[str]:
        return [name for name in ("ada", "alan") if name.startswith(value)]

    return registry


def callbacks(told: Told) -> dict[str, Any]:
    """What a client answers, and where it notes what it is told."""

    async def on_ask(asked: Any) -> Any:
        told.asked.append(asked.url if asked.mode == "url" else asked.message)
        if asked.mode == "url":
            return True
        return {"name": "Ada"} if "name" in asked.requested_schema["properties"] else True

    def on_sample(params: canonical.CreateMessageRequestParams) -> str:
        return "from a model"

    async def on_roots() -> list[str]:
        return [ROOT]

    return {
        "on_ask": on_ask,
        "on_sample": on_sample,
        "on_roots": on_roots,
        "on_log": lambda params: told.logs.append([params.level, params.data, params.logger]),
        "on_progress": lambda params: told.progress.append([params.progress, params.total, params.message]),
    }


# --- What a client does. Each gives what came of it, as JSON. ---


async def describes_itself(client: Client, told: Told) -> Any:
    assert client.server is not None
    return [client.revision, client.server.name, client.server.version, client.instructions]


async def lists(client: Client, told: Told) -> Any:
    tools = [
        [tool.name, tool.title, sorted(tool.input_schema.get("properties", {}))] for tool in await client.list_tools()
    ]
    resources = [one.uri for one in await client.list_resources()]
    has_templates = "resources/templates/list" in client.adapter.client_requests
    templates = [one.uri_template for one in await client.list_resource_templates()] if has_templates else []
    return {
        "tools": tools,
        "resources": resources,
        "templates": templates,
        "prompts": [one.name for one in await client.list_prompts()],
    }


async def calls(client: Client, told: Told) -> Any:
    result = await client.call_tool("add", {"a": 1, "b": 2})
    bare = await client.call_tool("listed")
    return [result.text, result.structured_content, bare.text, bare.structured_content]


async def wrong_arguments(client: Client, told: Told) -> Any:
    try:
        return ["a result", (await client.call_tool("add", {"a": "x", "b": 2})).is_error]
    except RequestRefused as refused:
        return ["an error", refused.kind]


async def unknown_things(client: Client, told: Told) -> Any:
    kinds = []
    for call in (client.call_tool("no such"), client.read_resource("mem://no"), client.get_prompt("no such")):
        try:
            await call
        except RequestRefused as refused:
            kinds.append(refused.kind)
    return kinds


async def questions(client: Client, told: Told) -> Any:
    told.asked.clear()
    return [(await client.call_tool("gate")).text, (await client.call_tool("two")).text, list(told.asked)]


async def other_questions(client: Client, told: Told) -> Any:
    return [await _text_or_error(client, "model"), await _text_or_error(client, "where")]


async def address_questions(client: Client, told: Told) -> Any:
    told.asked.clear()
    result = await client.call_tool("visit")
    return [result.text, result.is_error or False, list(told.asked)]


async def tasks(client: Client, told: Told) -> Any:
    told.asked.clear()
    task = await client.start_tool("later", {"number": 1})
    known = task.identifier is not None
    texts = [(await task.result()).text, (await client.call_tool("later", {"number": 2})).text]
    if task.identifier is not None:
        state = await client.task(task.identifier).state()
        assert state is not None and state.status == "completed"
    return [known, texts, list(told.asked)]


async def progress(client: Client, told: Told) -> Any:
    own: list[Any] = []
    told.progress.clear()
    await client.call_tool("steps")
    await client.call_tool("steps", on_progress=lambda params: own.append(params.progress))
    await _until(lambda: len(told.progress) >= 3 and len(own) >= 3)
    return [list(told.progress), own]


async def logs(client: Client, told: Told) -> Any:
    await client.set_log_level("warning")
    told.logs.clear()
    await client.call_tool("noisy")
    await _until(lambda: len(told.logs) >= 2)
    return list(told.logs)


async def cancellation(client: Client, told: Told) -> Any:
    call = asyncio.ensure_future(client.call_tool("slow", {"tag": "c"}))
    while (await client.call_tool("fate", {"tag": "c"})).text != "running":  # noqa: ASYNC110  # it may be another process
        await asyncio.sleep(0.005)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    while (found := (await client.call_tool("fate", {"tag": "c"})).text) != "cancelled":  # noqa: ASYNC110  # as above
        await asyncio.sleep(0.005)
    return found


async def content(client: Client, told: Told) -> Any:
    return [
        block.model_dump(by_alias=True, exclude_unset=True) for block in (await client.call_tool("contents")).content
    ]


async def resources(client: Client, told: Told) -> Any:
    texts = [(await client.read_resource(uri)).contents[0].text for uri in ("mem://a", "mem://n/7")]  # type: ignore[union-attr]
    return texts


async def prompts(client: Client, told: Told) -> Any:
    messages = (await client.get_prompt("greet", {"who": "Ada"})).messages
    return [[message.role, message.content.text] for message in messages]  # type: ignore[union-attr]


async def completion(client: Client, told: Told) -> Any:
    return (await client.complete("who", "al", prompt="greet")).values


async def changes(client: Client, told: Told) -> Any:
    heard: set[tuple[str, str | None]] = set()
    async with client.listen("tools", uris=["mem://a"]) as listening:
        await client.call_tool("grow")
        async for change in listening:
            heard.add(tuple(change))
            if len(heard) == 2:
                break
    return sorted(map(list, heard), key=str)


async def ping(client: Client, told: Told) -> Any:
    try:
        await client.ping()
    except NotOffered:
        return "not offered"
    return "answered"


FEATURES: tuple[Callable[[Client, Told], Awaitable[Any]], ...] = (
    describes_itself,
    lists,
    calls,
    wrong_arguments,
    unknown_things,
    questions,
    other_questions,
    address_questions,
    tasks,
    progress,
    logs,
    cancellation,
    content,
    resources,
    prompts,
    completion,
    changes,
    ping,
)

_NEEDED = {
    "other_questions": {"sampling/createMessage", "roots/list"},
    "progress": {"notifications/progress"},
    "logs": {"notifications/message"},
    "prompts": {"prompts/get"},
    "completion": {"completion/complete"},
    "changes": {"notifications/tools/list_changed", "notifications/resources/updated"},
}
"""A feature → the methods of which it is made."""


def lacks(adapter: Adapter, feature: str) -> bool:
    """Has a revision not what a feature is made of?"""
    methods = {*adapter.client_requests, *adapter.server_requests, *adapter.embedded_requests}
    return not _NEEDED.get(feature, set()) <= methods | {*adapter.server_notifications}


def expected(adapter: Adapter) -> dict[str, Any]:
    """What comes of each that a revision has."""
    structured = "structuredContent" in adapter._call_tool_result({"structuredContent": {}})  # type: ignore[attr-defined]
    any_value = structured and not adapter.wraps_output
    asking = {"mcpAnswers", "mcpState"} if adapter.asks_in_arguments else set()
    arguments = {
        "add": ["a", "b"], "listed": [], "gate": sorted(asking), "two": sorted(asking), "model": sorted(asking), "where": sorted(asking),
        "visit": sorted(asking), "later": sorted({"number", *asking}),
        "steps": [], "noisy": [], "slow": ["tag"], "fate": ["tag"], "contents": [], "grow": [],
    }  # fmt: skip
    titled = "title" in adapter._tool({"name": "t", "inputSchema": {"type": "object"}, "title": "T"})  # type: ignore[attr-defined]
    found = {
        "describes_itself": [adapter.version, "features", "1.0", "Ask for anything."],
        "lists": {
            "tools": [
                [name, "Adder" if name == "add" and titled else None, found] for name, found in arguments.items()
            ],
            "resources": ["mem://a"],
            "templates": ["mem://n/{number}"] if "resources/templates/list" in adapter.client_requests else [],
            "prompts": ["greet"],
        },
        "calls": ['{"sum":3}', {"sum": 3} if structured else None, "[1,2,3]", [1, 2, 3] if any_value else None],
        "wrong_arguments": ["a result", True] if adapter.wrong_arguments_in_result else ["an error", "invalid_params"],
        "unknown_things": ["invalid_params", _kind_of_missing_resource(adapter), "invalid_params"],
        "questions": ["went ahead", "Ada 30 accept", ["Go ahead?", "Who?", "Is it Ada?"]],
        "other_questions": ["from a model", ROOT],
        "address_questions": _address(adapter),
        "tasks": [bool(adapter.task_methods), ["later 1", "later 2"], ["Go on?"] * 2],
        "progress": [
            [[step, 3, f"step {step}" if _told_with_words(adapter) else None] for step in (1, 2, 3)],
            [1, 2, 3],
        ],
        "logs": [["warning", "at warning", "features"], ["error", "at error", "features"]],
        "cancellation": "cancelled",
        "content": _content(adapter),
        "resources": ["A", "number 7"],
        "prompts": [["user", "Hello Ada"]],
        "completion": ["alan"],
        "changes": [["contents", "mem://a"], ["tools", None]],
        "ping": "answered" if "ping" in adapter.client_requests else "not offered",
    }
    return {feature: result for feature, result in found.items() if not lacks(adapter, feature)}


def _kind_of_missing_resource(adapter: Adapter) -> str:
    """Where it has no code of its own, a client cannot tell it from other wrong params."""
    codes = adapter.error_codes
    return "invalid_params" if codes["resource_not_found"] == codes["invalid_params"] else "resource_not_found"


def _address(adapter: Adapter) -> list[Any]:
    if adapter.may_be_asked({"elicitation": {"url": {}}}, "url"):
        return ["accept", False, [PLACE]]
    return [f"no client of {adapter.version} can be asked to open an address: Sign in: {PLACE}", True, []]


def _told_with_words(adapter: Adapter) -> bool:
    told = adapter.encode_notification("notifications/progress", {"progressToken": 1, "progress": 1, "message": "m"})
    return "message" in told["params"]


def _content(adapter: Adapter) -> list[Any]:
    link = {"type": "resource_link", "uri": "mem://a", "name": "a", "title": "A"}
    sound = {"type": "audio", "data": base64.b64encode(SOUND).decode(), "mimeType": "audio/wav"}
    result: list[Any] = adapter.encode_result("tools/call", {"content": [link, sound]}, {})["content"]
    return result


async def _text_or_error(client: Client, tool: str) -> str:
    return (await client.call_tool(tool)).text


async def _until(holds: Callable[[], bool]) -> None:
    while not holds():  # noqa: ASYNC110  # callbacks note what they get
        await asyncio.sleep(0.002)


if __name__ == "__main__":
    stdio(declared(), replace(SETTINGS, revisions=sys.argv[1:] or None))
