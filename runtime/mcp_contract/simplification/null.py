"""The first level: nullable members lose their null.

Rule: for every value, what the result accepts, the schema accepts once missing required nullable members are read as null; and
what the schema accepts, the result accepts once null members are left out. Only a member of an object can be left out, so null
stays everywhere else. Where a schema counts members, compares values or says what must not fit, leaving a member out could change
the verdict, so there nothing is touched: the result may be larger than it could be, never wrong.
"""

from __future__ import annotations

from typing import NamedTuple

from mcp_contract.messages import JsonObject
from mcp_contract.simplification.facts import Facts, looks_inside_itself
from mcp_contract.simplification.keywords import (
    ASSERTS,
    DEFINITIONS,
    Schema,
    Step,
    at,
    constants_of,
    subschemas,
    types_of,
    with_subschemas,
    words,
)
from mcp_contract.simplification.loss import Loss
from mcp_contract.simplification.references import Document

_LEFT_OUT = "a member that would be null is left out instead; null itself is still taken"
_COUNTS = words("dependencies dependentRequired maxProperties minProperties propertyNames")
_COMPARES = words("contains unevaluatedItems unevaluatedProperties")
_CONDITIONS = ("not", "if", "then", "else")


class May(NamedTuple):
    """What may be done at one place, given everywhere it is used from.

    Attributes:
        drop: whatever stands here is the value of a member that may be left out, so null may go.
        enter: no other schema looks inside the same value, so what is inside may change.
        fill: whoever reads a value knows that this schema applies to it, so a missing member can be read as null.
    """

    drop: bool
    enter: bool
    fill: bool


_NOTHING = May(False, False, False)
_EVERYTHING = May(True, True, True)
_ROOT = May(False, True, True)


def null_left_out(document: Document, losses: list[Loss]) -> JsonObject:
    """The document's schema without the nulls that can be left out.

    Args:
        document: a document without obstacles whose root is an object.
        losses: every change is added here.

    Returns:
        A new schema, or the same object where nothing changes.

    Raises:
        NotSimplifiable: references go in a circle.
    """
    facts = Facts(document)
    survey = _Survey(document, facts)
    survey.visit("", document.root, _ROOT)
    survey.visit_unused("", document.root)
    result: JsonObject = _Rebuild(document, facts, survey, losses).schema("", document.root)
    return result


class _Survey:
    """Finds out what may be done at each place; a place that is used from several may do what all of them may."""

    def __init__(self, document: Document, facts: Facts) -> None:
        self._document = document
        self._facts = facts
        self._waiting: list[tuple[str, Schema, May]] = []
        self.may: dict[str, May] = {}

    def visit(self, pointer: str, node: Schema, may: May) -> None:
        """Go through all that applies to a value from one place on. A place whose permissions shrink is gone through again."""
        self._waiting.append((pointer, node, may))
        while self._waiting:
            place, waiting, permitted = self._waiting.pop()
            known = self.may.get(place)
            merged = permitted if known is None else May(*map(min, known, permitted))
            if merged != known and isinstance(waiting, dict):
                self.may[place] = merged
                self._go_on(place, waiting, merged)

    def _go_on(self, pointer: str, node: JsonObject, may: May) -> None:
        beside = self._beside(node, may)
        if "$ref" in node:
            self._waiting.append((*self._document.target(pointer, node["$ref"]), beside))
        if not self._facts.own(node):
            return
        for keyword in ("allOf", "anyOf", "oneOf"):
            within = beside if keyword == "allOf" else self._in_union(keyword, node.get(keyword, ()), beside)
            for index, branch in enumerate(node.get(keyword, ())):
                self._waiting.append((at(pointer, keyword, index), branch, within))
        for steps, inner in subschemas(node):
            if steps[0] not in ("allOf", "anyOf", "oneOf", *DEFINITIONS):
                self._waiting.append((at(pointer, *steps), inner, self._inside(node, may, steps)))

    def visit_unused(self, pointer: str, node: Schema) -> None:
        """Definitions that nothing refers to govern no value; they are treated like the rest so as not to look forgotten."""
        if not isinstance(node, dict):
            return
        for steps, inner in subschemas(node):
            place = at(pointer, *steps)
            if steps[0] in DEFINITIONS and place not in self.may:
                self.visit(place, inner, _EVERYTHING)
            self.visit_unused(place, inner)

    def alone(self, node: JsonObject, may: May) -> bool:
        """Is there but one schema that looks inside the values of this place?"""
        own = self._facts.own(node)
        looking = looks_inside_itself(own) + sum(self._facts.looks_inside(inner) for inner in self._facts.beside(node))
        looking += any(self._facts.looks_inside(own.get(keyword)) for keyword in _CONDITIONS)
        looking += "dependentSchemas" in own or any(
            isinstance(inner, dict | bool) for inner in own.get("dependencies", {}).values()
        )
        for keyword in ("anyOf", "oneOf"):
            looking += any(self._facts.looks_inside(inner) for inner in own.get(keyword, ()))
        return may.enter and looking <= 1

    def relaxed(self, node: JsonObject, may: May) -> list[str]:
        """The required members that become optional."""
        # With patterns about, more than one schema may speak of a member.
        if not (may.fill and self.alone(node, may)) or not _COUNTS.isdisjoint(node) or "patternProperties" in node:
            return []
        if _compares(node):
            return []
        members, rest = node.get("properties", {}), node.get("additionalProperties")
        return [name for name in node.get("required", ()) if self._facts.nullable(members.get(name, rest))]

    def _beside(self, node: JsonObject, may: May) -> May:
        alone = self.alone(node, may)
        return May(may.drop, alone, may.fill and alone)

    def _in_union(self, keyword: str, branches: list[Schema], beside: May) -> May:
        others = [branch for branch in branches if not self._facts.only_null(branch)]
        if keyword == "oneOf" and not self._facts.told_apart(branches):
            # A branch that takes less may leave exactly one where there were two.
            return _NOTHING
        # Whoever reads a value need not find out which of several branches it is.
        return beside if len(others) <= 1 else beside._replace(fill=False)

    def _inside(self, node: JsonObject, may: May, steps: tuple[Step, ...]) -> May:
        keyword, name = steps[0], steps[-1]
        if not self.alone(node, may) or _compares(node):
            return _NOTHING
        counted, patterns = not _COUNTS.isdisjoint(node), "patternProperties" in node
        members, required = node.get("properties", {}), node.get("required", ())
        relaxed = self.relaxed(node, may)
        fill = may.fill and not patterns
        if keyword == "properties":
            return May(not counted and (name not in required or name in relaxed), not patterns, fill)
        if keyword == "additionalProperties":
            return May(not counted and all(other in members or other in relaxed for other in required), True, fill)
        if keyword == "patternProperties":
            return May(not (counted or required), len(node["patternProperties"]) == 1 and not members, False)
        if keyword in ("items", "prefixItems"):
            return May(False, True, may.fill and isinstance(node.get("items", {}), dict | bool))
        if keyword == "additionalItems":
            return May(False, True, False)
        return _NOTHING


