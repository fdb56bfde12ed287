"""Scaffolded messages say one thing each, and of what two revisions have alike nothing is said again."""

from __future__ import annotations

import copy
import json
from typing import Any

from revgen.vectors.messages import KINDS, Scaffold, Side
from revgen.vectors.samples import Judge, Samples

OLD, NEW = "2001-01-01", "2002-02-02"
TEXT = {"type": "string"}
ENVELOPE = {"jsonrpc": {"const": "2.0", "type": "string"}, "id": {"type": ["integer", "string"]}}
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$defs": {
        "ClientRequest": {"anyOf": [{"$ref": "#/$defs/SailRequest"}]},
        "SailRequest": {
            "type": "object",
            "properties": {
                **ENVELOPE,
                "method": {"const": "sail", "type": "string"},
                "params": {"$ref": "#/$defs/Sail"},
            },
            "required": ["id", "jsonrpc", "method", "params"],
        },
        "Sail": {
            "type": "object",
            "properties": {"crew": {"type": "array", "items": {"$ref": "#/$defs/Sailor"}}, "wind": TEXT},
            "required": ["crew"],
        },
        "Sailor": {
            "type": "object",
            "properties": {"name": TEXT, "rank": TEXT, "home": {"type": "object", "properties": {"port": TEXT}}},
            "required": ["name"],
        },
        "EmptyResult": {"type": "object"},
    },
    "x-published": ["ClientRequest", "EmptyResult", "Sail", "SailRequest", "Sailor"],
}
REQUESTS = next(kind for kind in KINDS if kind.name == "client_requests")


def made(version: str, schema: dict[str, Any], vectors: list[Any], like: Side | None = None) -> list[Any]:
    side = Side(version, schema, {REQUESTS.name: vectors}, {})
    return Scaffold(side, like or side, (like, side) if like else (side,), {}).vectors(REQUESTS)


def first() -> list[Any]:
    """All vectors of a revision that is like one without any methods."""
    nothing = copy.deepcopy(SCHEMA)
    nothing["$defs"]["ClientRequest"] = {"anyOf": []}
    return made(OLD, SCHEMA, [], Side("2000-01-01", nothing, {}, {}))


def test_what_is_broken_has_nothing_else_in_it() -> None:
    broken = {words: value for words, _, value in Samples(Judge(SCHEMA), {}).broken("Sail")}
    assert broken["crew.0.rank is the number 7"] == {"crew": [{"name": "name", "rank": 7}]}
    assert broken["crew.0.name is missing"] == {"crew": [{}]}
    assert broken["wind is the number 7"] == {"crew": [], "wind": 7}


def test_a_new_method_is_shown_whole() -> None:
    names = [vector["name"] for vector in first()]
    assert {"sail with every member", "sail with what it must have", "sail in capitals"} <= {*names}


def test_of_a_method_that_both_have_only_what_differs_is_made() -> None:
    before = first()
    schema = copy.deepcopy(SCHEMA)
    schema["$defs"]["Sailor"]["properties"]["age"] = {"type": "integer"}
    old = Side(OLD, SCHEMA, {REQUESTS.name: before}, {})
    taken_over = [vector["name"] for vector in before]
    new = [vector for vector in made(NEW, schema, before, old) if vector["name"] not in taken_over]
    names = [vector["name"] for vector in new]
    assert names == [
        "sail with every member (2)",
        "sail in which params.crew.0.age is the text 'low tide'",
        "sail in which params.crew.0.age is an array",
    ]
    assert '"age"' in json.dumps(new[0]["message"])


def test_of_a_method_that_says_the_same_nothing_is_made() -> None:
    before = first()
    after = made(NEW, SCHEMA, before, Side(OLD, SCHEMA, {REQUESTS.name: before}, {}))
    assert [vector["name"] for vector in after] == [vector["name"] for vector in before]
