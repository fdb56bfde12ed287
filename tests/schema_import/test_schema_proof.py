"""The proof must be able to fail: it notices whatever a normal form loses or adds."""

from __future__ import annotations

import copy
import json
import pathlib
from collections.abc import Callable
from typing import Any

import pytest
from revgen.editing.proof import Unproven, prove
from revgen.schemas.normal_form import Schema, normalise

ROOT = pathlib.Path(__file__).parents[2]

PUBLISHED: Schema = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "definitions": {
        "Id": {"type": ["string", "integer"]},
        "Content": {"anyOf": [{"$ref": "#/definitions/Text"}, {"$ref": "#/definitions/Items"}]},
        "Text": {
            "type": "object",
            "properties": {"type": {"const": "text"}, "text": {"type": "string", "maxLength": 5}},
            "required": ["type"],
        },
        "Items": {"type": "array", "items": {"type": "integer", "minimum": 3}, "maxItems": 4},
        "Call": {
            "type": "object",
            "properties": {
                "id": {"$ref": "#/definitions/Id"},
                "level": {"enum": ["low", "high"]},
                "params": {
                    "type": "object",
                    "properties": {
                        "content": {"$ref": "#/definitions/Content"},
                        "share": {"type": "number", "minimum": 0, "maximum": 1},
                    },
                    "required": ["content"],
                    "additionalProperties": {"type": "string"},
                },
            },
            "required": ["id", "params"],
        },
    },
}


def test_a_faithful_normal_form_is_proven_on_dozens_of_instances() -> None:
    proof = prove(PUBLISHED, normalise(PUBLISHED).schema)
    assert proof.definitions == 5
    assert proof.taken > 5 * 48
    assert proof.refused > 5 * 48


def test_the_same_seed_gives_the_same_proof() -> None:
    schema = normalise(PUBLISHED).schema
    assert prove(PUBLISHED, schema, seed=7) == prove(PUBLISHED, schema, seed=7)


def _drop(*path: Any) -> Callable[[Schema], None]:
    def change(definitions: Schema) -> None:
        node: Any = definitions
        for step in path[:-1]:
            node = node[step]
        del node[path[-1]]

    return change


def _put(value: Any, *path: Any) -> Callable[[Schema], None]:
    def change(definitions: Schema) -> None:
        node: Any = definitions
        for step in path[:-1]:
            node = node[step]
        node[path[-1]] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        _drop("Call", "required", 0),
        _drop("Call", "properties", "id"),
        _drop("Call", "properties", "level"),
        _drop("CallParams", "properties", "share", "maximum"),
        _drop("CallParams", "properties", "share", "type"),
        _drop("CallParams", "additionalProperties"),
        _drop("Content", "anyOf", 1),
        _drop("Items", "maxItems"),
        _drop("Items", "items"),
        _drop("Text", "properties", "type"),
        _drop("Text", "properties", "text", "maxLength"),
        _drop("Text", "type"),
        _put(4, "Items", "items", "minimum"),
        _put("integer", "CallParams", "properties", "share", "type"),
        _put(["string"], "Id", "type"),
        _put(["string", "integer", "null"], "Id", "type"),
        _put(False, "Text", "additionalProperties"),
        _put(["low"], "Call", "properties", "level", "enum"),
    ],
)
def test_any_loss_or_gain_is_noticed(change: Callable[[Schema], None]) -> None:
    schema = copy.deepcopy(normalise(PUBLISHED).schema)
    change(schema["$defs"])
    with pytest.raises(Unproven, match=r"taken by the .* refused by the|refused by the .* taken by the"):
        prove(PUBLISHED, schema)


def test_a_lost_definition_is_noticed() -> None:
    schema = copy.deepcopy(normalise(PUBLISHED).schema)
    del schema["$defs"]["Items"]
    schema["$defs"]["Content"] = {}
    with pytest.raises(Unproven, match="definition 'Items' is lost"):
        prove({**PUBLISHED}, schema)


def test_a_definition_that_nothing_meets_is_not_proven() -> None:
    schema: Schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"A": {"type": "string", "pattern": "^only this$"}},
    }
    with pytest.raises(Unproven, match="definition 'A': no valid instance could be made, so nothing is shown"):
        prove(schema, schema)


@pytest.mark.parametrize("path", sorted((ROOT / "specs" / "schemas").glob("*.json"))[-1:], ids=lambda path: path.stem)
def test_a_lost_constant_deep_in_a_real_schema_is_noticed(path: pathlib.Path) -> None:
    schema = json.loads(path.read_text("utf-8"))
    broken = copy.deepcopy(schema)
    name = next(
        name for name, node in broken["$defs"].items() if "const" in node.get("properties", {}).get("method", {})
    )
    broken["$defs"][name]["properties"]["method"] = {"type": "string"}
    with pytest.raises(Unproven, match=f"definition '{name}'"):
        prove(schema, broken)
