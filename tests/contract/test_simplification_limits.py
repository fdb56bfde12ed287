"""What simplification refuses to walk through, and what is no input schema at all."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from mcp_contract.simplification import (
    InvalidSchema,
    MissingMembers,
    NotSimplifiable,
    check_input_schema,
    plain,
    without_header_annotations,
    without_null,
)
from mcp_contract.simplification.limits import MAX_DEPTH, MAX_SIZE, MAX_SUBSCHEMAS

TEXT: dict[str, Any] = {"type": "string"}


def diamonds(depth: int, last: Any) -> dict[str, Any]:
    """Definitions that each use the next one twice: written out, they double at every step."""
    definitions: dict[str, Any] = {f"D{depth}": last}
    for number in range(depth):
        use = {"$ref": f"#/$defs/D{number + 1}"}
        definitions[f"D{number}"] = {"type": "object", "properties": {"a": use, "b": use}}
    return {"type": "object", "properties": {"root": {"$ref": "#/$defs/D0"}}, "$defs": definitions}


def chain(length: int, link: Any) -> dict[str, Any]:
    definitions = {f"D{number}": link({"$ref": f"#/$defs/D{number + 1}"}) for number in range(length)}
    definitions[f"D{length}"] = TEXT
    return {"type": "object", "properties": {"root": {"$ref": "#/$defs/D0"}}, "$defs": definitions}


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def test_deep_diamonds_are_refused_at_once() -> None:
    started = time.perf_counter()
    with pytest.raises(NotSimplifiable, match="longer than"):
        plain(diamonds(30, {"type": ["string", "null"]}))
    assert time.perf_counter() - started < 0.5


def test_deep_diamonds_lose_their_null_where_references_stay() -> None:
    started = time.perf_counter()
    simplified = without_null(diamonds(30, {"type": ["string", "null"]})).schema
    assert time.perf_counter() - started < 0.5
    assert simplified == diamonds(30, TEXT)


def test_small_diamonds_are_written_out() -> None:
    assert len(json.dumps(plain(diamonds(8, {"type": ["string", "null"]})).schema)) < 20_000


def test_diamonds_of_merges_end_soon() -> None:
    schema = diamonds(12, TEXT)
    for number in range(12):
        schema["$defs"][f"D{number}"]["allOf"] = [{"properties": {"a": {"$ref": f"#/$defs/D{number + 1}"}}}]
    started = time.perf_counter()
    with pytest.raises(NotSimplifiable, match=r"steps|longer than"):
        plain(schema)
    assert time.perf_counter() - started < 2


@pytest.mark.parametrize("length", [100, 2000])
def test_long_ways_through_references_end_without_deep_recursion(length: int) -> None:
    through_members = chain(length, lambda one: {"type": "object", "properties": {"a": one}})
    with pytest.raises(NotSimplifiable, match="nested more than"):
        plain(through_members)
    assert without_null(through_members).schema is through_members
    beside = chain(length, lambda one: one)
    with pytest.raises(NotSimplifiable, match="nested more than"):
        plain(beside)
    assert without_null(beside).schema is beside
    with pytest.raises(InvalidSchema, match="references lead through more than"):
        check_input_schema(beside)


@pytest.mark.parametrize(
    "recursive",
    [
        {"$ref": "#/$defs/A"},
        {"allOf": [{"$ref": "#/$defs/A"}]},
        {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/A"}]},
    ],
)
def test_references_in_a_circle_are_refused(recursive: dict[str, Any]) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A"}},
        "required": ["a"],
        "$defs": {"A": recursive},
    }
    with pytest.raises(NotSimplifiable, match="leads back to where it stands"):
        plain(schema)
    assert without_null(schema).schema is schema
    assert MissingMembers(schema).as_null({"a": 1}) == {"a": 1}
    with pytest.raises(InvalidSchema, match="circle"):
        check_input_schema(schema)


def test_a_recursive_model_is_an_input_schema_without_a_plain_form() -> None:
    tree = {"type": "object", "properties": {"left": {"anyOf": [{"$ref": "#/$defs/T"}, {"type": "null"}]}}}
    schema = {"type": "object", "properties": {"tree": {"$ref": "#/$defs/T"}}, "$defs": {"T": tree}}
    check_input_schema(schema)
    with pytest.raises(NotSimplifiable) as caught:
        plain(schema)
    assert caught.value.pointer == "/$defs/T/properties/left/anyOf/0/$ref"
    assert caught.value.reason == "the reference '#/$defs/T' leads back to where it stands"


@pytest.mark.parametrize("simplify", [without_null, plain, without_header_annotations])
@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (nested(MAX_DEPTH), "nested more than"),
        (nested(5000), "nested more than"),
        ({"type": "object", "description": "x" * MAX_SIZE}, "longer than"),
        ({"type": "object", "properties": {str(number): {} for number in range(MAX_SUBSCHEMAS)}}, "more than"),
    ],
    ids=["deep", "very deep", "long", "many"],
)
def test_what_is_too_large_is_refused(simplify: Any, schema: dict[str, Any], words: str) -> None:
    with pytest.raises(NotSimplifiable, match=words):
        simplify(schema)
    with pytest.raises(InvalidSchema, match=r"more than|too large"):
        check_input_schema(schema)
    assert MissingMembers(schema).as_null({}) == {}


def test_the_deepest_schema_that_is_allowed_is_dealt_with() -> None:
    schema = nested((MAX_DEPTH - 1) // 2)
    check_input_schema(schema)
    assert plain(schema).schema is schema


@pytest.mark.parametrize(
    ("schema", "pointer", "found", "allowed"),
    [
        (["object"], "", "['object']", "an object schema"),
        (True, "", "true", "an object schema"),
        ({}, "/type", "no type", "'object'"),
        ({"type": "array", "items": TEXT}, "/type", "'array'", "'object'"),
        ({"type": ["object", "null"]}, "/type", "['object', 'null']", "'object'"),
        ({"anyOf": [{"type": "object"}]}, "/type", "no type", "'object'"),
        ({"type": "object", "properties": [TEXT]}, "/properties", "[{'type': 'string'}]", "an object of schemas"),
        ({"type": "object", "properties": {"a": "string"}}, "/properties/a", "'string'", "a schema"),
        (
            {"type": "object", "properties": {"a/b": {"type": "text"}}},
            "/properties/a~1b/type",
            "'text'",
            "one of null, boolean",
        ),
        ({"type": "object", "properties": {"a": {"type": []}}}, "/properties/a/type", "[]", "one of null, boolean"),
        ({"type": "object", "required": "a"}, "/required", "'a'", "a list of different names"),
        ({"type": "object", "required": ["a", "a"]}, "/required", "['a', 'a']", "a list of different names"),
        ({"type": "object", "properties": {"a": {"enum": []}}}, "/properties/a/enum", "[]", "at least one value"),
        ({"type": "object", "anyOf": []}, "/anyOf", "an empty list", "at least one schema"),
        ({"type": "object", "anyOf": {"a": TEXT}}, "/anyOf", "an object", "a list of schemas"),
        ({"type": "object", "allOf": [None]}, "/allOf/0", "null", "a schema"),
        ({"type": "object", "additionalProperties": None}, "/additionalProperties", "null", "a schema"),
        ({"type": "object", "minProperties": -1}, "/minProperties", "-1", "a whole number"),
        ({"type": "object", "minProperties": True}, "/minProperties", "true", "a whole number"),
        ({"type": "object", "properties": {"a": {"minimum": "1"}}}, "/properties/a/minimum", "'1'", "a number"),
        (
            {"type": "object", "dependentRequired": {"a": "b"}},
            "/dependentRequired",
            "an object",
            "lists of different names",
        ),
        ({"type": "object", "description": 3}, "/description", "3", "text"),
        ({"type": "object", "default": {"a": float("nan")}}, "/default/a", "nan", "a finite number"),
        ({"type": "object", "default": {"a": {1, 2}}}, "/default/a", "a Python set", "a JSON value"),
        ({"type": "object", "properties": {1: TEXT}}, "/properties", "the member name 1", "text"),
        (
            {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}},
            "/properties/a/$ref",
            "leads nowhere",
            "'#/$defs/Name'",
        ),
        (
            {"type": "object", "allOf": [{"$ref": "http://localhost/"}]},
            "/allOf/0/$ref",
            "leads out of the schema",
            "a reference",
        ),
        ({"type": "object", "allOf": [{"$ref": 3}]}, "/allOf/0/$ref", "3", "text"),
    ],
)
def test_what_is_no_input_schema_is_named(schema: Any, pointer: str, found: str, allowed: str) -> None:
    with pytest.raises(InvalidSchema) as caught:
        check_input_schema(schema)
    assert caught.value.pointer == pointer
    assert found in caught.value.found
    assert allowed in caught.value.allowed
    assert (pointer or "/") in str(caught.value)


def test_a_value_that_contains_itself_is_no_input_schema() -> None:
    schema: dict[str, Any] = {"type": "object"}
    schema["properties"] = {"a": schema, "b": schema}
    with pytest.raises(InvalidSchema, match="inside each other"):
        check_input_schema(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"type": "object", "properties": {"a": True, "type": TEXT}, "x-own": {"type": 3}, "default": {"type": 3}},
        {"type": "object", "properties": {"a": {"$ref": "#"}}},
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "dependencies": {"a": ["b"], "c": {"required": ["d"]}},
        },
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {"a": {"items": [TEXT]}},
        },
    ],
)
def test_an_input_schema_passes(schema: dict[str, Any]) -> None:
    check_input_schema(schema)
