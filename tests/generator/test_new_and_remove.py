"""A revision goes into specs/ and comes out again line by line, and what was copied waits for a person."""

from __future__ import annotations

import hashlib
import json
import pathlib

import pytest

from .conftest import Toy

LETTERS = "specs/variance/letters.yaml"
CORRECTIONS = "specs/corrections.yaml"
NEW = "2003-03-03"
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$defs": {"Letter": {"type": "object", "properties": {"date": {"type": "string"}, "scent": {"type": "string"}}}},
}
ANSWERS = """\
answers:
  letters:
    can_ask: {is: yes, cite: "page: letters#answers"}
    stamp:
      # Nobody sends letters any more.
      is: 0
      cite: "page: letters#stamps"
    marks: {rows: {urgent: none, secret: none}, cite: "page: letters#marks"}
    sealed: {choice: closed, with: {wax: green}, cite: "page: letters#seals"}
  stdio:
    line_end: {is: "\\n", cite: "page: transports#stdio"}
"""

# What is still to be written down for it, which ends nothing.
REMARKS = [
    "there is no specs/pages/2003-03-03.txt, so citations are not held against the pages of 2003-03-03; "
    "'revgen pages 2003-03-03 FOLDER' writes it",
    "'Letter.scent' has no words; allowed: a line among the 'members' of 'Letter'",
]


@pytest.fixture
def schema(tmp_path: pathlib.Path) -> str:
    file = tmp_path / "schema.json"
    file.write_text(json.dumps(SCHEMA), "utf-8")
    return str(file)


@pytest.fixture
def answers(tmp_path: pathlib.Path) -> pathlib.Path:
    file = tmp_path / "answers.yaml"
    file.write_text(ANSWERS, "utf-8")
    return file


def inputs(toy: Toy) -> dict[str, str]:
    return {
        path.relative_to(toy.root).as_posix(): path.read_text("utf-8") for path in (toy.root / "specs").rglob("*.*")
    }


def test_copied_answers_are_marked_each_in_its_own_style(toy: Toy, schema: str) -> None:
    toy.replace(
        LETTERS,
        '        is: 3\n        cite: "page: letters#stamps"',
        "        is: 3\n        cite: 'page: letters#stamps'",
    )
    toy.replace(
        LETTERS,
        '      "2002-02-02":\n        is: none\n        cite: "policy: project: No page names a price."\n',
        '      "2002-02-02": {is: none, cite: "policy: project: No page names a price."} # for now\n',
    )
    before = (toy.root / LETTERS).read_text("utf-8").splitlines()
    result = toy.run("new", NEW, "--schema", schema, "--like", "2002-02-02")
    assert result.exit_code == 0, result.output
    after = (toy.root / LETTERS).read_text("utf-8").splitlines()
    added = list(after)
    for line in before:
        added.remove(line)
    assert [line for line in added if "review" in line or "2003" in line] == [
        '      "2003-03-03":',
        "        review: copied from 2002-02-02",
        '      "2003-03-03": {review: copied from 2002-02-02, is: none, cite: "policy: project: No page names a price."} # for now',
        '      "2003-03-03":',
        "        review: copied from 2002-02-02",
        '      "2003-03-03":',
        "        review: copied from 2002-02-02",
    ]
    assert "answers: 0 given, 5 copied from 2002-02-02, 0 there already; corrections: 0" in result.stdout
    assert "From 2002-02-02 to 2003-03-03:" in result.stdout
    assert "  Letter: gone mark; new scent: string" in result.stdout


def test_lint_and_check_find_marks_and_generate_goes_on(toy: Toy, schema: str) -> None:
    toy.run("new", NEW, "--schema", schema, "--like", "2001-01-01")
    result = toy.run("lint")
    assert result.exit_code == 1
    found = [line.partition(": ")[2] for line in result.stdout.splitlines()]
    assert found == [
        "the answer of 'can_ask' for 2003-03-03 is to be reviewed: copied from 2001-01-01",
        "the answer of 'stamp' for 2003-03-03 is to be reviewed: copied from 2001-01-01",
        "the answer of 'marks' for 2003-03-03 is to be reviewed: copied from 2001-01-01",
        # A source that is not in the new schema is found, and hinders nothing while the answer waits.
        "'#/$defs/Letter/properties/mark' is not in the schema of 2003-03-03; '#/$defs/Letter/properties' has no 'mark'",
        "the answer of 'sealed' for 2003-03-03 is to be reviewed: copied from 2001-01-01",
        "the answer of 'line_end' for 2003-03-03 is to be reviewed: copied from 2001-01-01",
    ]
    result = toy.run("generate")
    assert result.exit_code == 0
    assert "created generated/mcp_revisions/v2003_03_03/adapter.py" in result.stdout
    assert result.stderr == "6 to be reviewed; run: revgen lint\n2 remarks; run: revgen lint --remarks\n"
    assert "review" not in (toy.root / "generated/mcp_revisions/v2003_03_03/adapter.py").read_text("utf-8")
    result = toy.run("check")
    assert (result.exit_code, result.stdout) == (1, "")


