"""Rules that name what there is not, and moves that mean nothing, are faults at their place."""

from __future__ import annotations

from typing import Any

import pytest
from revgen.canonical.rules import read_rules
from revgen.reading.located import Problems, parse
from revgen.specification.rule_names import check_rule_names

TEXT = {"type": "string"}
SCHEMAS: dict[str, Any] = {
    "2001-01-01": {"$defs": {"Boat": {"type": "object", "properties": {"name": TEXT}}}},
    "2002-02-02": {"$defs": {"Vessel": {"type": "object", "properties": {"name": TEXT}}, "Port": TEXT}},
}


def problems_of(text: str, removed: tuple[str, ...] = (), drafts: tuple[str, ...] = ()) -> Problems:
    problems = Problems()
    top = parse(text, "c", problems)
    assert top is not None
    rules = read_rules(top, problems)
    assert rules is not None, problems.found
    check_rule_names(SCHEMAS, rules, removed, drafts, problems)
    return problems


MEANINGLESS = [
    (
        "moves:\n  - {name: a, from: Boat, to: Boat}\n",
        "c:2:5: the move 'a' is from 'Boat' to itself; allowed: to another type",
    ),
    (
        "moves:\n  - {name: a, from: Boat, to: Vessel}\n  - {name: b, from: Vessel, to: Boat}\n",
        "c:2:5: the move 'a' is to 'Vessel', from where 'b' at line 3 goes on; allowed: to a type that no move is from",
    ),
    (
        "moves:\n  - {name: a, from: Boat, to: Vessel}\n  - {name: b, from: Boat, to: Port}\n",
        "c:3:5: the move 'b' is from 'Boat', as is 'a' at line 2; allowed: once",
    ),
    (
        "moves:\n  - {name: a, from: Boat, to: Vessel}\ndistinct:\n  - {from: Boat, to: Vessel}\n",
        "c:4:5: this pair is one type by the move 'a' at line 2; allowed: two types",
    ),
    ("distinct:\n  - {from: Boat, to: Boat}\n", "c:2:5: this pair is 'Boat' and itself; allowed: two types"),
]
UNKNOWN = [
    (
        "moves:\n  - {name: a, from: Baot, to: Vessel}\n",
        "c:2:5: the move 'a' is from 'Baot', which is a type of no revision; near: Boat",
    ),
    (
        "moves:\n  - {name: a, from: Boat, to: Vesel}\n",
        "c:2:5: the move 'a' is to 'Vesel', which is a type of no revision; near: Vessel",
    ),
    (
        "distinct:\n  - {from: Boat, to: Prot}\n",
        "c:2:5: this pair is to 'Prot', which is a type of no revision; near: Port",
    ),
    ("plain:\n  types: [Prt]\n", "c:2:11: 'Prt' is a type of no revision; near: Port"),
    ("kept:\n  types: [Prt]\n", "c:2:11: 'Prt' is a type of no revision; near: Port"),
    ("hints:\n  members: [Boat.nmae]\n", "c:2:13: 'Boat.nmae' is a member of no revision; near: Boat.name"),
    ("supplied:\n  members: [Boats.name]\n", "c:2:13: 'Boats.name' is a member of no revision; near: Boat.name"),
]


@pytest.mark.parametrize(("text", "message"), [*MEANINGLESS, *UNKNOWN])
def test_what_means_nothing_is_a_fault(text: str, message: str) -> None:
    assert message in map(str, problems_of(text).found)


@pytest.mark.parametrize(("text", "message"), UNKNOWN)
def test_what_a_revision_may_have_that_comes_back_is_a_mark(text: str, message: str) -> None:
    problems = problems_of(text, ("2003-03-03",))
    assert problems.found == []
    assert [(str(mark), mark.degree) for mark in problems.remarks] == [(message, "mark")]


def test_names_under_which_a_move_has_a_type_are_known() -> None:
    moved = "moves:\n  - {name: a, from: Boat, to: Vessel}\n"
    problems = problems_of(f"{moved}plain:\n  types: [Boat, Vessel, 'Sea*']\n  members: [Vessel.name, '*.depth']\n")
    assert problems.found == problems.remarks == []


def test_a_move_that_no_revision_needs_is_a_remark() -> None:
    both = {"Boat": TEXT, "Vessel": TEXT}
    problems = Problems()
    top = parse("moves:\n  - {name: a, from: Boat, to: Vessel}\n", "c", problems)
    assert top is not None
    rules = read_rules(top, problems)
    assert rules is not None
    check_rule_names({"2001-01-01": {"$defs": both}}, rules, (), (), problems)
    assert problems.found == []
    assert [str(remark) for remark in problems.remarks] == [
        "c:2:5: the move 'a' finds nothing: no revision has 'Boat' without 'Vessel'"
    ]


def test_a_move_from_the_name_that_the_newest_final_revision_gives_is_a_remark_with_the_one_to_write() -> None:
    """As one is written for a draft, which becomes final later."""
    move = "moves:\n  - {name: a, from: Vessel, to: Boat}\n"
    problems = problems_of(move)
    assert problems.found == []
    assert [(str(remark), remark.degree) for remark in problems.remarks] == [
        (
            "c:2:5: 'Vessel' is what 2002-02-02 calls it, and the vocabulary keeps the name 'Boat'; "
            "to have the newer one, write {name: a, from: Boat, to: Vessel}",
            "remark",
        )
    ]
    assert problems_of(move, drafts=("2002-02-02",)).remarks == []
