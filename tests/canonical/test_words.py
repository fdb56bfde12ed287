"""The words of `specs/words.yaml`: what is complained about, and since and until when there is something."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any

import pytest
from revgen.canonical.merge import merge
from revgen.canonical.origins import Origins, find_origins
from revgen.canonical.rules import Move, Rules
from revgen.canonical.words import Words, complain_about_words, load_words
from revgen.reading.located import Place, Problems

TEXT = {"type": "string"}
PLACE = Place("specs/canonical.yaml", 1, 1)


def words_of(root: pathlib.Path, text: str) -> tuple[Words, Problems]:
    (root / "specs").mkdir(exist_ok=True)
    (root / "specs/words.yaml").write_text(text, "utf-8")
    problems = Problems()
    return load_words(root, problems), problems


def test_a_line_of_a_type_goes_before_the_one_that_holds_everywhere(tmp_path: pathlib.Path) -> None:
    words, problems = words_of(
        tmp_path, "members: {date: When.}\ntypes:\n  Letter:\n    is: A sheet.\n    members: {date: When written.}\n"
    )
    assert problems.found == []
    assert words.of_type("Letter") == "A sheet."
    assert words.of_type("Stamp") == ""
    assert words.of_member("Letter", "date") == "When written."
    assert words.of_member("Stamp", "date") == "When."
    assert words.of_member("Stamp", "price") == ""


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("type: {}", "1:1: 'type' is not a key of this file; near: types; allowed: members, types"),
        ("types: [a]", "1:8: 'types' is a list; allowed: a mapping"),
        ("types: {Letter: A sheet.}", "1:17: 'Letter' is 'A sheet.'; allowed: a mapping of is, members"),
        ("types: {Letter: {has: x}}", "1:18: 'has' is not a key of type 'Letter'; allowed: is, members"),
        (
            "members: {date: ''}",
            "1:17: 'date' is empty; allowed: one line of text, without backslashes and double quotes",
        ),
        (
            "members: {date: [a]}",
            "1:17: 'date' is a list; allowed: one line of text, without backslashes and double quotes",
        ),
        (
            "members: {date: 'a \"b\"'}",
            '1:17: \'date\' is "a "b""; allowed: one line of text, without backslashes and double quotes',
        ),
    ],
)
def test_what_no_docstring_can_hold_is_a_located_fault(tmp_path: pathlib.Path, text: str, complaint: str) -> None:
    _, problems = words_of(tmp_path, text)
    assert [str(problem) for problem in problems.found] == [f"specs/words.yaml:{complaint}"]


def test_what_has_no_words_and_words_of_nothing_are_remarks(tmp_path: pathlib.Path) -> None:
    words, problems = words_of(
        tmp_path,
        "members: {weight: W., date: D.}\ntypes:\n  Letter:\n    members: {date: D., sent: S.}\n  Parcel: {is: P.}\n",
    )
    complain_about_words(words, {"Letter": {"properties": {"date": TEXT, "stamp": TEXT}}, "Stamp": TEXT}, (), problems)
    assert problems.found == []
    assert sorted(map(str, problems.remarks)) == [
        "specs/words.yaml:1:19: no type has a member 'weight' without words of its own",
        "specs/words.yaml:1:1: 'Stamp' has no words; allowed: a line, as its 'is'",
        "specs/words.yaml:1:29: no type has a member 'date' without words of its own",
        "specs/words.yaml:3:3: 'Letter' has no words; allowed: a line, as its 'is'",
        "specs/words.yaml:3:3: 'Letter.stamp' has no words; allowed: a line among the 'members' of 'Letter'",
        "specs/words.yaml:4:31: 'Letter' has no member 'sent'; members: date, stamp",
        "specs/words.yaml:5:3: 'Parcel' is no type of the canonical vocabulary",
    ]


def test_without_the_file_there_is_one_remark(tmp_path: pathlib.Path) -> None:
    problems = Problems()
    complain_about_words(load_words(tmp_path, problems), {"Letter": TEXT}, (), problems)
    assert [str(remark) for remark in problems.remarks] == [
        "specs/words.yaml:1:1: there is no such file, so types and members have no words"
    ]


def test_words_follow_a_move_and_their_entry_is_to_be_renamed(tmp_path: pathlib.Path) -> None:
    words, problems = words_of(tmp_path, "types:\n  Letter: {is: L., members: {date: D.}}\n")
    moves = (Move("letters are called mail", "Letter", "Mail", Place("specs/canonical.yaml", 4, 5)),)
    following = words.following(moves)
    assert (following.of_type("Mail"), following.of_member("Mail", "date")) == ("L.", "D.")
    complain_about_words(following, {"Mail": {"properties": {"date": TEXT}}}, moves, problems)
    assert [str(remark) for remark in problems.remarks] == [
        "specs/words.yaml:2:3: 'Letter' is no type of the canonical vocabulary; it is called 'Mail' there since a move, so call this entry so"
    ]
    renamed, _ = words_of(tmp_path, "types:\n  Mail: {is: M.}\n  Letter: {is: L.}\n")
    assert renamed.following(moves).of_type("Mail") == "M."


def members(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def origins(*schemas: dict[str, Any], rules: Rules | None = None) -> Origins:
    """Of revisions called 1, 2 and so on."""
    given = {
        str(number): {"$defs": definitions, "x-published": sorted(definitions)}
        for number, definitions in enumerate(schemas, start=1)
    }
    rules = rules or Rules(PLACE)
    problems = Problems()
    canonical = merge(given, rules, problems)
    assert problems.found == []
    return find_origins(given, rules, canonical)


def test_since_and_until_are_told_where_something_is_not_always_there() -> None:
    found = origins(
        {"Letter": members(old=TEXT, text=TEXT), "Wax": TEXT},
        {"Letter": members(text=TEXT, stamp=TEXT, mid=TEXT), "Stamp": TEXT, "Wax": TEXT},
        {"Letter": members(text=TEXT, stamp=TEXT, date=TEXT, old=TEXT), "Stamp": TEXT},
    )
    assert found.when_type("Letter") == ""
    assert found.when_type("Stamp") == "Since 2."
    assert found.when_type("Wax") == "Until 2."
    assert [found.when_member("Letter", name) for name in ("text", "stamp", "date", "mid", "old")] == [
        "",
        "Since 2.",
        "Since 3.",
        "Only in 2.",
        "Not in 2.",
    ]


def test_what_a_draft_lacks_is_not_gone_and_what_it_adds_is_there_since() -> None:
    schemas = ({"Letter": members(old=TEXT)}, {"Letter": members(old=TEXT)}, {"Letter": members(new=TEXT), "Wax": TEXT})
    found = dataclasses.replace(origins(*schemas), drafts=frozenset({"3"}))
    assert found.when_member("Letter", "old") == ""
    assert found.when_member("Letter", "new") == "Since 3."
    assert found.when_type("Wax") == "Since 3."


def test_a_member_is_there_as_long_as_its_type_without_a_word() -> None:
    found = origins({}, {"Letter": members(text=TEXT)}, {"Letter": members(text=TEXT)})
    assert (found.when_type("Letter"), found.when_member("Letter", "text")) == ("Since 2.", "")


def test_a_type_is_found_under_another_name_and_by_its_place() -> None:
    moved = Rules(PLACE, moves=(Move("m", "Note", "Letter", PLACE),))
    found = origins(
        {"Note": members(stamp={"$ref": "#/$defs/NoteStamp"}), "NoteStamp": members(price=TEXT)},
        {"Letter": members(stamp={"$ref": "#/$defs/Stamp"}), "Stamp": members(price=TEXT)},
        rules=moved,
    )
    assert found.when_type("Letter") == ""
    assert found.of("1", "Note") == "Letter"
    assert found.of("2", "Letter") == "Letter"
    assert found.of("2", "Elsewhere") is None


def test_a_member_that_takes_other_kinds_of_json_is_not_the_same() -> None:
    number = {"type": "number"}
    texts = {"type": "array", "items": TEXT}
    found = origins(
        {"Letter": members(one=TEXT, many=texts, kind={"const": "a"}, count={"type": "integer"})},
        {"Letter": members(one=TEXT, many={"anyOf": [TEXT, texts]}, kind={"enum": ["a", "b"]}, count=number)},
    )
    assert found.types["Letter"]["1"].members == {"one", "many", "kind", "count"}
    assert found.types["Letter"]["1"].alike == {"one", "kind", "count"}