def test_what_is_written_with_faults_says_so_and_what_is_refused_writes_nothing(
    toy: Toy, schema: str, tmp_path: pathlib.Path
) -> None:
    before = inputs(toy)
    # An answer without a question: nobody can go on from that.
    refused = tmp_path / "refused.yaml"
    refused.write_text(ANSWERS.replace("line_end:", "line_start:"), "utf-8")
    arguments = ["new", NEW, "--schema", schema, "--like", "2002-02-02", "--answers"]
    result = toy.run(*arguments, str(refused))
    assert result.exit_code == 1
    assert "written;" not in result.output
    assert inputs(toy) == before
    # Answers that the schema contradicts: they stand where they belong, to be put right there.
    faulty = tmp_path / "faulty.yaml"
    faulty.write_text(
        ANSWERS.replace("page: letters#stamps", "schema: #/$defs/Stamp").replace("{wax: green}", "{wax: 7, ink: 1}"),
        "utf-8",
    )
    result = toy.run(*arguments, str(faulty))
    assert result.exit_code == 3, result.output
    assert "wrote specs/revisions.yaml\n" in result.stdout
    head, *faults, _ = result.stderr.splitlines()
    assert head == f"written; {len(faults)} things to answer before generate:"
    assert len(faults) > 1
    assert all(fault.startswith(f"{LETTERS}:") for fault in faults)
    assert any("'#/$defs/Stamp' is not in the schema of 2003-03-03" in fault for fault in faults)
    written = inputs(toy)
    assert f'  "{NEW}":' in written["specs/revisions.yaml"]
    assert toy.run("generate").exit_code == 1
    # What they named once answered, generating goes on.
    text = written[LETTERS].replace("schema: #/$defs/Stamp", "page: letters#stamps")
    (toy.root / LETTERS).write_text(text.replace("{wax: 7, ink: 1}", "{wax: green}"), "utf-8")
    assert toy.run("generate").exit_code == 0


def test_without_its_mark_an_answer_must_cite_what_is_there(toy: Toy, schema: str) -> None:
    toy.run("new", NEW, "--schema", schema, "--like", "2001-01-01")
    text = (toy.root / LETTERS).read_text("utf-8")
    (toy.root / LETTERS).write_text(text.replace("        review: copied from 2001-01-01\n", ""), "utf-8")
    result = toy.run("generate")
    assert result.exit_code == 1
    assert "'#/$defs/Letter/properties/mark' is not in the schema of 2003-03-03" in result.stderr


def test_a_file_of_answers_goes_in_as_it_is(toy: Toy, schema: str, answers: pathlib.Path) -> None:
    result = toy.run("new", NEW, "--schema", schema, "--answers", str(answers), "--after", "2001-01-01")
    assert result.exit_code == 0, result.output
    assert result.stderr == "2 remarks; run: revgen lint --remarks\n"
    text = (toy.root / LETTERS).read_text("utf-8")
    assert (
        '      "2003-03-03":\n        # Nobody sends letters any more.\n        is: 0\n        cite: "page: letters#stamps"\n'
        '      "2002-02-02":\n        is: none\n'
    ) in text
    versions = [line for line in (toy.root / "specs/revisions.yaml").read_text("utf-8").splitlines() if '":' in line]
    assert versions == ['  "2001-01-01":', '  "2003-03-03":', '  "2002-02-02":']
    assert toy.problems() == []
    assert [line.partition(": ")[2] for line in toy.run("lint", "--remarks").stdout.splitlines()] == REMARKS


def test_a_revision_comes_back_as_it_was(toy: Toy, schema: str, answers: pathlib.Path, tmp_path: pathlib.Path) -> None:
    correction = (
        '{revision: "2003-03-03", pointer: /$defs/Letter/properties/date/type, expected: \'"string"\', '
        'value: \'["string", "null"]\', reason: Why, source: https://example.org}'
    )
    (toy.root / CORRECTIONS).write_text(f"# Known.\ncorrections:\n  - {correction}\n", "utf-8")
    toy.run("new", NEW, "--schema", schema, "--answers", str(answers), "--after", "2001-01-01")
    before = inputs(toy)
    kept = tmp_path / "kept.yaml"
    result = toy.run("remove", NEW, "--keep", str(kept))
    assert result.stdout.splitlines() == [
        "changed specs/revisions.yaml",
        "changed specs/corrections.yaml",
        "changed specs/variance/letters.yaml",
        "changed specs/variance/stdio.yaml",
        "removed specs/schemas/2003-03-03.json",
        f"kept its answers in {kept}",
    ]
    assert (toy.root / CORRECTIONS).read_text("utf-8") == "# Known.\ncorrections: []\n"
    assert toy.run("lint").stdout == ""
    assert toy.run("new", NEW, "--schema", schema, "--answers", str(kept)).exit_code == 0
    assert inputs(toy) == before


