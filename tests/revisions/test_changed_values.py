"""A revision whose members take other values than before: every change is seen, answered in data, and nothing is sent that does not fit.

The published schema of the newest revision with changes of all kinds that there were or might be.
"""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
from typing import Any

import jsonschema_rs
import pytest
from revgen.models.canonical import write_canonical
from revgen.models.modules import write_models
from revgen.schemas.references import reference
from revgen.specification.loading import load_specification
from revgen.writing.render import Writer

from .conftest import REPOSITORY, VERSIONS, Project, render_quickly

# Later than whatever there is.
NEXT = "2999-01-01"
LAST = VERSIONS[-1]
CHANGED = {
    "Role",
    "Icon",
    "CreateMessageRequestParams",
    "Annotations",
    "ReadResourceResult",
    "LoggingLevel",
    "LoggingMessageNotificationParams",
    "CompleteRequestParamsContext",
}
LACKS = CHANGED - json.loads((REPOSITORY / f"specs/schemas/{LAST}.json").read_text("utf-8"))["$defs"].keys()

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(bool(LACKS), reason=f"the newest revision has no {', '.join(LACKS)} to change"),
]
RULES = "specs/canonical.yaml"

# As one would write them who has read the complaints.
CONCERNS = """
  sent_role:
    question: Which role is sent for one?
    signature: "(self, value: Json) -> Json"
    replaces: Role
    choices:
      kept: The role itself.
      user_for_tool: A tool speaks as the user.
    answers:
%s
  sent_data:
    question: What is sent as the data of a message that is logged?
    signature: "(self, value: Json) -> Json"
    replaces: LoggingMessageNotificationParams.data
    choices:
      kept: The data itself.
      wrapped: What is no object becomes the member of one.
    answers:
%s
  sent_level:
    question: Which level is sent for one?
    signature: "(self, value: Json) -> Json"
    replaces: LoggingLevel
    choices:
      debug_for_trace: The finest that there is.
      info_for_notice: The next that is no graver.
    answers:
%s
"""
TITLE = """
  sent_title:
    question: Which title is sent of an implementation?
    signature: "(self, value: JsonObject) -> JsonObject"
    adjusts: Implementation
    choices:
      kept: The title itself.
      prefixed: The title behind a word.
    answers:
%s
"""
MACROS = {
    "sent_role": """
{% macro kept() %}
return value
{% endmacro %}
{% macro user_for_tool() %}
return "user" if value == "tool" else value
{% endmacro %}
""",
    "sent_data": """
{% macro kept() %}
return value
{% endmacro %}
{% macro wrapped() %}
return value if isinstance(value, dict) else {"value": value}
{% endmacro %}
""",
    "sent_title": """
{% macro kept() %}
return value
{% endmacro %}
{% macro prefixed() %}
return {**value, "title": f"The {value.get('title', value['name'])}"}
{% endmacro %}
""",
    "sent_level": """
{% macro debug_for_trace() %}
return "debug" if value == "trace" else value
{% endmacro %}
{% macro info_for_notice() %}
return "info" if value == "notice" else value
{% endmacro %}
""",
}
SCRIPT = """
import json, sys
from mcp_contract import NotSendable
from mcp_revisions import AdapterSet

server = {"name": "s", "version": "1"}
icon = {"src": "https://example.org/i", "theme": "sepia"}
note = {"audience": "tool", "priority": 1, "lastModified": 1830000000}
text = {"type": "text", "text": "t", "annotations": note}
values = {
    "prompt": ("result", "prompts/get", {"messages": [{"role": "tool", "content": text}, {"role": "user", "content": text}]}),
    "icons": ("result", "tools/list", {"tools": [{"name": "n", "inputSchema": {"type": "object"}, "icons": [icon]}]}),
    "one": ("result", "resources/read", {"contents": {"uri": "file:///a", "text": "t"}}),
    "many": ("result", "resources/read", {"contents": [{"uri": "file:///a", "text": "t"}, {"uri": "file:///b", "blob": ""}]}),
    "log": ("notification", "notifications/message", {"level": "info", "data": "text"}),
    "complete": ("params", "completion/complete", {
        "ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": "v"}, "context": {"arguments": {"n": 5}},
        "_meta": {"io.modelcontextprotocol/protocolVersion": "v", "io.modelcontextprotocol/clientCapabilities": {}}}),
    "sampling": ("question", "", {"method": "sampling/createMessage", "params": {
        "messages": [], "maxTokens": 1, "includeContext": "thisServer"}}),
    "preferences": ("question", "", {"method": "sampling/createMessage", "params": {
        "messages": [], "maxTokens": 1, "modelPreferences": "fast"}}),
}
out = {}
for version, adapter in AdapterSet.default().by_version.items():
    for name, (kind, method, value) in values.items():
        try:
            if kind == "result":
                found = adapter.encode_result(method, value, server)
            elif kind == "params":
                found = adapter.encode_params(method, value)
            elif kind == "notification":
                found = adapter.encode_notification(method, value)["params"]
            else:
                found = adapter.encode_question(value)["params"]
        except NotSendable as error:
            found = str(error)
        out.setdefault(name, {})[version] = found
print(json.dumps(out))
"""
LOGGING = """
import asyncio, json
from mcp_anyrev import Client, Exchange, Registry, Server, Settings
from mcp_revisions import VERSIONS, AdapterSet

registry = Registry("levels", "1")

@registry.tool
async def title(ex: Exchange) -> str:
    return ex.client.information["title"]

@registry.tool
async def noisy(ex: Exchange) -> str:
    for level in ("trace", "debug", "info", "notice", "warning"):
        await ex.log(level, level)
    try:
        await ex.log("loud", "x")
    except ValueError as error:
        return str(error)
    return ""

async def main():
    out, titles = {}, {}
    async with Server(registry, Settings(revisions=VERSIONS[:2])) as server:
        for version in VERSIONS[:2]:
            for wanted in ("debug", "warning"):
                lines, adapter = [], AdapterSet.default().by_version[version]
                def heard(params):
                    lines.append([params.level, params.data])
                information = {"name": "n", "version": "1", "title": "pilot"}
                async with Client(server.connect, adapter, on_log=heard, information=information) as client:
                    await client.set_log_level(wanted)
                    titles[version] = [(await client.call_tool("title", {})).content[0].text, client.server.title]
                    result = await client.call_tool("noisy", {})
                out.setdefault(version, []).append(lines)
    out |= {"refused": result.content[0].text, "titles": titles}
    print(json.dumps(out))

asyncio.run(main())
"""
RESULTS = {
    "prompt": "GetPromptResult",
    "icons": "ListToolsResult",
    "one": "ReadResourceResult",
    "many": "ReadResourceResult",
    "log": "LoggingMessageNotificationParams",
    "complete": "CompleteRequestParams",
    "sampling": "CreateMessageRequestParams",
    "preferences": "CreateMessageRequestParams",
}


