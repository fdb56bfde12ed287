"""Instances of a schema's definitions: valid ones, and broken ones with what is broken about them.

Rule: a published schema decides which is which, through a validator that shares nothing with the generated models. What is usual (a
name, a URI) comes from vectors that a person has seen; all else is made up.
"""

from __future__ import annotations

import collections
import copy
import functools
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import jsonschema_rs

from ..schemas.references import reference, referred
from ..schemas.shapes import Node, alternatives, constant, resolved

Json = Any
Path = tuple[str | int, ...]

_DEEPEST = 5
_BROKEN_WAYS = 2
_WRONG: tuple[tuple[str, Json], ...] = (
    ("the number 7", 7),
    ("the text 'low tide'", "low tide"),
    ("an array", ["low tide"]),
    ("an object", {"tide": "low"}),
    ("a boolean", True),
    ("the number 1.5", 1.5),
    ("the number -1", -1),
)
_FORMATS = {
    "uri": "harbour://buoy/7",
    "uri-template": "harbour://buoy/{number}",
    "byte": "iVBORw0KGgo=",
    "date-time": "2031-05-04T03:02:01Z",
    "email": "pilot@harbour.example",
    "date": "2031-05-04",
}


class Judge:
    """The verdicts of one corrected schema.

    Args:
        schema: in normal form.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = schema
        self.definitions: Mapping[str, Node] = schema["$defs"]
        self._validators: dict[str, Any] = {}

    def takes(self, name: str, value: Json) -> bool:
        """Whether a definition takes a value."""
        return bool(self._validator(name).is_valid(value))

    def complaints(self, name: str, value: Json) -> frozenset[Path]:
        """The places of a value that a definition complains about; none where it takes it."""
        return frozenset(tuple(error.instance_path) for error in self._validator(name).iter_errors(value))

    def _validator(self, name: str) -> Any:
        if name not in self._validators:
            top = {
                "$schema": self.schema["$schema"],
                "$defs": self.definitions,
                "allOf": [reference(name)],
            }
            self._validators[name] = jsonschema_rs.validator_for(top, retriever=_refuse, validate_formats=False)
        return self._validators[name]


def _refuse(uri: str) -> Any:
    raise ValueError(f"nothing is fetched: {uri}")


def usual_values(messages: Iterable[Json]) -> dict[str, list[Json]]:
    """The texts and numbers that members have in some messages, by the member's name, the most frequent first."""
    found: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)

    def look(value: Json) -> None:
        if isinstance(value, dict):
            for name, inner in value.items():
                if isinstance(inner, str | int | float) and inner != "":
                    found[name][json.dumps(inner)] += 1
                look(inner)
        elif isinstance(value, list):
            for inner in value:
                look(inner)

    for message in messages:
        look(message)
    return {name: [json.loads(text) for text, _ in counted.most_common()] for name, counted in found.items()}


