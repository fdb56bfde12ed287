"""The plain level: each rule by example."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_contract.simplification import Loss, NotSimplifiable, plain

Schema = dict[str, Any]

NULL: Schema = {"type": "null"}
TEXT: Schema = {"type": "string"}
INNER: Schema = {"type": "object", "properties": {"label": TEXT}}


def of(member: Any, *required: str, **more: Any) -> Schema:
    """An input schema with one member."""
    schema: Schema = {"type": "object", "properties": {"m": member}}
    return {**schema, **({"required": list(required)} if required else {}), **more}


@pytest.mark.parametrize(
    ("declared", "simplified"),
    [
        ({"anyOf": [TEXT, NULL], "default": None}, TEXT),
        ({"anyOf": [INNER, NULL], "title": "T"}, INNER | {"title": "T"}),
        ({"anyOf": [TEXT]}, TEXT),
        ({"allOf": [TEXT], "description": "D"}, TEXT | {"description": "D"}),
        ({"allOf": [TEXT, {"maxLength": 3}], "minLength": 1}, TEXT | {"maxLength": 3, "minLength": 1}),
        ({"allOf": [{"maxLength": 4}, {"maxLength": 3}]}, {"maxLength": 3}),
        ({"allOf": [{"type": ["integer", "string"]}, {"type": "number"}]}, {"type": "integer"}),
        ({"allOf": [{"enum": [1, 2, True]}, {"enum": [2.0, 3, 1]}]}, {"enum": [1, 2]}),
        ({"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]}, {"enum": ["a", "b"]}),
        (
            {"anyOf": [{"const": "a", "type": "string"}, {"enum": ["b", "a"], "type": "string"}]},
            TEXT | {"enum": ["a", "b"]},
        ),
        ({"anyOf": [{"const": "a"}, {"type": "boolean"}]}, {"enum": ["a", False, True]}),
        ({"anyOf": [TEXT, {"type": "integer"}]}, {"type": ["string", "integer"]}),
        ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, {"type": "number"}),
        (
            {"anyOf": [TEXT | {"maxLength": 3}, {"type": "array", "items": TEXT}]},
            {"type": ["string", "array"], "maxLength": 3, "items": TEXT},
        ),
        ({"anyOf": [TEXT, {}], "title": "T"}, {"title": "T"}),
        (True, {}),
        ({"type": "array", "items": {"anyOf": [TEXT, NULL]}}, {"type": "array", "items": {"type": ["string", "null"]}}),
        (
            {"type": "array", "items": {"anyOf": [{"const": "a"}, NULL]}},
            {"type": "array", "items": {"enum": ["a", None]}},
        ),
        (
            {"allOf": [INNER, {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}]},
            {"type": "object", "properties": {"label": TEXT, "size": {"type": "integer"}}, "required": ["size"]},
        ),
        (
            {
                "allOf": [
                    INNER | {"additionalProperties": False},
                    {"properties": {"label": {"maxLength": 3}, "size": {}}},
                ]
            },
            {"type": "object", "properties": {"label": TEXT | {"maxLength": 3}}, "additionalProperties": False},
        ),
        (
            {"allOf": [INNER, {"additionalProperties": {"maxLength": 3}}]},
            {
                "type": "object",
                "properties": {"label": TEXT | {"maxLength": 3}},
                "additionalProperties": {"maxLength": 3},
            },
        ),
        (
            {"allOf": [INNER, {"properties": {"size": {}}}], "unevaluatedProperties": False},
            {"type": "object", "properties": {"label": TEXT, "size": {}}, "additionalProperties": False},
        ),
        (
            {"allOf": [{"prefixItems": [TEXT]}, {"items": {"maxLength": 3}}]},
            {"prefixItems": [TEXT | {"maxLength": 3}], "items": {"maxLength": 3}},
        ),
    ],
)
def test_composition_is_written_out_where_nothing_is_lost(declared: Any, simplified: Schema) -> None:
    assert plain(of(declared)).schema == of(simplified)


@pytest.mark.parametrize(
    ("declared", "simplified"),
    [
        ({"$ref": "#/$defs/N"}, TEXT | {"title": "N"}),
        ({"$ref": "#/$defs/N", "title": "M", "maxLength": 3}, TEXT | {"title": "M", "maxLength": 3}),
        ({"anyOf": [{"$ref": "#/$defs/N"}, NULL]}, TEXT | {"title": "N"}),
        ({"type": "array", "items": {"$ref": "#/$defs/a~1b%20c"}}, {"type": "array", "items": {"type": "integer"}}),
        ({"$ref": "#anchored"}, {"type": "boolean"}),
        ({"$ref": "#/properties/other"}, {"type": "number"}),
    ],
)
def test_references_are_written_out_with_what_stands_beside_them(declared: Schema, simplified: Schema) -> None:
    schema = of(declared)
    schema["properties"]["other"] = {"type": "number"}
    schema["$defs"] = {
        "N": TEXT | {"title": "N"},
        "a/b c": {"type": "integer"},
        "A": {"$anchor": "anchored", "type": "boolean"},
    }
    assert plain(schema).schema == {"type": "object", "properties": {"m": simplified, "other": {"type": "number"}}}


def test_a_nullable_definition_keeps_its_null_for_items_alone() -> None:
    declared = {
        "type": "object",
        "properties": {"m": {"$ref": "#/$defs/N"}, "l": {"items": {"$ref": "#/$defs/N"}}},
        "required": ["m", "l"],
        "$defs": {"N": {"anyOf": [TEXT, NULL]}},
    }
    assert plain(declared).schema == {
        "type": "object",
        "properties": {"m": TEXT, "l": {"items": {"type": ["string", "null"]}}},
        "required": ["l"],
    }


def test_the_older_dialect_ignores_what_stands_beside_a_reference() -> None:
    dialect = "http://json-schema.org/draft-07/schema#"
    declared = of(
        {"$ref": "#/definitions/N", "maxLength": 3, "description": "D"},
        **{"$schema": dialect, "definitions": {"N": TEXT}},
    )
    assert plain(declared).schema == of(TEXT | {"description": "D"}, **{"$schema": dialect})


@pytest.mark.parametrize(
    ("declared", "pointer", "words"),
    [
        (
            {"oneOf": [INNER, {"type": "object"}]},
            "/properties/m/oneOf",
            "a union of several schemas for a value that is an object",
        ),
        ({"anyOf": [INNER, {"type": ["object", "null"], "required": ["z"]}]}, "/properties/m/anyOf", "several schemas"),
        ({"oneOf": [TEXT, {}]}, "/properties/m/oneOf", "takes anything"),
        ({"oneOf": [{"type": ["string", "null"]}, NULL]}, "/properties/m/oneOf", "null fits two branches"),
        ({"oneOf": [{"const": 1}, {"enum": [1.0, 2]}]}, "/properties/m/oneOf", "a constant fits two branches"),
        ({"anyOf": [{"const": 1}, TEXT]}, "/properties/m/anyOf", "a union of constants and of something that is none"),
        ({"not": TEXT}, "/properties/m/not", "without `not`"),
        ({"if": TEXT, "then": {"maxLength": 3}}, "/properties/m/if", "without `if`"),
        (
            {"dependentSchemas": {"a": {"required": ["b"]}}},
            "/properties/m/dependentSchemas",
            "without `dependentSchemas`",
        ),
        ({"dependencies": {"a": {"required": ["b"]}}}, "/properties/m/dependencies", "without `dependencies`"),
        ({"$ref": "#/$defs/Nowhere"}, "/properties/m/$ref", "leads nowhere"),
        ({"$ref": "#nowhere"}, "/properties/m/$ref", "leads nowhere"),
        ({"$ref": "https://example.com/schema"}, "/properties/m/$ref", "leads out of the schema"),
        ({"$dynamicRef": "#m"}, "/properties/m/$dynamicRef", "depends on the way"),
        ({"$ref": "#"}, "/properties/m/$ref", "leads back to where it stands"),
        ({"$ref": "#/properties/m"}, "/properties/m/$ref", "leads back to where it stands"),
        ({"allOf": [TEXT, {"type": "integer"}]}, "/properties/m/allOf/1", "no value has both"),
        ({"allOf": [{"pattern": "a"}, {"pattern": "b"}]}, "/properties/m/allOf/1", "two different pattern apply"),
        ({"allOf": [{"contains": TEXT}, {"contains": {}}]}, "/properties/m/allOf/1", "two different contains apply"),
        (
            {"allOf": [{"patternProperties": {"a": TEXT}}, {"additionalProperties": False}]},
            "/properties/m/allOf/1",
            "patternProperties and additionalProperties",
        ),
        (
            {"allOf": [{"properties": {"a": TEXT}}, {"properties": {"a": False}}]},
            "/properties/m/allOf/1",
            "no value fits it",
        ),
        (False, "/properties/m", "no value fits it"),
        ({"properties": {"a": {"$id": "https://example.com/a"}}}, "/properties/m/properties/a/$id", "start from there"),
        (
            {"anyOf": [{"properties": {"a": {}}}, {}], "unevaluatedProperties": False},
            "/properties/m/anyOf",
            "which branch fits decides",
        ),
    ],
)
def test_what_cannot_be_said_plainly_is_refused_with_place_and_reason(declared: Any, pointer: str, words: str) -> None:
    with pytest.raises(NotSimplifiable) as caught:
        plain(of(declared))
    assert caught.value.pointer.startswith(pointer)
    assert words in caught.value.reason


def test_a_definition_that_nothing_uses_is_no_obstacle() -> None:
    unused = {"Tree": {"properties": {"left": {"$ref": "#/$defs/Tree"}}}, "Odd": {"not": TEXT}}
    assert plain(of(TEXT, **{"$defs": unused})).schema == of(TEXT)


def test_a_plain_schema_comes_back_as_the_same_object() -> None:
    schema = of(INNER | {"additionalProperties": False}, "m", title="T", **{"x-own": 1})
    result = plain(schema)
    assert result.schema is schema
    assert result.losses == ()


def test_what_branches_said_of_themselves_is_told_as_lost() -> None:
    losses = plain(of({"oneOf": [{"const": "a", "title": "A"}, {"const": "b", "description": "B"}]})).losses
    assert losses == (
        Loss(
            "/properties/m/oneOf",
            "oneOf is merged; description, title of its branches go",
            "one schema takes the same values",
        ),
    )
