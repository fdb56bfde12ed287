"""What `revgen diff` says of each revision and the one before it.

The pages under golden/ are what is expected; run the tests once with UPDATE_GOLDEN=1 after a change that is meant to change them, and review
the diff. What one revision changed is also written out below, taken from the published schemas and not from the pages: facts about two
revisions, which are asked for while both are there. A page that nobody has committed is held against its bound alone.
"""

from __future__ import annotations

import itertools
import os
import pathlib

import pytest
from revgen.differences.revisions import differences
from revgen.differences.schemas import SchemaDifferences, schema_differences
from revgen.documents.differences import differences_markdown
from revgen.specification.loading import Specification

from .conftest import VERSIONS

GOLDEN = pathlib.Path(__file__).parent / "golden"
PAIRS = list(itertools.pairwise(VERSIONS))
WRITTEN_OUT = ("2025-11-25", "2026-07-28")
MOST_LINES = 300

ADDED = """
CacheableResult CallToolResultResponse CompleteResultResponse DiscoverRequest DiscoverResult DiscoverResultResponse
GetPromptResultResponse HeaderMismatchError InputRequest InputRequests InputRequiredResult InputResponse
InputResponseRequestParams InputResponses InternalError InvalidParamsError InvalidRequestError JSONArray JSONObject JSONValue
ListPromptsResultResponse ListResourceTemplatesResultResponse ListResourcesResultResponse ListToolsResultResponse MetaObject
MethodNotFoundError MissingRequiredClientCapabilityError NotificationMetaObject ParseError ReadResourceResultResponse
RequestMetaObject ResultMetaObject ResultType SubscriptionFilter SubscriptionsAcknowledgedNotification
SubscriptionsAcknowledgedNotificationParams SubscriptionsListenRequest SubscriptionsListenRequestParams SubscriptionsListenResult
SubscriptionsListenResultMetaObject SubscriptionsListenResultResponse UnsupportedProtocolVersionError
"""
REMOVED = """
CancelTaskRequest CancelTaskResult CreateTaskResult ElicitationCompleteNotification GetTaskPayloadRequest GetTaskPayloadResult
GetTaskRequest GetTaskResult InitializeRequest InitializeRequestParams InitializeResult InitializedNotification ListTasksRequest
ListTasksResult PingRequest RelatedTaskMetadata RootsListChangedNotification ServerRequest SetLevelRequest SetLevelRequestParams
SubscribeRequest SubscribeRequestParams Task TaskAugmentedRequestParams TaskMetadata TaskStatus TaskStatusNotification
TaskStatusNotificationParams ToolExecution URLElicitationRequiredError UnsubscribeRequest UnsubscribeRequestParams
"""
REQUESTS = """
elicitation/create initialize logging/setLevel ping resources/subscribe resources/unsubscribe roots/list sampling/createMessage
server/discover subscriptions/listen tasks/cancel tasks/get tasks/list tasks/result
"""
NOTIFICATIONS = """
notifications/elicitation/complete notifications/initialized notifications/progress notifications/roots/list_changed
notifications/subscriptions/acknowledged notifications/tasks/status
"""
CODES = {
    "HeaderMismatchError": ("", "-32020"),
    "InternalError": ("", "-32603"),
    "InvalidParamsError": ("", "-32602"),
    "InvalidRequestError": ("", "-32600"),
    "MethodNotFoundError": ("", "-32601"),
    "MissingRequiredClientCapabilityError": ("", "-32021"),
    "ParseError": ("", "-32700"),
    "URLElicitationRequiredError": ("-32042", ""),
    "UnsupportedProtocolVersionError": ("", "-32022"),
}
META_KEYS = {
    "io.modelcontextprotocol/clientCapabilities": "request!",
    "io.modelcontextprotocol/clientInfo": "request",
    "io.modelcontextprotocol/logLevel": "request",
    "io.modelcontextprotocol/protocolVersion": "request!",
    "io.modelcontextprotocol/serverInfo": "result",
    "io.modelcontextprotocol/subscriptionId": "notification, result!",
}
# Members that the newest revision requires and the one before did not, or did not have.
OBLIGATIONS = {
    "_meta": """CallToolRequestParams CompleteRequestParams GetPromptRequestParams PaginatedRequestParams
                ReadResourceRequestParams RequestParams ResourceRequestParams""",
    "cacheScope": """ListPromptsResult ListResourceTemplatesResult ListResourcesResult ListToolsResult ReadResourceResult""",
    "params": """ListPromptsRequest ListResourceTemplatesRequest ListResourcesRequest ListToolsRequest PaginatedRequest""",
    "requestId": "CancelledNotificationParams",
    "resultType": """CallToolResult CompleteResult GetPromptResult ListPromptsResult ListResourceTemplatesResult
                     ListResourcesResult ListToolsResult PaginatedResult ReadResourceResult Result""",
    "ttlMs": """ListPromptsResult ListResourceTemplatesResult ListResourcesResult ListToolsResult ReadResourceResult""",
}
UNIONS = {
    "ClientNotification": (
        "",
        "InitializedNotification ProgressNotification RootsListChangedNotification TaskStatusNotification",
    ),
    "ClientRequest": (
        "DiscoverRequest SubscriptionsListenRequest",
        """CancelTaskRequest GetTaskPayloadRequest GetTaskRequest InitializeRequest ListTasksRequest PingRequest SetLevelRequest
           SubscribeRequest UnsubscribeRequest""",
    ),
    "ClientResult": (
        "",
        """CancelTaskResult CreateMessageResult ElicitResult GetTaskPayloadResult GetTaskResult ListRootsResult
           ListTasksResult""",
    ),
    "ServerNotification": (
        "SubscriptionsAcknowledgedNotification",
        "ElicitationCompleteNotification TaskStatusNotification",
    ),
    "ServerResult": (
        "DiscoverResult InputRequiredResult SubscriptionsListenResult",
        "CancelTaskResult GetTaskPayloadResult GetTaskResult InitializeResult ListTasksResult",
    ),
}