ENTRIES = """\
# Revisions, oldest first.
revisions:
  # The first that was published.
  "2001-01-01": # in January
    # It was printed.
    pages: https://example.org/2001-01-01
    draft: no
    source: "https://example.org/2001-01-01/schema.json"  # by post
    sha256: "DIGEST"

  # Nobody uses this one,
  # or so they say.
  "2002-02-02":
    source: https://example.org/2002-02-02/schema.json
    sha256: "DIGEST"
    pages: https://example.org/2002-02-02
    draft: no # it is final
  "2003-03-03": {source: https://example.org/s, sha256: "DIGEST", pages: https://example.org/3, draft: true}
# More may come.
"""


@pytest.mark.parametrize("version", ["2001-01-01", "2002-02-02", NEW])
def test_an_entry_comes_back_with_all_that_its_text_says(
    toy: Toy, schema: str, answers: pathlib.Path, tmp_path: pathlib.Path, version: str
) -> None:
    assert toy.run("new", NEW, "--schema", schema, "--answers", str(answers)).exit_code == 0
    published = toy.root / f"specs/schemas/{version}.json"
    content = published.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    (toy.root / "specs/revisions.yaml").write_text(ENTRIES.replace("DIGEST", digest), "utf-8")
    # Comments above an answer are its own, above the first one too.
    for first, answer in (("2001-01-01", "no"), ("2002-02-02", "yes")):
        toy.replace(
            LETTERS,
            f'      "{first}":\n        is: {answer}\n',
            f'      # Of {first}.\n      "{first}":\n        is: {answer}\n',
        )
    before = inputs(toy)
    kept = tmp_path / "kept.yaml"
    assert toy.run("remove", version, "--keep", str(kept)).exit_code == 0
    text = (toy.root / "specs/revisions.yaml").read_text("utf-8")
    assert text.partition("removed:\n")[0].endswith("# More may come.\n")
    file = tmp_path / "published.json"
    file.write_bytes(content)
    assert toy.run("new", version, "--schema", str(file), "--answers", str(kept)).exit_code == 0
    assert inputs(toy) == before


def test_a_revision_that_was_put_in_leaves_nothing_when_it_is_taken_out(
    toy: Toy, schema: str, answers: pathlib.Path
) -> None:
    before = inputs(toy)
    assert toy.run("new", NEW, "--schema", schema, "--answers", str(answers)).exit_code == 0
    assert inputs(toy) != before
    assert toy.run("remove", NEW).exit_code == 0
    assert inputs(toy) == before


def test_what_is_said_anew_goes_before_what_was_kept(
    toy: Toy, schema: str, answers: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    assert toy.run("new", NEW, "--schema", schema, "--answers", str(answers), "--draft").exit_code == 0
    toy.replace("specs/revisions.yaml", "    draft: yes\n", "    draft: yes # as yet\n")
    digest = hashlib.sha256(pathlib.Path(schema).read_bytes()).hexdigest()
    kept = tmp_path / "kept.yaml"
    assert toy.run("remove", NEW, "--keep", str(kept)).exit_code == 0
    pathlib.Path(schema).write_text(json.dumps(SCHEMA, indent=1), "utf-8")
    source = "https://example.org/final.json"
    arguments = ["new", NEW, "--schema", schema, "--answers", str(kept), "--final", "--source", source]
    assert toy.run(*arguments).exit_code == 0
    text = (toy.root / "specs/revisions.yaml").read_text("utf-8")
    assert "    draft: no # as yet\n" in text
    assert f"    source: {source}\n" in text
    assert digest not in text
    assert hashlib.sha256(pathlib.Path(schema).read_bytes()).hexdigest() in text


def test_what_only_a_removed_revision_used_is_remarked_and_hinders_nothing(toy: Toy) -> None:
    result = toy.run("remove", "2001-01-01", "--json")
    assert [problem["message"] for problem in json.loads(result.stdout)["problems"]] == [
        "rule 'absence' compares with '2001-01-01', which is not a revision; near: 2002-02-02",
        "choice 'open' of 'sealed' is answered by no revision",
    ]
    assert toy.run("lint").exit_code == 1
    assert toy.run("generate").exit_code == 0


def test_new_writes_nothing_where_a_question_has_no_answer_or_an_answer_no_question(
    toy: Toy, schema: str, answers: pathlib.Path
) -> None:
    before = inputs(toy)
    text = answers.read_text("utf-8")
    answers.write_text(text.replace("line_end:", "line_start:"), "utf-8")
    result = toy.run("new", NEW, "--schema", schema, "--answers", str(answers))
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        f"{answers}:1:1: no answer of 'line_end' (stdio) for 2003-03-03",
        f"{answers}:11:5: 'line_start' is not a concern of area 'stdio'",
    ]
    answers.write_text(f"answer: 1\n{text}", "utf-8")
    result = toy.run("new", NEW, "--schema", schema, "--answers", str(answers))
    keys = "after, revision, pages, corrections, answers"
    assert result.stderr == f"{answers}:1:1: 'answer' is not a key of this file; allowed: {keys}\n"
    assert inputs(toy) == before


