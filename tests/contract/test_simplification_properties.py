"""What simplification promises, for any schema and any value, with jsonschema-rs as the judge.

Forth: what the simplified schema accepts, the declared one accepts once missing required nullable members are read as null.
Back: what the declared one accepts, the simplified one accepts once some null members are left out.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import jsonschema_rs
import pytest
from covering import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp_contract.simplification import (
    MissingMembers,
    Simplified,
    check_input_schema,
    facts,
    keywords,
    merge,
    null,
    plain,
    union,
    without_null,
)
from mcp_contract.simplification.composition import written_out
from mcp_contract.simplification.limits import NotSimplifiable
from mcp_contract.simplification.references import Document

Simplification = Callable[[dict[str, Any]], Simplified]

NAMES = ["a", "b", "c"]
DEFINED = ["N0", "N1", "N2"]
SCALARS = [None, True, 0, 1, 2.5, "", "x"]
TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]

chances = st.randoms(use_true_random=True)
bounded = settings(suppress_health_check=list(HealthCheck))


class Maker:
    """Makes schemas, and values that are likely to fit them, from one source of chance.

    The names and constants are few, so that what is made for one place often matters at another.

    Args:
        chance: the source.
        odd: may schemas have keywords that forbid, count or compare?
    """

    def __init__(self, chance: Random, odd: bool = True) -> None:
        self.chance = chance
        self.odd = odd

    def input_schema(self) -> dict[str, Any]:
        root = self.object_schema(3)
        if self.once_in(2):
            other = self.schema(2)
            root = {**other, **root} if isinstance(other, dict) else root
        root["$defs"] = {name: self.schema(2, number + 1) for number, name in enumerate(DEFINED)}
        return root

    def schema(self, depth: int, beside: int = 0) -> Any:
        """A schema.

        Args:
            depth: how many schemas may stand inside each other.
            beside: references that apply to the same value lead to definitions from this number on, so that none goes in a circle.
        """
        if depth == 0:
            return self.leaf()
        forms: list[Callable[[], Any]] = [
            self.leaf,
            lambda: self.nullable(self.schema(depth - 1, beside)),
            lambda: self.object_schema(depth),
            lambda: self.object_schema(depth),
            lambda: {"type": "array", "items": self.schema(depth - 1)},
            lambda: {self.one_of("anyOf", "oneOf", "allOf"): self.some(lambda: self.schema(depth - 1, beside))},
            lambda: {"anyOf": self.some(self.object_schema, depth)},
        ]
        if beside < len(DEFINED):
            forms.append(lambda: {"$ref": "#/$defs/" + self.chance.choice(DEFINED[beside:])})
        if self.odd:
            forms.append(lambda: self.odd_schema(depth, beside))
        schema = self.chance.choice(forms)()
        if isinstance(schema, dict) and self.once_in(5):
            other = self.schema(depth - 1, beside)  # two keywords that apply to the same value
            return {**other, **schema} if isinstance(other, dict) else schema
        return schema

    def leaf(self) -> Any:
        form = self.chance.randrange(5)
        if form == 0:
            types = self.chance.sample(TYPES, self.chance.randint(1, 3))
            return {"type": types if len(types) > 1 else types[0]}
        if form == 1:
            return {"type": [*self.chance.sample(TYPES[1:], self.chance.randint(1, 2)), "null"], "default": None}
        if form == 2:
            return {"enum": self.chance.sample(SCALARS, self.chance.randint(1, 3))}
        if form == 3:
            return {"const": self.chance.choice(SCALARS)}
        return self.one_of({}, True, {"type": "integer", "minimum": 1}, {"type": "string", "maxLength": 0})

    def nullable(self, schema: Any) -> Any:
        branches = [schema, {"type": "null"}]
        return {self.one_of("anyOf", "anyOf", "oneOf"): branches if self.once_in(2) else branches[::-1]}

    def object_schema(self, depth: int) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "object"}
        members = self.chance.sample(NAMES, self.chance.randint(0, 3))
        schema["properties"] = {name: self.schema(depth - 1) for name in members}
        schema["required"] = self.chance.sample(NAMES, self.chance.randint(0, 2))
        rest = self.one_of(None, None, False, "schema")
        if rest is not None:
            schema["additionalProperties"] = self.schema(depth - 1) if rest == "schema" else rest
        if self.odd and self.once_in(4):
            schema |= self.one_of(
                {"minProperties": 1},
                {"maxProperties": 1},
                {"dependentRequired": {"a": ["b"]}},
                {"propertyNames": {"enum": ["a", "b"]}},
                {"unevaluatedProperties": False},
                {"enum": [{"a": None}, {}, {"a": 1}]},
                {"patternProperties": {self.one_of("^a", "b|c"): self.schema(depth - 1)}},
                {"dependentSchemas": {self.chance.choice(NAMES): self.schema(depth - 1)}},
            )
        return schema

    def odd_schema(self, depth: int, beside: int) -> Any:
        def inner() -> Any:
            return self.schema(depth - 1)

        def same() -> Any:
            return self.schema(depth - 1, beside)

        return self.one_of(
            lambda: {"not": same()},
            lambda: {"if": same(), "then": same(), "else": same()},
            lambda: {"type": "array", "prefixItems": [inner()], "items": inner()},
            lambda: {"contains": inner(), "items": inner(), "maxContains": 1},
            lambda: {"type": "array", "items": inner(), "uniqueItems": True},
            lambda: {"allOf": [same()], self.one_of("unevaluatedProperties", "unevaluatedItems"): False},
        )()

    def value(self, root: dict[str, Any], schema: Any, depth: int = 5) -> Any:
        """A value that follows one way through a schema; what else applies beside that way it may miss."""
        if not isinstance(schema, dict) or depth == 0 or self.once_in(20):
            return self.any_value()
        known = ("$ref", "enum", "const", "anyOf", "oneOf", "allOf", "properties", "items")
        ways = [keyword for keyword in known if keyword in schema]
        way = self.chance.choice(ways) if ways else "type"
        if way == "$ref":
            return self.value(root, root["$defs"][schema["$ref"].rpartition("/")[2]], depth - 1)
        if way in ("enum", "const"):
            return self.chance.choice(schema["enum"]) if way == "enum" else schema["const"]
        if way in ("anyOf", "oneOf", "allOf"):
            return self.value(root, self.chance.choice(schema[way]), depth)
        if way == "items":
            inner = [*schema.get("prefixItems", ()), *[schema["items"]] * self.chance.randint(0, 2)]
            return [self.value(root, one, depth - 1) for one in inner]
        if way == "properties":
            names = [name for name in NAMES if name in schema.get("required", ()) or self.once_in(2)]
            members = {name: schema["properties"].get(name, schema.get("additionalProperties", True)) for name in names}
            return {name: self.value(root, one, depth - 1) for name, one in members.items() if one is not False}
        types = schema.get("type", TYPES)
        kind = types if isinstance(types, str) else self.chance.choice(types)
        samples: dict[str, list[Any]] = {
            "null": [None],
            "boolean": [True],
            "integer": [0, 1],
            "number": [1, 2.5],
            "string": ["", "x"],
        }
        return self.chance.choice(samples[kind]) if kind in samples else self.any_value()

    def any_value(self, depth: int = 2) -> Any:
        form = self.chance.randrange(4) if depth else 0
        if form == 1:
            return [self.any_value(depth - 1) for _ in range(self.chance.randint(0, 2))]
        if form == 2:
            return {name: self.any_value(depth - 1) for name in self.chance.sample(NAMES, self.chance.randint(0, 3))}
        return self.chance.choice(SCALARS)

    def values(self, schema: dict[str, Any], count: int = 8) -> list[Any]:
        made = [self.value(schema, schema) for _ in range(count)]
        return [*made, {name: self.any_value() for name in self.chance.sample(NAMES, self.chance.randint(0, 3))}]

    def some(self, make: Callable[..., Any], *given: Any) -> list[Any]:
        return [make(*given) for _ in range(self.chance.randint(1, 3))]

    def one_of(self, *alternatives: Any) -> Any:
        return self.chance.choice(alternatives)

    def once_in(self, times: int) -> bool:
        return self.chance.randrange(times) == 0


# The judgement.


def left_out(value: Any) -> Iterator[Any]:
    """The value, the value without its null members, and with some of them."""
    yield value
    places = list(null_members(value))
    yield without(value, places)
    for size in range(1, len(places)):
        for some in itertools.combinations(places, size):
            yield without(value, list(some))


def null_members(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if inner is None:
                yield (*path, name)
            yield from null_members(inner, (*path, name))
    if isinstance(value, list):
        for index, inner in enumerate(value):
            yield from null_members(inner, (*path, index))


def without(value: Any, places: list[tuple[Any, ...]], path: tuple[Any, ...] = ()) -> Any:
    if isinstance(value, dict):
        kept = {name: inner for name, inner in value.items() if (*path, name) not in places}
        return {name: without(inner, places, (*path, name)) for name, inner in kept.items()}
    if isinstance(value, list):
        return [without(inner, places, (*path, index)) for index, inner in enumerate(value)]
    return value


def judge(simplify: Simplification, schema: dict[str, Any], values: list[Any]) -> tuple[int, int]:
    """Check both directions.

    Returns:
        How many of the values were accepted by the declared schema, and how many by the simplified one.
    """
    check_input_schema(schema)
    as_declared = repr(schema)
    try:
        simplified = simplify(schema)
    except NotSimplifiable:
        return 0, 0
    assert repr(schema) == as_declared, "the declared schema was changed"
    assert (simplified.schema is schema) == (not simplified.losses)
    declared, reduced = jsonschema_rs.validator_for(schema), jsonschema_rs.validator_for(simplified.schema)
    missing = MissingMembers(schema)
    counts = [0, 0]
    for value in values:
        if len(list(null_members(value))) > 6:
            continue  # too many ways of leaving some out
        for tried in left_out(value):
            if declared.is_valid(tried):
                counts[0] += 1
                assert missing.as_null(tried) is tried, "something was filled in where nothing is missing"
                assert any(map(reduced.is_valid, left_out(tried))), f"back: {tried} is lost with {simplified.schema}"
            if reduced.is_valid(tried):
                counts[1] += 1
                assert declared.is_valid(missing.as_null(tried)), f"forth: {tried} is let in by {simplified.schema}"
    return counts[0], counts[1]


@settings(bounded, max_examples=examples(700))
@given(chances, st.booleans(), st.sampled_from([without_null, plain]))
def test_both_promises_hold(chance: Random, odd: bool, simplify: Simplification) -> None:
    maker = Maker(chance, odd)
    schema = maker.input_schema()
    judge(simplify, schema, maker.values(schema))


@settings(bounded, max_examples=examples(400))
@given(chances, st.booleans())
def test_what_is_written_out_says_exactly_the_same(chance: Random, odd: bool) -> None:
    maker = Maker(chance, odd)
    schema = maker.input_schema()
    try:
        written = written_out(Document(schema), [])
    except NotSimplifiable:
        return
    assert keywords.words("$ref allOf anyOf oneOf $defs").isdisjoint(keywords_in(written))
    declared, plainly = jsonschema_rs.validator_for(schema), jsonschema_rs.validator_for(written)
    for value in maker.values(schema):
        assert declared.is_valid(value) == plainly.is_valid(value), f"{value} with {written}"


def keywords_in(schema: Any) -> set[str]:
    if not isinstance(schema, dict):
        return set()
    found = set(schema)
    for _, inner in keywords.subschemas(schema):
        found |= keywords_in(inner)
    return found


def test_the_cases_are_worth_something() -> None:
    """Many schemas change, many values are accepted; otherwise the promises above would be easy to keep."""
    changed = accepted = 0
    for number in range(100):
        maker = Maker(Random(number), odd=False)
        schema = maker.input_schema()
        changed += bool(without_null(schema).losses)
        accepted += min(judge(without_null, schema, maker.values(schema)))
    assert changed > 70
    assert accepted > 200


# That the judge is awake: with a rule made wrong, it finds a case.


def open_everywhere(schema: Any) -> Any:
    inner = (
        keywords.with_subschemas(schema, lambda _, one: open_everywhere(one)) if isinstance(schema, dict) else schema
    )
    return (
        {name: value for name, value in inner.items() if name != "additionalProperties"}
        if isinstance(inner, dict)
        else inner
    )


NULLABLE = {"type": ["integer", "null"]}
OBJECT: dict[str, Any] = {"type": "object", "properties": {"a": NULLABLE}, "$defs": {}}
HARD: list[dict[str, Any]] = [
    OBJECT | {"minProperties": 1},
    OBJECT | {"required": ["a"], "maxProperties": 1},
    OBJECT | {"not": {"maxProperties": 0}},
    OBJECT | {"if": {"minProperties": 1}, "else": False},
    OBJECT | {"properties": {"a": {"type": "array", "items": OBJECT, "uniqueItems": True}}},
    OBJECT | {"allOf": [{"required": ["a"]}]},
]


@pytest.mark.parametrize("simplify", [without_null, plain])
@pytest.mark.parametrize("schema", HARD, ids=str)
def test_both_promises_hold_where_it_is_hard(schema: dict[str, Any], simplify: Simplification) -> None:
    judge(simplify, schema, Maker(Random(0)).values(schema, 50))


WRONG: dict[str, tuple[Any, str, Any]] = {
    "counts are not heeded": (null, "_COUNTS", frozenset()),
    "comparisons are not heeded": (null, "_compares", lambda node: False),
    "conditions are not heeded": (null, "_CONDITIONS", ()),
    "every oneOf is narrowed": (facts.Facts, "told_apart", lambda self, branches: True),
    "several schemas look inside": (null._Survey, "alone", lambda self, node, may: True),
    "null in items goes": (union, "_with_null", lambda branch: branch),
    "unions overlap": (
        union,
        "_of_kinds",
        lambda branches, pointer, exactly_one: {**branches[0], **branches[1]},
    ),
    "the first of two schemas wins": (
        merge.Merger,
        "both",
        lambda self, first, second, pointer: first if second is True else {**second, **first},
    ),
    "everything required becomes optional": (
        null._Survey,
        "relaxed",
        lambda self, node, may: list(node.get("required", ())),
    ),
    "missing members stay missing": (MissingMembers, "as_null", lambda self, value: value),
    "objects are opened": (
        null,
        "_without_required",
        lambda schema, relaxed: open_everywhere(schema),
    ),
}


@pytest.mark.parametrize(("owner", "name", "wrong"), WRONG.values(), ids=WRONG)
def test_a_wrong_rule_is_found(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, wrong: Any) -> None:
    monkeypatch.setattr(owner, name, wrong)
    with pytest.raises(AssertionError, match=r"forth|back"):
        for number in range(1000):
            maker = Maker(Random(number), odd=number % 2 == 0)
            schema = HARD[number] if number < len(HARD) else maker.input_schema()
            judge(plain if number % 3 == 2 else without_null, schema, maker.values(schema, 20))
