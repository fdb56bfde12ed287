"""The messages of one revision, as its adapter lists, checks and encodes them.

Rule: all of it comes from the schema and the projection; the inventory is not asked. A skeleton words it and decides nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from ..projection.compare import Projection
from ..schemas import methods
from ..schemas.methods import ON_ITS_OWN, Root
from ..schemas.references import reference
from ..schemas.shapes import alternatives, resolved, snake_case


@dataclasses.dataclass(frozen=True)
class Message:
    """One method in one direction.

    Attributes:
        method: as on the wire.
        definition: the definition of the whole message.
        result: the definition of its usual result; empty for a notification.
        encode_params: the function that encodes its params; empty where they stay as they are.
        encode_result: the function that encodes its result, likewise.
    """

    method: str
    definition: str
    result: str
    encode_params: str
    encode_result: str


@dataclasses.dataclass(frozen=True)
class Messages:
    """All methods by who sends them, ordered by name.

    An `…_envelope` is the definition that says what is common to all messages of a kind, where their own definitions do not; else
    empty. `alone` is what stands on its own: its name in snake case → the function that encodes it."""

    client_requests: tuple[Message, ...]
    server_requests: tuple[Message, ...]
    embedded_requests: tuple[Message, ...]
    client_notifications: tuple[Message, ...]
    server_notifications: tuple[Message, ...]
    alone: dict[str, str]
    request_envelope: str
    notification_envelope: str

    @property
    def questions(self) -> tuple[Message, ...]:
        """The requests by which a server asks, whichever way they travel."""
        return (*self.server_requests, *self.embedded_requests)

    @property
    def notifications(self) -> tuple[Message, ...]:
        """The notifications of both sides; where both send one, it is the same."""
        by_method = {message.method: message for message in (*self.client_notifications, *self.server_notifications)}
        return tuple(by_method[method] for method in sorted(by_method))


def messages(schemas: Mapping[str, Mapping[str, Any]], revision: str, projection: Projection) -> Messages:
    """List the messages of a revision.

    Args:
        schemas: every revision's schema in normal form, oldest first.
        revision: the one that is listed.
        projection: what it can carry.
    """

    def function(root: Root | None) -> str:
        return (projection.calls[root] or "") if root is not None else ""

    by_direction: dict[str, list[Message]] = {}
    for method, sent in methods.method_roots(schemas, revision).items():
        by_direction.setdefault(method.direction, []).append(
            Message(
                method=method.name,
                definition=method.definition,
                result=method.results[0] if method.results else "",
                encode_params=function(sent.params),
                encode_result=function(sent.result),
            )
        )

    def sent_as(direction: str) -> tuple[Message, ...]:
        return tuple(by_direction.get(direction, ()))

    return Messages(
        client_requests=sent_as(methods.CLIENT_REQUEST),
        server_requests=sent_as(methods.SERVER_REQUEST),
        embedded_requests=sent_as(methods.EMBEDDED_REQUEST),
        client_notifications=sent_as(methods.CLIENT_NOTIFICATION),
        server_notifications=sent_as(methods.SERVER_NOTIFICATION),
        request_envelope=_envelope("JSONRPCRequest", "ClientRequest", schemas[revision]["$defs"]),
        notification_envelope=_envelope("JSONRPCNotification", "ClientNotification", schemas[revision]["$defs"]),
        alone={
            snake_case(name): function(Root(name, name)) for name in ON_ITS_OWN if Root(name, name) in projection.calls
        },
    )


def _envelope(envelope: str, union: str, definitions: Mapping[str, Any]) -> str:
    """The envelope, where the members of a union say nothing of it."""
    branches = alternatives(reference(union), definitions)
    apart = any("jsonrpc" not in resolved(branch, definitions).get("properties", {}) for branch in branches)
    return envelope if apart and envelope in definitions else ""
