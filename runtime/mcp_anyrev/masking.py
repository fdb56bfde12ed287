"""What passes between a client and a server, as it may be shown to a person or written down.

Rule: what lets somebody else act as a client is never shown: what says who it is, the session, state that is sealed or a handle, and
whatever is called a secret, wherever it stands. Everything else is, and long texts are cut.
Specification: basic/authorization/security-best-practices, basic/transports#session-management
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from mcp_contract.questions import STATE_ARGUMENT
from mcp_revisions import AdapterSet
from pydantic_core import from_json

HIDDEN = "•••"

_SECRET_HEADER = re.compile(r"auth|cookie|token|secret|password|api-?key|session", re.IGNORECASE)
_PUBLIC_HEADERS = frozenset({"www-authenticate"})
"""What a server asks for is no secret."""

_ADDRESSES = frozenset({"location", "content-location", "referer"})
"""Headers that hold an address."""

_NAME = r"[\w.-]*(?:token(?!s)|secret|passw(?:or)?d|passphrase|credential|authorization|cookie|api[-_]?key|private[-_]?key|session[-_]?id)[\w.-]*"
_STATES = ("requestState", STATE_ARGUMENT)
_ADDRESS = "url"
_SECRET_MEMBER = re.compile(rf"{'|'.join(_STATES)}|(?!progressToken\Z){_NAME}", re.IGNORECASE)
_MEMBER_IN_TEXT = re.compile(rf'(\\*"(?:{"|".join(_STATES)}|{_NAME})\\*"\s*:\s*\\*")[^"\\]+', re.IGNORECASE)
"""JSON that stands in a text, as results of tools do."""

_QUERY = re.compile(r"([?&][^=&\s]*=)[^&#\s]+")
_QUERY_IN_TEXT = re.compile(rf"([?&#](?:{_NAME}|code|state|sig|signature)=)[^&#\s\"'<>]+", re.IGNORECASE)
_USER = re.compile(r"(\w://)[^/@\s\"']+@")
_SCHEME = re.compile(r"\b(basic|bearer|dpop|digest|negotiate)\s+[\w.~+/=-]{8,}", re.IGNORECASE)
_LONGEST_TEXT = 2_000
_IN_ONE_LINE = 100


def shown_address(text: str) -> str:
    """An address, or a line that has one in it, without the values of its query and without a password."""
    return _USER.sub(rf"\1{HIDDEN}@", _QUERY.sub(rf"\1{HIDDEN}", text))


def shown_headers(
    headers: Mapping[str, str] | Iterable[tuple[str, str]], secret: Collection[str] = ()
) -> Iterator[tuple[str, str]]:
    """Names and values of headers, in their order.

    Args:
        headers: the headers, of which several may have one name.
        secret: the names of those whose values are not shown, besides those that are known.
    """
    hidden = {name.lower() for name in secret} | _session_headers()
    for name, value in headers.items() if isinstance(headers, Mapping) else headers:
        lower = name.lower()
        if lower in hidden or (_SECRET_HEADER.search(lower) and lower not in _PUBLIC_HEADERS):
            scheme, _, rest = value.partition(" ")
            yield name, f"{scheme} {HIDDEN}" if rest and scheme.isalpha() else HIDDEN
        else:
            yield name, shown_address(value) if lower in _ADDRESSES else value


def shown_message(content: bytes) -> str:
    """A message as a person reads it: JSON in one line where it is short, or whatever it is."""
    try:
        value = from_json(content)
    except ValueError:
        return f"(no JSON) {_shown_text(content.decode(errors='backslashreplace'))}" if content.strip() else "(nothing)"
    value = _shown(value)
    line = json.dumps(value, ensure_ascii=False)
    return line if len(line) <= _IN_ONE_LINE else json.dumps(value, ensure_ascii=False, indent=2)


def _shown(value: Any, name: str = "") -> Any:
    """A value of JSON, which is the member of that name."""
    if isinstance(value, dict):
        return {inner: _shown(held, inner) for inner, held in value.items()}
    if isinstance(value, list):
        return [_shown(held, name) for held in value]
    if value is None or isinstance(value, bool) or value == "":
        return value
    if _SECRET_MEMBER.fullmatch(name):
        return HIDDEN
    if not isinstance(value, str):
        return value
    return shown_address(value) if name == _ADDRESS else _shown_text(value)


def _shown_text(text: str) -> str:
    """A text without what is called a secret in it, and cut."""
    cut = len(text) > _LONGEST_TEXT
    shown = text[: _LONGEST_TEXT // 10] if cut else text
    for pattern, instead in (
        (_MEMBER_IN_TEXT, rf"\1{HIDDEN}"),
        (_QUERY_IN_TEXT, rf"\1{HIDDEN}"),
        (_USER, rf"\1{HIDDEN}@"),
        (_SCHEME, rf"\1 {HIDDEN}"),
    ):
        shown = pattern.sub(instead, shown)
    return f"{shown}… ({len(text)} characters)" if cut else shown


@functools.cache
def _session_headers() -> frozenset[str]:
    adapters = AdapterSet.default().by_version.values()
    return frozenset(one.session_header.lower() for one in adapters if one.session_header is not None)
