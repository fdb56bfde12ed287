"""Which methods a revision has, who may send them, and which definitions describe them: all from its schema.

Rule: derived from the published unions of messages and from the published names of definitions, nothing else. What a method
means is no business of this file.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .references import referred
from .shapes import Definitions, Node, alternatives, constant, end_name, references, resolved

CLIENT_REQUEST = "client request"
SERVER_REQUEST = "server request"
EMBEDDED_REQUEST = "embedded request"
CLIENT_NOTIFICATION = "client notification"
SERVER_NOTIFICATION = "server notification"

_UNIONS = {
    "ClientRequest": CLIENT_REQUEST,
    "ServerRequest": SERVER_REQUEST,
    "InputRequest": EMBEDDED_REQUEST,
    "ClientNotification": CLIENT_NOTIFICATION,
    "ServerNotification": SERVER_NOTIFICATION,
}

_NOTHING_TO_SAY = "EmptyResult"

_BASES = {
    CLIENT_REQUEST: "RequestParams",
    SERVER_REQUEST: "RequestParams",
    CLIENT_NOTIFICATION: "NotificationParams",
    SERVER_NOTIFICATION: "NotificationParams",
}
"""Where a schema says what every message of a kind may carry. A question inside a result is no message of its own."""


ON_ITS_OWN = ("ClientCapabilities", "Implementation", "ServerCapabilities")
"""Who a peer is and what it can do: sent with a handshake in some revisions, and inside `_meta` in others."""


@dataclasses.dataclass(frozen=True, order=True)
class Method:
    """One method in one direction.

    Attributes:
        name: as on the wire.
        direction: one of the constants above.
        definition: the definition of the whole message.
        params: the definition of its params; None where it has none.
        params_required: whether the message must carry params.
        results: the definitions that an answer may have, the usual one first; empty for a notification.
    """

    name: str
    direction: str
    definition: str
    params: str | None
    params_required: bool
    results: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, order=True)
class Root:
    """Something that can be sent as a whole.

    Attributes:
        canonical: its type in the canonical vocabulary.
        published: its definition in the schema of the revision.
        base: the definition whose members it may carry as well; None for a type that stands on its own.
    """

    canonical: str
    published: str
    base: str | None = None


def methods(schema: Mapping[str, Any]) -> tuple[Method, ...]:
    """The methods of a revision, ordered by name and direction.

    Args:
        schema: a schema in normal form.

    Returns:
        One entry for each direction that a method is sent in. The result is found by the published convention (a definition
        `XRequest` is answered by `XResult`, else by the empty result), and by `XResultResponse` where the schema has that.
    """
    definitions: Definitions = schema["$defs"]
    found = []
    for union, direction in _UNIONS.items():
        for definition, message in _members(union, definitions):
            method = constant(message.get("properties", {}).get("method", {}))
            if method is None:
                continue
            params = message["properties"].get("params")
            answered = direction.endswith("request")
            found.append(
                Method(
                    name=method,
                    direction=direction,
                    definition=definition,
                    params=None if params is None else referred(params),
                    params_required="params" in message.get("required", []),
                    results=_results(definition, definitions) if answered else (),
                )
            )
    return tuple(sorted(found, key=lambda method: (method.name, method.direction)))


def doubled(schema: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Definitions that describe what another one describes, the same method in the same direction; each with what is wrong."""
    first: dict[tuple[str, str], str] = {}
    for method in methods(schema):
        other = first.setdefault((method.name, method.direction), method.definition)
        if other != method.definition:
            what = f"'{other}' and '{method.definition}' are both the {method.direction} '{method.name}'"
            yield method.definition, f"{what}; allowed: one definition for each method"


@dataclasses.dataclass(frozen=True)
class MethodRoots:
    """What is sent when a method is called and answered; None where nothing is, or nothing that has members."""

    params: Root | None
    result: Root | None


def method_roots(schemas: Mapping[str, Mapping[str, Any]], revision: str) -> dict[Method, MethodRoots]:
    """What params and result of each method of a revision are in the canonical vocabulary.

    Args:
        schemas: every revision's schema in normal form, oldest first.
        revision: the one that is asked about.

    Returns:
        In the order of `methods`; the canonical type is what the newest revision with the method has at the same place.
    """
    newest: dict[tuple[str, str], Method] = {}
    for schema in schemas.values():
        newest.update({(method.name, _kind(method.direction)): method for method in methods(schema)})
    definitions: Definitions = schemas[revision]["$defs"]
    found = {}
    for method in methods(schemas[revision]):
        latest = newest[method.name, _kind(method.direction)]
        base = _BASES.get(method.direction)
        params = result = None
        if method.params is not None and latest.params is not None:
            params = Root(latest.params, method.params, base if base in definitions else None)
        if method.results and latest.results:
            result = Root(latest.results[0], method.results[0])
        found[method] = MethodRoots(params, result)
    return found


def sendable(schemas: Mapping[str, Mapping[str, Any]], revision: str) -> tuple[Root, ...]:
    """What either side can send in one revision, without doubles, ordered.

    Args:
        schemas: every revision's schema in normal form, oldest first.
        revision: the one that is asked about.

    Returns:
        Params and results of all its methods, and what stands on its own, since an adapter puts it into `_meta`.
    """
    roots = {Root(name, name) for name in ON_ITS_OWN if name in schemas[revision]["$defs"]}
    for method, sent in method_roots(schemas, revision).items():
        roots.update(root for root in (sent.params, sent.result) if root is not None)
        roots.update(Root(result, result) for result in method.results[1:])
    return tuple(sorted(roots, key=lambda root: (root.canonical, root.published, root.base or "")))


def only_member(union: str, definitions: Definitions) -> str | None:
    """The message that a union of messages is a copy of, since it has no other member; None for anything else."""
    if union not in _UNIONS or "method" not in definitions[union].get("properties", {}):
        return None
    copies = [name for name, definition in definitions.items() if definition == definitions[union] and name != union]
    return min(copies, default=None)


def _kind(direction: str) -> str:
    # A question is the same whether it is a request of its own or stands inside a result.
    return "notification" if direction.endswith("notification") else "request"


def _members(union: str, definitions: Definitions) -> Iterator[tuple[str, Node]]:
    if union not in definitions:
        return
    for branch in alternatives(definitions[union], definitions):
        name = referred(branch)
        message = resolved(branch, definitions)
        # A union with one member is published as a copy of it: its name is that of the definition it copies.
        yield (end_name(name, definitions) if name is not None else only_member(union, definitions) or union), message


def _results(definition: str, definitions: Definitions) -> tuple[str, ...]:
    result = definition.removesuffix("Request") + "Result"
    usual = result if result in definitions else _NOTHING_TO_SAY
    response = definitions.get(result + "Response", {}).get("properties", {}).get("result", {})
    return (usual, *_others(usual, references(response)))


def _others(usual: str, names: Iterator[str]) -> Sequence[str]:
    return sorted(set(names) - {usual})
