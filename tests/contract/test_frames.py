"""What JSON-RPC asks of any message: basic/index#messages."""

from typing import Any

import pytest
from mcp_contract import InvalidRequest, as_message

REQUEST: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.mark.parametrize("identifier", [0, -1, "", "a", 10**30])
def test_any_text_and_any_integer_is_an_id(identifier: Any) -> None:
    message = {**REQUEST, "id": identifier}
    assert as_message(message, null_id=False) is message


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ([], "a message is an object; this is an array"),
        (None, "a message is an object; this is null"),
        ({"id": 1, "method": "ping"}, 'a message has the member "jsonrpc" with the value "2.0"'),
        ({**REQUEST, "id": None}, "id is text or an integer; this is null"),
        ({**REQUEST, "id": True}, "id is text or an integer; this is a boolean"),
        ({**REQUEST, "id": 1.5}, "id is text or an integer; this is a number"),
        ({**REQUEST, "method": 3}, "method is text; this is a number"),
        ({**REQUEST, "params": []}, "params is an object; this is an array"),
        ({"jsonrpc": "2.0"}, "a message has a method, or an id with a result or an error"),
        ({"jsonrpc": "2.0", "id": 1}, "a response has either a result or an error"),
        ({"jsonrpc": "2.0", "id": 1, "result": {}, "error": {}}, "a response has either a result or an error"),
    ],
)
def test_what_is_no_message_is_refused_with_the_reason(message: Any, words: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        as_message(message, null_id=False)
    assert caught.value.message == words


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "error": {"code": 1, "message": "x"}},
    ],
)
def test_notifications_results_and_errors_without_id_are_messages(message: dict[str, Any]) -> None:
    assert as_message(message, null_id=False) is message
