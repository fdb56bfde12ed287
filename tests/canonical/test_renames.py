"""A type that came when one of the same structure went is remarked, until a move or its opposite says what it is."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest
from revgen.canonical.rules import Distinct, Move, Rules
from revgen.reading.located import Place, Problems
from revgen.specification.loading import load_specification
from revgen.specification.renames import complain_about_renames

ROOT = pathlib.Path(__file__).parents[2]
HERE = Place("specs/canonical.yaml", 1, 1)
TEXT = {"type": "string"}
OLD, NEW, NEXT = "2001-01-01", "2002-02-02", "2003-03-03"


def thing(**members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members, "required": sorted(members)[:1]}


def schema(**definitions: Any) -> dict[str, Any]:
    return {"$defs": definitions, "x-published": sorted(definitions)}


def remarks(*schemas: dict[str, Any], rules: Rules | None = None) -> list[str]:
    problems = Problems()
    given = dict(zip((OLD, NEW, NEXT), schemas, strict=False))
    known = {name: node for one in schemas for name, node in one["$defs"].items()}
    complain_about_renames(given, rules or Rules(HERE), known, problems)
    assert problems.found == []
    return [problem.message for problem in problems.remarks]


BOAT = thing(name=TEXT, masts={"type": "integer"}, crew={"type": "array", "items": TEXT})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (BOAT, BOAT),
        (BOAT, thing(**BOAT["properties"], flag=TEXT)),
        (BOAT, {**BOAT, "required": ["crew", "name"]}),
        (thing(kind={"const": "boat"}, name=TEXT), thing(kind={"const": "boat"}, name=TEXT)),
        ({"enum": ["near", "far", "gone"]}, {"enum": ["near", "far", "gone"]}),
        ({"enum": ["near", "far", "gone"]}, {"enum": ["near", "far", "gone", "lost"]}),
        (
            {"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]},
            {"anyOf": [{"$ref": "#/$defs/B"}, {"$ref": "#/$defs/A"}]},
        ),
    ],
)
def test_the_same_structure_under_another_name_is_remarked(old: Any, new: Any) -> None:
    others = {"A": thing(a=TEXT), "B": thing(b=TEXT)}
    (found,) = remarks(schema(Boat=old, **others), schema(Vessel=new, **others))
    assert found == (
        f"'Vessel' of {NEW} seems to be 'Boat' of {OLD} under another name; if it is, list "
        "{name: what changed, from: Boat, to: Vessel} under 'moves', else {from: Boat, to: Vessel} under 'distinct'"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (BOAT, thing(name=TEXT, wheels={"type": "integer"}, seats={"type": "integer"})),
        (thing(kind={"const": "boat"}, name=TEXT), thing(kind={"const": "car"}, name=TEXT)),
        (thing(uri=TEXT), thing(uri=TEXT)),
        ({"enum": ["near", "far"]}, {"enum": ["near", "far", "left", "right"]}),
        (TEXT, TEXT),
        (BOAT, {"enum": ["near", "far"]}),
    ],
)
def test_what_has_little_in_common_is_not(old: Any, new: Any) -> None:
    assert remarks(schema(Boat=old), schema(Vessel=new)) == []


def test_of_little_structure_a_name_says_the_rest() -> None:
    assert len(remarks(schema(BoatReference=thing(uri=TEXT)), schema(BoatTemplateReference=thing(uri=TEXT)))) == 1


def test_what_is_still_there_or_was_there_before_is_no_new_name() -> None:
    assert remarks(schema(Boat=BOAT), schema(Boat=BOAT, Vessel=BOAT)) == []
    assert remarks(schema(Boat=BOAT, Vessel=BOAT), schema(Vessel=BOAT)) == []


def test_the_nearest_of_several_is_named() -> None:
    more = thing(**BOAT["properties"], flag=TEXT)
    (found,) = remarks(schema(Boat=BOAT), schema(Raft=more, Vessel=BOAT))
    assert found.startswith("'Vessel' of ")


def test_a_type_that_went_before_is_found_where_it_was_last() -> None:
    (found,) = remarks(schema(Boat=BOAT), schema(Port=thing(a=TEXT)), schema(Port=thing(a=TEXT), Vessel=BOAT))
    assert f"'Boat' of {OLD}" in found


def test_a_move_and_its_opposite_answer_it() -> None:
    pair = schema(Boat=BOAT), schema(Vessel=BOAT)
    assert remarks(*pair, rules=Rules(HERE, moves=(Move("it grew", "Boat", "Vessel", HERE),))) == []
    assert remarks(*pair, rules=Rules(HERE, distinct=(Distinct("Boat", "Vessel", HERE),))) == []


def test_an_opposite_that_answers_nothing_is_remarked() -> None:
    rules = Rules(HERE, distinct=(Distinct("Boat", "Car", HERE),))
    assert remarks(schema(Boat=BOAT), schema(Car=thing(wheels=TEXT)), rules=rules) == [
        "nobody would take 'Car' for 'Boat'"
    ]


def envelope(result: str) -> dict[str, Any]:
    return thing(id=TEXT, jsonrpc={"const": "2.0"}, result={"$ref": f"#/$defs/{result}"})


def test_what_is_alike_because_all_are_is_no_other_name() -> None:
    """An envelope is like any other, and says nothing of what is in it."""
    results = {"SailResult": thing(knots=TEXT, wind=TEXT), "MoorResult": thing(berth=TEXT, rope=TEXT)}
    stays = {"RowResult": thing(strokes=TEXT, side=TEXT), "RowResultResponse": envelope("RowResult")}
    before = schema(**results, **stays, SailResultResponse=envelope("SailResult"))
    assert remarks(before, schema(**results, **stays, MoorResultResponse=envelope("MoorResult"))) == []


def test_what_stands_where_the_other_stood_is_remarked() -> None:
    """However little there is of it, and however many are like it."""
    boat, like = thing(uri=TEXT), thing(uri=TEXT)
    before = schema(Boat=boat, Port=like, Sea=thing(boats={"type": "array", "items": {"$ref": "#/$defs/Boat"}}))
    after = schema(Vessel=boat, Port=like, Sea=thing(boats={"type": "array", "items": {"$ref": "#/$defs/Vessel"}}))
    (found,) = remarks(before, after)
    assert found.startswith(f"'Vessel' of {NEW} seems to be 'Boat' of {OLD}")


def test_no_type_of_the_real_revisions_is_taken_for_another_and_each_would_be() -> None:
    specification = load_specification(ROOT)
    assert [one for one in specification.remarks if "under another name" in one.message] == []
    newest = specification.versions[-1]
    published = specification.schemas[newest]["x-published"]
    text = json.dumps(specification.schemas[newest])
    unseen = []
    for name in sorted(specification.canonical["$defs"].keys() & set(published)):
        renamed = json.loads(text.replace(f'"{name}"', f'"New{name}"').replace(f'$defs/{name}"', f'$defs/New{name}"'))
        problems = Problems()
        known = {**specification.canonical["$defs"], f"New{name}": {}}
        complain_about_renames({newest: specification.schemas[newest], NEXT: renamed}, Rules(HERE), known, problems)
        if not [one for one in problems.remarks if f"'New{name}' of {NEXT} seems to be '{name}' of" in one.message]:
            unseen.append(name)
    # These are one of JSON's own kinds, or a list of something, and say nothing of what they are for.
    assert {one for one in unseen if "properties" in specification.canonical["$defs"][one]} == set()
