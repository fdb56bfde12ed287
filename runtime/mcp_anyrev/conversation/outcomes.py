"""What answers a request, before anybody has said it.

Rule: whoever answers gives one of these, an adapter words it, and a transport says it in its own way: with a status, with headers, on
a stream. Nothing of either is in here.
Specification: basic/index#messages
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from mcp_contract import JsonObject, ProtocolError

from mcp_anyrev.user_code import raised


class Result(NamedTuple):
    """The finished result.

    Attributes:
        value: the result in canonical form.
        otherwise: what answers the request where that cannot be written, from the reason: another result, or it raises an error.
    """

    value: JsonObject
    otherwise: Callable[[Exception], JsonObject] = raised


class Prepared(NamedTuple):
    """A finished result in the words of the revision, as JSON that was written before it was asked for."""

    json: bytes


class Questions(NamedTuple):
    """Answers are needed first.

    Attributes:
        questions: requests without ids, in canonical form, by key.
        state: what is to come back with the answers.
        params: the params of the request that ends in them, without anything that belongs to asking.
    """

    questions: Mapping[str, JsonObject]
    state: str
    params: JsonObject


class Later(NamedTuple):
    """It has become a task, which can be asked for.

    Attributes:
        task: the task as a canonical `Task`.
    """

    task: JsonObject


class Failure(NamedTuple):
    """It went wrong."""

    error: ProtocolError


Outcome = Result | Prepared | Questions | Later | Failure


class Response(NamedTuple):
    """What goes back for a request, or for a batch of them.

    Attributes:
        message: a JSON-RPC response, or an array of them, as JSON.
        error: what a single request failed with.
    """

    message: bytes
    error: ProtocolError | None = None
