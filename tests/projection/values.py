"""Values of a schema, for property tests: what its shape allows, with unknown members and absent ones written as None."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st
from revgen.schemas.references import referred
from revgen.schemas.shapes import json_types

_WORDS = st.text("abcäß\n0", max_size=4)
_LEAVES = st.one_of(_WORDS, st.integers(-9, 9), st.booleans())
_JSON = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_WORDS, inner, max_size=2), max_leaves=4
)
_FORMATS = {
    "uri": st.sampled_from(["file:///a", "https://example.org/x?y#z"]),
    "uri-template": st.just("file:///{name}"),
    "byte": st.sampled_from(["", "AAEC"]),
}
_UNKNOWN = "x-unknown"


class Values:
    """Strategies for the definitions of one schema; `instead` replaces what stands at `Type` or `Type.member`."""

    def __init__(self, definitions: Mapping[str, Any], instead: Mapping[str, st.SearchStrategy[Any]]) -> None:
        self.definitions = definitions
        self.instead = instead
        self.known: dict[str, st.SearchStrategy[Any]] = {}

    def of(self, name: str) -> st.SearchStrategy[Any]:
        """Values of a definition."""
        if name in self.instead:
            return self.instead[name]
        if name not in self.known:
            self.known[name] = st.deferred(lambda: self._of(self.definitions[name], name))
        return self.known[name]

    def _of(self, node: Mapping[str, Any], place: str) -> st.SearchStrategy[Any]:
        if (name := referred(node)) is not None:
            return self.of(name)
        if "anyOf" in node:
            return st.one_of([self._of(branch, place) for branch in node["anyOf"]])
        if "const" in node:
            return st.just(node["const"])
        if "enum" in node:
            return st.sampled_from(node["enum"])
        if not node.keys() & {"type", "properties", "items", "additionalProperties"}:
            return _JSON
        return st.one_of([self._kind(kind, node, place) for kind in json_types(node)])

    def _kind(self, kind: str, node: Mapping[str, Any], place: str) -> st.SearchStrategy[Any]:
        match kind:
            case "object" if "properties" in node:
                return self._object(node, place)
            case "object":
                inner = self._of(node["additionalProperties"], place) if "additionalProperties" in node else _JSON
                return st.dictionaries(_WORDS, inner, max_size=2)
            case "array":
                low = node.get("minItems", 0)
                return st.lists(
                    self._of(node.get("items", {}), place), min_size=low, max_size=node.get("maxItems", low + 2)
                )
            case "string" if "maxLength" in node:
                return st.text("ab", max_size=node["maxLength"])
            case "string":
                return _FORMATS.get(node.get("format", ""), _WORDS)
            case "integer":
                return st.integers(node.get("minimum", -9), node.get("maximum", 10**20))
            case "number":
                low, high = node.get("minimum", -9), node.get("maximum", 9)
                return st.integers(low, high) | st.floats(low, high)
            case "boolean":
                return st.booleans()
        return st.none()

    def _object(self, node: Mapping[str, Any], place: str) -> st.SearchStrategy[Any]:
        required = set(node.get("required", []))
        members: dict[str, st.SearchStrategy[Any]] = {}
        for member, child in node["properties"].items():
            here = f"{place}.{member}"
            values = self.instead[here] if here in self.instead else self._of(child, place + member)
            # None stands for a member that is absent.
            members[member] = values if member in required else values | st.none()
        optional = {member: values for member, values in members.items() if member not in required} | {_UNKNOWN: _JSON}
        return st.fixed_dictionaries(
            {member: members[member] for member in members if member in required}, optional=optional
        )
