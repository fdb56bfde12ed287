"""The client that the suite tests: `python tests/conformance/client.py URL`, for the scenario that the environment names.

Rule: only what a user of the public client would write. Any form is accepted with its defaults; whatever is asked, it answers.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from mcp_anyrev import Client
from mcp_anyrev.client.errors import ClientError
from mcp_revisions import AdapterSet

SCENARIO = "MCP_CONFORMANCE_SCENARIO"
REVISION = "MCP_CONFORMANCE_PROTOCOL_VERSION"
CONTEXT = "MCP_CONFORMANCE_CONTEXT"
"""What the suite tells a client through the environment: the last one as JSON, where a scenario has something to tell."""


def connected(url: str) -> Client:
    """A client that begins as one of the run's revision does."""
    adapters = AdapterSet.default()
    revision = os.environ.get(REVISION) or adapters.versions[0]
    spoken = adapters.handshake_versions if adapters.by_version[revision].has_handshake else [revision]
    return Client(
        url,
        revisions=[one for one in spoken if one <= revision],
        on_ask=lambda question: True,
        on_sample=lambda params: "sampled",
        on_roots=lambda: ["file:///roots"],
        timeout_seconds=20,
    )


async def list_tools(client: Client) -> None:
    await client.list_tools()


async def call_all(client: Client) -> None:
    """Call every tool with the least that it takes."""
    for tool in await client.list_tools():
        properties = tool.input_schema.get("properties", {})
        required = tool.input_schema.get("required", [])
        await client.call_tool(tool.name, {name: least(properties.get(name, {})) for name in required})


async def add_numbers(client: Client) -> None:
    await client.list_tools()
    await client.call_tool("add_numbers", {"a": 5, "b": 3})


async def defaults(client: Client) -> None:
    await client.list_tools()
    await client.call_tool("test_client_elicitation_defaults", {})


async def reconnection(client: Client) -> None:
    await client.list_tools()
    await client.call_tool("test_reconnection", {})


async def rounds(client: Client) -> None:
    await client.list_tools()
    for name in ("echo_state", "unrelated", "no_state", "no_result_type"):
        await client.call_tool(f"test_mrtr_{name}", {})


async def everything_named(client: Client) -> None:
    """Whatever has a name is named in a header."""
    await call_all(client)
    for resource in await client.list_resources():
        await client.read_resource(resource.uri)
    for prompt in await client.list_prompts():
        await client.get_prompt(prompt.name, {one.name: "x" for one in prompt.arguments or []})


async def told_calls(client: Client) -> None:
    await client.list_tools()
    for call in json.loads(os.environ[CONTEXT])["toolCalls"]:
        await client.call_tool(call["name"], call["arguments"])


async def echo_schema(client: Client) -> None:
    tools = {tool.name: tool for tool in await client.list_tools()}
    await client.call_tool("json_schema_echo", {"schema": tools["json_schema_2020_12_tool"].input_schema})


async def list_skills(client: Client) -> None:
    await client.skills.list()


async def read_skills(client: Client) -> None:
    """Read every file of every skill, as far as it is what was listed."""
    for skill in await client.skills.list():
        await client.skills.read(skill)
        for file in skill.files or ():
            await client.skills.read(skill, file.uri)


def least(schema: dict[str, Any]) -> Any:
    """A value of a simple schema."""
    if "default" in schema or "enum" in schema:
        return schema.get("default", schema.get("enum", [None])[0])
    values: dict[Any, Any] = {"string": "x", "integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}
    return values.get(schema.get("type"))


DONE = {
    "initialize": list_tools,
    "tools_call": add_numbers,
    "elicitation-sep1034-client-defaults": defaults,
    "sse-retry": reconnection,
    "request-metadata": call_all,
    "sep-2322-client-request-state": rounds,
    "http-standard-headers": everything_named,
    "http-custom-headers": told_calls,
    "http-invalid-tool-headers": call_all,
    "json-schema-ref-no-deref": list_tools,
    "json-schema-2020-12-preservation": echo_schema,
    "sep-2640-client-no-prefetch": list_skills,
    "sep-2640-client-verify-digest": read_skills,
    "sep-2640-client-verify-size": read_skills,
    "sep-2640-client-verify-frontmatter": read_skills,
}
"""What a client does in each scenario; those for which it would need a token are not among them."""


async def run(url: str) -> int:
    async with connected(url) as client:
        try:
            await client.initialize()
            await DONE[os.environ[SCENARIO]](client)
        except ClientError as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(run(sys.argv[-1])))
