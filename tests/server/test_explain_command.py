"""`mcp-anyrev explain`: what it says agrees with what a server sends."""

from __future__ import annotations

import json
import pathlib
import re
from typing import Any

import pytest
from mcp_anyrev import Exchange, Registry, elicit
from mcp_anyrev.cli.main import main
from mcp_anyrev.explaining.comparison import MARKS, Comparison
from mcp_anyrev.explaining.decisions import decision
from mcp_anyrev.explaining.pages import as_html, as_markdown
from mcp_anyrev.explaining.report import Report, Thing, report
from mcp_anyrev.explaining.text import as_text
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from pydantic import Field
from raw_client import RawClient, serving
from running import Ran, run_here

ADAPTERS = AdapterSet.default()
ROOT = pathlib.Path(__file__).parents[2]
UNION = {
    "type": "object",
    "properties": {
        "shape": {
            "oneOf": [
                {"type": "object", "properties": {"radius": {"type": "integer"}}, "required": ["radius"]},
                {"type": "object", "properties": {"side": {"type": "integer"}}, "required": ["side"]},
            ]
        }
    },
}


def run(*arguments: str) -> Ran:
    return run_here(main, "mcp-anyrev", "explain", *arguments, folder=ROOT)


def registry() -> Registry:
    made = Registry("explained", "1.0", title="Explained")

    @made.tool
    async def plain(word: str) -> str:
        return word

    @made.tool(input_schema=UNION)
    async def shape(arguments: dict[str, Any]) -> str:
        return "shape"

    @made.tool(min_revision=ADAPTERS.versions[0])
    async def new() -> str:
        return "new"

    @made.tool(ask_in_arguments=False)
    async def ask(ex: Exchange) -> str:
        return str((await ex.ask("go", elicit("Go?"))).accepted)

    @made.tool(title="Titled", read_only=True, wrap_output=True)
    async def numbers(note: str | None = None) -> list[int]:
        return [1]

    @made.tool
    async def routed(region: str = Field("", json_schema_extra={"x-mcp-header": "Region"})) -> str:
        return region

    @made.resource("test://note", title="Note", ttl_ms=1_000)
    async def note() -> str:
        return "note"

    @made.prompt(title="Greeting")
    async def greet(name: str) -> str:
        return name

    return made


def named(told: Report) -> dict[str, Thing]:
    return {thing.name: thing for thing in told.things}


async def test_what_is_said_to_be_offered_is_what_is_listed(adapter: Adapter) -> None:
    made = registry()
    told = named(report(made, adapter))
    async with serving(made) as url, RawClient(url, adapter) as client:
        listed = {tool["name"]: tool for tool in (await client.call("tools/list")).result["tools"]}
    tools = {name: thing for name, thing in told.items() if thing.kind == "tool"}
    assert tools.keys() == made.tools.keys()
    assert {name for name, thing in tools.items() if thing.offered} == listed.keys()
    for name, thing in tools.items():
        same = name in listed and listed[name] == made.tools[name].description
        assert same is (thing.verdict == "as declared"), (name, thing)


def test_everything_that_is_not_offered_or_changed_has_a_reason(adapter: Adapter) -> None:
    told = report(registry(), adapter)
    for thing in told.things:
        assert thing.offered or len(thing.notes) == 1
        for note in thing.notes:
            assert note.what and note.why
            assert note.decision is None or note.decision.sources


def test_the_concern_that_decided_is_named() -> None:
    oldest = named(report(registry(), ADAPTERS.by_version[ADAPTERS.versions[-1]]))
    concerns = {
        name: [note.decision.concern for note in thing.notes if note.decision is not None]
        for name, thing in oldest.items()
    }
    assert concerns["shape"] == ["input_schema"]
    assert concerns["ask"] == ["asks_in_arguments"]
    assert concerns["new"] == [] and "min_revision" in oldest["new"].notes[0].what
    assert concerns["routed"] == ["header_annotations"]
    assert {"tool_title", "output_schema", "input_schema"} <= set(concerns["numbers"])
    assert concerns["test://note"] == ["cache_lifetime"]


def test_wrapping_is_told_where_it_happens(adapter: Adapter) -> None:
    notes = named(report(registry(), adapter))["numbers"].notes
    wrapped = [note for note in notes if note.decision is not None and note.decision.concern == "wraps_output"]
    assert bool(wrapped) is adapter.wraps_output


