"""Models that would take time to read that doubles with every level of a value.

Rule: found where the model is declared, not when a client sends the value. Of a union each branch reads the whole value. Where two
of them read the same member, and lead back to the union from there, that member is read twice, and what is below it four times. A
discriminator picks one branch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic import BaseModel

_ITEM, _ANY_MEMBER = "[]", "{}"
_LISTS = ("list", "set", "frozenset", "tuple", "generator")
_MEMBERS = ("model-fields", "typed-dict", "dataclass-args")
_IN_PLACE = ("schema", "lax_schema", "python_schema")
_MOST_PAIRS = 20_000


class _Part(NamedTuple):
    """What reads a part of a value.

    Attributes:
        step: the name of a member, or what stands for any member or any item.
        schema: the core schema that reads it.
        reader: the class that has the member, if any has.
        chosen: the discriminated unions on the way, by their ids, each with the branch.
    """

    step: str
    schema: Any
    reader: str
    chosen: dict[int, Any]

    def goes_with(self, other: _Part) -> bool:
        """Can both read the same part of the same value?"""
        steps = {self.step, other.step}
        meets = len(steps) == 1 or (_ANY_MEMBER in steps and _ITEM not in steps)
        return meets and all(other.chosen.get(union, branch) == branch for union, branch in self.chosen.items())


class _Parts:
    """The parts that core schemas read, each found once.

    Args:
        definitions: what references lead to.
    """

    def __init__(self, definitions: dict[str, Any]) -> None:
        self._definitions = definitions
        self._known: dict[int, list[_Part]] = {}

    def of(self, schema: Any) -> list[_Part]:
        """The parts that a schema reads of a value, each as often as it reads it."""
        if id(schema) not in self._known:
            self._known[id(schema)] = list(self._of(schema, "", {}, frozenset()))
        return self._known[id(schema)]

    def _of(self, schema: Any, reader: str, chosen: dict[int, Any], above: frozenset[str]) -> Iterator[_Part]:
        kind = schema["type"]
        if kind == "definition-ref":
            name = schema["schema_ref"]
            if name not in above and name in self._definitions:
                yield from self._of(self._definitions[name], reader, chosen, above | {name})
        elif kind == "union":
            for choice in schema["choices"]:
                yield from self._of(choice[0] if isinstance(choice, tuple) else choice, reader, chosen, above)
        elif kind == "tagged-union":
            for tag, choice in schema["choices"].items():
                yield from self._of(choice, reader, {**chosen, id(schema): tag}, above)
        elif kind in _LISTS:
            items = schema.get("items_schema", ())
            for inner in items if isinstance(items, list | tuple) else (items,):
                yield _Part(_ITEM, inner, reader, chosen)
        elif kind == "dict":
            if "values_schema" in schema:
                yield _Part(_ANY_MEMBER, schema["values_schema"], reader, chosen)
        elif kind in _MEMBERS:
            fields = schema["fields"]
            for name, field in fields.items() if isinstance(fields, dict) else ((one["name"], one) for one in fields):
                alias = field.get("validation_alias", name)
                yield _Part(alias if isinstance(alias, str) else name, field["schema"], reader, chosen)
        elif kind == "chain":
            yield from self._of(schema["steps"][0], reader, chosen, above)
        else:
            named = schema["cls"].__name__ if kind in ("model", "dataclass") else reader
            for member in _IN_PLACE:
                if member in schema:
                    yield from self._of(schema[member], named, chosen, above)
                    break


def check_recursion(model: type[BaseModel]) -> None:
    """See that reading a model takes no longer than the value is long.

    Args:
        model: what arguments are read into.

    Raises:
        ValueError: it may take time that doubles with every level; the text names the classes, and what to do.
    """
    root: Any = model.__pydantic_core_schema__
    if root["type"] != "definitions":  # nothing refers to anything
        return
    parts = _Parts({one["ref"]: one for one in root["definitions"]})
    waiting, seen = [root["schema"]], set()
    while waiting:
        schema = waiting.pop()
        if id(schema) in seen:
            continue
        seen.add(id(schema))
        own = parts.of(schema)
        waiting += [part.schema for part in own]
        for place, one in enumerate(own):
            for other in own[place + 1 :]:
                if one.goes_with(other) and _leads_back(parts, (one.schema, other.schema), schema):
                    raise ValueError(
                        f"the union of {one.reader} and {other.reader} leads back to itself by {one.step!r} in both, so that"
                        " reading a value takes twice as long with every level; tell them apart with a discriminator:"
                        " Field(discriminator=…) on the union, and a Literal member in each class"
                    )


def _leads_back(parts: _Parts, pair: tuple[Any, Any], schema: Any) -> bool:
    """Do two schemas that read the same part both come to a third one with the same part below it?"""
    waiting: list[tuple[Any, Any]] = [pair]
    seen: set[tuple[int, int]] = set()
    while waiting and len(seen) < _MOST_PAIRS:
        one, other = waiting.pop()
        if (id(one), id(other)) in seen:
            continue
        seen.add((id(one), id(other)))
        if one is schema and other is schema:
            return True
        waiting += [
            (inner.schema, with_it.schema)
            for inner in parts.of(one)
            for with_it in parts.of(other)
            if inner.goes_with(with_it)
        ]
    return False
