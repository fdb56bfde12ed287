"""Marks: they are listed, shown with what a person needs to judge, and taken away without touching another byte."""

from __future__ import annotations

import json
import pathlib

import pytest

from .conftest import Toy

NEW = "2003-03-03"
OLD = "2002-02-02"
LETTERS = "specs/variance/letters.yaml"
VECTORS = f"tests/vectors/{NEW}"


@pytest.fixture
def marked_toy(toy: Toy, tmp_path: pathlib.Path) -> Toy:
    """The toy with a third revision whose answers were copied, in each of the forms that an answer may stand in."""
    toy.replace(
        LETTERS,
        '      "2002-02-02":\n        is: none\n        cite: "policy: project: No page names a price."\n',
        '      "2002-02-02": {is: none, cite: "policy: project: No page names a price."} # for now\n',
    )
    schema = json.loads((toy.root / f"specs/schemas/{OLD}.json").read_text("utf-8"))
    schema["$defs"]["Letter"]["properties"]["scent"] = {"type": "string"}
    file = tmp_path / "schema.json"
    file.write_text(json.dumps(schema), "utf-8")
    assert toy.run("new", NEW, "--schema", str(file), "--like", OLD).exit_code == 0
    # What else it wants is written down, so that marks are all that is left.
    pages = (toy.root / f"specs/pages/{OLD}.txt").read_text("utf-8")
    (toy.root / f"specs/pages/{NEW}.txt").write_text(pages, "utf-8")
    toy.replace("specs/words.yaml", "  mark:", "  scent: What it smells of.\n  mark:")
    return toy


def test_what_is_marked_is_listed(marked_toy: Toy) -> None:
    listed = marked_toy.run("accept")
    assert listed.exit_code == 0
    names = [line.partition(" ")[0] for line in listed.stdout.splitlines()]
    assert names == ["can_ask", "stamp", "marks", "sealed", "line_end"]
    assert f"stamp  {NEW}  copied from {OLD}" in listed.stdout.splitlines()
    found = json.loads(marked_toy.run("accept", "--json").stdout)["marked"]
    assert found[0] == {"name": "can_ask", "revision": NEW, "review": f"copied from {OLD}"}


def test_an_accepted_answer_loses_its_mark_and_nothing_else(marked_toy: Toy) -> None:
    before = (marked_toy.root / LETTERS).read_text("utf-8").splitlines()
    result = marked_toy.run("accept", "stamp", "can_ask", "--yes")
    assert result.exit_code == 0, result.output
    after = (marked_toy.root / LETTERS).read_text("utf-8").splitlines()
    assert set(before) - set(after) == {
        f'      "{NEW}": {{review: copied from {OLD}, is: none, cite: "policy: project: No page names a price."}} # for now'
    }
    assert len(before) == len(after) + 1
    assert f'      "{NEW}": {{is: none, cite: "policy: project: No page names a price."}} # for now' in after
    assert result.stdout.splitlines()[-1] == "accepted 2; 3 still to be reviewed"
    assert [line.partition("'")[2].partition("'")[0] for line in marked_toy.problems()] == [
        "marks",
        "sealed",
        "line_end",
    ]


def test_everything_is_accepted_at_once(marked_toy: Toy) -> None:
    assert marked_toy.run("accept", "--all", "--yes").stdout.splitlines()[-1] == "accepted 5; 0 still to be reviewed"
    assert marked_toy.problems() == []
    for path in (marked_toy.root / "specs/variance").iterdir():
        assert "review" not in path.read_text("utf-8")


def test_a_person_sees_answer_sources_and_what_the_schema_says_otherwise(marked_toy: Toy) -> None:
    lines = marked_toy.run("accept", "marks", "--yes").stdout.splitlines()
    assert f"marks of {NEW}: copied from {OLD}" in lines
    assert "    urgent: !!" in lines
    assert any(line.startswith("  page: letters#marks  https://") for line in lines)
    assert "  in the schema: Members: Letter: new scent: string" in lines
    lines = marked_toy.run("accept", "sealed", "--yes").stdout.splitlines()
    assert f"  in the schema: what is cited is as in {OLD}" in lines


