"""The other half of leaving null out: a missing required member that may be null is read as null.

Rule: null is filled in only where the schema refuses the value without it, so no value that fits becomes one that does not.
"""

from __future__ import annotations

from collections.abc import Iterator

from mcp_contract.messages import Json, JsonObject
from mcp_contract.simplification.facts import Facts
from mcp_contract.simplification.keywords import Schema
from mcp_contract.simplification.limits import NotSimplifiable, check_limits
from mcp_contract.simplification.references import Document


class MissingMembers:
    """Reads values that were made for a simplified schema.

    Args:
        schema: the schema as declared. One that cannot be followed (too large, references that lead out) fills nothing in,
            since nothing was left out of it.
    """

    def __init__(self, schema: JsonObject) -> None:
        self._document: Document | None = None
        try:
            check_limits(schema)
        except NotSimplifiable:
            return
        document = Document(schema)
        if document.obstacle is None:
            self._document, self._facts = document, Facts(document)

    def as_null(self, value: Json) -> Json:
        """A value with null in place of each missing required member that may be null.

        Args:
            value: the arguments of a call; left as they are.

        Returns:
            A new value, or the same object where nothing is missing. Whether it fits the schema is still to be checked.
        """
        if self._document is None:
            return value
        try:
            return self._filled([self._document.root], value)
        except NotSimplifiable:
            return value  # references in a circle: nothing was left out

    def _filled(self, schemas: list[Schema], value: Json) -> Json:
        """A value to which several schemas apply for certain."""
        if isinstance(value, dict):
            applying = list(self._applying(schemas, "object"))
            filled = dict(value)
            for name in value:
                within = [inner for schema in applying if (inner := _of_member(schema, name)) is not None]
                if within:
                    filled[name] = self._filled(within, value[name])
            for schema in applying:
                for name in schema.get("required", ()):
                    if name not in filled and self._may_be_null(applying, name):
                        filled[name] = None
        elif isinstance(value, list):
            applying = list(self._applying(schemas, "array"))
            filled_items = list(value)
            for index, item in enumerate(value):
                within = [inner for schema in applying if (inner := _of_item(schema, index)) is not None]
                if within:
                    filled_items[index] = self._filled(within, item)
            changed = any(new is not old for new, old in zip(filled_items, value, strict=True))
            return filled_items if changed else value
        else:
            return value
        changed = len(filled) > len(value) or any(filled[name] is not value[name] for name in value)
        return filled if changed else value

    def _applying(self, schemas: list[Schema], kind: str) -> Iterator[JsonObject]:
        """Every schema that certainly applies to a value of one kind: those given, those beside them, and of a union the branch
        that is the only one for values of this kind."""
        waiting, seen = list(schemas), set()
        for schema in waiting:
            if not isinstance(schema, dict) or id(schema) in seen:
                continue
            seen.add(id(schema))
            waiting += self._facts.beside(schema)
            own = self._facts.own(schema)
            for keyword in ("anyOf", "oneOf"):
                fitting = [inner for inner in own.get(keyword, ()) if kind in self._facts.kinds(inner)]
                if len(fitting) == 1:
                    waiting += fitting
            yield own

    def _may_be_null(self, applying: list[JsonObject], name: str) -> bool:
        return any(self._facts.nullable(_of_member(schema, name)) for schema in applying)


def _of_member(schema: JsonObject, name: str) -> Schema | None:
    """The schema of a member, where that can be told without matching patterns."""
    members = schema.get("properties", {})
    if name in members:
        return members[name]
    return None if "patternProperties" in schema else schema.get("additionalProperties")


def _of_item(schema: JsonObject, index: int) -> Schema | None:
    """The schema of an item, where one keyword says it."""
    first = schema.get("prefixItems", ())
    if index < len(first):
        return first[index]
    rest = schema.get("items")
    return None if isinstance(rest, list) else rest
