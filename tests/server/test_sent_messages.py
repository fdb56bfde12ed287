"""The check that every message of the tests goes through: that it can fail."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_revisions.protocol import Adapter
from sent_messages import NotOfRevision, check_sent


def response(adapter: Adapter, result: dict[str, Any]) -> dict[str, Any]:
    server = adapter.encode_implementation({"name": "s", "version": "1"})
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "result": adapter.encode_result("tools/call", result, server),
    }


def test_a_good_result_passes(adapter: Adapter) -> None:
    check_sent(adapter.version, response(adapter, {"content": [{"type": "text", "text": "x"}]}), "tools/call")


@pytest.mark.parametrize(
    "broken",
    [
        {"content": [{"type": "text"}]},
        {"content": [{"type": "text", "text": "x"}], "invented": 1},
        {"content": [{"type": "text", "text": "x", "invented": 1}]},
        {},
    ],
)
def test_a_broken_result_fails(adapter: Adapter, broken: dict[str, Any]) -> None:
    message = response(adapter, {"content": []})
    message["result"] = {**{name: value for name, value in message["result"].items() if name != "content"}, **broken}
    with pytest.raises(NotOfRevision):
        check_sent(adapter.version, message, "tools/call")


def test_an_unknown_notification_and_an_unknown_request_fail(adapter: Adapter) -> None:
    for message in (
        {"jsonrpc": "2.0", "method": "notifications/invented", "params": {}},
        {"jsonrpc": "2.0", "id": "a", "method": "invented/create", "params": {}},
    ):
        with pytest.raises(NotOfRevision):
            check_sent(adapter.version, message)


def test_an_error_without_an_id_passes_only_where_the_id_could_not_be_read(adapter: Adapter) -> None:
    message: dict[str, Any] = {"jsonrpc": "2.0", "error": {"code": -32700, "message": "no JSON"}}
    if adapter.unreadable_id_is_null:
        message["id"] = None
    check_sent(adapter.version, message, readable=False)
    if adapter.unreadable_id_is_null:
        with pytest.raises(NotOfRevision):
            check_sent(adapter.version, message)
    with pytest.raises(NotOfRevision):
        check_sent(adapter.version, {"jsonrpc": "2.0", "id": 1, "error": {"code": "x", "message": "x"}})
