"""Forms in the older way say the same, or are refused."""

import re
from typing import Any

import pytest
from mcp_contract import CannotAsk, as_shown, unshowable, with_names_beside_values

FORMATS = ("email", "uri", "date", "date-time")


def test_titles_of_choices_stand_in_a_list_of_names() -> None:
    form = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "size": {
                "type": "string",
                "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}],
                "default": "s",
            },
            "yes": {"type": "boolean", "default": True},
            "age": {"type": "integer", "minimum": 1, "default": 30},
        },
        "required": ["size"],
    }
    assert with_names_beside_values(form) == {
        "type": "object",
        "properties": {
            "size": {"type": "string", "enum": ["s", "l"], "enumNames": ["Small", "Large"]},
            "yes": {"type": "boolean", "default": True},
            "age": {"type": "integer", "minimum": 1},
        },
        "required": ["size"],
    }
    assert "oneOf" in form["properties"]["size"]  # type: ignore[index]  # the original is left alone


def test_several_choices_at_once_cannot_be_asked_for() -> None:
    form = {"type": "object", "properties": {"many": {"type": "array", "items": {"type": "string", "enum": ["a"]}}}}
    with pytest.raises(CannotAsk, match="'many' takes several choices"):
        with_names_beside_values(form)


def form(member: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"it": member}}


TITLED = [{"const": "a", "title": "Aye"}]


@pytest.mark.parametrize(
    ("member", "reason"),
    [
        ({"type": "object", "properties": {"x": {"type": "string"}}}, "nested"),
        ({"type": "object"}, "nested"),
        ({"properties": {"x": {"type": "string"}}}, "nested"),
        ({"type": "array", "items": {"type": "object"}}, "something else than choices"),
        ({"type": "array", "items": {"type": "string"}}, "something else than choices"),
        ({"type": "array", "items": {"type": "integer", "enum": [1]}}, "something else than choices"),
        ({"type": "array", "items": {"type": "string", "enum": ["a"], "not": {}}}, "something else than choices"),
        ({"type": "array", "items": {"type": "array", "items": {"type": "string"}}}, "something else than choices"),
        ({"type": "array"}, "list without choices"),
        ({"type": "array", "items": True}, "list without choices"),
        ({"type": "array", "items": {"anyOf": TITLED}, "default": "a"}, "default"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "anyOf"),
        ({"type": "string", "allOf": [{"minLength": 1}]}, "allOf"),
        ({"type": "integer", "oneOf": [{"const": 1, "title": "One"}]}, "oneOf"),
        ({"type": "string", "oneOf": [{"const": "a"}]}, "oneOf"),
        ({"type": "string", "oneOf": []}, "oneOf"),
        ({"type": "string", "not": {"const": "a"}}, "not"),
        ({"type": "string", "if": True, "then": True}, "if"),
        ({"$ref": "#/$defs/x"}, r"\$ref"),
        ({}, "types"),
        ({"enum": ["a", "b"]}, "types"),
        ({"type": ["string", "null"]}, "types"),
        ({"type": "null"}, "types"),
        (True, "no schema"),
        ({"type": "string", "enum": ["a", None]}, "choices"),
        ({"type": "string", "format": "uuid"}, "'uuid'"),
        ({"type": "string", "format": "time"}, "'time'"),
        ({"type": "integer", "format": "date"}, "for text"),
        ({"type": "string", "default": None}, "default"),
        ({"type": "boolean", "default": 1}, "default"),
        ({"type": "number", "default": True}, "default"),
    ],
)
def test_what_no_client_can_show_is_named(member: Any, reason: str) -> None:
    found = unshowable(form(member), FORMATS)
    assert found is not None and "'it'" in found and re.search(reason, found), found


@pytest.mark.parametrize(
    "extra",
    [{"allOf": [{"required": ["it"]}]}, {"$ref": "#/$defs/x"}, {"additionalProperties": {"type": "string"}}],
)
def test_a_form_as_a_whole_is_not_composed(extra: dict[str, Any]) -> None:
    assert "composed" in (unshowable({**form({"type": "string"}), **extra}, FORMATS) or "")


def test_what_is_required_is_asked_for() -> None:
    assert "'gone'" in (unshowable({**form({"type": "string"}), "required": ["gone"]}, FORMATS) or "")


@pytest.mark.parametrize(
    "member",
    [
        {"type": "string", "minLength": 1, "pattern": "^a", "format": "email", "default": "a@b.c", "title": "T"},
        *({"type": "string", "format": name} for name in ("email", "uri", "date", "date-time")),
        {"type": "number", "minimum": 0, "exclusiveMaximum": 9, "default": 1},
        {"type": "integer", "enum": [1, 2]},
        {"type": "boolean", "default": False},
        {"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"], "default": "a"},
        {"type": "string", "oneOf": TITLED, "default": "a"},
        {"type": "array", "items": {"type": "string", "enum": ["a"]}, "minItems": 1, "default": ["a"]},
        {"type": "array", "items": {"anyOf": TITLED}, "uniqueItems": True},
    ],
)
def test_what_every_client_can_show_is_let_through(member: dict[str, Any]) -> None:
    assert unshowable({**form(member), "additionalProperties": False, "required": ["it"]}, FORMATS) is None


def test_formats_that_a_revision_lacks_are_left_out() -> None:
    form = {"type": "object", "properties": {"at": {"type": "string", "format": "time"}, "on": {"format": "date"}}}
    assert as_shown(form, ["date"])["properties"] == {"at": {"type": "string"}, "on": {"format": "date"}}
    assert as_shown(form, ["date", "time"]) == form


@pytest.mark.parametrize(
    ("member", "shown"),
    [
        ({"type": "string", "pattern": "^a", "minLength": 1, "examples": ["a"]}, {"type": "string", "minLength": 1}),
        ({"type": "string", "enum": ["a"], "minLength": 1, "const": "a"}, {"type": "string", "enum": ["a"]}),
        ({"type": "integer", "enum": [1, 2], "exclusiveMinimum": 0, "maximum": 5}, {"type": "integer", "maximum": 5}),
        ({"type": "number", "multipleOf": 2, "title": "N"}, {"type": "number", "title": "N"}),
        ({"type": "boolean", "default": True, "readOnly": True}, {"type": "boolean", "default": True}),
        (
            {"type": "array", "items": {"type": "string", "enum": ["a"]}, "uniqueItems": True, "maxItems": 1},
            {"type": "array", "items": {"type": "string", "enum": ["a"]}, "maxItems": 1},
        ),
    ],
)
def test_what_no_form_has_is_left_out_of_what_is_sent(member: dict[str, Any], shown: dict[str, Any]) -> None:
    whole = {**form(member), "additionalProperties": False, "$defs": {}, "dependentRequired": {}, "title": "T"}
    assert as_shown(whole, FORMATS) == form(shown)