@pytest.fixture
def schema(tmp_path: pathlib.Path) -> pathlib.Path:
    """The schema of the next revision, as it might be published."""
    published: dict[str, Any] = json.loads((REPOSITORY / f"specs/schemas/{LAST}.json").read_text("utf-8"))
    definitions = published["$defs"]

    def members(name: str) -> dict[str, Any]:
        found: dict[str, Any] = definitions[name]["properties"]
        return found

    def or_all(shape: dict[str, Any]) -> dict[str, Any]:
        return {"anyOf": [*shape.get("anyOf", [shape]), {"type": "array", "items": shape}]}

    definitions["Role"]["enum"].append("tool")
    definitions["LoggingLevel"]["enum"] = [
        "trace",
        *(level for level in definitions["LoggingLevel"]["enum"] if level != "notice"),
    ]
    members("Icon")["theme"]["enum"].append("sepia")
    members("CreateMessageRequestParams")["includeContext"]["enum"].remove("thisServer")
    members("Annotations")["lastModified"] = {"type": ["string", "integer"]}
    members("Annotations")["audience"] = or_all(reference("Role"))
    members("ReadResourceResult")["contents"] = or_all(members("ReadResourceResult")["contents"]["items"])
    members("LoggingMessageNotificationParams")["data"] = {"type": "object"}
    members("CompleteRequestParamsContext")["arguments"]["additionalProperties"] = {"type": ["string", "number"]}
    members("CreateMessageRequestParams")["modelPreferences"] = {
        "anyOf": [reference("ModelPreferences"), {"type": "string"}]
    }
    file = tmp_path / "next.json"
    file.write_text(json.dumps(published), "utf-8")
    return file