class Samples:
    """Instances of one schema's definitions.

    Args:
        judge: of that schema.
        usual: what members usually have, by name.
    """

    def __init__(self, judge: Judge, usual: Mapping[str, list[Json]]) -> None:
        self.known: frozenset[str] = frozenset()
        """Definitions that need not be gone into, since other vectors show what they are."""
        self.judge = judge
        self.definitions = judge.definitions
        self.usual = usual

    def bare(self, name: str) -> Json:
        """A value with what it must have."""
        return self._made(reference(name), "", full=False, depth=0)

    def full(self, name: str) -> Json:
        """A value with every member."""
        return self._made(reference(name), "", full=True, depth=0)

    def member(self, owner: str, member: str) -> Json:
        """A value of one member of a definition, with all that it may have."""
        node = resolved(reference(owner), self.definitions)
        return self._made(node["properties"][member], member, full=True, depth=1)

    def variants(self, name: str) -> Iterator[tuple[str, Path, Json]]:
        """Full values that take another branch of a union, or another member of an enumeration, than `full` does.

        Yields:
            In words what is there instead, where, and the value.
        """
        whole = self.full(name)
        seen: set[str] = set()
        for path, node in self._walk(reference(name), whole, (), seen):
            for words, other in self._others(node, str(path[-1]) if path else ""):
                value = put(whole, path, other)
                if self.judge.takes(name, value):
                    yield f"{_words(path)} is {words}" if path else words, path, value

    def broken(self, name: str) -> Iterator[tuple[str, Path, Json]]:
        """What a definition refuses, each with one thing wrong and little else.

        Yields:
            In words what is wrong, where, and the value.
        """
        whole, bare = self.full(name), self.bare(name)
        for path, node in self._walk(reference(name), whole, (), set()):
            base = _grafted(bare, whole, path)
            base = self._pruned(name, base if self.judge.takes(name, base) else whole, path)
            here = resolved(node, self.definitions)
            for member in here.get("required", []):
                value = _without(base, (*path, member))
                if value is not None and not self.judge.takes(name, value):
                    yield f"{_words((*path, member))} is missing", (*path, member), value
            if path:
                wrong = [(words, put(base, path, instead)) for words, instead in _WRONG]
                refused = [(words, value) for words, value in wrong if not self.judge.takes(name, value)]
                for words, value in refused[:_BROKEN_WAYS]:
                    yield f"{_words(path)} is {words}", path, value

    def _pruned(self, name: str, value: Json, path: Path) -> Json:
        """A value without whatever a definition takes it without, but for what leads to a place."""
        for member in _members(value):
            if path[: len(member)] != member:
                without = _without(value, member)
                value = without if without is not None and self.judge.takes(name, without) else value
        return value

    def _others(self, node: Node, member: str) -> Iterator[tuple[str, Json]]:
        inner = resolved(node, self.definitions)
        if "enum" in inner:
            for value in inner["enum"][1:]:
                yield json.dumps(value), value
        branches = alternatives(node, self.definitions)
        for branch in branches[1:] if len(branches) > 1 else ():
            name = referred(branch)
            yield name or f"another {member}", self._made(branch, member, full=True, depth=2)

    def _walk(self, node: Node, value: Json, path: Path, seen: set[str]) -> Iterator[tuple[Path, Node]]:
        """Every place of a value with the node that it meets; a definition is gone into once."""
        yield path, node
        name = referred(node)
        if len(path) > _DEEPEST or (path and name is not None and name in seen | self.known):
            return
        seen |= {name} if name else set()
        _, inner = met(node, value, self.definitions)
        if isinstance(value, dict):
            for member, child in inner.get("properties", {}).items():
                if member in value:
                    yield from self._walk(child, value[member], (*path, member), seen)
        elif isinstance(value, list) and value and isinstance(inner.get("items"), Mapping):
            yield from self._walk(inner["items"], value[0], (*path, 0), seen)

    def _made(self, node: Node, member: str, *, full: bool, depth: int) -> Json:
        inner = resolved(alternatives(node, self.definitions)[0], self.definitions)
        if "const" in inner:
            return inner["const"]
        if "enum" in inner:
            return inner["enum"][0] if inner["enum"] else None
        kinds = inner.get("type", "object" if "properties" in inner else "")
        kind = kinds if isinstance(kinds, str) else kinds[0]
        if kind == "object":
            return self._object(inner, full=full and depth <= _DEEPEST, depth=depth)
        if kind == "array":
            some = full or inner.get("minItems", 0) > 0
            items = inner.get("items", {})
            return (
                [self._made(items, member.removesuffix("s"), full=full, depth=depth + 1)]
                if some and depth <= _DEEPEST
                else []
            )
        return self._scalar(inner, kind, member)

    def _object(self, node: Node, *, full: bool, depth: int) -> Json:
        out = {}
        required = node.get("required", [])
        for member, child in node.get("properties", {}).items():
            if member in required or (full and resolved(child, self.definitions).get("enum") != []):
                out[member] = self._made(child, member, full=full, depth=depth + 1)
        for member in required:
            out.setdefault(member, "a")
        rest = node.get("additionalProperties")
        if full and not node.get("properties"):
            out["harbour.example/fog"] = (
                self._made(rest, "", full=False, depth=depth + 1)
                if isinstance(rest, Mapping) and rest
                else {"horn": True}
            )
        return out

    def _scalar(self, node: Node, kind: str, member: str) -> Json:
        for value in self.usual.get(member, ()):
            if _is(value, kind) and _is_within(value, node):
                return value
        if kind == "string":
            text = _FORMATS.get(node.get("format", ""), member or "fog")
            return text.ljust(node.get("minLength", 0), "a")[: node.get("maxLength", len(text))]
        if kind in ("integer", "number"):
            return next(
                (number for number in (1, 0, node.get("minimum"), node.get("maximum")) if _is_within(number, node)), 1
            )
        if kind in ("boolean", "null"):
            return True if kind == "boolean" else None
        return {"horn": True}


