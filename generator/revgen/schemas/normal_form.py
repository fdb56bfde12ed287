"""A published schema in normal form: one way to say each thing, structure only.

Rule: nothing here may change a verdict. It moves, names and leaves out; `editing.proof` shows that every published definition
still takes and refuses the same instances. What is not understood is a problem, never passed on: a keyword that the models
would not check must not slip in unseen.
"""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any

from .pointers import escaped
from .references import reference, referred

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
"""The dialect of every normal form."""

PUBLISHED = "x-published"
"""The member of a normal form that lists the published definitions; the other ones were hoisted."""

DIALECTS = {"http://json-schema.org/draft-07/schema": True, DIALECT: False}
"""Dialects that can be read, and whether `$ref` there hides what stands beside it."""

_PROSE = frozenset({"description", "title", "examples", "$comment"})
_ANNOTATIONS = frozenset({"default", "deprecated", "format", "readOnly", "writeOnly"})
LOWER_BOUNDS = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems"})
"""Keywords of which the greater value says more."""

UPPER_BOUNDS = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems"})
"""Keywords of which the smaller value says more."""

_PLURALS: tuple[tuple[str, str | None], ...] = (
    ("ies", "y"),
    ("sses", "ss"),
    ("xes", "x"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("ss", None),
    ("s", ""),
)
_SCALARS = frozenset({"type", "const", "enum", "pattern"}) | _ANNOTATIONS | LOWER_BOUNDS | UPPER_BOUNDS
_CHILD = ("additionalProperties", "items")
_BRANCHES = ("anyOf", "oneOf", "allOf")
KEYWORDS = _PROSE | _SCALARS | {"$ref", "properties", "required", *_CHILD, *_BRANCHES}


NOTHING: Mapping[str, Any] = {"enum": []}
"""The schema that no value meets."""

_NAME = re.compile(r"[A-Za-z0-9_.$-]+")


class CannotNormalise(Exception):
    """A schema has no normal form. `problems` says where (a JSON pointer into it) and why, all at once."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(problems))

    @property
    def located(self) -> list[tuple[str, str]]:
        """Each problem as its pointer and what is wrong there."""
        return [(pointer, message) for pointer, _, message in (problem.partition(": ") for problem in self.problems)]


@dataclasses.dataclass(frozen=True)
class Normalised:
    """A schema in normal form, and how often each kind of step was needed."""

    schema: Schema
    steps: Mapping[str, int]

    @property
    def published(self) -> list[str]:
        """The names of the published definitions."""
        return list(self.schema[PUBLISHED])

    @property
    def hoisted(self) -> list[str]:
        """The names of the definitions that were made from inline objects."""
        return hoisted_names(self.schema)


def hoisted_names(schema: Schema) -> list[str]:
    """The definitions of a normal form that were not published under their name."""
    published = set(schema[PUBLISHED])
    return sorted(name for name in schema["$defs"] if name not in published)


def normalise(published: Schema) -> Normalised:
    """Bring a schema into normal form; a normal form stays as it is.

    Args:
        published: a schema of draft-07 or 2020-12 that holds nothing but definitions.

    Raises:
        CannotNormalise: with every keyword that is not understood, every reference that leads nowhere, every `allOf` that
            has no closed form, and every inline object that gets no name of its own.
    """
    return _Normaliser(published).run()


def name_conflicts(schema: Schema, others: Mapping[str, Schema]) -> list[str]:
    """Hoisted names that mean something else in another revision, both ways, as sentences.

    A hoisted name may be a published one elsewhere where it is the same thing: the published definition stands at the same
    member, or the members of one are all members of the other.
    """
    complaints = []
    for revision, other in others.items():
        for mine, theirs, whose in (
            (schema, other, f"published in {revision}"),
            (other, schema, f"hoisted in {revision}"),
        ):
            for name in hoisted_names(mine):
                if name in theirs[PUBLISHED] and not _same_thing(name, mine, theirs):
                    complaints.append(f"the name '{name}' of an inline object is also another definition, {whose}")
    return complaints


def _leads_to(node: Schema) -> Iterator[str]:
    """The definitions that a node refers to by itself, or by a branch."""
    name = referred(node)
    if name is not None:
        yield name
    for keyword in _BRANCHES:
        for branch in node.get(keyword, ()):
            yield from _leads_to(branch)


def _same_thing(name: str, hoisting: Schema, publishing: Schema) -> bool:
    for owner, definition in hoisting["$defs"].items():
        for member, child in definition.get("properties", {}).items():
            counterpart = publishing["$defs"].get(owner, {}).get("properties", {}).get(member)
            if child == counterpart == reference(name):
                return True
    one, other = (set(schema["$defs"][name].get("properties", {})) for schema in (hoisting, publishing))
    return bool(one and other) and (one <= other or other <= one)


def member_words(member: str) -> str:
    """A member's name in the form that class names have: `_meta` → `Meta`, `io.example/serverInfo` → `ServerInfo`."""
    pieces = re.findall(r"[A-Za-z0-9]+", member.rsplit("/", 1)[-1])
    return "".join(piece[0].upper() + piece[1:] for piece in pieces)


def singular(words: str) -> str | None:
    """One of many: `Messages` → `Message`; None where a name is no plural."""
    for ending, instead in _PLURALS:
        if words.endswith(ending) and len(words) > len(ending):
            return None if instead is None else words.removesuffix(ending) + instead
    return None


class _Normaliser:
    def __init__(self, published: Schema) -> None:
        self.source = published
        self.problems: list[str] = []
        self.steps: collections.Counter[str] = collections.Counter()
        self.definitions: dict[str, Schema] = {}
        self.hoisted: dict[str, Schema] = {}
        self.reused: list[tuple[str, Schema, str]] = []
        self.container = "$defs" if "$defs" in published else "definitions"
        self.reference_hides_siblings = False

    def run(self) -> Normalised:
        self._read_top()
        self._stop_if_any()
        for name, node in sorted(self.source[self.container].items()):
            if not _NAME.fullmatch(name):
                self.problems.append(
                    f"/{self.container}/{escaped(name)}: '{name}' is no name that can be referred to; allowed: letters, digits and _ . - $"
                )
            self.definitions[name] = self._mapping(node, f"/{self.container}/{name}")
        self._stop_if_any()
        for name in list(self.definitions):
            self.definitions[name] = self._closed(self.definitions[name], f"/$defs/{name}", (name,))
        self._see_circles()
        self._stop_if_any()
        for name in list(self.definitions):
            self.definitions[name] = self._with_names(name, self.definitions[name], f"/$defs/{name}")
        for name, node, pointer in self.reused:
            if self.definitions[name] != node:
                self.problems.append(
                    f"{pointer}: the name '{name}' of this inline object is another published definition"
                )
        self._stop_if_any()
        names = self.source.get(PUBLISHED, sorted(self.definitions))
        everything = _sorted({**self.definitions, **self.hoisted})
        return Normalised(
            {"$defs": everything, "$schema": DIALECT, PUBLISHED: sorted(names)}, dict(sorted((+self.steps).items()))
        )

    def _stop_if_any(self) -> None:
        if self.problems:
            raise CannotNormalise(self.problems)

    def _read_top(self) -> None:
        dialect = str(self.source.get("$schema", "")).removesuffix("#")
        if dialect not in DIALECTS:
            self.problems.append(
                f"/$schema: '{dialect}' is not a dialect that can be read; readable: {', '.join(sorted(DIALECTS))}"
            )
        if not isinstance(self.source.get(self.container), dict):
            self.problems.append("/: there are no definitions; expected a mapping under '$defs' or 'definitions'")
        for key in sorted(self.source.keys() - {"$schema", "$id", self.container, PUBLISHED} - _PROSE):
            self.problems.append(f"/{escaped(key)}: '{key}' beside the definitions is not understood")
        self.reference_hides_siblings = DIALECTS.get(dialect, False)
        if self.container != "$defs":
            self.steps["definitions moved to $defs"] += 1
        if dialect != DIALECT:
            self.steps["dialect rewritten"] += 1

    # First pass: every node says only what decides, in one spelling.

    def _clean(self, node: Any, pointer: str) -> Schema | bool:
        if isinstance(node, bool):
            return node
        if not isinstance(node, dict):
            self.problems.append(f"{pointer}: a schema is expected here")
            return {}
        for keyword in sorted(node.keys() - KEYWORDS):
            self.problems.append(
                f"{pointer}/{escaped(keyword)}: the keyword '{keyword}' is not understood; "
                "specs/keywords.yaml may declare it harmless"
            )
        self.steps["prose left out"] += len(node.keys() & _PROSE)
        if "$ref" in node and self.reference_hides_siblings:
            return reference(self._target(node["$ref"], pointer))
        out: Schema = {key: node[key] for key in node.keys() & _SCALARS}
        if "$ref" in node:
            out |= reference(self._target(node["$ref"], pointer))
        if node.get("required"):
            out["required"] = sorted(node["required"])
        if node.get("properties"):
            out["properties"] = {
                name: self._mapping(child, f"{pointer}/properties/{escaped(name)}")
                for name, child in sorted(node["properties"].items())
            }
        for keyword in _CHILD:
            if keyword in node:
                child = self._clean(node[keyword], f"{pointer}/{keyword}")
                if child is True or child == {}:
                    self.steps["statements that state nothing left out"] += 1
                else:
                    out[keyword] = child
        for keyword in _BRANCHES:
            if keyword in node:
                out[keyword] = [
                    self._mapping(branch, f"{pointer}/{keyword}/{index}") for index, branch in enumerate(node[keyword])
                ]
        return out

    def _mapping(self, node: Any, pointer: str) -> Schema:
        """A schema as a mapping: `true` is the empty one, and `false` the one that lists no value."""
        cleaned = self._clean(node, pointer)
        if isinstance(cleaned, bool):
            return {} if cleaned else dict(NOTHING)
        return cleaned

    def _target(self, written: str, pointer: str) -> str:
        """The name of the definition that a published reference leads to."""
        prefix = f"#/{self.container}/"
        name = written.removeprefix(prefix)
        if not written.startswith(prefix) or name not in self.source[self.container]:
            self.problems.append(f"{pointer}/$ref: '{written}' leads to no definition")
        return name

    def _see_circles(self) -> None:
        """Complain once about each circle of definitions with no member and no item in between: no value would decide."""
        leading = {name: set(_leads_to(node)) for name, node in self.definitions.items()}
        seen: set[str] = set()
        for name in sorted(leading.keys()):
            reached: set[str] = set()
            ahead = [name]
            while ahead:
                found = leading.get(ahead.pop(), set()) - reached
                reached |= found
                ahead += found
            if name in reached and name not in seen:
                self.problems.append(
                    f"/$defs/{name}: '{name}' leads to itself, and nothing else says what it is; allowed: a member or an item in between"
                )
                seen |= reached

    # Second pass: `allOf` becomes one closed definition.

    def _closed(self, node: Schema, pointer: str, within: tuple[str, ...]) -> Schema:
        for _, child, replace in _children(node):
            replace(self._closed(child, pointer, within))
        parts = node.pop("allOf", [])
        if "$ref" in node and (parts or len(node) > 1):
            parts = [{"$ref": node.pop("$ref")}, *parts]
        for part in parts:
            self.steps["allOf merged"] += 1
            node = self._both(node, part, pointer, within)
        return node

    def _both(self, one: Schema, other: Schema, pointer: str, within: tuple[str, ...]) -> Schema:
        """The schema that takes what both take."""
        if one == other or not other:
            return one
        if not one:
            return other
        one, within = self._resolved(one, pointer, within)
        other, within = self._resolved(other, pointer, within)
        out = {**one, **other}
        if any("additionalProperties" in part for part in (one, other)) and one.get("properties") != other.get(
            "properties"
        ):
            self.problems.append(f"{pointer}: 'additionalProperties' in a part of an allOf has no closed form")
        for keyword in sorted(one.keys() & other.keys()):
            left, right = one[keyword], other[keyword]
            if left == right:
                continue
            if keyword == "properties":
                out[keyword] = {
                    name: self._both(
                        left.get(name, {}), right.get(name, {}), f"{pointer}/properties/{escaped(name)}", within
                    )
                    for name in sorted(left.keys() | right.keys())
                }
            elif keyword == "required":
                out[keyword] = sorted({*left, *right})
            elif keyword == "items":
                out[keyword] = self._both(left, right, f"{pointer}/items", within)
            elif keyword in LOWER_BOUNDS:
                out[keyword] = max(left, right)
            elif keyword in UPPER_BOUNDS:
                out[keyword] = min(left, right)
            elif keyword == "type" and (types := _common_types(left, right)):
                out[keyword] = types
            elif keyword == "enum":
                out[keyword] = [value for value in left if value in right]
            else:
                self.problems.append(
                    f"{pointer}: the parts of an allOf disagree about '{keyword}', and there is no closed form"
                )
        return out

    def _resolved(self, node: Schema, pointer: str, within: tuple[str, ...]) -> tuple[Schema, tuple[str, ...]]:
        while (name := referred(node)) is not None:
            if name in within:
                self.problems.append(f"{pointer}: the allOf contains itself, through '{name}'")
                return {}, within
            within = (*within, name)
            # A copy: the merged definition is hoisted on its own, and must not share nodes with this one.
            node = self._closed(_copy(self.definitions[name]), f"/$defs/{name}", within)
        return node, within

    # Third pass: an inline object with members becomes a definition that says where it stands.

    def _with_names(self, name: str, node: Schema, pointer: str) -> Schema:
        if ("properties" in node or "required" in node) and node.get("type") != "object":
            self.problems.append(
                f"{pointer}: members are given without 'type': 'object'; anything but an object would pass"
            )
        undefined = [member for member in node.get("required", []) if member not in node.get("properties", {})]
        for member in undefined:
            rest = node.get("additionalProperties", {})
            node.setdefault("properties", {})[member] = dict(NOTHING) if rest is False else _copy(rest)
            self.steps["required members defined"] += 1
        for member, child in sorted(node.get("properties", {}).items()):
            here = f"{pointer}/properties/{escaped(member)}"
            words = member_words(member)
            if not words and _has_inline_members(child):
                self.problems.append(f"{here}: no name can be made from '{member}' for the inline object here")
            node["properties"][member] = self._placed(name + words, child, here)
        for keyword, suffix in (("items", "Item"), ("additionalProperties", "Value")):
            child = node.get(keyword)
            if isinstance(child, dict):
                node[keyword] = self._placed(singular(name) or name + suffix, child, f"{pointer}/{keyword}")
        for keyword in ("anyOf", "oneOf"):
            branches = node.get(keyword, [])
            for index, branch in enumerate(branches):
                here = f"{pointer}/{keyword}/{index}"
                label = _what_tells_apart(index, branches) if "properties" in branch else ""
                if label is None:
                    self.problems.append(
                        f"{here}: no name can be made for the inline object here: nothing tells it from its neighbours"
                    )
                else:
                    branches[index] = self._placed(name + label, branch, here)
        return node

    def _placed(self, name: str, node: Schema, pointer: str) -> Schema:
        named = self._with_names(name, node, pointer)
        if not named.get("properties"):
            return named
        self.steps["inline objects hoisted"] += 1
        if name in self.definitions:
            self.reused.append((name, named, pointer))
        elif self.hoisted.setdefault(name, named) != named:
            self.problems.append(f"{pointer}: the name '{name}' of this inline object is already that of another one")
        return reference(name)


def _what_tells_apart(index: int, branches: list[Schema]) -> str | None:
    """What to call an inline branch of a union: a constant that only it has, else a required member that only it has."""
    mine = branches[index]
    rest = [branch for position, branch in enumerate(branches) if position != index]
    for member in sorted(mine.get("required", [])):
        constant = mine["properties"].get(member, {}).get("const")
        others = [branch.get("properties", {}).get(member, {}).get("const") for branch in rest]
        if isinstance(constant, str) and constant not in others and member_words(constant):
            return member_words(constant)
    for member in sorted(mine.get("required", [])):
        if all(member not in branch.get("properties", {}) for branch in rest) and member_words(member):
            return member_words(member)
    return None


def _has_inline_members(node: Schema) -> bool:
    return bool(node.get("properties")) or any(_has_inline_members(child) for _, child, _ in _children(node))


def _children(node: Schema) -> Iterator[tuple[str, Schema, Any]]:
    """Every schema directly below a node, with a function that puts another one in its place."""
    for member, child in list(node.get("properties", {}).items()):
        yield "properties", child, _setter(node["properties"], member)
    for keyword in _CHILD:
        if isinstance(node.get(keyword), dict):
            yield keyword, node[keyword], _setter(node, keyword)
    for keyword in _BRANCHES:
        for index, branch in enumerate(node.get(keyword, [])):
            yield keyword, branch, _setter(node[keyword], index)


def _setter(container: Any, key: Any) -> Any:
    return lambda value: container.__setitem__(key, value)


def _common_types(one: str | list[str], other: str | list[str]) -> str | list[str]:
    """The JSON types that both allow; an integer is a number."""
    left, right = ([kinds] if isinstance(kinds, str) else kinds for kinds in (one, other))
    common = [kind for kind in left if kind in right or (kind == "integer" and "number" in right)]
    common += [kind for kind in right if kind == "integer" and "number" in left and kind not in left]
    return common[0] if len(common) == 1 else common


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value