def test_changed_values_are_answered_in_data(project: Project, schema: pathlib.Path) -> None:
    result = project.run("new", NEXT, "--schema", str(schema), "--like", LAST)
    faults = [line for line in project.run("lint").stdout.splitlines() if "say what is sent" in line]
    older = ", ".join(VERSIONS)
    schemas = {
        version: json.loads((project.root / f"specs/schemas/{version}.json").read_text("utf-8"))["$defs"]
        for version in VERSIONS
    }
    with_context = ", ".join(version for version in VERSIONS if "CompleteRequestParamsContext" in schemas[version])
    with_level = ", ".join(version for version in VERSIONS if "SetLevelRequestParams" in schemas[version])
    assert [line.partition(": ")[2].partition("; say")[0] for line in faults] == [
        f"'*.role' may be \"tool\", which is not taken (of CreateMessageResult, PromptMessage, SamplingMessage) in {older}",
        f"'CompleteRequestParamsContext.arguments' may be a number in an object, which is not taken in {with_context}",
        f"'CreateMessageRequestParams.includeContext' may be \"thisServer\", which is not taken in {NEXT}",
        f"'CreateMessageRequestParams.modelPreferences' may be text, which is not taken in {older}",
        f"'LoggingMessageNotificationParams.data' may be anything but an object, which is not taken in {NEXT}",
        f"'LoggingMessageNotificationParams.level' may be \"notice\", which is not taken in {NEXT}",
        f"'LoggingMessageNotificationParams.level' may be \"trace\", which is not taken in {older}",
        *(
            [f"'SetLevelRequestParams.level' may be \"trace\", which is not taken in {with_level}"]
            if with_level
            else []
        ),
    ], result.output
    assert all(line.startswith(f"{RULES}:") for line in faults)

    lint = project.run("lint").stdout
    assert f"'log_levels' lacks trace of {NEXT}; allowed: exactly trace, " in lint

    answer(project)
    assert "'log_levels'" not in "".join(
        line for line in project.run("lint").stdout.splitlines() if "to be reviewed" not in line
    )
    # Nothing is left open: else this would raise.
    load_specification(project.root)

    out = sent(project)
    judge_all(out, load_specification(project.root).schemas)
    assert {version: found["messages"][0]["role"] for version, found in out["prompt"].items()} == {
        NEXT: "tool"
    } | dict.fromkeys(VERSIONS, "user")
    notes = {version: found["messages"][0]["content"]["annotations"] for version, found in out["prompt"].items()}
    assert notes[NEXT] == {"audience": "tool", "priority": 1, "lastModified": 1830000000}
    assert [notes[version] for version in VERSIONS] == [{"audience": ["user"], "priority": 1}] * len(VERSIONS)
    icons = {version: found["tools"][0].get("icons") for version, found in out["icons"].items()}
    assert icons[NEXT] == [{"src": "https://example.org/i", "theme": "sepia"}]
    assert icons[LAST] == [{"src": "https://example.org/i"}]
    one = {version: found["contents"] for version, found in out["one"].items()}
    assert one[NEXT] == {"uri": "file:///a", "text": "t"}
    assert [one[version] for version in VERSIONS] == [[{"uri": "file:///a", "text": "t"}]] * len(VERSIONS)
    assert out["log"][NEXT]["data"] == {"value": "text"}
    assert out["log"][LAST]["data"] == "text"
    assert out["complete"][NEXT]["context"] == {"arguments": {"n": 5}}
    assert out["complete"][LAST] == "a value that is a dict is no CompleteRequestParamsContext.arguments"
    assert out["sampling"][NEXT] == "a value that is a str is no CreateMessageRequestParams.includeContext"
    assert out["sampling"][LAST]["includeContext"] == "thisServer"
    assert out["preferences"][NEXT]["modelPreferences"] == "fast"
    assert "modelPreferences" not in out["preferences"][LAST]

    heard = said_by(project, LOGGING)
    graver = ["trace", "debug", "info", "notice", "warning"]
    # Each is worded once, where it is sent.
    assert heard["titles"] == {NEXT: ["The pilot", "The levels"], LAST: ["pilot", None]}
    one, other = heard[NEXT], heard[LAST]
    replaced = {NEXT: {"notice": "info"}, LAST: {"trace": "debug"}}
    assert "'loud' is no level of a log message; levels: " in heard["refused"]
    assert [level for level, _ in one[0]] == [replaced[NEXT].get(level, level) for level in graver[1:]]
    assert [level for level, _ in other[0]] == [replaced[LAST].get(level, level) for level in graver]
    assert [level for level, _ in one[1]] == [level for level, _ in other[1]] == ["warning"]


