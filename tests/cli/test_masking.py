"""What passes is shown or written down without what lets somebody else act as a client.

Citations: basic/authorization/security-best-practices, basic/transports#session-management, basic/patterns/mrtr#request-state.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp_anyrev.masking import HIDDEN, shown_address, shown_headers, shown_message
from mcp_revisions import AdapterSet

SECRET = "aHVzaC1odXNoLXNlY3JldA"


def message(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, **members}).encode()


@pytest.mark.parametrize(
    "members",
    [
        {"result": {"resultType": "input_required", "requestState": SECRET}},
        {"params": {"name": "t", "requestState": SECRET}},
        {"params": {"arguments": {"mcpState": SECRET, "mcpAnswers": {}}}},
        {"result": {"content": [{"type": "text", "text": f'copy {{"mcpState": "{SECRET}", "mcpAnswers": {{}}}}'}]}},
        {"result": {"content": [{"type": "text", "text": json.dumps({"access_token": SECRET})}]}},
        {"result": {"content": [{"type": "text", "text": json.dumps(json.dumps({"mcpState": SECRET}))}]}},
        {"params": {"arguments": {"password": SECRET, "api_key": SECRET, "client-secret": [SECRET]}}},
        {"params": {"arguments": {"pin": {"userPassword": int(1e9)}}}},
        {"params": {"mode": "url", "url": f"https://sign.in/go?ticket={SECRET}&x={SECRET}", "message": "m"}},
        {"error": {"code": 1, "message": f"at https://ada:{SECRET}@example.org/?code={SECRET}: Bearer {SECRET}"}},
    ],
)
def test_no_secret_of_a_message_is_shown(members: dict[str, Any]) -> None:
    shown = shown_message(message(**members))
    assert SECRET not in shown and "1000000000" not in shown
    assert HIDDEN in shown


@pytest.mark.parametrize(
    "members",
    [
        {"params": {"_meta": {"progressToken": "abc"}, "maxTokens": 5, "name": "refresh_tokens"}},
        {"result": {"tools": [{"inputSchema": {"properties": {"password": {"type": "string"}}, "required": ["password"]}}]}},
        {"params": {"arguments": {"password": None, "token": "", "secret": True, "author": "Ada", "state": "Ohio"}}},
        {"result": {"nextCursor": "c", "uri": "https://example.org/?page=2", "text": "basic needs, bearer of news"}},
    ],
)  # fmt: skip
def test_what_is_no_secret_is_shown_as_it_is(members: dict[str, Any]) -> None:
    assert json.loads(shown_message(message(**members))) == json.loads(message(**members))


def test_what_is_no_json_is_shown_without_secrets_and_cut() -> None:
    assert SECRET not in shown_message(f'data: {{"token": "{SECRET}"'.encode())
    assert shown_message(b"  ") == "(nothing)"
    long = shown_message(message(result={"text": "x" * 5_000}))
    assert len(long) < 600 and "(5000 characters)" in long
    assert SECRET not in shown_message(message(result={"text": f'{{"token": "{SECRET}' + "x" * 5_000}))


def test_headers_keep_their_order_and_lose_what_says_who_somebody_is() -> None:
    given = [
        ("Accept", "text/event-stream"),
        ("Authorization", f"Bearer {SECRET}"),
        ("authorization", SECRET),
        ("Set-Cookie", f"a={SECRET}"),
        ("Set-Cookie", f"b={SECRET}"),
        ("X-Mine", SECRET),
        ("Location", f"https://ada:{SECRET}@example.org/x?code={SECRET}#f"),
        ("WWW-Authenticate", 'Bearer scope="read"'),
    ]
    assert list(shown_headers(given, ["x-mine"])) == [
        ("Accept", "text/event-stream"),
        ("Authorization", f"Bearer {HIDDEN}"),
        ("authorization", HIDDEN),
        ("Set-Cookie", HIDDEN),
        ("Set-Cookie", HIDDEN),
        ("X-Mine", HIDDEN),
        ("Location", f"https://{HIDDEN}@example.org/x?code={HIDDEN}#f"),
        ("WWW-Authenticate", 'Bearer scope="read"'),
    ]


def test_the_session_of_every_revision_is_hidden() -> None:
    for adapter in AdapterSet.default().by_version.values():
        if adapter.session_header is not None:
            assert dict(shown_headers({adapter.session_header: SECRET})) == {adapter.session_header: HIDDEN}


def test_an_address_loses_the_values_of_its_query() -> None:
    assert shown_address(f"POST http://h:1/m?sid={SECRET}&x=") == f"POST http://h:1/m?sid={HIDDEN}&x="
