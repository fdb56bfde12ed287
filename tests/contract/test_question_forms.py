"""Forms in the older way say the same, or are refused."""

import pytest
from mcp_contract import CannotAsk, with_names_beside_values


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