def answer(project: Project) -> None:
    """What the complaints ask for."""
    rules = project.root / RULES
    text = rules.read_text("utf-8")
    for section, place in (
        ("refused", "CompleteRequestParamsContext.arguments"),
        ("refused", "CreateMessageRequestParams.includeContext"),
        ("hints", "CreateMessageRequestParams.modelPreferences"),
    ):
        head, _, rest = text.partition(f"\n{section}:\n")
        text = f"{head}\n{section}:\n" + rest.replace("  members:\n", f"  members:\n    - {place}\n", 1)
    rules.write_text(text, "utf-8")
    policy = 'cite: "policy: project: a test says so."'
    roles = [f'      "{version}": {{choice: user_for_tool, {policy}}}' for version in VERSIONS]
    roles.append(f'      "{NEXT}": {{choice: kept, {policy}}}')
    data = [f'      "{version}": {{choice: kept, {policy}}}' for version in VERSIONS]
    data.append(f'      "{NEXT}": {{choice: wrapped, {policy}}}')
    levels = [f'      "{version}": {{choice: debug_for_trace, {policy}}}' for version in VERSIONS]
    levels.append(f'      "{NEXT}": {{choice: info_for_notice, {policy}}}')
    titles = [f'      "{version}": {{choice: kept, {policy}}}' for version in VERSIONS]
    titles.append(f'      "{NEXT}": {{choice: prefixed, {policy}}}')
    area = project.root / "specs/variance/content.yaml"
    answers = ("\n".join(lines) for lines in (roles, data, levels))
    area.write_text(area.read_text("utf-8") + CONCERNS % tuple(answers) + TITLE % "\n".join(titles), "utf-8")
    area = project.root / "specs/variance/notifications.yaml"
    head, concern, rest = area.read_text("utf-8").partition("\n  log_levels:\n")
    before, answered, after = rest.partition(f'      "{NEXT}":')
    assert concern and answered
    after = after.replace("[debug, info, notice,", "[trace, debug, info,", 1)
    area.write_text(head + concern + before + answered + after, "utf-8")
    for name, macros in MACROS.items():
        (project.root / f"templates/concerns/content/{name}.py.jinja").write_text(macros.lstrip(), "utf-8")


def sent(project: Project) -> dict[str, dict[str, Any]]:
    """What every revision sends for the same values."""
    specification = load_specification(project.root)
    models = (Writer(lambda given, one=one: write_models(given, one)) for one in specification.revisions[-2:])
    for path, text in render_quickly(specification, Writer(write_canonical), *models).items():
        (project.root / path).parent.mkdir(parents=True, exist_ok=True)
        (project.root / path).write_text(text, "utf-8")
    return said_by(project, SCRIPT)


def said_by(project: Project, script: str) -> dict[str, Any]:
    """What a script says that runs on what was generated."""
    path = ":".join(str(folder) for folder in (project.root / "generated", REPOSITORY / "runtime"))
    run = subprocess.run(
        [sys.executable, "-c", script], env={"PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def judge_all(out: dict[str, dict[str, Any]], schemas: dict[str, dict[str, Any]]) -> None:
    """Everything that is sent is valid by the schema of its own revision."""
    for name, by_version in out.items():
        for version, found in by_version.items():
            if isinstance(found, dict):
                definition = f"#/$defs/{RESULTS[name]}"
                jsonschema_rs.validator_for({**schemas[version], "$ref": definition}).validate(found)
