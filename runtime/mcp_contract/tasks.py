"""Tasks: requests that are answered later, as adapters and the runtime tell each other of them.

Rule: a task is a canonical `Task`; what has become of it stands beside it, so that each revision says it where it says such things.
Specification: basic/utilities/tasks
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from mcp_contract.messages import JsonObject

TASKS_EXTENSION = "io.modelcontextprotocol/tasks"
"""The name of the extension that tasks are, where they are no part of the revision itself."""


_RESULT_TYPE = "task"
"""What the extension calls the result that stands for a task."""


LISTENED_TO = "taskIds"
"""The member by which a client that listens says which tasks it wants to be told of, as the extension has it."""

NOTIFICATION = "notifications/tasks"
"""The notification that tells how a task stands, as the extension has it."""


class TaskAsked(NamedTuple):
    """A request may be answered later.

    Attributes:
        at_once: is it to be a task from its beginning? If not, whoever answers decides whether it becomes one.
        ttl: for how many milliseconds its sender would like it to be kept; None where it does not say.
    """

    at_once: bool
    ttl: int | None


class TaskOutcome(NamedTuple):
    """What has become of a task so far.

    Attributes:
        result: the result of its request, in the words of the revision; None where there is none.
        error: the JSON-RPC error of its request; None where there is none.
        questions: what it waits for: requests without ids, in the words of the revision, by key.
    """

    result: JsonObject | None = None
    error: JsonObject | None = None
    questions: Mapping[str, JsonObject] = {}


class TaskState(NamedTuple):
    """A task as a client reads it.

    Attributes:
        task: the task itself, as a canonical `Task`.
        outcome: what has become of it, as far as it was told; what is there is as it came.
    """

    task: JsonObject
    outcome: TaskOutcome


_MEMBERS = {"ttl": "ttlMs", "pollInterval": "pollIntervalMs"}
_READ = {name: canonical for canonical, name in _MEMBERS.items()}
_OUTCOME = ("result", "error", "inputRequests", "resultType", "_meta")


def as_result(task: JsonObject) -> JsonObject:
    """The result that says that a call has become a task, as the extension has it."""
    return {"resultType": _RESULT_TYPE, **_with_units(task)}


def in_result(result: JsonObject) -> JsonObject | None:
    """The canonical task in such a result; None for another one."""
    return read_detailed(result).task if result.get("resultType") == _RESULT_TYPE else None


def detailed(task: JsonObject, outcome: TaskOutcome) -> JsonObject:
    """A task, and beside its state what has become of it, as the extension has it."""
    told = _with_units(task)
    if outcome.result is not None:
        told["result"] = outcome.result
    if outcome.error is not None:
        told["error"] = outcome.error
    if outcome.questions:
        told["inputRequests"] = dict(outcome.questions)
    return told


def read_detailed(result: JsonObject) -> TaskState:
    """What `detailed` gave, or another server of the extension."""
    task = {_READ.get(name, name): value for name, value in result.items() if name not in _OUTCOME}
    given, error, asked = result.get("result"), result.get("error"), result.get("inputRequests")
    outcome = TaskOutcome(
        given if isinstance(given, dict) else None,
        error if isinstance(error, dict) else None,
        asked if isinstance(asked, dict) else {},
    )
    return TaskState(task, outcome)


def _with_units(task: JsonObject) -> JsonObject:
    """A canonical task with the members that the extension names by their unit."""
    return {_MEMBERS.get(name, name): value for name, value in task.items()}
