"""The few shapes that adapters and the runtime hand to each other.

Rule: plain data, no behaviour. Messages themselves stay JSON objects; what they mean is an adapter's business.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

Json = Any
"""A JSON value as `pydantic_core.from_json` gives it."""

JsonObject = dict[str, Any]
"""A JSON object; keys are the wire's names."""


class Declaration(NamedTuple):
    """What a client said of itself.

    Attributes:
        capabilities: the client capabilities, an empty object for none: to a server as they came, of a client in canonical form.
        information: name, version and whatever else the client gave, or None where it gave nothing.
    """

    capabilities: JsonObject
    information: JsonObject | None


class Answered(NamedTuple):
    """A request's params, with the answers that travelled in them taken out.

    Attributes:
        params: the params without answers and state.
        answers: key of a question → the answer as sent, not yet judged; empty where none travelled.
        state: the state that was echoed, or None.
    """

    params: JsonObject
    answers: Mapping[str, Json]
    state: str | None


class Questions(NamedTuple):
    """Questions that came as a result.

    Attributes:
        questions: key → the question as a request without an id: `{"method": …, "params": …}`.
        state: what is to be echoed with the answers, or None.
    """

    questions: Mapping[str, JsonObject]
    state: str | None


RESERVED_LABELS = frozenset({"modelcontextprotocol", "mcp"})
"""Labels by which the prefix of a `_meta` key is the protocol's own."""