def test_without_a_terminal_it_asks_for_yes_and_changes_nothing(marked_toy: Toy) -> None:
    before = (marked_toy.root / LETTERS).read_bytes()
    result = marked_toy.run("accept", "stamp")
    assert result.exit_code == 2
    assert "there is no terminal to ask on; with --yes nothing is asked" in result.stderr
    assert (marked_toy.root / LETTERS).read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["stamps"], "'stamps' is not marked for review; marked: can_ask, stamp, marks, sealed, line_end"),
        (["stamp", "--revision", "2001-01-01"], "'stamp' is not marked for review; nothing is"),
    ],
)
def test_what_is_not_marked_cannot_be_accepted(marked_toy: Toy, arguments: list[str], message: str) -> None:
    result = marked_toy.run("accept", *arguments, "--yes")
    assert result.exit_code == 2
    assert message in result.stderr


def test_vectors_lose_their_marks_with_the_answer_or_by_file(marked_toy: Toy) -> None:
    folder = marked_toy.root / VECTORS / "concerns"
    folder.mkdir(parents=True)
    kept = '  is: none\n  cite: "page: letters#stamps"\n'
    (folder / "letters.yaml").write_text(f"# Letters.\nstamp:\n  review: copied from {OLD}\n{kept}", "utf-8")
    file = folder.parent / "encoding/params.yaml"
    file.parent.mkdir()
    vector = (
        '  - name: a\n    review: new\n    cite: "page: a#b"\n    method: m\n    given: {"review": 1}\n    sent: {}\n'
    )
    file.write_text(f"review: copied\ncall: encode_params\nvectors:\n{vector}", "utf-8")
    assert f"{VECTORS}/concerns/letters.yaml:3:3: to be reviewed: copied from {OLD}" in marked_toy.problems()
    assert f"{VECTORS}/encoding/params.yaml:5:5: to be reviewed: new" in marked_toy.problems()
    result = marked_toy.run("accept", "stamp", f"{VECTORS}/encoding/params.yaml", "--yes")
    assert result.exit_code == 0, result.output
    assert f"  vectors: 1 in {VECTORS}/concerns/letters.yaml" in result.stdout.splitlines()
    assert (folder / "letters.yaml").read_text("utf-8") == f"# Letters.\nstamp:\n{kept}"
    text = file.read_text("utf-8")
    assert text == "call: encode_params\nvectors:\n" + vector.replace("    review: new\n", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([NEW, "--like", OLD], f"there are no vectors of {OLD} in tests/vectors/{OLD}"),
        ([NEW, "--like", NEW], "a revision is not like itself"),
        (["2004-04-04", "--like", OLD], "'2004-04-04' is not a revision"),
    ],
)
def test_vectors_cannot_be_scaffolded_from_nothing(marked_toy: Toy, arguments: list[str], message: str) -> None:
    result = marked_toy.run("vectors", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_vectors_that_are_there_are_not_written_again(marked_toy: Toy) -> None:
    for version in (OLD, NEW):
        file = marked_toy.root / f"tests/vectors/{version}/errors.yaml"
        file.parent.mkdir(parents=True)
        file.write_text("direction: both ways\nvectors: []\n", "utf-8")
    result = marked_toy.run("vectors", NEW, "--like", OLD)
    assert result.exit_code == 2
    assert f"tests/vectors/{NEW} exists already" in result.stderr


ONE_VECTOR = '  - name: a\n    cite: "page: a#b"\n    method: m\n    given: {}\n    sent: {}\n'
BARE = '  - name: a\n    definition: D\n    cite: "schema: #/$defs/D"\n'


@pytest.mark.parametrize(
    ("kind", "text", "complaint"),
    [
        (
            "concerns/letters",
            "stamp:\n  review: new\n",
            "1:1: 'stamp' has none; allowed: one of the keys is, rows, calls",
        ),
        (
            "concerns/letters",
            "stamp:\n  review: new\n  calls:\n",
            "3:9: 'calls' is empty; allowed: a list, with one item at least",
        ),
        (
            "concerns/letters",
            'stamp:\n  review: new\n  calls:\n    - name: a\n      cite: "page: a#b"\n      call: {}\n      gives:\n',
            "7:13: 'gives' is empty; allowed: JSON",
        ),
        (
            "concerns/letters",
            'stamp:\n  review: new\n  calls:\n    - name: a\n      cite: "page: a#b"\n      call: {}\n',
            "4:7: 'a' does not say what becomes of it; allowed: one of the keys gives, gives_at_least, refuses",
        ),
        (
            "encoding/params",
            "review: new\ncall: encode_params\nvectors:\n",
            "3:9: 'vectors' is empty; allowed: a list, with one item at least",
        ),
        (
            "encoding/params",
            f"review: new\ncall: encode_params\nvectors:\n{ONE_VECTOR.replace('    sent: {}', '    sent:')}",
            "8:10: 'sent' is empty; allowed: JSON",
        ),
        (
            "results",
            f"review: new\ndirection: a\nvectors:\n{BARE}    valid: true\n    result: {{}}\n",
            "4:5: this vector has no 'method'",
        ),
        (
            "answers",
            f"review: new\ndirection: a\nvectors:\n{BARE}    method: m\n    valid: maybe\n    result: {{}}\n",
            "8:12: 'valid' is 'maybe'; allowed: true, false",
        ),
        (
            "client_requests",
            f"review: new\ndirection: a\nvectors:\n{BARE}    valid: false\n    message: {{}}\n",
            "4:5: vector 'a' is not valid, and has no 'wrong'",
        ),
        (
            "errors",
            f"review: new\ndirection: a\nvectors:\n{BARE}    valid: true\n    message: {{}}\n",
            "4:5: this vector has no 'error'",
        ),
        ("errors", "review: new\ndirection: a\nvectors: [\n", "4:1: not YAML: "),
    ],
)
def test_the_mark_of_what_nobody_has_written_stays(marked_toy: Toy, kind: str, text: str, complaint: str) -> None:
    file = marked_toy.root / VECTORS / f"{kind}.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(text, "utf-8")
    other = marked_toy.root / VECTORS / "encoding/results.yaml"
    other.parent.mkdir(parents=True, exist_ok=True)
    other.write_text(f"review: new\ncall: encode_result\nvectors:\n{ONE_VECTOR}", "utf-8")

    result = marked_toy.run("accept", "--all", "--yes")
    assert result.exit_code == 3, result.output
    assert f"{VECTORS}/{kind}.yaml:{complaint}" in result.stderr
    assert file.read_text("utf-8") == text
    assert other.read_text("utf-8") == f"call: encode_result\nvectors:\n{ONE_VECTOR}"
    # The answer goes with its vectors, so its mark stays as well.
    waiting = ["stamp"] if kind.startswith("concerns") else [f"{VECTORS}/{kind}.yaml"]
    assert [item["name"] for item in json.loads(marked_toy.run("accept", "--json").stdout)["marked"]] == waiting
    result = marked_toy.run("accept", "--all", "--yes", "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["accepted"] == found["changed"] == []
    assert found["left"] == 1
    assert {problem["path"] for problem in found["problems"]} == {f"{VECTORS}/{kind}.yaml"}


def test_calls_that_nobody_has_are_scaffolded_empty_and_not_accepted(marked_toy: Toy) -> None:
    file = marked_toy.root / f"tests/vectors/{OLD}/errors.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("direction: both ways\nvectors: []\n", "utf-8")
    result = marked_toy.run("vectors", NEW, "--like", OLD)
    assert result.exit_code == 0, result.output
    assert "without any calls to take over, which are to be written: sealed of 2003-03-03" in result.stdout.splitlines()
    result = marked_toy.run("accept", "sealed", "--yes")
    assert result.exit_code == 1
    assert f"{VECTORS}/concerns/letters.yaml:" in result.stderr
    assert ": 'calls' is an empty list; allowed: a list, with one item at least" in result.stderr