def test_every_fault_of_an_answers_file_is_said_at_once_and_nothing_is_written(
    toy: Toy, schema: str, answers: pathlib.Path
) -> None:
    before = inputs(toy)
    answers.write_text(
        "revision: {befor: x, draft: maybe}\ncorrections: {x: {}}\nanswers: {letters: {stamp: {iz: 3}, marks: 3}}\n",
        "utf-8",
    )
    result = toy.run("new", NEW, "--schema", schema, "--answers", str(answers))
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        f"{answers}:1:12: 'befor' is not a key of section 'revision'; allowed: source, sha256, pages, reference, draft",
        f"{answers}:1:29: 'draft' is 'maybe'; allowed: yes or no",
        f"{answers}:2:15: a key is 'x'; allowed: the number of a place in the list of corrections, from 1",
        f"{answers}:2:15: correction 'x' has no 'revision' and no 'pointer' and no 'expected' and no 'value' and no 'reason' "
        "and no 'source'; allowed: revision, pointer, expected, value, reason, source, review",
        f"{answers}:3:21: 'stamp' has none; allowed: one of the keys is, rows, choice",
        f"{answers}:3:44: 'marks' is '3'; allowed: a mapping with one of the keys is, rows, choice",
    ]
    assert inputs(toy) == before


def test_what_is_kept_names_its_schema_from_where_it_is(toy: Toy) -> None:
    kept = toy.root.parent / "kept" / "2001-01-01.yaml"
    kept.parent.mkdir()
    toy.run("remove", "2001-01-01", "--keep", str(kept))
    first = kept.read_text("utf-8").splitlines()[0]
    assert first == "# yaml-language-server: $schema=../toy/generated/editors/answers.schema.json"


def test_answers_on_one_line_cannot_be_edited_by_lines(toy: Toy, schema: str) -> None:
    toy.replace(
        "specs/variance/stdio.yaml",
        """
      "2001-01-01":
        is: "\\n"
        cite: "page: transports#stdio"
      "2002-02-02":
        is: "\\n"
        cite: "page: transports#stdio"
""",
        """ {"2001-01-01": {is: "\\n", cite: "page: letters#seals"}, "2002-02-02": {is: "\\n", cite: "page: letters#seals"}}
""",
    )
    assert toy.run("lint").output == ""
    before = inputs(toy)
    for arguments in (["remove", "2001-01-01"], ["new", NEW, "--schema", schema, "--like", "2001-01-01"]):
        result = toy.run(*arguments)
        assert result.exit_code == 1
        where = "specs/variance/stdio.yaml:8:14"
        assert result.stderr == f"{where}: to be edited here, each entry needs a line of its own\n"
    assert inputs(toy) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["remove", NEW], "'2003-03-03' is not a revision; revisions: 2001-01-01, 2002-02-02"),
        (["new", NEW, "--schema", "SCHEMA"], "nothing to answer with; give --like REVISION, --answers FILE or both"),
        (["new", NEW, "--schema", "SCHEMA", "--like", NEW], "'2003-03-03' is not a revision"),
        (["remove", "2001-01-01", "--keep", "SCHEMA"], "exists already"),
        (["diff", "2001-01-01", NEW], "'2003-03-03' is not a revision"),
        (["explain", "stamps"], "'stamps' is not a concern; perhaps: stamp"),
        (["explain", "seals"], "'seals' is not a concern; perhaps: sealed"),
    ],
)
def test_wrong_usage_is_said(toy: Toy, schema: str, arguments: list[str], message: str) -> None:
    result = toy.run(*(schema if argument == "SCHEMA" else argument for argument in arguments))
    assert result.exit_code == 2
    assert message in result.stderr


def test_the_only_revision_stays(toy: Toy) -> None:
    toy.run("remove", "2001-01-01")
    result = toy.run("remove", "2002-02-02")
    assert result.exit_code == 2
    assert "2002-02-02 is the only revision, and there has to be one" in result.stderr