def test_every_question_of_the_inventory_can_be_explained(adapter: Adapter) -> None:
    for concern in ("can_ask", "error_codes", "input_schema", "cache_lifetime", "check_order"):
        told = decision(adapter, concern)
        assert told.question.endswith("?") or told.question.endswith(".")
        assert told.answer and told.sources
    with pytest.raises(KeyError):
        decision(adapter, "no_such_question")


def test_every_form_says_the_same(adapter: Adapter) -> None:
    made = registry()
    told = report(made, adapter)
    compared = Comparison(made.name, [told], details=True)
    for text in (as_text(compared), as_markdown(compared), as_html(compared)):
        for thing in told.things:
            assert thing.name in text and thing.verdict in text
        for one in told.decisions:
            assert one.concern in text


def test_every_form_begins_with_a_table_of_things_and_revisions() -> None:
    made = registry()
    reports = [report(made, adapter) for adapter in ADAPTERS.by_version.values()]
    compared = Comparison(made.name, reports)
    for write in (as_text, as_markdown, as_html):
        text = write(compared)
        assert all(verdict in text for verdict in MARKS) and "[input_schema]" not in text
        for name in made.tools:
            (line,) = [
                line
                for line in text.splitlines()
                if f"tool {name} " in re.sub("</?code>|`", " ", line).replace("  ", " ")
            ]
            marks = [mark for mark in line if mark in MARKS.values()]
            assert marks == [MARKS[named(one)[name].verdict] for one in reports]


def test_one_thing_is_explained_by_its_name() -> None:
    told = run("examples/small.py:registry", "find").stdout
    assert "tool find" in told and "as declared" in told and "card" not in told
    ran = run("examples/small.py:registry", "fin")
    assert (ran.code, ran.stdout) == (2, "")
    assert "nothing is named 'fin'; there is find" in " ".join(ran.stderr.split())


def test_the_page_needs_nothing_from_elsewhere() -> None:
    made = Registry("<b>&", "1")
    page = as_html(
        Comparison(made.name, [report(made, adapter) for adapter in ADAPTERS.by_version.values()], details=True)
    )
    assert "<b>&" not in page and "&lt;b&gt;&amp;" in page
    assert "<script" not in page and "src=" not in page and "@import" not in page and "<link" not in page


def test_the_command_writes_each_form_to_stdout() -> None:
    revision = ADAPTERS.versions[-1]
    for form, begins in (("text", "library "), ("md", "# What"), ("html", "<!doctype html>"), ("json", "{")):
        ran = run("examples/small.py:registry", "--revision", revision, "--format", form)
        assert (ran.code, ran.stderr) == (0, "")
        assert ran.stdout.startswith(begins) and "\x1b" not in ran.stdout
    told = json.loads(run("examples/small.py:registry", "--json").stdout)
    assert [one["revision"] for one in told["revisions"]] == list(ADAPTERS.versions)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["examples/small.py:registry", "--revision", "banana"], "banana; known: "),
        (["examples/absent.py:registry"], "there is no file examples/absent.py"),
        (["examples/small.py:registry", "--format", "pdf"], "'pdf' is not one of"),
        ([], "Missing argument 'MODULE:REGISTRY'"),
    ],
)
def test_wrong_usage_is_said_on_stderr_with_exit_code_2(arguments: list[str], words: str) -> None:
    ran = run(*arguments)
    assert (ran.code, ran.stdout) == (2, "")
    assert words in " ".join(ran.stderr.split())


def test_the_help_has_examples_with_revisions_that_exist() -> None:
    ran = run("--help")
    assert ran.code == 0
    assert f"--revision {ADAPTERS.versions[-1]}" in " ".join(ran.stdout.split())


def test_schemas_as_the_settings_send_them_are_explained() -> None:
    """What `Settings(schemas="declared")` offers is no tool that is not offered."""
    target = "tests/fixtures/unions.py:registry"
    told = json.loads(run(target, "--revision", ADAPTERS.versions[-1], "--json").stdout)
    declared = json.loads(run(target, "--revision", ADAPTERS.versions[-1], "--json", "--schemas", "declared").stdout)
    verdicts = [one["revisions"][0]["things"][0]["verdict"] for one in (told, declared)]
    assert verdicts == ["not offered", "as declared"]
    assert run(target, "--schemas", "other").code == 2
