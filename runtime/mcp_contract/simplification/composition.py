"""References and composition written out: a schema that says the same with neither.

Rule: exact or refused: a value fits the result if and only if it fits the schema. Whoever reads the result needs to follow nothing
and to combine nothing.
"""

from __future__ import annotations

from typing import Any

from mcp_contract.messages import JsonObject
from mcp_contract.simplification.containment import without_contained
from mcp_contract.simplification.keywords import ASSERTS, DEFINITIONS, HOLDS_NAMED, Schema, Step, at, with_subschemas
from mcp_contract.simplification.limits import MAX_DEPTH, Measure, NotSimplifiable
from mcp_contract.simplification.loss import Loss
from mcp_contract.simplification.merge import Merger
from mcp_contract.simplification.references import Document
from mcp_contract.simplification.union import united

_UNEVALUATED = ("unevaluatedItems", "unevaluatedProperties")
_UNIONS = ("anyOf", "oneOf")
_COMPOSITION = frozenset(("$ref", "allOf", *_UNIONS))
_REFUSED = {
    "not": "what must not fit cannot be said without `not`",
    "if": "a condition cannot be said without `if`",
    "then": "a condition cannot be said without `if`",
    "else": "a condition cannot be said without `if`",
    "dependentSchemas": "a condition cannot be said without `dependentSchemas`",
}
# What refers to something is gone; `discriminator` comes from another standard and tells the branches of a union apart.
_POINTLESS = frozenset(("$anchor", "$dynamicAnchor", "discriminator", *DEFINITIONS))


def written_out(document: Document, losses: list[Loss]) -> JsonObject:
    """The document's schema without references and composition.

    Args:
        document: a document whose root is an object.
        losses: every change is added here.

    Returns:
        A schema that the same values fit, or the same object where there is nothing to write out. Parts of it may be shared.

    Raises:
        NotSimplifiable: there is none, or it would be too large; the error names the place.
    """
    if document.obstacle is not None:
        raise document.obstacle
    result = _Writer(document, losses).schema(document.root, "")
    if not isinstance(result, dict):
        raise NotSimplifiable("", "no value fits it")
    return result


