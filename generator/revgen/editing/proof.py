"""Evidence that two schemas say the same: instances, valid and broken, that both must judge alike.

Rule: it must be able to fail. Instances come from either schema, every one is broken at every place, and a definition for which
no valid or no broken instance can be made counts as unproven, not as proven.
"""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Iterator
from typing import Any

import jsonschema_rs

Schema = dict[str, Any]

_MADE = 16
"""Instances per definition from each of the two schemas."""
_PLACES = 16
"""Places at which each made one is changed, at most."""
_CHANGES = 4
"""Changes tried at each place."""
_TEXTS = ("", "a", "some text", "0", "https://example.com/a", "note:a b", "aGk=", "日本")
_KEYS = ("extra", "io.example/key", "x-y", "", "_meta", "name", "id", "type")
_OTHERS: tuple[Any, ...] = (None, True, False, 0, 1, -1, 1.5, "", "x", [], [None], {}, {"x": 1})


class Unproven(Exception):
    """The two schemas differ, or nothing shows that they do not. The message names the definition, and the instance if there is one."""


@dataclasses.dataclass(frozen=True)
class Proof:
    """What was compared: definitions, and instances by verdict."""

    definitions: int
    taken: int
    refused: int


def prove(published: Schema, normal: Schema, *, seed: int = 1) -> Proof:
    """Compare a schema with its normal form on instances of every published definition.

    Args:
        published: the original; definitions under `definitions` or `$defs`.
        normal: the normal form; definitions under `$defs`.
        seed: instances are the same for the same seed.

    Raises:
        Unproven: at the first difference, or where a definition cannot be tried.
    """
    taken = refused = 0
    sides = (_Side(published), _Side(normal))
    if lost := sorted(sides[0].definitions.keys() - sides[1].definitions.keys()):
        raise Unproven(f"definition '{lost[0]}' is lost")
    for name in sorted(sides[0].definitions):
        verdicts = [0, 0]
        left, right = sides[0].validator(name), sides[1].validator(name)
        for instance in _instances(sides, name, seed):
            one, other = left.is_valid(instance), right.is_valid(instance)
            if one != other:
                said = (
                    "taken by the published schema and refused by the normal form"
                    if one
                    else "refused by the published schema and taken by the normal form"
                )
                raise Unproven(f"definition '{name}': {json.dumps(instance, ensure_ascii=False)} is {said}")
            verdicts[one] += 1
        trivial = sides[0].takes_everything(name) or sides[0].takes_nothing(name)
        if not all(verdicts) and not trivial:
            raise Unproven(
                f"definition '{name}': no {'valid' if verdicts[0] else 'broken'} instance could be made, so nothing is shown"
            )
        refused += verdicts[0]
        taken += verdicts[1]
    return Proof(len(sides[0].definitions), taken, refused)


