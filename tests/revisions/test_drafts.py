"""Drafts and forks: in no default set, served when named, changing nothing of what a final revision says; and becoming final."""

from __future__ import annotations

import copy
import json
import pathlib
import subprocess
import sys
from typing import Any

import pytest
from revgen.canonical.merge import merge
from revgen.reading.located import Problems
from revgen.schemas.revisions import load_revisions, order_problem
from revgen.specification.loading import Specification, load_specification

from .conftest import REPOSITORY, VERSIONS, Project, render_quickly
from .test_leave_one_out import module, own_text

pytestmark = pytest.mark.long

LAST = VERSIONS[-1]
FINAL = "2031-01-01"
DRAFT = f"{FINAL}-rc.1"
SCRIPT = """
import json
from mcp_revisions import DRAFTS, VERSIONS, AdapterSet
named = AdapterSet([VERSIONS[0], VERSIONS[1]])
tools = {"tools": [{"name": "add", "inputSchema": {"type": "object"}, "rating": 4.5}]}
sent = [adapter.encode_result("tools/list", tools, {"name": "s", "version": "1"}) for adapter in named.by_version.values()]
print(json.dumps([VERSIONS, DRAFTS, AdapterSet.default().versions, named.versions, [one["tools"][0].get("rating") for one in sent]]))
"""


def changed(version: str) -> dict[str, Any]:
    """The schema of a revision with a new member."""
    schema: dict[str, Any] = json.loads((REPOSITORY / f"specs/schemas/{version}.json").read_text("utf-8"))
    schema["$defs"]["Tool"]["properties"]["rating"] = {"type": "number"}
    return schema


@pytest.fixture
def schema(tmp_path: pathlib.Path) -> pathlib.Path:
    file = tmp_path / "draft.json"
    file.write_text(json.dumps(changed(LAST)), "utf-8")
    return file


def test_a_draft_adds_and_changes_nothing_of_what_is_final(specification: Specification) -> None:
    draft = copy.deepcopy(changed(LAST))
    definitions = draft["$defs"]
    definitions["Tool"]["properties"] |= {"name": {"type": "number"}, "rated": {"$ref": "#/$defs/Rating"}}
    definitions["Tool"]["required"] = ["rating"]
    definitions["Rating"] = {"type": "object", "properties": {"stars": {"type": "integer"}}, "required": ["stars"]}
    definitions["Role"]["enum"] = ["captain"]
    draft["x-published"] = sorted([*draft["x-published"], "Rating"])
    problems = Problems()
    for order in ({**specification.schemas, "next": draft}, {"next": draft, **specification.schemas}):
        found = merge(order, specification.rules, problems, ["next"])["$defs"]
        tool = found["Tool"]
        assert tool["properties"].keys() - specification.canonical["$defs"]["Tool"]["properties"].keys() == {
            "rating",
            "rated",
        }
        assert found["Rating"]["required"] == ["stars"]
        for added in ("rating", "rated"):
            del tool["properties"][added]
        del found["Rating"]
        assert found == specification.canonical["$defs"]
    assert problems.found == []