class _Writer:
    def __init__(self, document: Document, losses: list[Loss]) -> None:
        self._document = document
        self._losses = losses
        self._merger = Merger()
        self._measure = Measure()
        self._written: dict[str, Schema] = {}
        self._open: set[str] = set()

    def schema(self, node: Schema, pointer: str) -> Schema:
        if isinstance(node, bool):
            return node
        if len(self._open) == MAX_DEPTH:
            raise NotSimplifiable(pointer, f"it is nested more than {MAX_DEPTH} deep once it is written out")
        self._open.add(pointer)
        result = self._schema(node, pointer)
        self._open.remove(pointer)
        return result

    def _schema(self, node: JsonObject, pointer: str) -> Schema:
        ignored = "$ref" in node and self._document.ignores_siblings
        if not ignored:
            _see_that_it_can_be_written_out(node, pointer)
        own = self._own(node, pointer, ignored)
        if _COMPOSITION.isdisjoint(node):
            return _closed(own, pointer)
        result = own
        for part, place in self._parts(node, pointer, ignored):
            merged = self._merger.both(result, part, place)
            if isinstance(merged, bool):
                raise NotSimplifiable(pointer, "no value fits everything that applies here")
            hidden = [word for word in _annotations([part]) if merged is not part and merged[word] != part[word]]
            if hidden:
                what = f"{', '.join(sorted(hidden))} of it give way"
                self._losses.append(Loss(place, what, "what stands at the place of use counts"))
            result = merged
        result = _closed(result, pointer)
        self._measure.check(result, pointer)
        return result

    def _own(self, node: JsonObject, pointer: str, ignored: bool) -> JsonObject:
        """The node without composition and what served it, its subschemas written out."""
        left = {
            keyword: value
            for keyword, value in node.items()
            if keyword not in _COMPOSITION and keyword not in _POINTLESS and not (ignored and keyword in ASSERTS)
        }
        for keyword in (keyword for keyword in node if keyword in _POINTLESS):
            self._losses.append(Loss(at(pointer, keyword), f"{keyword} goes", "nothing refers to it any more"))
        own = node if len(left) == len(node) else left
        return with_subschemas(own, lambda steps, inner: self._inside(inner, pointer, steps))

    def _inside(self, inner: Schema, pointer: str, steps: tuple[Step, ...]) -> Schema:
        place = at(pointer, *steps)
        written = self.schema(inner, place)
        if steps[0] == "properties" and isinstance(written, bool):
            if not written:
                raise NotSimplifiable(place, "no value fits it, which a property that is an object cannot say")
            self._losses.append(Loss(place, "true becomes {}", "a property is an object"))
            return {}
        return written

    def _parts(self, node: JsonObject, pointer: str, ignored: bool) -> list[tuple[Schema, str]]:
        """The schemas that apply to the same value as the node."""
        parts: list[tuple[Schema, str]] = []
        if "$ref" in node:
            place = at(pointer, "$ref")
            parts.append((self._target(node["$ref"], place), place))
            self._losses.append(Loss(place, f"the reference {node['$ref']!r} is written out", "no reference is left"))
        if ignored:
            return parts
        if "allOf" in node:
            places = [at(pointer, "allOf", index) for index in range(len(node["allOf"]))]
            parts += [(self.schema(inner, place), place) for inner, place in zip(node["allOf"], places, strict=True)]
            self._losses.append(Loss(at(pointer, "allOf"), "allOf is merged", "one schema says all of it"))
        for keyword in _UNIONS:
            if keyword in node:
                parts.append((self._union(node, pointer, keyword), at(pointer, keyword)))
        return parts

    def _union(self, node: JsonObject, pointer: str, keyword: str) -> Schema:
        place = at(pointer, keyword)
        branches = [self.schema(inner, at(place, index)) for index, inner in enumerate(node[keyword])]
        looked_at = not self._document.keywords.isdisjoint(_UNEVALUATED)
        left = branches
        if keyword == "anyOf" and not looked_at:
            left = without_contained(branches, format_asserts=self._document.ignores_siblings)
        result = united(left, place, exactly_one=keyword == "oneOf")
        if result is True and looked_at:
            raise NotSimplifiable(place, "which branch fits decides what has been looked at")
        said = _annotations(branches) - (_annotations([result]) | _annotations([node]))
        gone = f"; {', '.join(sorted(said))} of its branches go" if said else ""
        self._losses.append(Loss(place, f"{keyword} is merged{gone}", "one schema takes the same values"))
        return result

    def _target(self, reference: Any, place: str) -> Schema:
        target, node = self._document.target(place, reference)
        if target in self._open:
            raise NotSimplifiable(place, f"the reference {reference!r} leads back to where it stands")
        if target not in self._written:
            self._written[target] = self.schema(node, target)
            self._measure.check(self._written[target], place)
        return self._written[target]


def _see_that_it_can_be_written_out(node: JsonObject, pointer: str) -> None:
    for keyword, reason in _REFUSED.items():
        if keyword in node:
            raise NotSimplifiable(at(pointer, keyword), reason)
    for keyword in _UNEVALUATED:
        if not isinstance(node.get(keyword, True), bool):
            raise NotSimplifiable(at(pointer, keyword), "what applies depends on what else has been looked at")
    if any(isinstance(inner, dict | bool) for inner in node.get("dependencies", {}).values()):
        raise NotSimplifiable(at(pointer, "dependencies"), "a condition cannot be said without `dependencies`")


def _closed(schema: JsonObject, pointer: str) -> JsonObject:
    """With everything that applies in one schema, what nothing has looked at is what nothing names."""
    for unevaluated, rest in (("unevaluatedProperties", "additionalProperties"), ("unevaluatedItems", "items")):
        if unevaluated in schema:
            if rest == "items" and "contains" in schema:
                raise NotSimplifiable(at(pointer, unevaluated), "what applies depends on which items `contains` finds")
            says = schema[unevaluated]
            schema = {keyword: value for keyword, value in schema.items() if keyword != unevaluated}
            schema.setdefault(rest, says)
    return schema


def _annotations(schemas: list[Schema]) -> set[str]:
    found = {keyword for schema in schemas if isinstance(schema, dict) for keyword in schema}
    return found - ASSERTS - set(HOLDS_NAMED)
