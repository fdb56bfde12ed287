"""Two schemas that both apply → one schema.

Rule: exact or refused: a value fits the result if and only if it fits both. Both are free of references and composition. What
asserts nothing (titles, descriptions, defaults) is taken from the first where both have it: that is the one at the place of use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp_contract.messages import JsonObject
from mcp_contract.simplification.keywords import ASSERTS, Schema, at, constants_of, equality_key, types_of, words
from mcp_contract.simplification.limits import NotSimplifiable

MAX_STEPS = 50_000
"""How many pairs of schemas one document may take; merging what is shared can take far more than it is long."""

_LARGER = words("exclusiveMinimum minItems minLength minProperties minimum")
_SMALLER = words("exclusiveMaximum maxItems maxLength maxProperties maximum")
_MEMBERS = ("properties", "patternProperties", "additionalProperties")
_ITEMS = ("prefixItems", "items", "additionalItems")
_SOME_ITEMS = ("contains", "minContains", "maxContains")


class Merger:
    """Merges the schemas of one document, within a limit on the work."""

    def __init__(self) -> None:
        self._steps = 0

    def both(self, first: Schema, second: Schema, pointer: str) -> Schema:
        """The schema of what fits two schemas.

        Args:
            first: a plain schema; its annotations win.
            second: a plain schema.
            pointer: where the two meet, for the error.

        Returns:
            A plain schema, which may be one of the two.

        Raises:
            NotSimplifiable: no plain schema says exactly that.
        """
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise NotSimplifiable(pointer, f"merging it takes more than {MAX_STEPS} steps")
        if first is False or second is False:
            return False
        if first is True or second is True:
            return second if first is True else first
        merged: JsonObject = {}
        for keywords, merge in ((_MEMBERS, self._members), (_ITEMS, self._items), (_SOME_ITEMS, _same_or_refused)):
            merged.update(self._group(keywords, merge, first, second, pointer))
        for keyword in (*first, *(keyword for keyword in second if keyword not in first)):
            if keyword not in (*_MEMBERS, *_ITEMS, *_SOME_ITEMS):
                merged[keyword] = self._keyword(keyword, first, second, pointer)
        if ("const" in first or "enum" in first) and ("const" in second or "enum" in second):
            merged.pop("const", None)
            merged["enum"] = _common_constants(first, second, pointer)
        return {keyword: merged[keyword] for keyword in (*first, *second, "enum") if keyword in merged}

    def _keyword(self, keyword: str, first: JsonObject, second: JsonObject, pointer: str) -> Any:
        if keyword not in first or keyword not in second:
            return first[keyword] if keyword in first else second[keyword]
        mine, other = first[keyword], second[keyword]
        if keyword not in ASSERTS or keyword in ("const", "enum") or _same(mine, other):
            return mine
        if keyword == "type":
            return _common_types(first, second, pointer)
        if keyword == "required":
            return list(dict.fromkeys((*mine, *other)))
        if keyword == "uniqueItems":
            return mine or other
        if keyword in _LARGER:
            return max(mine, other)
        if keyword in _SMALLER:
            return min(mine, other)
        if keyword == "propertyNames":
            return self.both(mine, other, at(pointer, keyword))
        raise NotSimplifiable(pointer, f"two different {keyword} apply, which no single one can say")

    def _group(
        self,
        keywords: tuple[str, ...],
        merge: Callable[[JsonObject, JsonObject, str], JsonObject],
        first: JsonObject,
        second: JsonObject,
        pointer: str,
    ) -> JsonObject:
        """Keywords that only mean something together."""
        mine = {keyword: first[keyword] for keyword in keywords if keyword in first}
        other = {keyword: second[keyword] for keyword in keywords if keyword in second}
        if not mine or not other or _same(mine, other):
            return mine or other
        return merge(mine, other, pointer)

    def _members(self, mine: JsonObject, other: JsonObject, pointer: str) -> JsonObject:
        my_rest, other_rest = mine.get("additionalProperties", True), other.get("additionalProperties", True)
        if ("patternProperties" in mine or "patternProperties" in other) and (my_rest, other_rest) != (True, True):
            raise NotSimplifiable(pointer, "patternProperties and additionalProperties of different schemas apply")
        rest = self.both(my_rest, other_rest, at(pointer, "additionalProperties"))
        mine_named, other_named = mine.get("properties", {}), other.get("properties", {})
        members: JsonObject = {}
        for name in (*mine_named, *(name for name in other_named if name not in mine_named)):
            place = at(pointer, "properties", name)
            member = self.both(mine_named.get(name, my_rest), other_named.get(name, other_rest), place)
            if member is False and rest is not False:
                raise NotSimplifiable(place, "no value fits it, which a property that is an object cannot say")
            if member is not False:
                members[name] = member
        patterns = dict(mine.get("patternProperties", {}))
        for pattern, inner in other.get("patternProperties", {}).items():
            place = at(pointer, "patternProperties", pattern)
            patterns[pattern] = self.both(patterns.get(pattern, True), inner, place)
        merged: JsonObject = {"properties": members} if members or mine_named or other_named else {}
        if patterns:
            merged["patternProperties"] = patterns
        if "additionalProperties" in mine or "additionalProperties" in other:
            merged["additionalProperties"] = rest  # even if it is true: then no member is left unevaluated
        return merged

    def _items(self, mine: JsonObject, other: JsonObject, pointer: str) -> JsonObject:
        my_rest, other_rest = mine.get("items", True), other.get("items", True)
        if isinstance(my_rest, list) or isinstance(other_rest, list) or "additionalItems" in mine | other:
            raise NotSimplifiable(pointer, "two lists of items apply")
        my_first, other_first = mine.get("prefixItems", []), other.get("prefixItems", [])
        first = [
            self.both(
                my_first[index] if index < len(my_first) else my_rest,
                other_first[index] if index < len(other_first) else other_rest,
                at(pointer, "prefixItems", index),
            )
            for index in range(max(len(my_first), len(other_first)))
        ]
        rest = self.both(my_rest, other_rest, at(pointer, "items"))
        return ({"prefixItems": first} if first else {}) | ({"items": rest} if "items" in mine | other else {})


def _same(mine: Any, other: Any) -> bool:
    return mine is other or equality_key(mine) == equality_key(other)  # for Python, 1 equals true


def _same_or_refused(mine: JsonObject, other: JsonObject, pointer: str) -> JsonObject:
    raise NotSimplifiable(pointer, f"two different {next(iter(mine))} apply, which no single one can say")


def _common_types(first: JsonObject, second: JsonObject, pointer: str) -> str | list[str]:
    mine, other = types_of(first) or (), types_of(second) or ()
    common = [name for name in mine if name in other or (name == "integer" and "number" in other)]
    if "number" in mine and "number" not in other and "integer" in other:
        common.append("integer")
    common = list(dict.fromkeys(common))
    if not common:
        raise NotSimplifiable(pointer, f"no value has both the type {', '.join(mine)} and the type {', '.join(other)}")
    return common[0] if len(common) == 1 else common


def _common_constants(first: JsonObject, second: JsonObject, pointer: str) -> list[Any]:
    others = {equality_key(value) for value in constants_of(second) or ()}
    common = [value for value in constants_of(first) or () if equality_key(value) in others]
    if not common:
        raise NotSimplifiable(pointer, "two lists of values apply that have none in common")
    return common
