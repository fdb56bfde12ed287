"""The vocabulary that the project's own specs give."""

from __future__ import annotations

import copy
import json
from typing import Any

from revgen.canonical.merge import merge, published_aliases
from revgen.canonical.rules import Rules
from revgen.reading.located import Problems
from revgen.schemas.methods import sendable
from revgen.schemas.shapes import references

Schemas = dict[str, dict[str, Any]]


def test_what_any_revision_sends_is_there_with_all_that_it_refers_to(
    canonical: dict[str, Any], schemas: Schemas
) -> None:
    wanted = {root.canonical for revision in schemas for root in sendable(schemas, revision)}
    assert wanted <= canonical["$defs"].keys()
    assert {*references(canonical)} <= canonical["$defs"].keys()


def test_nothing_of_the_wire_is(canonical: dict[str, Any]) -> None:
    names = canonical["$defs"].keys()
    assert [
        name
        for name in names
        if name.startswith("JSONRPC") or name.endswith(("Notification", "Error", "Response", "MetaObject"))
    ] == ["InputResponse"]
    assert [name for name in names if name.endswith("Request")] == [
        "CreateMessageRequest",
        "ElicitRequest",
        "InputRequest",
        "ListRootsRequest",
    ]
    assert "jsonrpc" not in json.dumps(canonical)


def test_members_of_all_revisions_are_together(canonical: dict[str, Any], schemas: Schemas, rules: Rules) -> None:
    compared = 0
    for name, merged in canonical["$defs"].items():
        published = [schema["$defs"].get(alias(name, schema, rules)) for schema in schemas.values()]
        here = [definition for definition in published if definition is not None and "properties" in definition]
        if None in published or "properties" not in merged or len(here) < len(published):
            continue
        compared += 1
        left_out = {f"{name}.{member}" for member in ("id", "jsonrpc")}
        members = {member for definition in here for member in definition["properties"]}
        assert merged["properties"].keys() == {one for one in members if f"{name}.{one}" not in left_out}, name
        required = set.intersection(*(set(definition.get("required", [])) for definition in here))
        assert set(merged.get("required", [])) == required & merged["properties"].keys(), name
    assert compared > 10
    newest = list(schemas.values())[-1]["$defs"]["TextContent"]["properties"]["annotations"]
    assert canonical["$defs"]["TextContent"]["properties"]["annotations"] == newest


def alias(name: str, schema: dict[str, Any], rules: Rules) -> str:
    """What a revision calls a type of the vocabulary."""
    known = {canonical: published for published, canonical in published_aliases(schema, rules).items()}
    return known.get(name, name)


def test_listed_members_are_plain(canonical: dict[str, Any]) -> None:
    definitions = canonical["$defs"]
    plain = {"type": "object"}
    assert definitions["Tool"]["properties"]["inputSchema"] == plain
    assert definitions["ElicitRequestFormParams"]["properties"]["requestedSchema"] == plain
    assert definitions["CallToolRequestParams"]["properties"]["arguments"] == plain
    assert definitions["CallToolResult"]["properties"]["structuredContent"] == {}
    assert definitions["LoggingMessageNotificationParams"]["properties"]["data"] == {}
    assert definitions["ServerCapabilities"]["properties"]["logging"] == plain
    assert {
        str(definition["properties"]["_meta"])
        for definition in definitions.values()
        if "_meta" in definition.get("properties", {})
    } == {str(plain)}


def test_a_field_of_a_future_revision_appears(schemas: Schemas, rules: Rules) -> None:
    future = copy.deepcopy(schemas[list(schemas)[-1]])
    future["$defs"]["Tool"]["properties"]["novel"] = {"type": "string"}
    future["$defs"]["Tool"]["required"].append("novel")
    problems = Problems()
    tool = merge({**schemas, "future": future}, rules, problems)["$defs"]["Tool"]
    assert problems.found == []
    assert tool["properties"]["novel"] == {"type": "string"}
    assert "novel" not in tool["required"]


def test_a_changed_field_of_a_future_revision_is_a_conflict(schemas: Schemas, rules: Rules) -> None:
    newest = list(schemas)[-1]
    future = copy.deepcopy(schemas[newest])
    future["$defs"]["Tool"]["properties"]["name"] = {"type": "number"}
    problems = Problems()
    merge({**schemas, "future": future}, rules, problems)
    assert [problem.message for problem in problems.found] == [
        f"no rule settles 'Tool.name': number in future, but string in {', '.join(schemas)}; "
        "list it under 'plain: members' to pass it as it is"
    ]


def test_the_same_schemas_give_the_same_bytes(schemas: Schemas, rules: Rules, canonical: dict[str, Any]) -> None:
    backwards = {revision: _reversed(schema) for revision, schema in schemas.items()}
    assert json.dumps(merge(backwards, rules, Problems())) == json.dumps(canonical)


def _reversed(value: Any) -> Any:
    return {key: _reversed(value[key]) for key in reversed(list(value))} if isinstance(value, dict) else value
