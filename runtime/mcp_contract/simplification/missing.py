"""The other half of leaving null out: a missing required member that may be null is read as null.

Rule: null is filled in only where the schema refuses the value without it, so no value that fits becomes one that does not. Where that
is, is found once, in the schema; a value is then gone through by a validator, and not by code of ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic_core import SchemaValidator

from mcp_contract.messages import Json, JsonObject
from mcp_contract.simplification.facts import Facts
from mcp_contract.simplification.keywords import Schema
from mcp_contract.simplification.limits import NotSimplifiable, check_limits
from mcp_contract.simplification.references import Document

_MOST_PLACES = 5_000
_MOST_FIRST_ITEMS = 32
"""How many items of an array are told apart by their places; what comes after them is left as it is."""

_ANYTHING: Any = {"type": "any"}


class MissingMembers:
    """Reads values that were made for a simplified schema.

    Args:
        schema: the schema as declared. One that cannot be followed (too large, references that lead out) fills nothing in,
            since nothing was left out of it.
    """

    def __init__(self, schema: JsonObject) -> None:
        self._validator: SchemaValidator | None = None
        try:
            check_limits(schema)
        except NotSimplifiable:
            return
        document = Document(schema)
        if document.obstacle is None:
            self._validator = _Filling(document).validator()

    def as_null(self, value: Json) -> Json:
        """A value with null in place of each missing required member that may be null.

        Args:
            value: the arguments of a call; left as they are.

        Returns:
            A new value, or the same object where nothing is missing. Whether it fits the schema is still to be checked.
        """
        if self._validator is None:
            return value
        filled = self._validator.validate_python(value)
        return value if filled == value else filled


class _Filling:
    """Makes the validator that fills null in: it refuses nothing.

    Args:
        document: the schema, without obstacles.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._facts = Facts(document)
        self._places: dict[frozenset[int], Any] = {}

    def validator(self) -> SchemaValidator | None:
        """The validator; None where there is nothing to fill in."""
        root = self._place([self._document.root])
        if root is _ANYTHING:
            return None
        return SchemaValidator({"type": "definitions", "schema": root, "definitions": list(self._places.values())})

    def _place(self, schemas: list[Schema]) -> Any:
        """What goes through a value to which several schemas apply for certain."""
        known = frozenset(id(schema) for schema in schemas if isinstance(schema, dict))
        name = "+".join(map(str, sorted(known)))
        if known not in self._places:
            if not known or len(self._places) >= _MOST_PLACES:
                return _ANYTHING
            self._places[known] = _ANYTHING | {"ref": name}  # while it is made, it can be met again further down
            try:
                ways = [way for way in (self._object(schemas), self._array(schemas)) if way is not None]
            except NotSimplifiable:  # references in a circle: nothing was left out
                ways = []
            choices = [*ways, _ANYTHING]
            self._places[known] = {"type": "union", "mode": "left_to_right", "choices": choices, "ref": name}
        return {"type": "definition-ref", "schema_ref": name}

    def _object(self, schemas: list[Schema]) -> Any:
        applying = list(self._applying(schemas, "object"))
        fields: dict[str, Any] = {}
        for name in dict.fromkeys(name for schema in applying for name in schema.get("properties", {})):
            within = [inner for schema in applying if (inner := _of_member(schema, name)) is not None]
            fields[name] = {"type": "typed-dict-field", "schema": self._place(within), "required": False}
        for name in dict.fromkeys(name for schema in applying for name in schema.get("required", ())):
            if any(self._facts.nullable(_of_member(schema, name)) for schema in applying):
                inner = fields[name]["schema"] if name in fields else _ANYTHING
                filled = {"type": "default", "schema": inner, "default": None}
                fields[name] = {"type": "typed-dict-field", "schema": filled, "required": False}
        others = self._place([inner for schema in applying if (inner := _of_others(schema)) is not None])
        if not fields and others is _ANYTHING:
            return None
        made = {"type": "typed-dict", "fields": fields, "extra_behavior": "allow", "strict": True}
        return made if others is _ANYTHING else {**made, "extras_schema": others}

    def _array(self, schemas: list[Schema]) -> Any:
        applying = list(self._applying(schemas, "array"))
        first = max((len(schema.get("prefixItems", ())) for schema in applying), default=0)
        rest = self._item(applying, first)
        if first == 0:
            return None if rest is _ANYTHING else {"type": "list", "items_schema": rest, "strict": True}
        items = [self._item(applying, place) for place in range(min(first, _MOST_FIRST_ITEMS))]
        rest = rest if first <= _MOST_FIRST_ITEMS else _ANYTHING
        lengths = [
            *({"type": "tuple", "items_schema": items[:length]} for length in range(len(items))),
            {"type": "tuple", "items_schema": [*items, rest], "variadic_item_index": len(items)},
        ]
        as_list = {"type": "function-plain", "function": {"type": "no-info", "function": list}}
        told_apart = {"type": "union", "mode": "left_to_right", "choices": lengths}
        return {"type": "chain", "steps": [{"type": "list", "strict": True}, told_apart, as_list]}

    def _item(self, applying: list[JsonObject], place: int) -> Any:
        return self._place([inner for schema in applying if (inner := _of_item(schema, place)) is not None])

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


def _of_member(schema: JsonObject, name: str) -> Schema | None:
    """The schema of a member, where that can be told without matching patterns."""
    members = schema.get("properties", {})
    if name in members:
        return members[name]
    return _of_others(schema)


def _of_others(schema: JsonObject) -> Schema | None:
    """The schema of a member that is not named, where that can be told without matching patterns."""
    return None if "patternProperties" in schema else schema.get("additionalProperties")


def _of_item(schema: JsonObject, index: int) -> Schema | None:
    """The schema of an item, where one keyword says it."""
    first = schema.get("prefixItems", ())
    if index < len(first):
        return first[index]
    rest = schema.get("items")
    return None if isinstance(rest, list) else rest
