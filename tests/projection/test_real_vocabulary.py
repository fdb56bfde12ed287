"""The vocabulary that the project's own specs give."""

from __future__ import annotations

import copy
import json
from typing import Any

from revgen.canonical.merge import merge
from revgen.canonical.rules import Rules
from revgen.reading.located import Problems
from revgen.schemas.references import reference

Schemas = dict[str, dict[str, Any]]

WANTED = [
    "Annotations",
    "AudioContent",
    "BlobResourceContents",
    "CallToolRequestParams",
    "CallToolResult",
    "ClientCapabilities",
    "CompleteRequestParams",
    "CompleteResult",
    "ContentBlock",
    "CreateMessageRequest",
    "CreateMessageRequestParams",
    "CreateMessageResult",
    "DiscoverResult",
    "ElicitRequest",
    "ElicitRequestFormParams",
    "ElicitRequestParams",
    "ElicitRequestURLParams",
    "ElicitResult",
    "EmbeddedResource",
    "EmptyResult",
    "GetPromptRequestParams",
    "GetPromptResult",
    "Icon",
    "ImageContent",
    "Implementation",
    "InitializeRequestParams",
    "InitializeResult",
    "InputRequest",
    "ListPromptsResult",
    "ListResourceTemplatesResult",
    "ListResourcesResult",
    "ListRootsRequest",
    "ListRootsResult",
    "ListToolsResult",
    "LoggingLevel",
    "LoggingMessageNotificationParams",
    "ProgressNotificationParams",
    "Prompt",
    "PromptArgument",
    "PromptMessage",
    "ReadResourceRequestParams",
    "ReadResourceResult",
    "Resource",
    "ResourceLink",
    "ResourceTemplate",
    "ResourceTemplateReference",
    "Role",
    "Root",
    "SamplingMessage",
    "ServerCapabilities",
    "SubscriptionFilter",
    "TextContent",
    "TextResourceContents",
    "Tool",
    "ToolAnnotations",
    "ToolExecution",
]


def test_what_handlers_and_callers_need_is_there(canonical: dict[str, Any]) -> None:
    assert set(WANTED) <= canonical["$defs"].keys()


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


def test_members_of_all_revisions_are_together(canonical: dict[str, Any]) -> None:
    tool = canonical["$defs"]["Tool"]
    assert set(tool["properties"]) == {
        "_meta",
        "annotations",
        "description",
        "execution",
        "icons",
        "inputSchema",
        "name",
        "outputSchema",
        "title",
    }
    assert tool["required"] == ["inputSchema", "name"]
    assert canonical["$defs"]["CallToolResult"]["required"] == ["content"]
    assert canonical["$defs"]["TextContent"]["properties"]["annotations"] == reference("Annotations")
    assert canonical["$defs"]["ElicitRequestURLParams"]["required"] == ["message", "mode", "url"]


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
        f"no rule settles 'Tool.name': number in future, but string in {', '.join(schemas)}"
    ]


def test_the_same_schemas_give_the_same_bytes(schemas: Schemas, rules: Rules, canonical: dict[str, Any]) -> None:
    backwards = {revision: _reversed(schema) for revision, schema in schemas.items()}
    assert json.dumps(merge(backwards, rules, Problems())) == json.dumps(canonical)


def _reversed(value: Any) -> Any:
    return {key: _reversed(value[key]) for key in reversed(list(value))} if isinstance(value, dict) else value
