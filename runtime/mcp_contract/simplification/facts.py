"""What can be said of a schema without trying values on it.

Rule: every answer here is certain in the direction in which its docstring gives it; where a question cannot be decided cheaply,
the answer is the one that leads to fewer changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from mcp_contract.messages import JsonObject
from mcp_contract.simplification.keywords import (
    KIND_OF_TYPE,
    KINDS,
    LOOKS_INSIDE,
    Schema,
    constants_of,
    equality_key,
    kind_of_value,
    types_of,
)
from mcp_contract.simplification.limits import MAX_DEPTH, NotSimplifiable
from mcp_contract.simplification.references import Document


class Facts:
    """Answers about the subschemas of one document.

    Args:
        document: a document without obstacles.

    Every method raises NotSimplifiable where references go in a circle without going into a value.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._known: dict[tuple[str, int], Any] = {}
        self._open = 0

    def accepts_null(self, schema: Schema) -> bool:
        """Does it accept null? Exact."""
        if isinstance(schema, bool):
            return schema
        return bool(self._once("accepts_null", schema))

    def nullable(self, schema: Schema) -> bool:
        """Does it accept null, and say so somewhere itself? A schema that takes anything says nothing of null."""
        return isinstance(schema, dict) and bool(self._once("mentions_null", schema)) and self.accepts_null(schema)

    def kinds(self, schema: Schema) -> frozenset[str]:
        """The kinds of value that it may accept; certainly none beside them."""
        if isinstance(schema, bool):
            return KINDS if schema else frozenset()
        found: frozenset[str] = self._once("kinds", schema)
        return found

    def only_null(self, schema: Schema) -> bool:
        """Does it certainly accept nothing but null?"""
        return self.kinds(schema) == {"null"}

    def looks_inside(self, schema: Schema) -> bool:
        """May it matter to it what members an object has, or what is in the items of an array?"""
        return isinstance(schema, dict) and bool(self._once("looks_inside", schema))

    def told_apart(self, branches: Sequence[Schema]) -> bool:
        """Does certainly no value fit two of them?

        Either they take different kinds of value, or all take objects that differ in a required member of constant values.
        """
        kinds = [kind for branch in branches for kind in self.kinds(branch)]
        if len(kinds) == len(set(kinds)):
            return True
        marks = [self._marks(branch) for branch in branches if not self.only_null(branch)]
        if kinds.count("null") > 1 or not marks:
            return False
        return any(_disjoint(mark[name] for mark in marks) for name in marks[0] if all(name in mark for mark in marks))

    def beside(self, schema: JsonObject) -> Iterator[Schema]:
        """Schemas that whatever fits this one fits too: the target of its reference, the branches of its `allOf`."""
        if "$ref" in schema:
            yield self._document.target("", schema["$ref"])[1]
            if self._document.ignores_siblings:
                return
        yield from schema.get("allOf", ())

    def own(self, schema: JsonObject) -> JsonObject:
        """The keywords of a schema that count: none beside a `$ref` in a dialect that ignores them."""
        return {} if "$ref" in schema and self._document.ignores_siblings else schema

    def _once(self, question: str, schema: JsonObject) -> Any:
        key = (question, id(schema))
        if key not in self._known:
            if self._open == MAX_DEPTH:
                raise NotSimplifiable(
                    "", f"references lead through more than {MAX_DEPTH} schemas without going into a value"
                )
            self._open += 1
            self._known[key] = _Open
            self._known[key] = getattr(self, "_" + question)(schema)
            self._open -= 1
        elif self._known[key] is _Open:
            reference = schema.get("$ref")
            raise NotSimplifiable("", f"the reference {reference!r} goes in a circle without going into a value")
        return self._known[key]

    def _accepts_null(self, schema: JsonObject) -> bool:
        own = self.own(schema)
        types, constants = types_of(own), constants_of(own)
        passes = (
            (types is None or "null" in types)
            and (constants is None or any(value is None for value in constants))
            and all(self.accepts_null(inner) for inner in self.beside(schema))
            and ("anyOf" not in own or any(self.accepts_null(inner) for inner in own["anyOf"]))
            and ("oneOf" not in own or sum(self.accepts_null(inner) for inner in own["oneOf"]) == 1)
            and not ("not" in own and self.accepts_null(own["not"]))
        )
        if passes and "if" in own:
            return self.accepts_null(own.get("then" if self.accepts_null(own["if"]) else "else", True))
        return passes

    def _mentions_null(self, schema: JsonObject) -> bool:
        own = self.own(schema)
        return (
            "null" in (types_of(own) or ())
            or any(value is None for value in constants_of(own) or ())
            or any(
                isinstance(inner, dict) and self._once("mentions_null", inner)
                for inner in (*self.beside(schema), *own.get("anyOf", ()), *own.get("oneOf", ()))
            )
        )

    def _kinds(self, schema: JsonObject) -> frozenset[str]:
        own = self.own(schema)
        types, constants = types_of(own), constants_of(own)
        found = KINDS if types is None else frozenset(KIND_OF_TYPE[name] for name in types if name in KIND_OF_TYPE)
        if constants is not None:
            found &= {kind_of_value(value) for value in constants}
        for inner in self.beside(schema):
            found &= self.kinds(inner)
        for keyword in ("anyOf", "oneOf"):
            if keyword in own:
                found &= frozenset(kind for inner in own[keyword] for kind in self.kinds(inner))
        return found

    def _looks_inside(self, schema: JsonObject) -> bool:
        own = self.own(schema)
        conditions = (own[keyword] for keyword in ("not", "if", "then", "else") if keyword in own)
        return looks_inside_itself(own) or any(
            self.looks_inside(inner)
            for inner in (*self.beside(schema), *own.get("anyOf", ()), *own.get("oneOf", ()), *conditions)
        )

    def _marks(self, branch: Schema) -> dict[str, set[str]]:
        """Required members of constant values, where nothing but an object fits."""
        if not isinstance(branch, dict) or self.kinds(branch) != {"object"}:
            return {}
        found: dict[str, set[str]] = {}
        for inner in self.beside(branch):
            found.update(self._marks(inner))
        own = self.own(branch)
        for name in own.get("required", ()):
            member = own.get("properties", {}).get(name)
            constants = constants_of(member) if isinstance(member, dict) else None
            if constants is not None and not any(value is None for value in constants):
                found[name] = {equality_key(value) for value in constants}
        return found


def looks_inside_itself(own: JsonObject) -> bool:
    """Does a schema look inside a value by its own keywords?"""
    return not LOOKS_INSIDE.isdisjoint(own) or any(isinstance(value, dict | list) for value in constants_of(own) or ())


def _disjoint(sets: Iterable[set[str]]) -> bool:
    values = [value for one in sets for value in one]
    return len(values) == len(set(values))


class _Open:
    """Stands for an answer that is being looked for."""
