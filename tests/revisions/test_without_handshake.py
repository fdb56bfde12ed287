"""Revisions without a handshake that call headers and errors otherwise: each finds out what the other speaks, as far as both can.

Specification: basic/versioning#protocol-version-negotiation
"""

from __future__ import annotations

import functools
import json
import re
import subprocess
import sys

import pytest
from mcp_revisions import AdapterSet
from revgen.models.canonical import write_canonical
from revgen.models.modules import write_models
from revgen.specification.loading import load_specification
from revgen.writing.render import Writer

from .conftest import REPOSITORY, VERSIONS, Project, render_quickly

NEXT, LAST = "2999-01-01", VERSIONS[-1]
ADAPTER = AdapterSet.default().by_version[LAST]
CODE = ADAPTER.error_codes["header_mismatch"]

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.long,
    pytest.mark.skipif(ADAPTER.has_handshake or CODE is None, reason="the newest revision opens with a handshake"),
]

SCRIPT = """
import asyncio, json
from descriptions import description
from scripted import error, replied, result, scripted_http
from mcp_anyrev import Client, Registry, Settings, serve
from mcp_revisions import AdapterSet

everything, earlier = %r, %r
last = AdapterSet.default().by_version[earlier[0]]
registry = Registry("r", "1")

@registry.tool
def add(a: int, b: int) -> int:
    return a + b

async def met(ours, theirs):
    async with serve(registry, Settings(revisions=theirs)) as url, Client(url, revisions=ours) as client:
        return [(await client.call_tool("add", {"a": 1, "b": 2})).text, client.revision]

def looks_at_headers_first(message, headers):
    if last.method_header.lower() not in headers:
        return replied(error(message, last.error_codes["header_mismatch"]), 400)
    return replied(result(message, description(last)))

async def found():
    async with scripted_http(looks_at_headers_first) as (url, _), Client(url, revisions=everything) as client:
        await client.initialize()
        return client.revision

async def main():
    both = [await met(everything, earlier), await met(earlier, everything), await met(everything, everything)]
    print(json.dumps([*both, await found()]))

asyncio.run(main())
"""


def test_an_older_one_is_found_behind_another_header_and_another_code(project: Project) -> None:
    schema = json.loads((REPOSITORY / f"specs/schemas/{LAST}.json").read_text("utf-8"))
    schema["$defs"]["HeaderMismatchErrorError"]["properties"]["code"]["const"] = -32090
    file = project.root / "next.json"
    file.write_text(json.dumps(schema), "utf-8")
    result = project.run("new", NEXT, "--schema", str(file), "--like", LAST)
    assert result.exit_code in (0, 3), result.output
    renamed(project, "streamable_http", "method_header", f"is: {ADAPTER.method_header}", "is: Mcp-Doing")
    renamed(project, "envelope", "error_codes", f"header_mismatch: {CODE}", "header_mismatch: -32090")

    specification = load_specification(project.root)
    handshake = list(AdapterSet.default().handshake_versions[:1])
    spoken = [one for one in specification.revisions if one.version in (NEXT, LAST, *handshake)]
    models = [Writer(functools.partial(write_models, revision=one)) for one in spoken]
    for path, text in render_quickly(specification, Writer(write_canonical), *models).items():
        (project.root / path).parent.mkdir(parents=True, exist_ok=True)
        (project.root / path).write_text(text, "utf-8")
    command = [sys.executable, "-c", SCRIPT % ([NEXT, LAST, *handshake], [LAST, *handshake])]
    path = ":".join(
        map(
            str,
            (
                project.root / "generated",
                *(REPOSITORY / folder for folder in ("runtime", "tests/client", "tests/fixtures")),
            ),
        )
    )
    run = subprocess.run(command, env={"PYTHONPATH": path}, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == [["3", LAST], ["3", LAST], ["3", NEXT], LAST]


def renamed(project: Project, area: str, concern: str, old: str, new: str) -> None:
    """Change the answer of the next revision."""
    file = project.root / f"specs/variance/{area}.yaml"
    head, name, rest = file.read_text("utf-8").partition(f"\n  {concern}:\n")
    before, version, after = rest.partition(f'      "{NEXT}":')
    assert name and version and re.search(re.escape(old), after)
    file.write_text(head + name + before + version + after.replace(old, new, 1), "utf-8")
