"""Values by which a trace is followed from system to system: `traceparent`, `tracestate` and `baggage`.

Rule: whether a revision gives such a key its meaning, the adapter says; what its value looks like, W3C does, the same for all.
Specification: basic/index#_meta
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from mcp_contract.messages import Json
from mcp_contract.wording import cut

_PARENT = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?P<more>-.*)?", re.DOTALL
)
_FIRST_VERSION = "00"  # which has nothing after the flags
_STATE_KEY = r"[a-z0-9][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13}"
_STATE = re.compile(rf"(?P<key>{_STATE_KEY})=[ -+\--<>-~]{{0,255}}[!-+\--<>-~]")
_MOST_STATES = 32
_TOKEN = r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"
_BAGGAGE_VALUE = r"[!#-+\--:<-\[\]-~]*"
_BAGGAGE = re.compile(
    rf"{_TOKEN}[ \t]*=[ \t]*{_BAGGAGE_VALUE}(?:[ \t]*;[ \t]*{_TOKEN}(?:[ \t]*=[ \t]*{_BAGGAGE_VALUE})?)*"
)


def check_trace_context(key: str, value: Json) -> None:
    """See that the value of a key by which traces are followed can be read by whoever follows them.

    Args:
        key: the key of `_meta`.
        value: its value.

    Raises:
        ValueError: it cannot, or there is no such key.
    """
    fits = _FORMS.get(key)
    if fits is None:
        raise ValueError(f"{key!r} is none of the keys by which traces are followed: {', '.join(_FORMS)}")
    if not isinstance(value, str) or not fits(value):
        raise ValueError(f"the value {cut(repr(value), 100)} of {key} is none that W3C's form of it allows")


def _is_parent(value: str) -> bool:
    found = _PARENT.fullmatch(value)
    return found is not None and not (found["more"] is not None and value.startswith(_FIRST_VERSION))


def _is_state(value: str) -> bool:
    """A list of which members may be empty; none says anything twice."""
    found = [_STATE.fullmatch(member) for member in _members(value) if member]
    keys = {one["key"] for one in found if one is not None}
    return len(keys) == len(found) <= _MOST_STATES


def _is_baggage(value: str) -> bool:
    return all(_BAGGAGE.fullmatch(member) for member in _members(value))


def _members(value: str) -> list[str]:
    return [member.strip(" \t") for member in value.split(",")]


_FORMS: Mapping[str, Callable[[str], bool]] = MappingProxyType(
    {"traceparent": _is_parent, "tracestate": _is_state, "baggage": _is_baggage}
)