def _compares(node: JsonObject) -> bool:
    """Does the schema say something about whole members or items, so that leaving out a part of one matters?"""
    constants = constants_of(node) or ()
    return (
        node.get("uniqueItems") is True
        or not _COMPARES.isdisjoint(node)
        or any(isinstance(value, dict | list) for value in constants)
    )


class _Rebuild:
    """Makes the new schema, place by place."""

    def __init__(self, document: Document, facts: Facts, survey: _Survey, losses: list[Loss]) -> None:
        self._document = document
        self._facts = facts
        self._survey = survey
        self._losses = losses

    def schema(self, pointer: str, node: Schema) -> Schema:
        if not isinstance(node, dict):
            return node
        rebuilt = with_subschemas(node, lambda steps, inner: self.schema(at(pointer, *steps), inner))
        may = self._survey.may.get(pointer, _NOTHING)
        if not self._facts.own(node):
            return rebuilt
        relaxed = self._survey.relaxed(node, may)
        if relaxed:
            rebuilt = _without_required(rebuilt, relaxed)
            for name in relaxed:
                self._lost(at(pointer, "required"), f"{name!r} becomes optional", "leaving it out says null")
        if may.drop:
            rebuilt = self._without_null(pointer, node, rebuilt)
        return rebuilt

    def _without_null(self, pointer: str, node: JsonObject, rebuilt: JsonObject) -> JsonObject:
        """The node without null. Only what names null beside something else can lose it: null alone is all there is to say."""
        changed = dict(rebuilt)
        types = types_of(node) or ()
        others = [name for name in types if name != "null"]
        if others and len(others) < len(types):
            changed["type"] = others[0] if len(others) == 1 else others
            self._lost(at(pointer, "type"), "null leaves the types", _LEFT_OUT)
        values = node.get("enum", ())
        kept = [value for value in values if value is not None]
        if kept and len(kept) < len(values):
            changed["enum"] = kept
            self._lost(at(pointer, "enum"), "null leaves the values", _LEFT_OUT)
        for keyword in ("anyOf", "oneOf"):
            if keyword in node:
                changed = self._without_null_branch(pointer, keyword, node, changed)
        if self._facts.nullable(node):
            changed = self._without_null_value(pointer, changed)
        return changed if changed != rebuilt else rebuilt

    def _without_null_branch(self, pointer: str, keyword: str, node: JsonObject, changed: JsonObject) -> JsonObject:
        place = at(pointer, keyword)
        if any(target.startswith(place + "/") for target in self._document.targets):
            return changed  # a reference leads to a branch by its number
        kept = [index for index, branch in enumerate(node[keyword]) if not self._facts.only_null(branch)]
        if not kept or len(kept) == len(node[keyword]):
            return changed
        if keyword == "oneOf" and any(self._facts.accepts_null(node[keyword][index]) for index in kept):
            return changed  # null fits two branches, so it is refused; with one branch less it would be taken
        branches = [changed[keyword][index] for index in kept]
        self._lost(place, "the null branch goes", _LEFT_OUT)
        rest = {name: value for name, value in changed.items() if name != keyword}
        (branch, *more) = branches
        if (
            more
            or not isinstance(branch, dict)
            or not ASSERTS.isdisjoint(rest)
            or not branch.keys().isdisjoint(DEFINITIONS)
        ):
            return {**changed, keyword: branches}
        return {**branch, **rest}

    def _without_null_value(self, pointer: str, changed: JsonObject) -> JsonObject:
        if "default" in changed and changed["default"] is None:
            changed = {name: value for name, value in changed.items() if name != "default"}
            self._lost(at(pointer, "default"), "the default null goes", "it would not fit what is left")
        examples = changed.get("examples")
        if isinstance(examples, list) and any(value is None for value in examples):
            changed = {**changed, "examples": [value for value in examples if value is not None]}
            self._lost(at(pointer, "examples"), "the example null goes", "it would not fit what is left")
        return changed

    def _lost(self, pointer: str, what: str, why: str) -> None:
        self._losses.append(Loss(pointer, what, why))


def _without_required(schema: JsonObject, relaxed: list[str]) -> JsonObject:
    required = [name for name in schema["required"] if name not in relaxed]
    rest = {name: value for name, value in schema.items() if name != "required"}
    return {**schema, "required": required} if required else rest
