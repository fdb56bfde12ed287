"""Corrections: made where they find what they expect, and reported with their place where not."""

from __future__ import annotations

import json
import pathlib

import pytest
from revgen.editing.importing import schema_text
from revgen.reading.located import Problems
from revgen.schemas.normal_form import normalise
from revgen.schemas.published import load_schemas
from revgen.schemas.revisions import load_revisions

ROOT = pathlib.Path(__file__).parents[2]

SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$defs": {
        "A": {
            "type": "object",
            "properties": {"size": {"type": "integer"}, "kinds": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
        }
    },
}

REVISIONS = """\
revisions:
  "2001-02-03":
    source: https://example.com/schema.json
    sha256: {digest}
    pages: https://example.com/2001-02-03
"""

CORRECTION = {
    "revision": '"2001-02-03"',
    "pointer": "/$defs/A/properties/size/type",
    "expected": "'\"integer\"'",
    "value": "'\"number\"'",
    "reason": "it is said to be a number",
    "source": "https://example.com/schema.ts",
}


def entry(**changes: str | None) -> str:
    lines = [f"{key}: {value}" for key, value in {**CORRECTION, **changes}.items() if value is not None]
    return "corrections:\n  - " + "\n    ".join(lines) + "\n"


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "specs" / "schemas").mkdir(parents=True)
    (tmp_path / "specs" / "revisions.yaml").write_text(REVISIONS.format(digest="0" * 64))
    (tmp_path / "specs" / "schemas" / "2001-02-03.json").write_text(schema_text(normalise(SCHEMA).schema))
    return tmp_path


def result(root: pathlib.Path, corrections: str) -> tuple[dict[str, object], list[str]]:
    (root / "specs" / "corrections.yaml").write_text(corrections, "utf-8")
    problems = Problems()
    schemas = load_schemas(root, load_revisions(root, problems), problems)
    return schemas["2001-02-03"]["$defs"]["A"]["properties"], [str(problem) for problem in sorted(problems.found)]


def test_a_correction_is_made(root: pathlib.Path) -> None:
    properties, problems = result(root, entry())
    assert problems == []
    assert properties["size"] == {"type": "number"}


def test_a_pointer_can_lead_through_a_list(root: pathlib.Path) -> None:
    properties, problems = result(
        root, entry(pointer="/$defs/A/properties/kinds/anyOf/1/type", expected="'\"null\"'", value="'\"boolean\"'")
    )
    assert problems == []
    assert properties["kinds"] == {"anyOf": [{"type": "string"}, {"type": "boolean"}]}


def test_no_file_means_no_corrections(root: pathlib.Path) -> None:
    problems = Problems()
    schemas = load_schemas(root, load_revisions(root, problems), problems)
    assert problems.found == []
    assert schemas["2001-02-03"]["$defs"]["A"]["properties"]["size"] == {"type": "integer"}


