"""What a revision says to a vector: its adapter, and its models.

Rule: only what an adapter and the models offer everybody is called, in the order in which a peer meets it. A stand-in for an adapter
can be judged likewise.
"""

from __future__ import annotations

import copy
import functools
import importlib
import inspect
import json
import types
from collections.abc import Mapping
from typing import Any, get_args, get_type_hints

import mcp_contract as contract
from mcp_revisions import VERSIONS, AdapterSet
from mcp_revisions.protocol import Adapter
from pydantic import TypeAdapter, ValidationError
from vector_files import CallVector, EncodingVector, Json, JsonObject, MessageVector


class Wrong(AssertionError):
    """A vector does not hold; the text says what was expected and what was found."""


class OutOfPlace(contract.InvalidRequest):
    """A message that is no request, no notification or no response where one is due: nobody needs an adapter to see that."""


@functools.cache
def adapters() -> Mapping[str, Adapter]:
    """The generated adapters by revision, oldest first, drafts among them."""
    by_version = AdapterSet(VERSIONS).by_version
    return {version: by_version[version] for version in reversed(VERSIONS)}


# --- Messages, as an adapter judges them ---


def verdict(adapter: Adapter, vector: MessageVector) -> contract.ProtocolError | None:
    """The error with which an adapter refuses a message; None where it takes it."""
    try:
        _JUDGES[vector.kind](adapter, vector)
    except contract.ProtocolError as error:
        return error
    return None


def check_message(adapter: Adapter, vector: MessageVector) -> None:
    """See that an adapter judges a message as the vector says.

    Raises:
        Wrong: it does not.
    """
    before = copy.deepcopy(vector.message)
    try:
        refusal = verdict(adapter, vector)
    except Exception as error:
        raise Wrong(f"failed: {error!r}") from error
    found = refusal.kind if refusal else ""
    if found != vector.refused:
        raise Wrong(f"expected: {vector.refused or 'taken'}; found: {found or 'taken'}")
    if exact(vector.message) != exact(before):
        raise Wrong("the message was changed")


def _client_request(adapter: Adapter, vector: MessageVector) -> None:
    message = _one(adapter, vector.message)
    _see(_is_request(message), "no request")
    adapter.check_request(message)


def _server_request(adapter: Adapter, vector: MessageVector) -> None:
    embedded = adapter.embedded_requests
    if embedded and not adapter.server_requests:
        message = vector.message
        _see(isinstance(message, dict) and isinstance(message.get("method"), str), "no request")
    else:
        message = _one(adapter, vector.message)
        _see(_is_request(message), "no request")
    _known(message["method"], adapter.server_requests, embedded)
    adapter.check_question(message)


def _client_notification(adapter: Adapter, vector: MessageVector) -> None:
    message = _notification(adapter, vector)
    _known(message["method"], adapter.client_notifications)
    adapter.check_notification(message)


def _server_notification(adapter: Adapter, vector: MessageVector) -> None:
    message = _notification(adapter, vector)
    _known(message["method"], adapter.server_notifications)
    adapter.check_server_notification(message)


def _notification(adapter: Adapter, vector: MessageVector) -> JsonObject:
    message = _one(adapter, vector.message)
    _see("method" in message and "id" not in message, "no notification")
    return message


def _result(adapter: Adapter, vector: MessageVector) -> None:
    _known(vector.method, adapter.client_requests)
    asked = adapter.read_questions(vector.message) if isinstance(vector.message, dict) else None
    if asked is None:
        adapter.check_result(vector.method, vector.message)
        return
    for question in asked.questions.values():
        _known(question["method"], adapter.server_requests, adapter.embedded_requests)
        adapter.check_question(question)


def _answer(adapter: Adapter, vector: MessageVector) -> None:
    _known(vector.method, adapter.server_requests, adapter.embedded_requests)
    adapter.check_answer(vector.method, vector.message)


def _response(adapter: Adapter, vector: MessageVector) -> None:
    _see("method" not in _one(adapter, vector.message), "no response")


def _error(adapter: Adapter, vector: MessageVector) -> None:
    message = _one(adapter, vector.message)
    _see("error" in message, "no error")
    code = message["error"].get("code") if isinstance(message["error"], dict) else None
    _see(not vector.error or exact(code) == exact(adapter.error_codes[vector.error]), "another code")


_JUDGES = {
    "client_requests": _client_request,
    "server_requests": _server_request,
    "client_notifications": _client_notification,
    "server_notifications": _server_notification,
    "results": _result,
    "answers": _answer,
    "responses": _response,
    "errors": _error,
}


def _one(adapter: Adapter, payload: Json) -> JsonObject:
    messages = adapter.batching(payload)
    _see(len(messages) == 1, "not one message")
    return messages[0]


def _is_request(message: JsonObject) -> bool:
    return "method" in message and "id" in message


def _known(method: str, *tables: Mapping[str, str]) -> None:
    if not any(method in methods for methods in tables):
        raise contract.MethodNotFound(f"{method} is no method of this revision in this direction")


def _see(holds: bool, otherwise: str) -> None:
    if not holds:
        raise OutOfPlace(otherwise)


# --- Messages, as the models judge them ---


@functools.cache
def model(revision: str, name: str) -> TypeAdapter[Any]:
    """What validates and writes one published definition of a revision."""
    return TypeAdapter(getattr(importlib.import_module(f"mcp_revisions.v{revision.replace('-', '_')}"), name))


