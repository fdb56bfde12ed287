"""What a schema says that answers of the inventory name: methods, codes of errors, keys of `_meta`, members.

Rule: everything is read off the schema; what only a page says is not known here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema_rs

from .methods import CLIENT_NOTIFICATION, CLIENT_REQUEST, Method, methods
from .shapes import Definitions, Node, alternatives, constant, published_names, resolved

META = "_meta"


@dataclasses.dataclass(frozen=True)
class Facts:
    """The facts of one revision.

    Attributes:
        definitions: all definitions of the schema.
        requests: the requests that a client may send, by method.
        notifications: the notifications that a client may send.
        methods: every method of either side.
        error_codes: the code of each published error that fixes one, by the name of its definition.
        meta_keys: the keys of `_meta` that the schema names anywhere.
        members: the name of every member of any definition.
    """

    definitions: Definitions
    requests: dict[str, Method]
    notifications: frozenset[str]
    methods: frozenset[str]
    error_codes: dict[str, int]
    meta_keys: frozenset[str]
    members: frozenset[str]

    def members_of(self, name: str) -> Mapping[str, Node]:
        """The members of a definition, of all its branches where it is a union; none where there is no such definition."""
        found: dict[str, Node] = {}
        for branch in alternatives(self.definitions.get(name, {}), self.definitions):
            found |= resolved(branch, self.definitions).get("properties", {})
        return found

    def values_of(self, name: str) -> tuple[str, ...]:
        """The texts that a definition allows; none where it is no enumeration of texts, or is not there."""
        found = self.definitions.get(name, {}).get("enum", [])
        return tuple(found) if all(isinstance(value, str) for value in found) else ()

    def values_at(self, path: str) -> tuple[str, ...]:
        """The texts that a member (`Type.member`) allows; none where it is no enumeration of texts, or is not there."""
        name, _, member = path.rpartition(".")
        node = resolved(self.members_of(name).get(member, {}), self.definitions)
        found = node.get("enum", [])
        return tuple(found) if all(isinstance(value, str) for value in found) else ()

    def has_member(self, path: str) -> bool:
        """Whether `Type.member` leads to something; further members may follow, and a type alone is a path, too."""
        name, *members = path.split(".")
        if name not in self.definitions:
            return False
        node: Node = self.definitions[name]
        for member in members:
            nodes = [resolved(branch, self.definitions) for branch in alternatives(node, self.definitions)]
            following = [inner["properties"][member] for inner in nodes if member in inner.get("properties", {})]
            if not following:
                return False
            node = following[0]
        return True


def read_facts(schema: Mapping[str, Any]) -> Facts:
    """The facts of a schema in normal form."""
    definitions: Definitions = schema["$defs"]
    found = methods(schema)
    return Facts(
        definitions=definitions,
        requests={method.name: method for method in found if method.direction == CLIENT_REQUEST},
        notifications=frozenset(method.name for method in found if method.direction == CLIENT_NOTIFICATION),
        methods=frozenset(method.name for method in found),
        error_codes=dict(_error_codes(definitions, published_names(schema))),
        meta_keys=frozenset(_meta_keys(definitions)),
        members=frozenset(member for node in definitions.values() for member in node.get("properties", {})),
    )


def _error_codes(definitions: Definitions, published: frozenset[str]) -> Iterator[tuple[str, int]]:
    """An error fixes its code itself, or in the member of a response that holds the error."""
    for name in sorted(published):
        node = resolved(definitions[name], definitions)
        for holder in (node, resolved(node.get("properties", {}).get("error", {}), definitions)):
            code = constant(holder.get("properties", {}).get("code", {}))
            if isinstance(code, int) and not isinstance(code, bool):
                yield name, code


def _meta_keys(definitions: Definitions) -> Iterator[str]:
    for node in definitions.values():
        if META in node.get("properties", {}):
            yield from resolved(node["properties"][META], definitions).get("properties", {})


def takes(node: Node, value: object, definitions: Definitions) -> bool:
    """Whether a text, a number, a boolean or a list meets a node."""
    whole = {"$defs": definitions, "allOf": [node]}
    return bool(
        jsonschema_rs.validator_for(whole, retriever=_refuse).is_valid(
            list(value) if isinstance(value, tuple) else value
        )
    )


def _refuse(address: str) -> Any:
    raise ValueError(f"nothing is fetched: {address}")