AT = "specs/corrections.yaml"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"revision": '"2031-01-01"'}, f"{AT}:2:15: '2031-01-01' is not a revision; revisions: 2001-02-03"),
        (
            {"reason": None},
            f"{AT}:2:5: this correction has no 'reason'; allowed: revision, pointer, expected, value, reason, source, review",
        ),
        (
            {"resaon": "x"},
            f"{AT}:8:5: 'resaon' is not a key of this correction; allowed: revision, pointer, expected, value, reason, source, review",
        ),
        ({"value": "[a, b]"}, f"{AT}:5:12: 'value' is a list; allowed: text, with JSON in it"),
        (
            {"value": "'{'"},
            f"{AT}:5:12: 'value' is \"{{\"; allowed: text, with JSON in it (Expecting property name enclosed in double quotes at character 2)",
        ),
        (
            {"value": "'\"integer\"'"},
            f"{AT}:5:12: 'value' is what is 'expected'; allowed: something else, or no correction",
        ),
        ({"pointer": "$defs/A"}, f"{AT}:3:14: 'pointer' is '$defs/A'; allowed: a JSON pointer, which starts with '/'"),
        ({"pointer": "/$defs/X/y"}, f"{AT}:3:14: pointer '/$defs/X/y': there is no 'X' in '/$defs'; there: A"),
        (
            {"pointer": "/$defs/A/properties/sise/type"},
            f"{AT}:3:14: pointer '/$defs/A/properties/sise/type': there is no 'sise' in '/$defs/A/properties'; there: kinds, size",
        ),
        (
            {"pointer": "/$defs/A/properties/kinds/anyOf/2"},
            f"{AT}:3:14: pointer '/$defs/A/properties/kinds/anyOf/2': there is no '2' in '/$defs/A/properties/kinds/anyOf'; there: 0, 1",
        ),
        (
            {"pointer": "/$defs/A/type/x"},
            f"{AT}:3:14: pointer '/$defs/A/type/x': '/$defs/A/type' is \"object\", so there is no 'x' in it",
        ),
        (
            {"expected": "'\"string\"'"},
            f'{AT}:4:15: \'/$defs/A/properties/size/type\' is "integer", but "string" was expected; it may have been mended upstream',
        ),
        (
            {"expected": "'\"string\"'", "value": "'\"integer\"'"},
            f'{AT}:4:15: \'/$defs/A/properties/size/type\' is "integer", but "string" was expected; it has been mended upstream: remove this correction',
        ),
        (
            {"value": "'\"integr\"'", "pointer": "/$defs/A/properties/size", "expected": '\'{"type": "integer"}\''},
            f"{AT}:5:12: the corrected schema has no normal form: /$defs/A/properties/size: a schema is expected here",
        ),
        (
            {
                "value": '\'{"type": "integer", "title": "T"}\'',
                "pointer": "/$defs/A/properties/size",
                "expected": '\'{"type": "integer"}\'',
            },
            f"{AT}:5:12: the corrected schema is not in normal form: no prose, no inline objects, nothing that states nothing",
        ),
    ],
)
def test_a_wrong_correction_is_reported_where_it_stands_and_not_made(
    root: pathlib.Path, changes: dict[str, str | None], problem: str
) -> None:
    properties, problems = result(root, entry(**changes))
    assert problems == [problem]
    assert properties["size"] == {"type": "integer"}


def test_all_problems_are_reported_at_once(root: pathlib.Path) -> None:
    twice = entry(revision='"x"') + entry(reason=None).removeprefix("corrections:\n")
    assert result(root, twice)[1] == [
        f"{AT}:2:15: 'x' is not a revision; revisions: 2001-02-03",
        f"{AT}:8:5: this correction has no 'reason'; allowed: revision, pointer, expected, value, reason, source, review",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "corections: []\n",
            f"{AT}:1:1: 'corections' is not a key of this file; near: corrections; allowed: corrections",
        ),
        ("corrections: {}\n", f"{AT}:1:14: 'corrections' is an empty mapping; allowed: a list"),
        (
            "corrections: [x]\n",
            f"{AT}:1:15: an item is 'x'; allowed: a mapping of revision, pointer, expected, value, reason, source, review",
        ),
    ],
)
def test_a_wrong_file_is_reported(root: pathlib.Path, text: str, problem: str) -> None:
    assert result(root, text)[1] == [problem]


def test_a_schema_file_that_is_none_is_reported(root: pathlib.Path) -> None:
    path = root / "specs" / "schemas" / "2001-02-03.json"
    problems = Problems()
    revisions = load_revisions(root, problems)
    for text, problem in (
        ("{\n  1}", "specs/schemas/2001-02-03.json:2:3: not JSON: Expecting property name enclosed in double quotes"),
        (
            "{}",
            "specs/schemas/2001-02-03.json:1:1: not a schema in normal form; 'revgen import 2001-02-03 FILE' writes one",
        ),
    ):
        path.write_text(text)
        problems = Problems()
        assert load_schemas(root, revisions, problems) == {}
        assert [str(found) for found in problems.found] == [problem]


def test_the_corrections_of_this_project_are_all_needed() -> None:
    problems = Problems()
    schemas = load_schemas(ROOT, load_revisions(ROOT, problems), problems)
    assert problems.found == []
    # Half of JSON would be no JSON value otherwise.
    values = [schema["$defs"]["JSONValue"] for schema in schemas.values() if "JSONValue" in schema["$defs"]]
    assert values
    assert "integer" not in json.dumps(values)
