"""Keywords that are declared harmless: left out wherever a schema stands, and nowhere else."""

from __future__ import annotations

import json
import pathlib

import pytest
from revgen.editing.importing import import_schema
from revgen.reading.located import Problems, SpecificationError
from revgen.schemas.keywords import PATH, load_harmless, without_keywords

ODD = json.dumps(
    {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "x-made-by": "somebody",
        "definitions": {
            "List": {
                "type": "object",
                "properties": {
                    "uniqueItems": {"type": "boolean"},
                    "items": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
                },
            }
        },
    }
).encode()


def declare(root: pathlib.Path, text: str) -> None:
    (root / "specs").mkdir(exist_ok=True)
    (root / PATH).write_text(text, "utf-8")


def test_a_keyword_that_is_not_understood_stops_an_import_and_writes_nothing(tmp_path: pathlib.Path) -> None:
    with pytest.raises(SpecificationError) as caught:
        import_schema(tmp_path, "2001-02-03", ODD)
    assert str(caught.value) == "schema.json:1:56: /x-made-by: 'x-made-by' beside the definitions is not understood"
    assert list(tmp_path.iterdir()) == []
    declare(tmp_path, "harmless:\n  x-made-by: Says who wrote it.\n")
    with pytest.raises(SpecificationError) as caught:
        import_schema(tmp_path, "2001-02-03", ODD)
    assert str(caught.value).partition(": ")[2] == (
        "/definitions/List/properties/items/uniqueItems: the keyword 'uniqueItems' is not understood; "
        "specs/keywords.yaml may declare it harmless"
    )


def test_a_harmless_keyword_is_left_out_and_a_member_of_that_name_stays(tmp_path: pathlib.Path) -> None:
    declare(tmp_path, "harmless:\n  uniqueItems: Doubles do no harm.\n  x-made-by: Says who wrote it.\n")
    report = import_schema(tmp_path, "2001-02-03", ODD)
    assert report.steps["'uniqueItems' left out as harmless"] == 1
    assert report.steps["'x-made-by' left out as harmless"] == 1
    written = json.loads((tmp_path / "specs/schemas/2001-02-03.json").read_text("utf-8"))
    assert written["$defs"]["List"]["properties"] == {
        "items": {"items": {"type": "string"}, "type": "array"},
        "uniqueItems": {"type": "boolean"},
    }


def test_every_place_where_a_schema_may_stand() -> None:
    node = {"x": 1, "type": "string"}
    schema = {
        "$defs": {"A": {"anyOf": [node, {"items": node}], "additionalProperties": node, "properties": {"x": node}}},
        "const": {"x": 1},
    }
    bare = {"type": "string"}
    assert without_keywords(schema, ("x",)) == (
        {
            "$defs": {"A": {"anyOf": [bare, {"items": bare}], "additionalProperties": bare, "properties": {"x": bare}}},
            "const": {"x": 1},
        },
        {"x": 4},
    )


def test_every_complaint(tmp_path: pathlib.Path) -> None:
    declare(tmp_path, "harmless:\n  type: no\n  uniqueItems:\n  multipleOf: Nothing counts.\n")
    problems = Problems()
    assert load_harmless(tmp_path, problems) == ("multipleOf",)
    assert [str(problem) for problem in sorted(problems.found)] == [
        "specs/keywords.yaml:2:3: 'type' is understood, so it cannot be left out as harmless",
        "specs/keywords.yaml:3:15: 'uniqueItems' is empty; allowed: text",
    ]
    declare(tmp_path, "harm: {}\nharmless: [uniqueItems]\n")
    problems = Problems()
    assert load_harmless(tmp_path, problems) == ()
    assert [str(problem) for problem in sorted(problems.found)] == [
        "specs/keywords.yaml:1:1: 'harm' is not a key of this file; allowed: harmless",
        "specs/keywords.yaml:2:11: 'harmless' is a list; allowed: a mapping",
    ]
