"""The union of two shapes: computed where it is certain, refused where it would be a guess."""

from __future__ import annotations

from typing import Any

import pytest
from revgen.canonical.union import Clash, united
from revgen.schemas.references import reference

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
NUMBER = {"type": "number"}
FREE = {"type": "object"}
DEFINITIONS: dict[str, dict[str, Any]] = {
    "Alias": TEXT,
    "Cat": {"type": "object", "properties": {"meow": TEXT}},
    "Dog": {"type": "object", "properties": {"bark": TEXT}},
    "Pet": {"anyOf": [reference("Cat"), reference("Dog")]},
}


@pytest.mark.parametrize(
    ("newer", "older", "expected"),
    [
        (TEXT, TEXT, TEXT),
        (WHOLE, NUMBER, NUMBER),
        (NUMBER, WHOLE, NUMBER),
        ({"type": ["string", "integer"]}, {"type": ["string", "null"]}, {"type": ["string", "integer", "null"]}),
        ({}, FREE, {}),
        ({"enum": []}, TEXT, TEXT),
        (TEXT, {"enum": []}, TEXT),
        (FREE, {}, {}),
        (FREE, {"type": "object", "additionalProperties": TEXT}, FREE),
        (reference("Cat"), FREE, reference("Cat")),
        (FREE, reference("Cat"), reference("Cat")),
        (reference("Alias"), TEXT, reference("Alias")),
        (
            {"type": "string", "enum": ["a", "b"]},
            {"type": "string", "enum": ["b", "c"]},
            {"type": "string", "enum": ["a", "b", "c"]},
        ),
        ({"type": "string", "enum": ["a"]}, TEXT, TEXT),
        ({"type": "number", "minimum": 0}, {"type": "integer", "minimum": 5}, {"type": "number", "minimum": 0}),
        (
            {"type": "array", "items": WHOLE, "maxItems": 3},
            {"type": "array", "items": NUMBER},
            {"type": "array", "items": NUMBER},
        ),
        (
            {"type": "array", "items": TEXT, "maxItems": 3, "minItems": 2},
            {"type": "array", "items": TEXT, "maxItems": 5, "minItems": 1},
            {"type": "array", "items": TEXT, "maxItems": 5, "minItems": 1},
        ),
        ({"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "^a"}),
        ({"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "^b"}, TEXT),
        ({"type": "string", "maxLength": 5}, {"type": "string", "enum": ["a"]}, TEXT),
        (
            {"type": ["string", "integer"], "maxLength": 5},
            {"type": "integer", "minimum": 1},
            {"type": ["string", "integer"], "maxLength": 5},
        ),
        ({"type": "array", "items": TEXT}, {"type": "array"}, {"type": "array"}),
        (reference("Pet"), reference("Dog"), reference("Pet")),
        (reference("Dog"), reference("Pet"), {"anyOf": [reference("Dog"), reference("Cat")]}),
        (reference("Pet"), {"anyOf": [reference("Cat"), TEXT]}, {"anyOf": [reference("Cat"), reference("Dog"), TEXT]}),
        (
            {"anyOf": [{"type": "array", "items": TEXT}, NUMBER]},
            WHOLE,
            {"anyOf": [{"type": "array", "items": TEXT}, NUMBER]},
        ),
        ({"anyOf": [reference("Cat"), WHOLE]}, NUMBER, {"anyOf": [reference("Cat"), NUMBER]}),
    ],
)
def test_what_either_takes(newer: dict[str, Any], older: dict[str, Any], expected: dict[str, Any]) -> None:
    assert united(newer, older, DEFINITIONS) == expected


@pytest.mark.parametrize(
    ("newer", "older", "words"),
    [
        (TEXT, NUMBER, "string and number"),
        (TEXT, {"type": "array", "items": NUMBER}, "string and list of number"),
        (reference("Cat"), reference("Dog"), "Cat and Dog"),
        (reference("Cat"), TEXT, "Cat and string"),
        (reference("Pet"), TEXT, "Pet and string"),
        ({"type": "string", "const": "a"}, {"type": "string", "const": "b"}, "='a' and ='b'"),
        ({"type": "array", "items": TEXT}, {"type": "array", "items": WHOLE}, "string and integer"),
        (reference("Missing"), reference("Cat"), "Missing and Cat"),
    ],
)
def test_what_is_no_guess(newer: dict[str, Any], older: dict[str, Any], words: str) -> None:
    with pytest.raises(Clash, match=rf"^{words}$".replace("|", r"\|")):
        united(newer, older, DEFINITIONS)
