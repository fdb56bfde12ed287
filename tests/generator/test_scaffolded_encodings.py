"""Scaffolded vectors of what is sent, and of answers: what follows from schemas and answers is there, and nothing is taken from elsewhere."""

from __future__ import annotations

import dataclasses
import functools
import json
import pathlib
from typing import Any

import pytest
from revgen.canonical.merge import merge
from revgen.canonical.rules import Rules
from revgen.inventory.concerns import Answer, Concern
from revgen.reading.located import Place, Problems
from revgen.specification.loading import load_specification
from revgen.vectors.answers import Wording
from revgen.vectors.encodings import Encodings
from revgen.vectors.messages import Side

ROOT = pathlib.Path(__file__).parents[2]
OLD, NEW = "2001-01-01", "2002-02-02"
TEXT = {"type": "string"}
HERE = Place("specs/variance/x.yaml", 1, 1)
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$defs": {
        "ClientRequest": {"anyOf": [{"$ref": "#/$defs/SailRequest"}]},
        "SailRequest": {
            "type": "object",
            "properties": {"id": TEXT, "method": {"const": "sail", "type": "string"}},
            "required": ["id", "method"],
        },
        "SailResult": {
            "type": "object",
            "properties": {"crew": {"$ref": "#/$defs/Sailor"}, "done": {"type": "boolean"}},
            "required": ["crew"],
        },
        "AskingResult": {"type": "object", "properties": {"question": TEXT}},
        "Sailor": {"type": "object", "properties": {"name": TEXT, "rank": TEXT}, "required": ["name"]},
        "ServerResult": {"anyOf": [{"$ref": "#/$defs/SailResult"}, {"$ref": "#/$defs/AskingResult"}]},
    },
    "x-published": ["AskingResult", "ClientRequest", "SailRequest", "SailResult", "Sailor", "ServerResult"],
}


@functools.cache
def rules() -> Rules:
    """The project's own."""
    return load_specification(ROOT).rules


def adapted(change: Any, filled: dict[str, Any]) -> Any:
    """What a vector of the old revision says is sent, once the schema has changed."""
    schema = json.loads(json.dumps(SCHEMA))
    change(schema["$defs"])
    vector = {
        "name": "sailing",
        "method": "sail",
        "cite": "schema: #/$defs/SailResult",
        "given": {"crew": {"name": "Ada", "rank": "pilot"}},
        "sent": {"crew": {"name": "Ada", "rank": "pilot"}},
    }
    old, new = Side(OLD, SCHEMA, {}, {}), Side(NEW, schema, {}, {})
    schemas = {OLD: SCHEMA, NEW: schema}
    made = Encodings(new, old, schemas, merge(schemas, rules(), Problems()), filled, rules(), {})
    (found,) = made.vectors("results", [vector], [])
    return found


def require(definitions: dict[str, Any], name: str, member: str) -> None:
    definitions[name]["required"].append(member)


def test_what_fills_a_required_member_is_there_and_the_result_stays_what_it_was() -> None:
    def change(definitions: dict[str, Any]) -> None:
        require(definitions, "SailResult", "done")

    found = adapted(change, {"SailResult.done": False})
    assert found["sent"] == {"crew": {"name": "Ada", "rank": "pilot"}, "done": False}
    assert "review" not in found
    # Nobody knows what stands there where nothing fills it.
    found = adapted(change, {})
    assert found["sent"] == {"crew": {"name": "Ada", "rank": "pilot"}}
    assert found["review"] == "what is sent does not fit SailResult: write what should be"


def test_what_fills_a_member_further_in_is_there_too() -> None:
    def change(definitions: dict[str, Any]) -> None:
        definitions["Sailor"]["properties"]["port"] = TEXT
        require(definitions, "Sailor", "port")

    assert adapted(change, {"port": "Hull"})["sent"] == {"crew": {"name": "Ada", "rank": "pilot", "port": "Hull"}}


def test_one_becomes_a_list_where_only_lists_are_taken() -> None:
    def change(definitions: dict[str, Any]) -> None:
        definitions["SailResult"]["properties"]["crew"] = {"type": "array", "items": {"$ref": "#/$defs/Sailor"}}
        del definitions["Sailor"]["properties"]["rank"]

    found = adapted(change, {})
    assert found["sent"] == {"crew": [{"name": "Ada"}]}
    assert "review" not in found


def value(name: str, names: str, old: Any, new: Any) -> Concern:
    key = "rows" if names == "error codes" else "value"
    answers = {OLD: Answer((), HERE), NEW: Answer((), HERE)}
    told = {
        revision: dataclasses.replace(answers[revision], **{key: said}) for revision, said in ((OLD, old), (NEW, new))
    }
    return Concern(name, "x", "?", "value", told, HERE, names=names)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({"headers": {"Mcp-Wind": "a", "mcp-wind": "b"}}, {"headers": {"Mcp-Breeze": "a", "mcp-breeze": "b"}}),
        ({"headers": {"Mcp-Sail-Main": "1", "Mcp-Windy": "2"}}, {"headers": {"Mcp-Cloth-Main": "1", "Mcp-Windy": "2"}}),
        ({"names": ["Mcp-Wind"], "code": -7}, {"names": ["Mcp-Breeze"], "code": -17}),
        # One kind has kept it, and another has not; and a boolean is no code.
        ({"code": -8, "sure": True}, {"code": -8, "sure": True}),
    ],
)
def test_calls_that_are_taken_over_have_the_headers_and_codes_of_the_revision(call: Any, said: Any) -> None:
    wording = Wording(
        [
            value("wind_header", "header", "Mcp-Wind", "Mcp-Breeze"),
            value("sail_header", "header", "Mcp-Sail-", "Mcp-Cloth-"),
            value("lost_header", "header", "Mcp-Lost", None),
            value(
                "codes",
                "error codes",
                {"calm": -7, "calmer": -7, "storm": -8, "gale": -8},
                {"calm": -17, "calmer": -17, "storm": -8, "gale": -18},
            ),
        ]
    )
    entry = {"calls": [{"name": "Mcp-Wind", "call": call, "gives": call}]}
    assert wording.said(entry, OLD, NEW) == {"calls": [{"name": "Mcp-Wind", "call": said, "gives": said}]}
    assert wording.said(entry, OLD, OLD) == entry
