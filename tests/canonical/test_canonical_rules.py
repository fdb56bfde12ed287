"""Reading `canonical.yaml`: what is understood, and what is said of what is not."""

from __future__ import annotations

import pathlib

from revgen.canonical.rules import Rules, read_rules
from revgen.reading import located
from revgen.reading.located import Problems


def read(folder: pathlib.Path, text: str) -> tuple[Rules, list[str]]:
    (folder / "canonical.yaml").write_text(text, "utf-8")
    problems = Problems()
    top = located.load(folder, "canonical.yaml", problems)
    assert top is not None
    return read_rules(top, problems), [str(problem) for problem in sorted(problems.found)]


def test_everything_that_a_file_can_say(tmp_path: pathlib.Path) -> None:
    rules, problems = read(
        tmp_path,
        """\
plain: {types: [Free], members: ["*._meta"]}
open: {types: [Payload]}
left_out: {types: ["Wire*"], members: [Thing.id]}
kept: {types: [WireThing]}
refused: {types: [Link], members: [Thing.size]}
hints: {members: ["Hint.*"]}
supplied: {members: ["*Params._meta"]}
moves:
  - {name: renamed, from: Old, to: New}
""",
    )
    assert problems == []
    assert [pattern.text for pattern in rules.plain_types] == ["Free"]
    assert [pattern.text for pattern in rules.plain_members] == ["*._meta"]
    assert [pattern.text for pattern in rules.open_types] == ["Payload"]
    assert [pattern.text for pattern in rules.left_out_types] == ["Wire*"]
    assert [pattern.text for pattern in rules.left_out_members] == ["Thing.id"]
    assert [pattern.text for pattern in rules.kept_types] == ["WireThing"]
    assert [pattern.text for pattern in rules.refused] == ["Link"]
    assert [pattern.text for pattern in rules.refused_values] == ["Thing.size"]
    assert [pattern.text for pattern in rules.hints] == ["Hint.*"]
    assert [pattern.text for pattern in rules.supplied] == ["*Params._meta"]
    assert [(move.name, move.published, move.canonical) for move in rules.moves] == [("renamed", "Old", "New")]
    assert str(rules.moves[0].place) == "canonical.yaml:9:5"


def test_an_empty_file_says_nothing(tmp_path: pathlib.Path) -> None:
    rules, problems = read(tmp_path, "")
    assert problems == []
    assert rules == Rules(rules.place)


def test_every_complaint(tmp_path: pathlib.Path) -> None:
    _, problems = read(
        tmp_path,
        """\
plane: {}
plain: [Free]
left_out:
  kinds: [A]
  types: A
  members: [Thing, {a: b}]
kept:
  types: [A.b, A]
moves:
  - just text
  - {name: x, from: A, too: B}
open:
  types: [A, B, A]
""",
    )
    assert problems == [
        "canonical.yaml:1:1: 'plane' is not a key of this file; allowed: plain, open, left_out, kept, refused, hints, supplied, moves, distinct",
        "canonical.yaml:2:8: 'plain' is a list; allowed: a mapping of types, members",
        "canonical.yaml:4:3: 'kinds' is not a key of section 'left_out'; allowed: types, members",
        "canonical.yaml:5:10: 'types' is 'A'; allowed: a list",
        "canonical.yaml:6:13: an item is 'Thing'; allowed: Type.member, with * for any characters",
        "canonical.yaml:6:20: an item is a mapping; allowed: Type.member, with * for any characters",
        "canonical.yaml:8:11: an item is 'A.b'; allowed: Type, with * for any characters",
        "canonical.yaml:10:5: an item is 'just text'; allowed: a mapping of name, from, to",
        "canonical.yaml:11:24: 'too' is not a key of this move; near: to; allowed: name, from, to",
        "canonical.yaml:13:17: 'A' stands twice here; first at line 13",
    ]


def test_moves_that_are_no_list(tmp_path: pathlib.Path) -> None:
    _, problems = read(tmp_path, "moves: {a: b}\n")
    assert problems == ["canonical.yaml:1:8: 'moves' is a mapping; allowed: a list"]
