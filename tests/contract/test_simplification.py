"""The first level, reading what was left out, and header annotations: each rule by example."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from mcp_contract.simplification import (
    Loss,
    MissingMembers,
    plain,
    without_header_annotations,
    without_null,
)

Schema = dict[str, Any]

NULL: Schema = {"type": "null"}
TEXT: Schema = {"type": "string"}
INNER: Schema = {"type": "object", "properties": {"label": TEXT}}


def of(member: Any, *required: str, **more: Any) -> Schema:
    """An input schema with one member."""
    schema: Schema = {"type": "object", "properties": {"m": member}}
    return {**schema, **({"required": list(required)} if required else {}), **more}


# Null.


@pytest.mark.parametrize(
    ("declared", "simplified"),
    [
        ({"anyOf": [TEXT, NULL]}, TEXT),
        ({"anyOf": [NULL, TEXT]}, TEXT),
        ({"oneOf": [TEXT, NULL]}, TEXT),
        ({"anyOf": [TEXT, {"const": None}]}, TEXT),
        ({"anyOf": [TEXT, {"enum": [None]}]}, TEXT),
        ({"type": ["string", "null"]}, TEXT),
        ({"type": ["string", "integer", "null"]}, {"type": ["string", "integer"]}),
        ({"enum": ["x", None]}, {"enum": ["x"]}),
        ({"type": ["string", "null"], "enum": ["x", None]}, {"type": "string", "enum": ["x"]}),
        ({"anyOf": [TEXT, {"type": "integer"}, NULL]}, {"anyOf": [TEXT, {"type": "integer"}]}),
        ({"anyOf": [{"anyOf": [TEXT, NULL]}, {"type": "integer"}]}, {"anyOf": [TEXT, {"type": "integer"}]}),
        ({"anyOf": [TEXT, NULL], "default": None, "title": "T"}, {"type": "string", "title": "T"}),
        ({"anyOf": [{**TEXT, "title": "inner"}, NULL], "title": "outer"}, {"type": "string", "title": "outer"}),
        ({"type": ["string", "null"], "default": "x"}, {"type": "string", "default": "x"}),
        ({"type": ["string", "null"], "examples": ["x", None]}, {"type": "string", "examples": ["x"]}),
        ({"anyOf": [TEXT, NULL], "minLength": 1}, {"anyOf": [TEXT], "minLength": 1}),
        ({"allOf": [{"type": ["string", "null"]}, {"maxLength": 3}]}, {"allOf": [TEXT, {"maxLength": 3}]}),
        ({"anyOf": [{}, NULL], "default": 3}, {"default": 3}),
    ],
)
def test_a_nullable_member_loses_its_null(declared: Schema, simplified: Schema) -> None:
    assert without_null(of(declared)).schema == of(simplified)


@pytest.mark.parametrize(
    "declared",
    [
        TEXT,
        NULL,
        {"const": None},
        {"enum": [None]},
        {},
        True,
        {"anyOf": [NULL, NULL]},
        {"oneOf": [{"type": ["string", "null"]}, NULL]},
        {"type": "array", "items": {"anyOf": [TEXT, NULL]}},
        {"type": "array", "prefixItems": [{"type": ["string", "null"]}]},
        {"type": "array", "contains": {"type": ["string", "null"]}},
        {"not": {"type": ["string", "null"]}},
        {"if": {"type": ["string", "null"]}, "then": TEXT},
        {"type": "string", "default": None},
        {"enum": [{"a": None}, {}]},
    ],
)
def test_other_nulls_stay_and_the_object_is_the_same(declared: Any) -> None:
    schema = of(declared)
    result = without_null(schema)
    assert result.schema is schema
    assert result.losses == ()


def test_every_change_is_told() -> None:
    declared = of({"anyOf": [TEXT, NULL], "default": None}, "m")
    assert without_null(declared).losses == (
        Loss(
            "/properties/m/anyOf",
            "the null branch goes",
            "a member that would be null is left out instead; null itself is still taken",
        ),
        Loss("/properties/m/default", "the default null goes", "it would not fit what is left"),
        Loss("/required", "'m' becomes optional", "leaving it out says null"),
    )


def test_a_required_nullable_member_becomes_optional() -> None:
    declared = of({"anyOf": [TEXT, NULL]}, "m", "other")
    assert without_null(declared).schema == of(TEXT, "other")
    assert without_null(of(NULL, "m")).schema == of(NULL)


def test_a_required_member_that_only_additional_properties_describe_becomes_optional() -> None:
    declared = {"type": "object", "additionalProperties": {"type": ["string", "null"]}, "required": ["m"]}
    assert without_null(declared).schema == {"type": "object", "additionalProperties": TEXT}
    assert MissingMembers(declared).as_null({}) == {"m": None}


def test_a_required_member_that_takes_anything_stays_required() -> None:
    assert without_null(of({}, "m")).losses == ()


POSITIONS: dict[str, Schema] = {
    "in properties": of({"type": "object", "properties": {"x": {"type": ["string", "null"]}}}),
    "in additionalProperties": of({"type": "object", "additionalProperties": {"type": ["string", "null"]}}),
    "in patternProperties": of({"type": "object", "patternProperties": {"^x": {"type": ["string", "null"]}}}),
    "in an unused definition": of(TEXT, **{"$defs": {"N": {"type": ["string", "null"]}}}),
    "in a definition": of({"$ref": "#/$defs/N"}, **{"$defs": {"N": {"type": ["string", "null"]}}}),
    "in definitions": of({"$ref": "#/definitions/N"}, definitions={"N": {"type": ["string", "null"]}}),
    "by an anchor": of({"$ref": "#n"}, **{"$defs": {"N": {"$anchor": "n", "type": ["string", "null"]}}}),
    "by a pointer to a property": of(
        {"properties": {"x": {"type": ["string", "null"]}, "y": {"$ref": "#/properties/m/properties/x"}}}
    ),
}
_WITHIN: dict[str, Callable[[Schema], Any]] = {
    "items": lambda one: one,
    "prefixItems": lambda one: [one],
    "anyOf": lambda one: [one, TEXT],
    "oneOf": lambda one: [one, TEXT],
    "allOf": lambda one: [one],
}
for _keyword, _within in _WITHIN.items():
    POSITIONS[f"in {_keyword}"] = of({_keyword: _within(INNER | {"properties": {"x": {"type": ["string", "null"]}}})})


@pytest.mark.parametrize("schema", POSITIONS.values(), ids=POSITIONS)
def test_every_position_in_which_a_value_can_be_left_out_is_visited(schema: Schema) -> None:
    result = without_null(schema)
    assert "null" not in repr(result.schema)
    assert len(result.losses) == 1


NULLABLE_INSIDE: Schema = {"type": "object", "properties": {"x": {"type": ["string", "null"]}}, "required": ["x"]}


@pytest.mark.parametrize(
    "declared",
    [
        NULLABLE_INSIDE | {"minProperties": 1},
        NULLABLE_INSIDE | {"maxProperties": 1},
        NULLABLE_INSIDE | {"dependentRequired": {"x": ["y"]}},
        NULLABLE_INSIDE | {"dependentSchemas": {"x": {"required": ["y"]}}},
        NULLABLE_INSIDE | {"propertyNames": {"const": "x"}},
        NULLABLE_INSIDE | {"unevaluatedProperties": False},
        NULLABLE_INSIDE | {"not": {"maxProperties": 0}},
        NULLABLE_INSIDE | {"if": {"required": ["x"]}, "then": {"required": ["y"]}},
        NULLABLE_INSIDE | {"enum": [{"x": None}]},
        NULLABLE_INSIDE | {"anyOf": [{"required": ["x"]}, {"required": ["y"]}]},
        {"allOf": [NULLABLE_INSIDE, {"properties": {"x": TEXT}}]},
        {"oneOf": [NULLABLE_INSIDE, {"type": "object"}]},
        {"not": NULLABLE_INSIDE},
        {"if": NULLABLE_INSIDE, "else": False},
        {"type": "array", "items": NULLABLE_INSIDE, "uniqueItems": True},
        {"type": "array", "items": NULLABLE_INSIDE, "contains": {"required": ["x"]}},
        {"type": "array", "items": True, "contains": NULLABLE_INSIDE, "maxContains": 1},
    ],
    ids=str,
)
def test_where_leaving_a_member_out_could_change_the_verdict_nothing_changes(declared: Schema) -> None:
    schema = of(declared)
    assert without_null(schema).schema is schema


def test_a_member_that_one_branch_of_a_union_requires_keeps_its_null() -> None:
    optional = {"type": "object", "properties": {"y": {"type": ["string", "null"]}}}
    declared = of({"anyOf": [NULLABLE_INSIDE, optional]})
    assert without_null(declared).schema["properties"]["m"] == {
        "anyOf": [NULLABLE_INSIDE, {"type": "object", "properties": {"y": TEXT}}]
    }


def test_branches_of_one_of_that_a_member_tells_apart_lose_their_nulls() -> None:
    def shape(kind: str, null: bool) -> Schema:
        size = {"type": ["integer", "null"]} if null else {"type": "integer"}
        return {"type": "object", "properties": {"kind": {"const": kind}, "size": size}, "required": ["kind"]}

    declared = of({"oneOf": [shape("circle", True), shape("square", True)]})
    assert without_null(declared).schema == of({"oneOf": [shape("circle", False), shape("square", False)]})


def test_a_definition_that_is_also_used_for_items_keeps_its_null() -> None:
    definitions = {"$defs": {"N": {"anyOf": [TEXT, NULL]}}}
    both = {"type": "object", "properties": {"m": {"$ref": "#/$defs/N"}, "l": {"items": {"$ref": "#/$defs/N"}}}}
    declared = {**both, "required": ["m"], **definitions}
    assert without_null(declared).schema == {**both, **definitions}  # left out or null: both are said


def test_a_union_that_a_reference_points_into_keeps_its_branches() -> None:
    declared = of({"anyOf": [NULL, TEXT]})
    declared["properties"]["other"] = {"$ref": "#/properties/m/anyOf/1"}
    assert without_null(declared).losses == ()


@pytest.mark.parametrize(
    "odd",
    [
        {"$schema": "http://json-schema.org/draft-04/schema#"},
        {"$dynamicRef": "#x"},
        {"allOf": [{"$ref": "#/$defs/Nowhere"}]},
        {"allOf": [{"$ref": "https://example.com/schema"}]},
        {"allOf": [{"$id": "https://example.com/schema"}]},
    ],
    ids=str,
)
def test_what_cannot_be_followed_stays_as_it_is(odd: Schema) -> None:
    schema = of({"type": ["string", "null"]}, **odd)
    assert without_null(schema).schema is schema


def test_a_recursive_schema_loses_its_nulls_and_keeps_its_references() -> None:
    tree = {
        "type": "object",
        "properties": {"label": {"type": ["string", "null"]}, "left": {"anyOf": [{"$ref": "#/$defs/Tree"}, NULL]}},
        "required": ["left"],
    }
    declared = of({"$ref": "#/$defs/Tree"}, **{"$defs": {"Tree": tree}})
    assert without_null(declared).schema["$defs"]["Tree"] == {
        "type": "object",
        "properties": {"label": TEXT, "left": {"$ref": "#/$defs/Tree"}},
    }


# What is left out is read as null.


@pytest.mark.parametrize(
    ("schema", "value", "read"),
    [
        (of({"type": ["string", "null"]}, "m"), {}, {"m": None}),
        (of({"type": ["string", "null"]}, "m"), {"m": "x"}, {"m": "x"}),
        (of({"type": ["string", "null"]}), {}, {}),
        (of(TEXT, "m"), {}, {}),
        (of({}, "m"), {}, {}),
        (of({"anyOf": [NULLABLE_INSIDE, NULL]}), {"m": {}}, {"m": {"x": None}}),
        (of({"items": NULLABLE_INSIDE}), {"m": [{}, {"x": "y"}, 3]}, {"m": [{"x": None}, {"x": "y"}, 3]}),
        (of({"$ref": "#/$defs/N"}, **{"$defs": {"N": NULLABLE_INSIDE}}), {"m": {}}, {"m": {"x": None}}),
        (of({"type": "object", "additionalProperties": NULLABLE_INSIDE}), {"m": {"k": {}}}, {"m": {"k": {"x": None}}}),
        (of({"allOf": [NULLABLE_INSIDE, {"required": ["x"]}]}), {"m": {}}, {"m": {"x": None}}),
        (of({"anyOf": [NULLABLE_INSIDE, {"type": "object"}]}), {"m": {}}, {"m": {}}),
        (of({"allOf": [{"$ref": "#/properties/m"}]}), {"m": {}}, {"m": {}}),
        (of({"$ref": "https://example.com/schema"}, "m"), {}, {}),
    ],
)
def test_a_missing_required_nullable_member_is_read_as_null(schema: Schema, value: Any, read: Any) -> None:
    given = copy.deepcopy(value)
    result = MissingMembers(schema).as_null(given)
    assert result == read
    assert given == value
    assert (result is given) == (read == value)


# Both levels.


@pytest.mark.parametrize("simplify", [without_null, plain])
def test_names_and_constants_are_no_keywords(simplify: Any) -> None:
    names = dict.fromkeys(("$ref", "anyOf", "not", "type", "x-mcp-header"), TEXT)
    constants = {"const": {"anyOf": [TEXT, NULL], "$ref": "#/nowhere"}, "default": {"type": ["string", "null"]}}
    schema = {"type": "object", "properties": {**names, "c": constants}}
    assert simplify(schema).schema is schema
    assert without_header_annotations(schema).schema is schema


# Header annotations.


def test_header_annotations_go_wherever_they_stand() -> None:
    marked = TEXT | {"x-mcp-header": "Region"}
    declared = of(
        {"type": "object", "properties": {"r": marked}, "items": marked}, **{"$defs": {"N": {"anyOf": [marked]}}}
    )
    before = copy.deepcopy(declared)
    result = without_header_annotations(declared)
    assert result.schema == of(
        {"type": "object", "properties": {"r": TEXT}, "items": TEXT}, **{"$defs": {"N": {"anyOf": [TEXT]}}}
    )
    assert declared == before
    assert [loss.pointer for loss in result.losses] == [
        "/properties/m/properties/r/x-mcp-header",
        "/properties/m/items/x-mcp-header",
        "/$defs/N/anyOf/0/x-mcp-header",
    ]


def test_without_annotations_the_schema_is_the_same_object() -> None:
    schema = of(TEXT)
    assert without_header_annotations(schema).schema is schema