def met(node: Node, value: Json, definitions: Mapping[str, Node]) -> tuple[str, Node]:
    """The branch of a node that an object belongs to, told by constants and by what must be there; of other values, the first.

    Returns:
        The name of its definition, empty where it is inline, and the branch itself.
    """
    branches = alternatives(node, definitions)
    for branch in branches:
        inner = resolved(branch, definitions)
        constants = {
            member: constant(resolved(child, definitions)) for member, child in inner.get("properties", {}).items()
        }
        fits = isinstance(value, dict) and all(
            value.get(member) == known for member, known in constants.items() if known is not None
        )
        if fits and set(inner.get("required", [])) <= value.keys():
            return referred(branch) or "", inner
    return referred(branches[0]) or "", resolved(branches[0], definitions)


def _is(value: Json, kind: str) -> bool:
    kinds = {"string": str, "integer": int, "number": (int, float)}
    return kind in kinds and isinstance(value, kinds[kind]) and not isinstance(value, bool)  # type: ignore[arg-type]  # the table has types, and tuples of them


def _is_within(value: Json, node: Node) -> bool:
    if isinstance(value, str):
        return bool(node.get("minLength", 0) <= len(value) <= node.get("maxLength", len(value)))
    return value is not None and bool(node.get("minimum", value) <= value <= node.get("maximum", value))


def _words(path: Path) -> str:
    return ".".join(map(str, path))


def has(value: Json, step: str | int) -> bool:
    """Whether a value has a member, or an item, of its own."""
    if isinstance(value, list):
        return isinstance(step, int) and step < len(value)
    return isinstance(value, dict) and step in value


def put(whole: Json, path: Path, value: Json) -> Json:
    """A copy of a value with something else at one place."""
    if not path:
        return value
    out = copy.deepcopy(whole)
    functools.reduce(lambda node, step: node[step], path[:-1], out)[path[-1]] = value
    return out


def _grafted(bare: Json, whole: Json, path: Path) -> Json:
    """A bare value with what it needs of the whole one for a place to be there."""
    here, there = bare, whole
    for number, step in enumerate(path):
        there = there[step]
        if has(here, step):
            here = here[step]
        elif isinstance(step, int):
            return put(bare, path[:number], [there])
        else:
            return put(bare, path[: number + 1], there)
    return bare


def _without(whole: Json, path: Path) -> Json:
    """A copy without one member; None where it is not there."""
    owner = whole
    for step in path:
        if not has(owner, step):
            return None
        owner = owner[step]
    out = copy.deepcopy(whole)
    holder = functools.reduce(lambda node, step: node[step], path[:-1], out)
    if not isinstance(holder, dict):
        return None
    del holder[path[-1]]
    return out


def _members(value: Json, path: Path = ()) -> list[Path]:
    """The members of all objects in a value, those of the outer ones first."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    mine = [((*path, step), child) for step, child in inner]
    own = [place for place, _ in mine] if isinstance(value, dict) else []
    return own + [place for above, child in mine for place in _members(child, above)]
