"""The features of `tests/client/features.py`, as the official SDK's client does them: the same comes of them, as JSON.

Rule: it is used as its documentation says; what it lacks, `expected_of` says.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import features
from mcp_revisions.protocol import Adapter

if TYPE_CHECKING:
    import mcp


class Told(features.Told):
    """What a server told its client beside results."""

    def __init__(self) -> None:
        super().__init__()
        self.notified: list[Any] = []


def callbacks(told: Told, adapter: Adapter) -> dict[str, Any]:
    """What the client answers, and where it notes what it is told."""
    import mcp_types

    async def elicitation(context: Any, params: Any) -> Any:
        if params.mode == "url":
            told.asked.append(params.url)
            return mcp_types.ElicitResult(action="accept")
        told.asked.append(params.message)
        content = {"name": "Ada"} if "name" in params.requested_schema["properties"] else {}
        return mcp_types.ElicitResult(action="accept", content=content)

    async def sampling(context: Any, params: Any) -> Any:
        content = mcp_types.TextContent(type="text", text="from a model")
        return mcp_types.CreateMessageResult(role="assistant", content=content, model="m")

    async def list_roots(context: Any) -> Any:
        return mcp_types.ListRootsResult(roots=[mcp_types.Root(uri=features.ROOT)])

    async def logging(params: Any) -> None:
        told.logs.append([params.level, params.data, params.logger])

    async def messages(message: Any) -> None:
        told.notified.append(message)

    return {
        "elicitation_callback": elicitation,
        "sampling_callback": sampling,
        "list_roots_callback": list_roots,
        "logging_callback": logging,
        "message_handler": messages,
        "log_level": None if adapter.has_handshake else "warning",
    }


# --- What it does. Each gives what came of it, as JSON. ---


async def describes_itself(client: mcp.Client, told: Told) -> Any:
    server = client.server_info
    return [client.protocol_version, server.name, server.version, client.instructions]


async def lists(client: mcp.Client, told: Told) -> Any:
    tools = (await client.list_tools()).tools
    return {
        "tools": [[tool.name, tool.title, sorted(tool.input_schema.get("properties", {}))] for tool in tools],
        "resources": [one.uri for one in (await client.list_resources()).resources],
        "templates": [one.uri_template for one in (await client.list_resource_templates()).resource_templates],
        "prompts": [one.name for one in (await client.list_prompts()).prompts],
    }


async def calls(client: mcp.Client, told: Told) -> Any:
    result, bare = await client.call_tool("add", {"a": 1, "b": 2}), await client.call_tool("listed")
    return [text_of(result), result.structured_content, text_of(bare), bare.structured_content]


async def wrong_arguments(client: mcp.Client, told: Told) -> Any:
    import mcp

    try:
        return ["a result", (await client.call_tool("add", {"a": "x", "b": 2})).is_error]
    except mcp.MCPError as refused:
        return ["an error", refused.error.code]


async def unknown_things(client: mcp.Client, told: Told) -> Any:
    import mcp

    codes = []
    for call in (client.call_tool("no such"), client.read_resource("mem://no"), client.get_prompt("no such")):
        try:
            await call
        except mcp.MCPError as refused:
            codes.append(refused.error.code)
    return codes


async def questions(client: mcp.Client, told: Told) -> Any:
    told.asked.clear()
    return [await finished(client, "gate", told), await finished(client, "two", told), list(told.asked)]


async def other_questions(client: mcp.Client, told: Told) -> Any:
    return [text_of(await client.call_tool("model")), text_of(await client.call_tool("where"))]


async def address_questions(client: mcp.Client, told: Told) -> Any:
    told.asked.clear()
    result = await client.call_tool("visit", {})
    return [text_of(result), result.is_error or False, list(told.asked)]


async def progress(client: mcp.Client, told: Told) -> Any:
    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.progress.append([progress, total, message])

    await client.call_tool("steps", progress_callback=note)
    await until(lambda: len(told.progress) >= 3)
    return told.progress


async def logs(client: mcp.Client, told: Told) -> Any:
    from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

    if client.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
        await client.set_logging_level("warning")
    told.logs.clear()
    await client.call_tool("noisy")
    await until(lambda: len(told.logs) >= 2)
    return list(told.logs)


async def cancellation(client: mcp.Client, told: Told) -> Any:
    call = asyncio.ensure_future(client.call_tool("slow", {"tag": "c"}))
    while text_of(await client.call_tool("fate", {"tag": "c"})) != "running":  # noqa: ASYNC110  # it may be another process
        await asyncio.sleep(0.005)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    while (found := text_of(await client.call_tool("fate", {"tag": "c"}))) != "cancelled":  # noqa: ASYNC110  # as above
        await asyncio.sleep(0.005)
    return found


async def content(client: mcp.Client, told: Told) -> Any:
    result = await client.call_tool("contents")
    return [block.model_dump(by_alias=True, exclude_unset=True) for block in result.content]


async def resources(client: mcp.Client, told: Told) -> Any:
    return [(await client.read_resource(uri)).contents[0].text for uri in ("mem://a", "mem://n/7")]  # type: ignore[union-attr]


async def prompts(client: mcp.Client, told: Told) -> Any:
    messages = (await client.get_prompt("greet", {"who": "Ada"})).messages
    return [[message.role, message.content.text] for message in messages]  # type: ignore[union-attr]


async def completion(client: mcp.Client, told: Told) -> Any:
    import mcp_types

    reference = mcp_types.PromptReference(type="ref/prompt", name="greet")
    return (await client.complete(reference, {"name": "who", "value": "al"})).completion.values


async def changes(client: mcp.Client, told: Told) -> Any:
    from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

    heard: list[Any] = []
    if client.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
        await client.subscribe_resource("mem://a")
        told.notified.clear()
        await client.call_tool("grow")
        await until(lambda: len(told.notified) >= 2)
        for message in told.notified:
            heard.append(["contents", message.params.uri] if "updated" in message.method else ["tools", None])
        await client.unsubscribe_resource("mem://a")
    else:
        async with client.listen(tools_list_changed=True, resource_subscriptions=["mem://a"]) as listening:
            await client.call_tool("grow")
            async for event in listening:
                heard.append(["contents", event.uri] if hasattr(event, "uri") else ["tools", None])
                if len(heard) == 2:
                    break
    return sorted(heard, key=str)


async def ping(client: mcp.Client, told: Told) -> Any:
    import mcp

    try:
        await client.send_ping()
    except mcp.MCPError:
        return "not offered"
    return "answered"


FEATURES: tuple[Callable[[mcp.Client, Told], Awaitable[Any]], ...] = (
    describes_itself,
    lists,
    calls,
    wrong_arguments,
    unknown_things,
    questions,
    other_questions,
    address_questions,
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


def expected_of(adapter: Adapter) -> dict[str, Any]:
    """What comes of each, in a revision: what comes of it for our client, but errors have codes here, and progress is told once."""
    found = features.expected(adapter)
    found.pop("tasks", None)  # it has none
    codes = adapter.error_codes
    if not adapter.wrong_arguments_in_result:
        found["wrong_arguments"] = ["an error", codes["invalid_params"]]
    found["unknown_things"] = [codes["invalid_params"], codes["resource_not_found"], codes["invalid_params"]]
    if "progress" in found:
        found["progress"] = found["progress"][0]
    return found


def text_of(result: Any) -> str:
    """The text of a tool's result."""
    return "\n".join(block.text for block in result.content)


async def finished(client: mcp.Client, tool: str, told: Told) -> str:
    """The text of a tool; where it asks for what is missing, do as a model does: call again as it shows, with what the person said."""
    text = text_of(await client.call_tool(tool, {}))
    while "mcpAnswers" in text:
        told.asked += re.findall(r"^- \w+: (.*?\?)", text, re.MULTILINE)
        (shown,) = re.findall(r"^\{.*\}$", text, re.MULTILINE)
        text = text_of(await client.call_tool(tool, json.loads(shown.replace('"name":null', '"name":"Ada"'))))
    return text


async def until(holds: Callable[[], bool]) -> None:
    """Wait for what callbacks note."""
    while not holds():  # noqa: ASYNC110  # as it says
        await asyncio.sleep(0.002)
