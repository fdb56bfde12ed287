"""A revision that nobody has published yet goes in by data alone, and one macro for the one thing that none did before it.

It has a new member of a tool, a type with another name, one method less, one more, another status, and its own rule for reserved keys.
Its vectors are scaffolded, and all tests of the adapters hold on it; of vectors only those of the new rule are written by hand.
"""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import sys
from typing import Any

import pytest
from mcp_revisions import AdapterSet
from revgen.models.modules import write_models
from revgen.specification.loading import load_specification
from revgen.writing.render import Writer

from .conftest import REPOSITORY, VERSIONS, Project, is_part_of, render_quickly

# Later than whatever there is.
NEXT = "2999-01-01"
LAST = VERSIONS[-1]
LACKS = {"Prompt", "CompleteRequest"} - (
    json.loads((REPOSITORY / f"specs/schemas/{LAST}.json").read_text("utf-8"))["$defs"].keys()
)

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(bool(LACKS), reason=f"the newest revision has no {', '.join(LACKS)} to change"),
]

ANSWERS = """\
answers:
  envelope:
    reserved_meta_key: {choice: with_prefix, cite: "page: basic/index#_meta"}
  streamable_http:
    error_statuses:
      rows: %s
      cite:
        - "page: basic/transports/streamable-http#sending-messages"
        - "schema: #/$defs/MethodNotFoundError"
"""
MACRO = """
{% macro with_prefix() %}
return "/" in key
{% endmacro %}
"""
RATING: dict[str, Any] = {
    "RateToolRequest": {
        "type": "object",
        "properties": {
            "jsonrpc": {"const": "2.0", "type": "string"},
            "id": {"$ref": "#/$defs/RequestId"},
            "method": {"const": "tools/rate", "type": "string"},
            "params": {"$ref": "#/$defs/RateToolRequestParams"},
        },
        "required": ["id", "jsonrpc", "method", "params"],
    },
    "RateToolRequestParams": {
        "type": "object",
        "properties": {
            "_meta": {"$ref": "#/$defs/RequestMetaObject"},
            "name": {"type": "string"},
            "stars": {"type": "integer", "minimum": 1, "maximum": 5},
            "why": {"type": "string", "enum": ["slow", "wrong"]},
        },
        "required": ["_meta", "name", "stars"],
    },
    "RateToolResult": {
        "type": "object",
        "properties": {
            "_meta": {"$ref": "#/$defs/ResultMetaObject"},
            "resultType": {"$ref": "#/$defs/ResultType"},
            "mean": {"type": "number"},
        },
        "required": ["mean", "resultType"],
    },
}
SCRIPT = """
import json
from mcp_contract import MethodNotFound
from mcp_revisions import AdapterSet
adapters = AdapterSet.default()
new, last = adapters.by_version["%s"], adapters.by_version["%s"]
request = {"jsonrpc": "2.0", "id": 1, "params": {"_meta": {
    "io.modelcontextprotocol/protocolVersion": new.version, "io.modelcontextprotocol/clientCapabilities": {}}}}
new.check_request({**request, "method": "tools/list"})
try:
    new.check_request({**request, "method": "completion/complete"})
    refused = False
except MethodNotFound:
    refused = True
tools = {"tools": [{"name": "add", "inputSchema": {"type": "object"}, "rating": 4.5}]}
prompts = {"prompts": [{"name": "greet", "title": "Greet"}]}
server = {"name": "s", "version": "1"}
sent = {adapter.version: adapter.encode_result("tools/list", tools, server)["tools"][0] for adapter in (new, last)}
answered = new.encode_result("prompts/list", prompts, server)
new.check_result("prompts/list", answered)
print(json.dumps({
    "versions": adapters.versions,
    "refused": refused,
    "reserved": [new.reserved_meta_key("a/b"), new.reserved_meta_key("b"), last.reserved_meta_key("a/b")],
    "statuses": dict(new.error_statuses),
    "rating": [tool.get("rating") for tool in sent.values()],
    "prompts": answered["prompts"],
}))
"""


def error_kinds() -> list[str]:
    """Every kind of error that some revision has, in the order of the newest that has it."""
    adapters = AdapterSet.default().by_version.values()
    return list(dict.fromkeys(kind for adapter in adapters for kind in adapter.error_codes))


def next_schema() -> dict[str, Any]:
    """The schema of the next revision, as it might be published."""
    text = (REPOSITORY / f"specs/schemas/{LAST}.json").read_text("utf-8")
    published: dict[str, Any] = json.loads(re.sub(r'#/\$defs/Prompt"', '#/$defs/PromptOffer"', text))
    named = [name for name in published["x-published"] if not name.startswith("Complete") and name != "Prompt"]
    published["x-published"] = sorted([*named, "PromptOffer"])
    definitions = published["$defs"]
    definitions["Tool"]["properties"]["rating"] = {"type": "number"}
    definitions["PromptOffer"] = definitions.pop("Prompt")
    for name in [name for name in definitions if name.startswith("Complete")]:
        del definitions[name]
    for union, member in (("ClientRequest", "CompleteRequest"), ("ServerResult", "CompleteResult")):
        branches = definitions[union]["anyOf"]
        branches.remove({"$ref": f"#/$defs/{member}"})
    definitions |= RATING
    definitions["ClientRequest"]["anyOf"].append({"$ref": "#/$defs/RateToolRequest"})
    definitions["ServerResult"]["anyOf"].append({"$ref": "#/$defs/RateToolResult"})
    published["x-published"] = sorted([*published["x-published"], *RATING])
    return published


@pytest.fixture
def schema(tmp_path: pathlib.Path) -> pathlib.Path:
    """A file with that schema."""
    file = tmp_path / "next.json"
    file.write_text(json.dumps(next_schema()), "utf-8")
    return file


