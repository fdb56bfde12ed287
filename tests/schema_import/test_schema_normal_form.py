"""What the normal form of a schema looks like, on schemas small enough to read."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest
from revgen.editing.importing import schema_text
from revgen.schemas.normal_form import CannotNormalise, Schema, name_conflicts, normalise

ROOT = pathlib.Path(__file__).parents[2]
SCHEMAS = sorted((ROOT / "specs" / "schemas").glob("*.json"))

DRAFT_07 = "http://json-schema.org/draft-07/schema#"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


def old(**definitions: Any) -> Schema:
    return {"$schema": DRAFT_07, "definitions": definitions}


def new(**definitions: Any) -> Schema:
    return {"$schema": DRAFT_2020, "$defs": definitions}


def members(**properties: Any) -> Schema:
    return {"type": "object", "properties": properties}


TEXT = {"type": "string"}


def problems(schema: Schema) -> tuple[str, ...]:
    with pytest.raises(CannotNormalise) as caught:
        normalise(schema)
    return caught.value.problems


def test_an_old_draft_becomes_the_new_one() -> None:
    schema = normalise(old(A={"$ref": "#/definitions/B", "maxLength": 3}, B=TEXT)).schema
    assert schema["$schema"] == DRAFT_2020
    # Beside `$ref` nothing counts in draft-07.
    assert schema["$defs"] == {"A": {"$ref": "#/$defs/B"}, "B": TEXT}


def test_in_the_new_draft_what_stands_beside_a_reference_counts() -> None:
    schema = normalise(new(A={"$ref": "#/$defs/B", "maxLength": 3}, B=TEXT)).schema
    assert schema["$defs"]["A"] == {"type": "string", "maxLength": 3}


def test_prose_goes_and_members_that_are_called_like_prose_stay() -> None:
    described = {
        **members(description={**TEXT, "description": "D"}, title={**TEXT, "title": "T"}),
        "description": "P",
        "examples": [1],
        "$comment": "C",
    }
    assert normalise(new(A=described)).schema["$defs"]["A"] == members(description=TEXT, title=TEXT)


def test_what_states_nothing_goes() -> None:
    noisy = {"type": "object", "properties": {}, "required": [], "additionalProperties": True}
    schema = normalise(
        new(A=noisy, B={"type": "array", "items": {}}, C={"type": "object", "additionalProperties": False})
    ).schema
    assert schema["$defs"] == {
        "A": {"type": "object"},
        "B": {"type": "array"},
        "C": {"type": "object", "additionalProperties": False},
    }


@pytest.mark.parametrize(
    ("definition", "name"),
    [
        (members(params=members(x=TEXT)), "AParams"),
        (members(_meta=members(x=TEXT)), "AMeta"),
        (members(**{"io.example/serverInfo": members(x=TEXT)}), "AServerInfo"),
        (members(messages={"type": "array", "items": members(x=TEXT)}), "AMessage"),
        (members(entries={"type": "array", "items": members(x=TEXT)}), "AEntry"),
        (members(anyOf={"type": "array", "items": members(x=TEXT)}), "AAnyOfItem"),
        (members(options={"type": "object", "additionalProperties": members(x=TEXT)}), "AOption"),
        (
            {
                "anyOf": [
                    {**members(mode={"const": "form"}, x=TEXT), "required": ["mode"]},
                    {**members(mode={"const": "url"}), "required": ["mode"]},
                ]
            },
            "AForm",
        ),
        (
            {"anyOf": [{**members(text=TEXT), "required": ["text"]}, {**members(blob=TEXT), "required": ["blob"]}]},
            "ABlob",
        ),
    ],
)
def test_an_inline_object_is_named_after_where_it_stands(definition: Schema, name: str) -> None:
    assert name in normalise(new(A=definition)).hoisted


def test_objects_within_inline_objects_are_named_too() -> None:
    result = normalise(new(A=members(b=members(c=members(d=TEXT)))))
    assert result.hoisted == ["AB", "ABC"]
    assert result.published == ["A"]
    assert result.schema["$defs"]["A"] == members(b={"$ref": "#/$defs/AB"})


def test_an_inline_object_that_is_already_published_is_referred_to() -> None:
    result = normalise(new(A=members(params=members(x=TEXT)), AParams=members(x={**TEXT, "description": "said again"})))
    assert result.hoisted == []
    assert result.schema["$defs"]["A"] == members(params={"$ref": "#/$defs/AParams"})


def test_an_inline_object_whose_name_is_something_else_is_a_problem() -> None:
    assert problems(new(A=members(params=members(x=TEXT)), AParams=members(y=TEXT))) == (
        "/$defs/A/properties/params: the name 'AParams' of this inline object is another published definition",
    )


def test_branches_that_nothing_tells_apart_are_a_problem() -> None:
    assert problems(new(A={"anyOf": [members(x=TEXT), members(x={"type": "integer"})]})) == (
        "/$defs/A/anyOf/0: no name can be made for the inline object here: nothing tells it from its neighbours",
        "/$defs/A/anyOf/1: no name can be made for the inline object here: nothing tells it from its neighbours",
    )


def test_a_member_without_letters_is_a_problem_where_it_needs_a_name() -> None:
    assert problems(new(A=members(**{"$": members(x=TEXT)})))[0] == (
        "/$defs/A/properties/$: no name can be made from '$' for the inline object here"
    )


def test_all_of_becomes_one_definition() -> None:
    error = {**members(code={"type": "integer"}, data={}, message=TEXT), "required": ["code", "message"]}
    more = {**members(code={"const": -1, "type": "integer"}), "required": ["code"]}
    schema = normalise(new(Error=error, Special=members(error={"allOf": [{"$ref": "#/$defs/Error"}, more]}))).schema
    assert schema["$defs"]["SpecialError"] == {
        "type": "object",
        "properties": {"code": {"const": -1, "type": "integer"}, "data": {}, "message": TEXT},
        "required": ["code", "message"],
    }
    assert schema["$defs"]["Error"] == error


@pytest.mark.parametrize(
    ("parts", "merged"),
    [
        (
            [{"type": "integer", "minimum": 1}, {"type": "number", "minimum": 2, "maximum": 9}],
            {"type": "integer", "minimum": 2, "maximum": 9},
        ),
        ([{"type": ["string", "null"]}, {"type": ["null", "string", "integer"]}], {"type": ["string", "null"]}),
        ([{"enum": ["a", "b"]}, {"enum": ["b", "c"]}], {"enum": ["b"]}),
        ([{}, TEXT], TEXT),
    ],
)
def test_parts_of_an_all_of_are_narrowed_to_what_both_allow(parts: list[Schema], merged: Schema) -> None:
    assert normalise(new(A={"allOf": parts})).schema["$defs"]["A"] == merged


def test_parts_that_have_no_closed_form_are_a_problem() -> None:
    closed = {**members(x=TEXT), "additionalProperties": False}
    assert problems(new(A={"allOf": [closed, members(y=TEXT)]})) == (
        "/$defs/A: 'additionalProperties' in a part of an allOf has no closed form",
    )
    assert problems(new(A={"allOf": [{"pattern": "a"}, {"pattern": "b"}]})) == (
        "/$defs/A: the parts of an allOf disagree about 'pattern', and there is no closed form",
    )


def test_an_all_of_that_contains_itself_is_a_problem() -> None:
    assert problems(new(A={"allOf": [{"$ref": "#/$defs/A"}, {"type": "object"}]})) == (
        "/$defs/A: the allOf contains itself, through 'A'",
    )


def test_everything_that_is_not_understood_is_reported_at_once() -> None:
    broken = new(
        A={"type": "object", "patternProperties": {}}, B=members(c={"$ref": "#/$defs/C"}), D={"properties": {"x": TEXT}}
    )
    assert problems({**broken, "anyOf": []}) == ("/anyOf: 'anyOf' beside the definitions is not understood",)
    assert problems(broken) == (
        "/$defs/A/patternProperties: the keyword 'patternProperties' is not understood; specs/keywords.yaml may declare it harmless",
        "/$defs/B/properties/c/$ref: '#/$defs/C' leads to no definition",
    )
    assert problems(new(D={"properties": {"x": TEXT}}))[0] == (
        "/$defs/D: members are given without 'type': 'object'; anything but an object would pass"
    )


def test_definitions_that_lead_to_themselves_are_reported_once_a_circle() -> None:
    broken = new(
        A={"$ref": "#/$defs/B"},
        B={"$ref": "#/$defs/A"},
        C={"anyOf": [TEXT, {"$ref": "#/$defs/C"}]},
        D=members(a={"$ref": "#/$defs/A"}),
    )
    assert problems(broken) == (
        "/$defs/A: 'A' leads to itself, and nothing else says what it is; allowed: a member or an item in between",
        "/$defs/C: 'C' leads to itself, and nothing else says what it is; allowed: a member or an item in between",
    )
    tree = new(
        Tree=members(inside={"$ref": "#/$defs/Tree"}), Trees={"type": "array", "items": {"$ref": "#/$defs/Trees"}}
    )
    assert normalise(tree).published == ["Tree", "Trees"]


def test_a_schema_that_is_true_or_false() -> None:
    normal = normalise(new(Any=True, None_=False, A=members(must=True, never=False))).schema["$defs"]
    assert normal["Any"] == {}
    assert normal["None_"] == {"enum": []}
    assert normal["A"]["properties"] == {"must": {}, "never": {"enum": []}}


def test_a_member_that_is_required_is_defined() -> None:
    normal = normalise(
        new(
            Open={"type": "object", "required": ["x"]},
            Closed={"type": "object", "required": ["x"], "additionalProperties": False},
            Typed={"type": "object", "required": ["x"], "additionalProperties": TEXT},
        )
    ).schema["$defs"]
    assert [normal[name]["properties"] for name in ("Open", "Closed", "Typed")] == [
        {"x": {}},
        {"x": {"enum": []}},
        {"x": TEXT},
    ]


def test_a_name_that_nothing_can_refer_to() -> None:
    assert problems(new(**{"A/B": TEXT, "A.B": TEXT, "A-B": TEXT})) == (
        "/$defs/A~1B: 'A/B' is no name that can be referred to; allowed: letters, digits and _ . - $",
    )


def test_a_hoisted_name_may_be_published_elsewhere_only_for_the_same_thing() -> None:
    mine = normalise(new(A=members(params=members(x=TEXT)))).schema
    same = normalise(new(AParams=members(x=TEXT, y=TEXT))).schema
    other = normalise(new(AParams=members(z=TEXT))).schema
    union = normalise(
        new(A=members(params={"$ref": "#/$defs/AParams"}), AParams={"anyOf": [TEXT, {"type": "null"}]})
    ).schema
    assert name_conflicts(mine, {"1": same, "2": union}) == []
    assert name_conflicts(mine, {"3": other}) == [
        "the name 'AParams' of an inline object is also another definition, published in 3"
    ]
    assert name_conflicts(other, {"4": mine}) == [
        "the name 'AParams' of an inline object is also another definition, hoisted in 4"
    ]


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.stem)
def test_a_normal_form_is_its_own_normal_form(path: pathlib.Path) -> None:
    text = path.read_text("utf-8")
    assert schema_text(normalise(json.loads(text)).schema) == text


def test_the_names_of_all_revisions_go_together() -> None:
    schemas = {path.stem: json.loads(path.read_text("utf-8")) for path in SCHEMAS}
    for revision, schema in schemas.items():
        others = {other: node for other, node in schemas.items() if other != revision}
        assert name_conflicts(schema, others) == []
        assert not [name for name in schema["$defs"] if name[-1].isdigit()]