def test_a_draft_is_served_when_it_is_named(project: Project, schema: pathlib.Path, adapters: dict[str, str]) -> None:
    arguments = ["new", DRAFT, "--schema", str(schema), "--like", LAST]
    result = project.run(*arguments)
    assert result.exit_code == 1
    assert (
        "is no date, so it does not say where it stands; name the revision that it follows with --after"
        in result.stderr
    )
    assert project.run(*arguments, "--after", LAST).exit_code == 0
    assert "    draft: yes\n" in (project.root / "specs/revisions.yaml").read_text("utf-8")
    texts = render_quickly(load_specification(project.root))
    for path, text in texts.items():
        (project.root / path).parent.mkdir(parents=True, exist_ok=True)
        (project.root / path).write_text(text, "utf-8")
        if path.endswith("/adapter.py") and module(DRAFT).replace(".", "_") not in path:
            assert own_text(text) == own_text(adapters[path]), path
    command = [sys.executable, "-c", SCRIPT]
    path = f"{project.root / 'generated'}:{REPOSITORY / 'runtime'}"
    run = subprocess.run(command, env={"PYTHONPATH": path}, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    every = [DRAFT, *reversed(VERSIONS)]
    assert json.loads(run.stdout) == [every, [DRAFT], every[1:], every[:2], [4.5, None]]


@pytest.mark.thorough
def test_a_draft_becomes_final_with_all_that_was_said_of_it(
    project: Project, schema: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    project.add_vectors()
    assert project.run("new", DRAFT, "--schema", str(schema), "--like", LAST, "--after", LAST).exit_code == 0
    assert project.run("vectors", DRAFT, "--like", LAST).exit_code == 0
    waiting, of_other = "check_order", f"tests/vectors/{LAST}/encoding/results.yaml"
    names = {item["name"] for item in json.loads(project.run("accept", "--json").stdout)["marked"]}
    names -= {waiting, of_other}
    assert project.run("accept", *sorted(names), "--yes").exit_code == 0
    corrections = (project.root / "specs/corrections.yaml").read_text("utf-8").count(f'"{DRAFT}"')

    published = changed(LAST)
    published["$defs"]["JSONRPCErrorResponse"]["properties"]["hint"] = {"type": "string"}
    cites = '"schema: #/$defs/JSONRPCErrorResponse'
    final = tmp_path / "final.json"
    final.write_text(json.dumps(published), "utf-8")
    result = project.run(
        "finalize", DRAFT, FINAL, "--schema", str(final), "--source", "https://example.org/schema.json"
    )
    assert result.exit_code == 0, result.output
    versions = [revision.version for revision in load_revisions(project.root, Problems())]
    assert versions == [*VERSIONS, FINAL]
    text = (project.root / "specs/revisions.yaml").read_text("utf-8")
    assert DRAFT not in text
    assert "draft: yes" not in text
    assert "source: https://example.org/schema.json" in text
    assert (project.root / "specs/corrections.yaml").read_text("utf-8").count(f'"{FINAL}"') == corrections
    # What was not looked at still waits; so does what rests on what the schema says otherwise.
    marked = {item["name"]: item["review"] for item in json.loads(project.run("accept", "--json").stdout)["marked"]}
    assert marked[waiting] == f"copied from {LAST}; vectors copied from {LAST}"
    assert marked[of_other] == f"for the sake of {FINAL}"
    rests = {name for name, why in marked.items() if why == f"as of {DRAFT}, whose schema says something else here"}
    areas = "".join(path.read_text("utf-8") for path in (project.root / "specs/variance").glob("*.yaml"))
    assert bool(rests) is (cites in areas)
    assert marked[f"tests/vectors/{FINAL}/errors.yaml"] == f"as of {DRAFT}, whose schema says something else"
    assert not list((project.root / "tests/vectors" / DRAFT).rglob("*.yaml"))
    left = [path for path, content in project.files("specs").items() if f'"{DRAFT}"'.encode() in content]
    assert left == []


@pytest.mark.parametrize(
    ("order", "allowed"),
    [
        (["2025-11-25", "2026-07-28-rc.1", "2026-07-28"], True),
        (["2025-11-25", "2026-07-28", "2026-07-28-rc.1"], False),
        (["2026-07-28", "2026-07-28.beta2"], False),
        (["2026-07-28", "2026-07-28-DRAFT"], False),
        (["2026-07-28", "2026-07-28-acme"], True),
        (["2026-07-28", "2026-07-28-acme", "2026-07-28-acme-rc1"], False),
        (["2026-07-28", "2027-01-01-rc.1"], True),
    ],
)
def test_a_candidate_never_outranks_its_final(order: list[str], allowed: bool) -> None:
    assert (order_problem(order) == "") is allowed


def test_a_candidate_behind_its_final_is_refused_before_anything_is_written(
    project: Project, schema: pathlib.Path
) -> None:
    before = project.files("specs")
    result = project.run("new", f"{LAST}-rc.1", "--schema", str(schema), "--like", LAST, "--after", LAST)
    assert result.exit_code == 1
    assert f"{LAST}-rc.1 stands behind {LAST}, and a candidate never outranks its final" in result.stderr
    assert project.files("specs") == before


def test_another_schema_for_a_revision_shows_what_changed_and_asks_for_its_source(
    project: Project, schema: pathlib.Path
) -> None:
    before = project.files("specs")
    result = project.run("import", LAST, str(schema))
    assert result.exit_code == 1
    assert "  Tool: new rating: number" in result.stderr
    assert "name the address that it was published at with --source" in result.stderr
    assert project.files("specs") == before
    result = project.run("import", LAST, str(schema), "--source", "https://example.org/schema.json")
    assert result.exit_code == 0, result.output
    assert "  Tool: new rating: number" in result.stdout
    assert "source: https://example.org/schema.json" in (project.root / "specs/revisions.yaml").read_text("utf-8")