def check_model(vector: MessageVector) -> None:
    """See that the models of a revision take a message and give it back as it was, or refuse it, as the vector says.

    Raises:
        Wrong: they do not.
    """
    refusals = []
    for name in _definitions(vector):
        checked = model(vector.revision, name)
        try:
            read = checked.validate_python(vector.message, by_alias=True, by_name=False)
        except ValidationError as error:
            refusals.append(f"{name}: {error.errors(include_url=False)[0]}")
            continue
        if vector.valid:
            written = checked.dump_python(read, by_alias=True, exclude_unset=True, mode="json")
            if exact(written) != exact(vector.message):
                raise Wrong(f"{name} came back as {exact(written)}")
    if vector.valid and refusals:
        raise Wrong("; ".join(refusals))
    if not vector.valid and not refusals:
        raise Wrong(f"taken by {', '.join(_definitions(vector))}")


def _definitions(vector: MessageVector) -> tuple[str, ...]:
    """The definition, and that of the envelope where the definition of a message leaves it out."""
    if vector.kind.endswith("notifications"):
        return (vector.definition, "JSONRPCNotification")
    bare = vector.kind == "server_requests" and not adapters()[vector.revision].server_requests
    if vector.kind.endswith("requests") and not bare:
        return (vector.definition, "JSONRPCRequest")
    return (vector.definition,)


# --- What is sent ---


def check_encoding(adapter: Adapter, vector: EncodingVector) -> None:
    """See that an adapter sends exactly what the vector says, and leaves the canonical value as it was.

    Raises:
        Wrong: it does not.
    """
    before = exact(vector.given)
    try:
        sent = encoded(adapter, vector)
    except Exception as error:
        _see_refusal(error, vector.refuses or exact(vector.sent))
        return
    if vector.refuses or exact(sent) != exact(vector.sent):
        raise Wrong(f"expected: {vector.refuses or exact(vector.sent)}\nfound:    {exact(sent)}")
    if exact(vector.given) != before:
        raise Wrong("the canonical value was changed")


def encoded(adapter: Adapter, vector: EncodingVector) -> JsonObject:
    """What an adapter sends for the canonical value of a vector."""
    match vector.kind:
        case "params":
            return adapter.encode_params(vector.method, vector.given)
        case "results":
            return adapter.encode_result(vector.method, vector.given, adapter.encode_implementation(vector.server))
        case "questions":
            return adapter.encode_question(vector.given)
        case "answers":
            return adapter.encode_answer(vector.method, vector.given)
        case "notifications":
            return adapter.encode_notification(vector.method, vector.given)
        case "client_capabilities":
            return adapter.encode_client_capabilities(vector.given)
        case "server_capabilities":
            return adapter.encode_server_capabilities(vector.given)
        case _:
            return adapter.encode_implementation(vector.given)


# --- Answers to concerns ---


def check_call(adapter: Adapter, concern: str, vector: CallVector) -> None:
    """See that a concern's method gives what the vector says, or raises it, and leaves what it was given as it was.

    Raises:
        Wrong: it does not.
    """
    given = copy.deepcopy(vector.call)
    try:
        found = plain(getattr(adapter, concern)(**_arguments(concern, given)))
    except Exception as error:
        _see_refusal(error, vector.refuses or exact(vector.gives))
        return
    holds = contains(found, vector.gives) if vector.at_least else exact(found) == exact(vector.gives)
    if vector.refuses or not holds:
        raise Wrong(f"expected: {vector.refuses or exact(vector.gives)}\nfound:    {exact(found)}")
    if exact(plain(given)) != exact(vector.call):
        raise Wrong("an argument was changed")


def _see_refusal(error: Exception, expected: str) -> None:
    """See that an error is the expected one, and one that the contract knows."""
    if not type(error).__module__.startswith("mcp_contract") or type(error).__name__ != expected:
        raise Wrong(f"expected: {expected}; found: {error!r}") from error


def check_constant(adapter: Adapter, concern: str, expected: Json) -> None:
    """See that a concern's constant is the expected one, to the type and to the order of a table.

    Raises:
        Wrong: it is not.
    """
    found = plain(getattr(adapter, concern))
    if json.dumps(found) != json.dumps(expected):
        raise Wrong(f"expected: {json.dumps(expected)}; found: {json.dumps(found)}")


def _arguments(concern: str, given: JsonObject) -> JsonObject:
    """The arguments of a call, with those that a signature wants as a named tuple made into one."""
    wanted = _named_tuples(concern)
    return {
        name: wanted[name](**value) if name in wanted and isinstance(value, dict) else value
        for name, value in given.items()
    }


@functools.cache
def _named_tuples(concern: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, hint in get_type_hints(getattr(Adapter, concern)).items():
        for option in get_args(hint) if isinstance(hint, types.UnionType) else (hint,):
            if inspect.isclass(option) and hasattr(option, "_fields"):
                found[name] = option
    return found


def plain(value: Any) -> Json:
    """A value as JSON: named tuples and mappings as objects, sequences as arrays, a simplified schema as the schema."""
    if isinstance(value, contract.Simplified):
        return plain(value.schema)
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain(inner) for name, inner in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value


def exact(value: Json) -> str:
    """A JSON value as text that differs wherever two values do: 1 from true and from 1.0."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def contains(found: Json, expected: Json) -> bool:
    """Does a value hold at least what is expected: of an object these members, of a text this part?"""
    if isinstance(expected, dict):
        return isinstance(found, dict) and all(
            name in found and contains(found[name], inner) for name, inner in expected.items()
        )
    if isinstance(expected, list):
        return isinstance(found, list) and len(found) == len(expected) and all(map(contains, found, expected))
    if isinstance(expected, str):
        return isinstance(found, str) and expected in found
    return exact(found) == exact(expected)