@pytest.fixture(scope="module")
def newest(specification: Specification) -> SchemaDifferences:
    if not set(WRITTEN_OUT) <= set(VERSIONS):
        pytest.skip(f"there is no {' or no '.join(WRITTEN_OUT)}")
    old, new = WRITTEN_OUT
    return schema_differences(specification.schemas[old], specification.schemas[new], specification.rules)


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_the_page_is_the_golden_one_and_short_enough(specification: Specification, old: str, new: str) -> None:
    page = differences_markdown(differences(specification, old, new), specification) + "\n"
    golden = GOLDEN / f"{old}-to-{new}.md"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(page, "utf-8")
    if golden.is_file():
        assert page == golden.read_text("utf-8")
    assert len(page.splitlines()) <= MOST_LINES


def test_every_type_is_there(newest: SchemaDifferences) -> None:
    assert list(newest.added) == ADDED.split()
    assert list(newest.removed) == REMOVED.split()
    assert newest.renamed == ()


def test_every_method_and_notification_is_there(newest: SchemaDifferences) -> None:
    assert sorted(change.name for change in newest.methods) == sorted(REQUESTS.split() + NOTIFICATIONS.split())
    directions = {change.name: (change.old, change.new) for change in newest.methods}
    assert directions["roots/list"] == (("server request",), ("embedded request",))
    assert directions["ping"] == (("client request", "server request"), ())
    assert directions["notifications/progress"][1] == ("server notification",)


def test_every_code_and_key_of_meta_is_there(newest: SchemaDifferences) -> None:
    assert {change.name: (change.old, change.new) for change in newest.codes} == CODES
    assert {change.name: change.new for change in newest.meta_keys} == META_KEYS
    assert not any(change.old for change in newest.meta_keys)


def test_every_new_obligation_is_there(newest: SchemaDifferences) -> None:
    found: dict[str, list[str]] = {}
    for change in newest.types:
        for member in change.members:
            if member.new.endswith("!") and not member.old.endswith("!"):
                found.setdefault(member.path, []).append(change.name)
    assert found == {member: names.split() for member, names in OBLIGATIONS.items()}


def test_every_member_of_a_union_is_there(newest: SchemaDifferences) -> None:
    unions = {change.name: change for change in newest.types if change.added_branches or change.removed_branches}
    assert {name: (list(one.added_branches), list(one.removed_branches)) for name, one in unions.items()} == {
        name: (added.split(), removed.split()) for name, (added, removed) in UNIONS.items()
    }


def test_every_answer_that_differs_is_there_with_both_sources(specification: Specification) -> None:
    for old, new in PAIRS:
        found = {change.concern: change for change in differences(specification, old, new).answers}
        for concern in (concern for area in specification.areas for concern in area.concerns):
            before, after = concern.answers[old], concern.answers[new]
            same = (before.value, list(before.rows.items()), before.choice, before.arguments) == (
                after.value,
                list(after.rows.items()),
                after.choice,
                after.arguments,
            )
            assert (concern.name in found) is not same, (concern.name, old, new)
            if not same:
                change = found[concern.name]
                assert (change.old_citations, change.new_citations) == (before.citations, after.citations)


RENAMED = {
    "2025-06-18": {("ResourceReference", "ResourceTemplateReference"): True},
    "2025-11-25": {
        ("EnumSchema", "LegacyTitledEnumSchema"): True,
        ("ElicitRequestParams", "ElicitRequestFormParams"): True,
        ("JSONRPCError", "JSONRPCErrorResponse"): False,
        ("JSONRPCResponse", "JSONRPCResultResponse"): False,
    },
}


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_renames_are_known_from_the_rules_or_likely_by_shape(specification: Specification, old: str, new: str) -> None:
    found = {
        (one.old, one.new): not one.why.startswith("likely, ")
        for one in schema_differences(
            specification.schemas[old], specification.schemas[new], specification.rules
        ).renamed
    }
    written_out = {
        pair: known for version in RENAMED for pair, known in RENAMED[version].items() if old < version <= new
    }
    assert {pair: known for pair, known in found.items() if pair in written_out} == written_out
