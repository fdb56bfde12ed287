"""A schema in outline: what each type consists of, in a few words, so that types can be compared and told to a person.

Rule: what a schema has inline is part of the type that it stands in; names alone decide nothing here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from .methods import only_member
from .references import referred
from .shapes import Definitions, Node, alternatives, constant, is_union, references

_SHAPE_KEYS = frozenset(
    {
        "$ref",
        "additionalProperties",
        "anyOf",
        "const",
        "default",
        "enum",
        "items",
        "oneOf",
        "properties",
        "required",
        "type",
    }
)


@dataclasses.dataclass(frozen=True)
class Outlines:
    """One schema, and the names that count as types of their own in a comparison."""

    schema: Mapping[str, Any]
    named: frozenset[str]

    @property
    def definitions(self) -> Definitions:
        definitions: Definitions = self.schema["$defs"]
        return definitions

    def members(self, name: str) -> dict[str, str]:
        """The members of a type by path, with those of the objects that stand inline in it; none of a union."""
        if self.branches(name):
            return {}
        return dict(self._members(self.definitions[name], "", ()))

    def own_members(self, name: str) -> dict[str, str]:
        """The members of a type without those of what stands inline in it."""
        own = self.definitions[name].get("properties", {})
        return {path: shape for path, shape in self.members(name).items() if path in own}

    def branches(self, name: str) -> list[str]:
        """The members of a union, unions in it opened; none of another type."""
        node = self.definitions[name]
        # A union with one member is published as that member, or as a copy of it.
        alone = referred(node) or only_member(name, self.definitions)
        if alone is not None:
            return [alone]
        if not is_union(node, self.definitions):
            return []
        return sorted({self.shape(branch) for branch in alternatives(node, self.definitions)})

    def parts(self, name: str) -> dict[str, str]:
        """What a type is told by: its own members with their shapes, the branches of a union, the values of an enumeration."""
        if members := self.own_members(name):
            return members
        parts = self.branches(name) or map(str, self.definitions[name].get("enum", ()))
        return dict.fromkeys(parts, "")

    def places(self, name: str) -> frozenset[tuple[str, str]]:
        """The members that a type stands at, by itself or in something: the definition that has the member, and its name."""
        return frozenset(
            (owner, member)
            for owner, node in self.definitions.items()
            for member, inner in node.get("properties", {}).items()
            if name in references(inner)
        )

    def outline(self, name: str) -> str:
        """What a type consists of, in a few words."""
        if branches := self.branches(name):
            return " | ".join(branches)
        if members := self.own_members(name):
            return ", ".join(member + "!" * shape.endswith("!") for member, shape in members.items())
        return self.shape(self.definitions[name])

    def shape(self, node: Node) -> str:
        """A node in a few words; an inline object is just that."""
        name = referred(node)
        if name is not None:
            return name if name in self.named else self._inline(name)
        for keyword in ("anyOf", "oneOf"):
            if keyword in node:
                return " | ".join(sorted({self.shape(branch) for branch in node[keyword]}))
        bounds = "".join(f" {key}={node[key]}" for key in sorted(node.keys() - _SHAPE_KEYS))
        if (value := constant(node)) is not None:
            return f"={value!r}".replace("'", '"')
        if "enum" in node:
            return f"enum({'|'.join(sorted(map(str, node['enum'])))})"
        if "items" in node:
            return f"list of {self.shape(node['items'])}{bounds}"
        if isinstance(node.get("additionalProperties"), Mapping):
            return f"map of {self.shape(node['additionalProperties'])}{bounds}"
        kinds = node.get("type", "any")
        return (kinds if isinstance(kinds, str) else "|".join(sorted(kinds))) + bounds

    def _inline(self, name: str) -> str:
        node = self.definitions[name]
        return "object" if "properties" in node else self.shape(node)

    def _members(self, node: Node, prefix: str, above: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        required = node.get("required", [])
        for member, inner in sorted(node.get("properties", {}).items()):
            yield f"{prefix}{member}", self.shape(inner) + "!" * (member in required)
            name, many = referred(inner), ""
            if name is None and "items" in inner:
                name, many = referred(inner["items"]), "[]"
            if name is not None and name not in self.named and name not in above:
                yield from self._members(self.definitions[name], f"{prefix}{member}{many}.", (*above, name))
