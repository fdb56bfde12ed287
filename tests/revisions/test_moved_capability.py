"""Where a revision puts what a peer can do is an answer: server and client find it there, and no line of the runtime changes.

Specification: basic/lifecycle#capability-negotiation
"""

from __future__ import annotations

import functools
import json
import re
import subprocess
import sys
from typing import Any

import pytest
from revgen.models.canonical import write_canonical
from revgen.models.modules import write_models
from revgen.specification.loading import load_specification
from revgen.writing.render import Writer

from .conftest import REPOSITORY, VERSIONS, Project, render_quickly

NEXT, LAST = "2999-01-01", VERSIONS[-1]
MOVED = {"ClientCapabilities": "roots", "ServerCapabilities": "prompts"}
SCHEMA: dict[str, Any] = json.loads((REPOSITORY / f"specs/schemas/{LAST}.json").read_text("utf-8"))

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.long,
    pytest.mark.skipif(
        any(member not in SCHEMA["$defs"][type_]["properties"] for type_, member in MOVED.items()),
        reason="the newest revision lacks a capability to move",
    ),
]

CONCERN = """
  {name}:
    question: Where does a peer declare its {member}?
    signature: "(self, capabilities: JsonObject) -> JsonObject"
    adjusts: {type_}
    choices:
      of_their_own: As a capability.
      in_catalog: In that for the catalog.
    answers:
{answers}
"""
MACROS = """\
{%% macro of_their_own() %%}
return capabilities
{%% endmacro %%}

{%% macro in_catalog() %%}
if "%(member)s" not in capabilities:
    return capabilities
return {**contract.without(capabilities, "%(member)s"), "catalog": {"%(member)s": capabilities["%(member)s"]}}
{%% endmacro %%}
"""
SCRIPT = """
import asyncio, json
from mcp_anyrev import Client, Registry, RequestRefused, Settings
from mcp_anyrev.server.core import Core
from mcp_anyrev.transports.memory import MemoryTransport
from mcp_revisions import AdapterSet

registry = Registry("r", "1")

@registry.prompt
def greet() -> str:
    "Hello."
    return "hello"

@registry.tool(requires=["roots"])
def folders() -> str:
    "Needs roots."
    return "known"

async def seen(adapter):
    core = Core(registry, Settings(revisions=[adapter.version]))
    await core.start()
    found = {}
    async with Client(lambda: MemoryTransport(core), adapter, on_roots=lambda: []) as client:
        await client.initialize()
        found["declared"] = client.description["capabilities"]
        found["prompts"] = [one.name for one in await client.list_prompts()]
        found["read as"] = client.capabilities.prompts is not None
        found["changes"] = client.capabilities.prompts.list_changed
        found["tool"] = (await client.call_tool("folders")).content[0].text
    async with Client(lambda: MemoryTransport(core), adapter) as client:
        await client.initialize()
        try:
            await client.call_tool("folders")
        except RequestRefused as error:
            found["refused for"] = error.data
    await core.close()
    return found

print(json.dumps({one.version: asyncio.run(seen(one)) for one in AdapterSet(%r).by_version.values()}))
"""


def test_what_has_moved_is_found(project: Project) -> None:
    schema = json.loads(json.dumps(SCHEMA))
    for type_, member in MOVED.items():
        members = schema["$defs"][type_]["properties"]
        members["catalog"] = {"type": "object", "properties": {member: members.pop(member)}}
    file = project.root / "next.json"
    file.write_text(json.dumps(schema), "utf-8")
    result = project.run("new", NEXT, "--schema", str(file), "--like", LAST)
    assert result.exit_code in (0, 3), result.output
    for type_, member in MOVED.items():
        declare(project, type_, member)
    specification = load_specification(project.root)
    models = [Writer(functools.partial(write_models, revision=revision)) for revision in specification.revisions[-2:]]
    for path, text in render_quickly(specification, Writer(write_canonical), *models).items():
        (project.root / path).parent.mkdir(parents=True, exist_ok=True)
        (project.root / path).write_text(text, "utf-8")

    command = [sys.executable, "-c", SCRIPT % ([NEXT, LAST],)]
    path = [str(project.root / "generated"), str(REPOSITORY / "runtime")]
    run = subprocess.run(command, env={"PYTHONPATH": ":".join(path)}, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found[NEXT]["declared"]["catalog"] == {"prompts": found[LAST]["declared"]["prompts"]}
    assert "prompts" not in found[NEXT]["declared"]
    assert found[NEXT]["refused for"] == {"requiredCapabilities": {"catalog": {"roots": {}}}}
    assert found[LAST]["refused for"] == {"requiredCapabilities": {"roots": {}}}
    for version in (NEXT, LAST):
        same = {name: found[version][name] for name in ("prompts", "read as", "changes", "tool")}
        assert same == {"prompts": ["greet"], "read as": True, "changes": True, "tool": "known"}


def declare(project: Project, type_: str, member: str) -> None:
    """Say where each revision has a capability, as `docs/add-a-revision.md` tells to."""
    name = f"{member}_declared"
    why = 'cite: "policy: project: the invented revision has it so."'
    lines = [f'      "{version}": {{choice: of_their_own, {why}}}' for version in VERSIONS]
    lines.append(f'      "{NEXT}": {{choice: in_catalog, {why}}}')
    file = project.root / "specs/variance/lifecycle.yaml"
    text = CONCERN.format(name=name, member=member, type_=type_, answers="\n".join(lines))
    file.write_text(re.sub(r"\n+\Z", "\n", file.read_text("utf-8")) + text, "utf-8")
    template = project.root / f"templates/concerns/lifecycle/{name}.py.jinja"
    template.write_text(MACROS % {"member": member}, "utf-8")