def test_a_next_revision_is_data_and_one_macro(project: Project, schema: pathlib.Path, tmp_path: pathlib.Path) -> None:
    before = project.files("specs") | project.files("templates")
    remarked = remarks_of(project)
    statuses = {**AdapterSet.default().by_version[LAST].error_statuses, "method_not_found": 410}
    statuses = {kind: statuses.get(kind) for kind in error_kinds()}
    answers = tmp_path / "answers.yaml"
    answers.write_text(ANSWERS % json.dumps(statuses).replace("null", "none"), "utf-8")

    result = project.run("new", NEXT, "--schema", str(schema), "--like", LAST, "--answers", str(answers))
    # It is written; what is left is found.
    assert result.exit_code == 3, result.output
    assert "  Prompt → PromptOffer: likely, by name and shape" in result.stdout
    assert "  gone completion/complete: client request" in result.stdout
    assert "  new tools/rate: client request" in result.stdout
    assert "  Tool: new rating: number" in result.stdout
    heading, fault, hint, remarks = result.stderr.splitlines()
    assert heading == "written; 1 thing to answer before generate:"
    assert fault.endswith(
        "'with_prefix' is not a choice of 'reserved_meta_key'; choices: never, named_before_last, named_second"
    )
    assert hint.endswith(" to be reviewed; run: revgen lint")
    assert "; run: revgen lint --remarks" in remarks
    # Up to here lines were added, and nothing else.
    for path, content in project.files("specs").items():
        assert is_part_of(before.get(path, b"").decode().splitlines(), content.decode().splitlines()), path

    edit(
        project,
        "specs/variance/envelope.yaml",
        "      named_second: One",
        "      with_prefix: Any that has a prefix.\n",
    )
    edit(
        project,
        "specs/canonical.yaml",
        "  - name: enumerations",
        "  - name: a prompt is called an offer\n    from: Prompt\n    to: PromptOffer\n",
    )
    template = project.root / "templates/concerns/envelope/reserved_meta_key.py.jinja"
    template.write_text(template.read_text("utf-8") + MACRO, "utf-8")

    project.add_vectors()
    result = project.run("vectors", NEXT, "--like", LAST)
    assert result.exit_code == 0, result.output
    assert f"wrote tests/vectors/{NEXT}/encoding/results.yaml: " in result.stdout
    assert f"added to tests/vectors/{LAST}/client_requests.yaml: 1" in result.stdout

    # What was copied is still to be looked at: lint says so, generate does not mind.
    lines = project.run("lint").stdout.splitlines()
    assert [line for line in lines if "to be reviewed: " not in line] == []
    listed = json.loads(project.run("accept", "--json").stdout)["marked"]
    assert {item["revision"] for item in listed} == {*VERSIONS, NEXT}
    result = project.run("accept", "--all", "--yes")
    assert result.stdout.splitlines()[-1] == f"accepted {len(listed)}; 0 still to be reviewed"
    assert project.run("lint").stdout == ""
    assert all(map(is_remark, remarks_of(project) - remarked))

    specification = load_specification(project.root)
    following = specification.revisions[-1]
    texts = render_quickly(specification, Writer(lambda given: write_models(given, following)))
    for path, text in texts.items():
        (project.root / path).parent.mkdir(parents=True, exist_ok=True)
        (project.root / path).write_text(text, "utf-8")
    changed = {path for path, content in project.files("templates").items() if content != before[path]}
    assert changed == {"templates/concerns/envelope/reserved_meta_key.py.jinja"}

    script = SCRIPT % (NEXT, LAST)
    command = [sys.executable, "-c", script]
    path = [str(project.root / "generated"), str(REPOSITORY / "runtime")]
    run = subprocess.run(command, env={"PYTHONPATH": ":".join(path)}, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == {
        "versions": [NEXT, *reversed(VERSIONS)],
        "refused": True,
        "reserved": [True, False, False],
        "statuses": {kind: status for kind, status in statuses.items() if status is not None},
        "rating": [4.5, None],
        "prompts": [{"name": "greet", "title": "Greet"}],
    }

    # What the new rule gives is written by hand, in the calls that were taken over.
    write_what_the_rule_gives(project.root / f"tests/vectors/{NEXT}/concerns/envelope.yaml")
    tests = project.pytest("tests/adapters", "-k", NEXT, root=project.root)
    assert tests.returncode == 0, tests.stdout


def write_what_the_rule_gives(file: pathlib.Path) -> None:
    text = file.read_text("utf-8")
    before, concern, rest = text.partition("\nreserved_meta_key:\n")
    calls, following, after = rest.partition("\n\ncheck_order:")
    given = re.sub(
        r'(call: \{"key": "(.*)"\}\n      gives: )\w+',
        lambda match: match[1] + str("/" in match[2]).lower(),
        calls,
    )
    assert concern and following and given != calls
    file.write_text(f"{before}{concern}{given}{following}{after}", "utf-8")


def remarks_of(project: Project) -> set[str]:
    """What lint remarks, without the places."""
    return {line.partition(": ")[2] for line in project.run("lint", "--remarks").stdout.splitlines()}


def is_remark(line: str) -> bool:
    """Whether a line of lint says what is still to be written down: words, and the pages."""
    said = ("has no words", "is no type of the canonical vocabulary", f"there is no specs/pages/{NEXT}.txt")
    return any(words in line for words in said)


def edit(project: Project, path: str, before: str, added: str) -> None:
    """Put lines before the one that starts like this."""
    file = project.root / path
    text = file.read_text("utf-8")
    assert text.count(f"\n{before}") == 1
    file.write_text(text.replace(f"\n{before}", f"\n{added}{before}"), "utf-8")
