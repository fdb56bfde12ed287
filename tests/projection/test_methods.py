"""Methods by revision and direction, for the project's own specs and for small schemas."""

from __future__ import annotations

from typing import Any

import pytest
from revgen.schemas.methods import (
    CLIENT_NOTIFICATION,
    CLIENT_REQUEST,
    EMBEDDED_REQUEST,
    SERVER_NOTIFICATION,
    SERVER_REQUEST,
    Method,
    Root,
    methods,
    sendable,
)
from revgen.schemas.references import reference

Schemas = dict[str, dict[str, Any]]

_SHORT = {
    "C>S": CLIENT_REQUEST,
    "S>C": SERVER_REQUEST,
    "in": EMBEDDED_REQUEST,
    "c>s": CLIENT_NOTIFICATION,
    "s>c": SERVER_NOTIFICATION,
}

# A column a revision, oldest first; "-" for none.
EXPECTED = """
completion/complete                      | C>S     | C>S     | C>S     | C>S     | C>S
elicitation/create                       | -       | -       | S>C     | S>C     | in
initialize                               | C>S     | C>S     | C>S     | C>S     | -
logging/setLevel                         | C>S     | C>S     | C>S     | C>S     | -
notifications/cancelled                  | c>s s>c | c>s s>c | c>s s>c | c>s s>c | c>s s>c
notifications/elicitation/complete       | -       | -       | -       | s>c     | -
notifications/initialized                | c>s     | c>s     | c>s     | c>s     | -
notifications/message                    | s>c     | s>c     | s>c     | s>c     | s>c
notifications/progress                   | c>s s>c | c>s s>c | c>s s>c | c>s s>c | s>c
notifications/prompts/list_changed       | s>c     | s>c     | s>c     | s>c     | s>c
notifications/resources/list_changed     | s>c     | s>c     | s>c     | s>c     | s>c
notifications/resources/updated          | s>c     | s>c     | s>c     | s>c     | s>c
notifications/roots/list_changed         | c>s     | c>s     | c>s     | c>s     | -
notifications/subscriptions/acknowledged | -       | -       | -       | -       | s>c
notifications/tasks/status               | -       | -       | -       | c>s s>c | -
notifications/tools/list_changed         | s>c     | s>c     | s>c     | s>c     | s>c
ping                                     | C>S S>C | C>S S>C | C>S S>C | C>S S>C | -
prompts/get                              | C>S     | C>S     | C>S     | C>S     | C>S
prompts/list                             | C>S     | C>S     | C>S     | C>S     | C>S
resources/list                           | C>S     | C>S     | C>S     | C>S     | C>S
resources/read                           | C>S     | C>S     | C>S     | C>S     | C>S
resources/subscribe                      | C>S     | C>S     | C>S     | C>S     | -
resources/templates/list                 | C>S     | C>S     | C>S     | C>S     | C>S
resources/unsubscribe                    | C>S     | C>S     | C>S     | C>S     | -
roots/list                               | S>C     | S>C     | S>C     | S>C     | in
sampling/createMessage                   | S>C     | S>C     | S>C     | S>C     | in
server/discover                          | -       | -       | -       | -       | C>S
subscriptions/listen                     | -       | -       | -       | -       | C>S
tasks/cancel                             | -       | -       | -       | C>S S>C | -
tasks/get                                | -       | -       | -       | C>S S>C | -
tasks/list                               | -       | -       | -       | C>S S>C | -
tasks/result                             | -       | -       | -       | C>S S>C | -
tools/call                               | C>S     | C>S     | C>S     | C>S     | C>S
tools/list                               | C>S     | C>S     | C>S     | C>S     | C>S
"""


def expected(column: int) -> set[tuple[str, str]]:
    found = set()
    for line in EXPECTED.strip().splitlines():
        name, *cells = (cell.strip() for cell in line.split("|"))
        found |= {(name, _SHORT[short]) for short in cells[column].split() if short != "-"}
    return found


@pytest.mark.parametrize("column", range(5))
def test_the_methods_of_every_revision(schemas: Schemas, column: int) -> None:
    revision = list(schemas)[column]
    found = [(method.name, method.direction) for method in methods(schemas[revision])]
    assert found == sorted(expected(column))


def test_the_definitions_of_a_method(schemas: Schemas) -> None:
    oldest, *_, newest = schemas.values()
    assert _find(oldest, "tools/list") == Method(
        "tools/list", CLIENT_REQUEST, "ListToolsRequest", "ListToolsRequestParams", False, ("ListToolsResult",)
    )
    assert _find(oldest, "logging/setLevel").results == ("EmptyResult",)
    assert _find(newest, "tools/call") == Method(
        "tools/call",
        CLIENT_REQUEST,
        "CallToolRequest",
        "CallToolRequestParams",
        True,
        ("CallToolResult", "InputRequiredResult"),
    )
    assert _find(newest, "notifications/cancelled") == Method(
        "notifications/cancelled", CLIENT_NOTIFICATION, "CancelledNotification", "CancelledNotificationParams", True
    )


def _find(schema: dict[str, Any], name: str) -> Method:
    return next(method for method in methods(schema) if method.name == name)


def message(name: str, params: str | None = None, *, required: bool = False) -> dict[str, Any]:
    properties: dict[str, Any] = {"method": {"const": name}}
    if params:
        properties["params"] = reference(params)
    return {"type": "object", "properties": properties, "required": ["method", *(["params"] if required else [])]}


def test_a_union_that_is_a_copy_of_its_only_member() -> None:
    only = message("stop", "StopParams", required=True)
    schema = {"$defs": {"StopNotification": only, "ClientNotification": only, "StopParams": {"type": "object"}}}
    assert methods(schema) == (Method("stop", CLIENT_NOTIFICATION, "StopNotification", "StopParams", True),)


def test_a_union_within_a_union_and_a_union_of_one() -> None:
    schema = {
        "$defs": {
            "ClientRequest": {"anyOf": [reference("Inner")]},
            "Inner": {"anyOf": [reference("ARequest")]},
            "ARequest": message("a"),
            "AResult": {"type": "object"},
            "ServerRequest": reference("BRequest"),
            "BRequest": message("b"),
        }
    }
    assert methods(schema) == (
        Method("a", CLIENT_REQUEST, "ARequest", None, False, ("AResult",)),
        Method("b", SERVER_REQUEST, "BRequest", None, False, ("EmptyResult",)),
    )


def test_what_can_be_sent_is_named_as_in_the_newest_revision_with_the_method() -> None:
    old = {
        "$defs": {
            "ClientRequest": reference("GoRequest"),
            "GoRequest": message("go", "GoRequestParams"),
            "GoRequestParams": {"type": "object"},
            "RequestParams": {"type": "object"},
            "EmptyResult": {"type": "object"},
        }
    }
    new = {
        "$defs": {
            "InputRequest": reference("GoRequest"),
            "GoRequest": message("go", "AnyParams"),
            "AnyParams": {"type": "object"},
            "RequestParams": {"type": "object"},
            "GoResult": {"type": "object"},
            "GoResultResponse": {
                "properties": {"result": {"anyOf": [reference("GoResult"), reference("OtherResult")]}}
            },
            "OtherResult": {"type": "object"},
        }
    }
    assert sendable({"old": old, "new": new}, "old") == (
        Root("AnyParams", "GoRequestParams", "RequestParams"),
        Root("GoResult", "EmptyResult"),
    )
    assert sendable({"old": old, "new": new}, "new") == (
        Root("AnyParams", "AnyParams"),
        Root("GoResult", "GoResult"),
        Root("OtherResult", "OtherResult"),
    )