class _Side:
    """One of the two schemas."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.container = "$defs" if "$defs" in schema else "definitions"
        self.definitions: dict[str, Schema] = schema[self.container]
        self.bounds = sorted(set(_bounds(self.definitions)))

    def validator(self, name: str) -> Any:
        """The judge for one definition: nothing is fetched, and a format is an annotation."""
        top = {
            "$schema": self.schema["$schema"],
            self.container: self.definitions,
            "allOf": [{"$ref": f"#/{self.container}/{name}"}],
        }
        return jsonschema_rs.validator_for(top, retriever=_refuse, validate_formats=False)

    def takes_everything(self, name: str) -> bool:
        """Whether a definition states nothing at all."""
        node: Any = self.definitions[name]
        return node is True or (isinstance(node, dict) and not node.keys() - {"description", "title"})

    def takes_nothing(self, name: str) -> bool:
        """Whether a definition says that no instance is valid."""
        node: Any = self.definitions[name]
        return node is False or (isinstance(node, dict) and node.get("enum") == [])

    def target(self, reference: str) -> Schema:
        """What a reference leads to."""
        return self.definitions[reference.rsplit("/", 1)[-1]]


def _refuse(uri: str) -> Any:
    raise ValueError(f"nothing is fetched: {uri}")


def _instances(sides: tuple[_Side, _Side], name: str, seed: int) -> Iterator[Any]:
    bounds = sorted({bound + step for side in sides for bound in side.bounds for step in (-1, 0, 1)})
    for index in range(_MADE):
        for number, side in enumerate(sides):
            chance = random.Random(f"{seed}:{number}:{name}:{index}")
            made = _Maker(side, chance, index).make(side.definitions[name], 0)
            yield made
            places = list(_places(made))
            for place in chance.sample(places, min(_PLACES, len(places))):
                changes = _changes(made, place, bounds)
                for new in chance.sample(changes, min(_CHANGES, len(changes))):
                    yield _changed(made, place, new)


class _Maker:
    """Makes one instance: the bare one first, then the full one, then whatever chance gives."""

    def __init__(self, side: _Side, chance: random.Random, index: int) -> None:
        self.side = side
        self.chance = chance
        self.index = index
        self.likelihood = (0.0, 1.0, 0.5)[min(index, 2)]

    def make(self, node: Any, depth: int) -> Any:
        if isinstance(node, bool) or not node:
            return self.anything(depth)
        node = self.flat(node)
        if "const" in node:
            return node["const"]
        if node.get("enum") == []:
            return self.anything(depth)
        if "enum" in node:
            return node["enum"][self.index % len(node["enum"])]
        for keyword in ("anyOf", "oneOf"):
            if keyword in node:
                branches = node[keyword]
                pick = self.index % len(branches) if depth == 0 else self.chance.randrange(len(branches))
                return self.make(branches[pick], depth + 1)
        kind = node.get("type", "object" if "properties" in node else None)
        kind = self.chance.choice(kind) if isinstance(kind, list) else kind
        if kind == "object":
            return self.object(node, depth)
        if kind == "array":
            low = node.get("minItems", 0)
            count = low if depth > 5 else min(max(low, self.chance.randrange(3)), node.get("maxItems", 3))
            return [self.make(node.get("items", True), depth + 1) for _ in range(count)]
        if kind == "string":
            text = self.chance.choice(_TEXTS)
            return text.ljust(node.get("minLength", 0), "a")[: node.get("maxLength", 99)]
        if kind in ("integer", "number"):
            low, high = node.get("minimum", -3), node.get("maximum", node.get("minimum", -3) + 9)
            return (
                self.chance.randint(-int(-low // 1), int(high // 1))
                if kind == "integer" or self.index % 2
                else (low + high) / 2
            )
        return {"boolean": self.chance.random() < 0.5, "null": None}.get(kind, self.anything(depth))

    def flat(self, node: Schema) -> Schema:
        """The node with references and `allOf` folded in, as far as making an instance needs it."""
        out: Schema = {}
        todo = [node]
        while todo:
            part = todo.pop(0)
            if isinstance(part, bool):
                part = {} if part else {"enum": []}
            todo = [*([self.side.target(part["$ref"])] if "$ref" in part else []), *part.get("allOf", []), *todo]
            properties = {**out.get("properties", {})}
            for member, child in part.get("properties", {}).items():
                properties[member] = {"allOf": [properties[member], child]} if member in properties else child
            required = sorted({*out.get("required", []), *part.get("required", [])})
            out |= {key: value for key, value in part.items() if key not in ("$ref", "allOf")}
            out |= {key: value for key, value in (("properties", properties), ("required", required)) if value}
        return out

    def object(self, node: Schema, depth: int) -> dict[str, Any]:
        likelihood = 0.0 if depth > 5 else self.likelihood
        out = {}
        for member, child in sorted(node.get("properties", {}).items()):
            if member in node.get("required", []) or self.chance.random() < likelihood:
                out[member] = self.make(child, depth + 1)
        for member in node.get("required", []):
            out.setdefault(member, self.anything(depth))
        rest = node.get("additionalProperties", True)
        if rest is not False and depth <= 5 and self.chance.random() < (likelihood if self.index != 1 else 0.5):
            out.setdefault(self.chance.choice(_KEYS[:4]), self.make(rest, depth + 1))
        return out

    def anything(self, depth: int) -> Any:
        """Any JSON value; a small one further down."""
        return self.chance.choice(_OTHERS if depth < 4 else _OTHERS[:9])


def _bounds(node: Any) -> Iterator[int]:
    """Every number that a schema draws a line at."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in (
                "minimum",
                "maximum",
                "exclusiveMinimum",
                "exclusiveMaximum",
                "minLength",
                "maxLength",
                "minItems",
                "maxItems",
                "const",
            ):
                if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 10_000_000:
                    yield int(value)
            else:
                yield from _bounds(value)
    elif isinstance(node, list):
        for value in node:
            yield from _bounds(value)


_LEFT_OUT = object()


def _changes(value: Any, place: tuple[Any, ...], bounds: list[int]) -> list[Any]:
    """What could stand in an instance at a place instead of what does."""
    old = value
    for step in place:
        old = old[step]
    # Leaving out and adding nothing are the changes that most keywords are about, so they come up more often.
    news: list[Any] = [
        *_OTHERS,
        [old],
        {"x": old},
        None,
        *([_LEFT_OUT] * 4 if place and isinstance(place[-1], str) else []),
    ]
    if isinstance(old, str):
        news += [old + "x", old.upper()]
    elif isinstance(old, int | float) and not isinstance(old, bool):
        news += [old + 1, -old, float(old), str(old), *bounds]
    elif isinstance(old, dict):
        more: tuple[Any, ...] = (None, "x", 1, {})
        news += [{**old, key: new} for key in _KEYS if key not in old for new in more]
    elif isinstance(old, list):
        news += [[*old, None], *([old[:1] * bound for bound in bounds if 0 < bound < 1000] if old else [])]
    return news


def _changed(node: Any, place: tuple[Any, ...], new: Any) -> Any:
    """The instance with something else at one place."""
    if not place:
        return new
    head, rest = place[0], place[1:]
    if isinstance(node, list):
        return [_changed(item, rest, new) if index == head else item for index, item in enumerate(node)]
    if new is _LEFT_OUT and not rest:
        return {key: item for key, item in node.items() if key != head}
    return {key: _changed(item, rest, new) if key == head else item for key, item in node.items()}


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield place
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _places(item, (*place, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _places(item, (*place, index))
