"""What a server may send: every message against the corrected schema of the revision that was negotiated.

Rule: stricter than the schemas, which are open: a member that the revision does not define is a fault too. The one exception is the
error for a message whose id could not be read.
"""

from __future__ import annotations

import functools
import pathlib
from typing import Any

from mcp_anyrev.schemas import JsonValidator
from revgen.reading.located import Problems
from revgen.schemas.methods import CLIENT_REQUEST, EMBEDDED_REQUEST, SERVER_NOTIFICATION, SERVER_REQUEST, methods
from revgen.schemas.published import load_schemas
from revgen.schemas.revisions import load_revisions

ROOT = pathlib.Path(__file__).resolve().parents[2]

_OPEN = ("Meta", "MetaObject", "InputSchema", "OutputSchema", "JSONRPCRequestParams", "JSONRPCNotificationParams")
"""Ends of the names of definitions that anything may be added to."""

_ERRORS = ("JSONRPCErrorResponse", "JSONRPCError")
_RESULTS = ("JSONRPCResultResponse", "JSONRPCResponse")
_WRAPPING = ("id", "jsonrpc")
_ENVELOPE = "Envelope"


class NotOfRevision(AssertionError):
    """A message that the revision does not have; the text says what is wrong with it."""


@functools.cache
def _revision(version: str) -> _Revision:
    return _Revision(_schemas()[version])


@functools.cache
def _schemas() -> dict[str, dict[str, Any]]:
    problems = Problems()
    schemas = load_schemas(ROOT, load_revisions(ROOT, problems), problems)
    problems.stop_if_any()
    return schemas


class _Revision:
    def __init__(self, schema: dict[str, Any]) -> None:
        self.definitions = {name: _closed(name, definition) for name, definition in schema["$defs"].items()}
        self.schema = schema
        self.methods = {(one.direction, one.name): one for one in methods(schema)}
        self.error = next(name for name in _ERRORS if name in self.definitions)
        self.result = next(name for name in _RESULTS if name in self.definitions)
        self.definitions[_ENVELOPE] = _with_any_result(self.definitions[self.result])

    @functools.cache  # noqa: B019  # there are five of these, and they live as long as the process
    def validator(self, *names: str) -> JsonValidator:
        options = [{"$ref": f"#/$defs/{name}"} for name in names]
        return JsonValidator({**(options[0] if len(options) == 1 else {"anyOf": options}), "$defs": self.definitions})


def _closed(name: str, definition: dict[str, Any]) -> dict[str, Any]:
    if not definition.get("properties") or "additionalProperties" in definition or name.endswith(_OPEN):
        return definition
    return {**definition, "additionalProperties": False}


def _with_any_result(definition: dict[str, Any]) -> dict[str, Any]:
    return {**definition, "properties": {**definition["properties"], "result": {"type": "object"}}}


def check_sent(version: str, message: Any, method: str | None = None, readable: bool = True) -> None:
    """See that a message is one that a server of the revision may send.

    Args:
        version: the revision.
        message: a message, or, for a batch of requests, an array of responses.
        method: of the request that a response answers; None where that is not known, which leaves its result unseen.
        readable: could the id of that request be read?

    Raises:
        NotOfRevision: it is not.
    """
    revision = _revision(version)
    if isinstance(message, list):
        for one in message:
            check_sent(version, one, method, readable)
    elif "method" in message:
        direction, envelope = (
            (SERVER_REQUEST, "JSONRPCRequest") if "id" in message else (SERVER_NOTIFICATION, "JSONRPCNotification")
        )
        _see(revision, message, envelope)
        found = revision.methods.get((direction, message["method"]))
        if found is None:
            raise NotOfRevision(f"{version} has no {direction} {message['method']}: {message}")
        # Where messages are published without their envelope, what belongs to it has been seen already.
        stated = revision.definitions[found.definition]["properties"]
        _see(
            revision,
            {name: message[name] for name in message if name in stated or name not in _WRAPPING},
            found.definition,
        )
    elif "error" in message:
        if readable or message.get("id") is not None:
            _see(revision, message, revision.error)
    else:
        _see(revision, message, _ENVELOPE)
        asked = revision.methods.get((CLIENT_REQUEST, method or ""))
        if asked is not None:
            _see_result(revision, asked.results, message["result"])


def _see_result(revision: _Revision, definitions: tuple[str, ...], result: dict[str, Any]) -> None:
    usual, *others = definitions
    if result.get("resultType") != "input_required":
        _see(revision, result, usual)
        return
    _see(revision, result, *others)
    for question in result.get("inputRequests", {}).values():
        _see(revision, question, revision.methods[EMBEDDED_REQUEST, question["method"]].definition)


def _see(revision: _Revision, value: Any, *definitions: str) -> None:
    validator = revision.validator(*definitions)
    if not validator.accepts(value):
        raise NotOfRevision(f"no {' or '.join(definitions)}: {validator.faults(value)}: {value}")
