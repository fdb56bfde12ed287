"""The JSON Schemas for editors: they take every file of specs, and refuse the mistakes of form that the generator refuses."""

from __future__ import annotations

import json
import pathlib
import re
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
import yaml
from revgen.documents.editor_schemas import MODELS, editor_line, editor_schema, editor_schema_path
from revgen.reading.located import Problems, parse
from revgen.reading.models import read

from . import yaml_core

ROOT = pathlib.Path(__file__).parents[2]
FILES = {
    path.relative_to(ROOT).as_posix(): "area" if path.parent.name == "variance" else path.stem
    for path in sorted((ROOT / "specs").rglob("*.yaml"))
}

DIGEST = "0" * 64
CITE = 'cite: "page: letters#stamps"'
VALUE = f"title: Letters\nconcerns:\n  stamp:\n    question: What?\n    value: integer\n    answers:\n      '1': {{is: 3, {CITE}}}\n"
TABLE = (
    "title: Letters\ntransport: stdio\nconcerns:\n  marks:\n    question: What?\n    table: text or none\n    names: error codes\n"
    "    rows: {urgent: Now., secret: {says: Shut., stated: no}}\n    answers:\n"
    f"      '1': {{rows: {{urgent: '!', secret: none}}, {CITE}}}\n"
)
CHOICE = (
    "title: Letters\nconcerns:\n  sealed:\n    question: How?\n    signature: '(self, text: str) -> str'\n    parameters: {wax: text}\n"
    "    choices: {open: Not at all., closed: {says: With wax., reads: [Letter.seal]}}\n    answers:\n"
    f"      '1': {{choice: closed, with: {{wax: red}}, {CITE}, review: copied}}\n"
)
REVISIONS = f"revisions:\n  '2001-01-01': {{source: https://example.com, sha256: '{DIGEST}', pages: https://example.com, draft: yes}}\n"
CORRECTIONS = "corrections:\n  - {revision: '1', pointer: /a, expected: '1', value: '2', reason: So., source: There.}\n"
CANONICAL = "plain: {types: ['JSON*'], members: ['*._meta']}\nmoves:\n  - {name: renamed, from: Old, to: New}\n"
SELECTION = "rules:\n  absence: {says: Old., with: {version: '1'}, refusal: None., cite: 'policy: seed: So it is.'}\n"
WORDS = "members: {date: When.}\ntypes: {Letter: {is: A sheet., members: {text: What it says.}}}\n"
KEYWORDS = "harmless: {uniqueItems: Doubles do no harm.}\n"
ANSWERS = (
    "after: none\nrevision: {draft: no}\npages: |\n  a#b\ncorrections:\n  3: {revision: '1', pointer: /a, expected: '1', value: '2', "
    "reason: So., source: There.}\nanswers:\n  letters:\n"
    f"    stamp: {{is: 3, {CITE}}}\n    marks: {{rows: {{urgent: none}}, {CITE}}}\n    sealed: {{choice: open, {CITE}}}\n"
)

RIGHT = {
    "a value": ("area", VALUE),
    "a table": ("area", TABLE),
    "a choice": ("area", CHOICE),
    "revisions": ("revisions", REVISIONS),
    "corrections": ("corrections", CORRECTIONS),
    "rules of the vocabulary": ("canonical", CANONICAL),
    "a selection": ("selection", SELECTION),
    "words": ("words", WORDS),
    "keywords": ("keywords", KEYWORDS),
    "answers of one revision": ("answers", ANSWERS),
}

WRONG = {
    "an unknown key of an area": ("area", VALUE, "title:", "since: 1\ntitle:"),
    "an unknown key of a concern": ("area", VALUE, "    value:", "    default: 1\n    value:"),
    "a key of another kind of concern": ("area", VALUE, "    value:", "    parameters: {}\n    value:"),
    "an unknown key of an answer": ("area", VALUE, "is: 3", "is: 3, since: 1"),
    "an unknown key of a row": ("area", TABLE, "stated: no", "state: no"),
    "an unknown key of a choice": ("area", CHOICE, "reads:", "reeds:"),
    "a missing key of an area": ("area", VALUE, "title: Letters\n", ""),
    "a missing key of a concern": ("area", VALUE, "    question: What?\n", ""),
    "a missing key of an answer": ("area", VALUE, f", {CITE}", ""),
    "a concern of no kind": ("area", VALUE, "    value: integer\n", ""),
    "a concern of two kinds": ("area", VALUE, "    value:", "    table: text\n    value:"),
    "a concern that is text": ("area", "title: T\nconcerns: {a: b}\n", "", ""),
    "a name that is none": ("area", VALUE, "  stamp:", "  stamp-it:"),
    "a type that is none": ("area", VALUE, "value: integer", "value: number"),
    "a transport that is none": ("area", TABLE, "stdio", "pigeon"),
    "something named that cannot be": ("area", TABLE, "error codes", "error code"),
    "a flag that is no boolean": ("area", VALUE, "    value:", "    flag: maybe\n    value:"),
    "a question that is a list": ("area", VALUE, "question: What?", "question: [a]"),
    "rows that are text": ("area", TABLE, "{urgent: '!', secret: none}", "none"),
    "rows that are a list": ("area", TABLE, "{urgent: Now., secret: {says: Shut., stated: no}}", "[urgent]"),
    "a signature that is none": ("area", CHOICE, "(self, text: str) -> str", "text"),
    "a citation of no form": ("area", VALUE, "page: letters#stamps", "page: letters"),
    "no citation": ("area", VALUE, CITE, "cite: []"),
    "an unknown key of a revision": ("revisions", REVISIONS, "draft:", "drafd:"),
    "a missing key of a revision": ("revisions", REVISIONS, "source: https://example.com, ", ""),
    "a digest that is none": ("revisions", REVISIONS, DIGEST, "abc"),
    "a revision that is text": ("revisions", "revisions: {'1': x}\n", "", ""),
    "a name of a revision that leads elsewhere": ("revisions", REVISIONS, "2001-01-01", "../x"),
    "another top of revisions": ("revisions", REVISIONS, "revisions:", "revision:"),
    "a missing key of a correction": ("corrections", CORRECTIONS, "reason: So., ", ""),
    "an unknown key of a correction": ("corrections", CORRECTIONS, "reason:", "resaon:"),
    "a pointer that is none": ("corrections", CORRECTIONS, "/a", "a"),
    "a value of a correction that is no text": ("corrections", CORRECTIONS, "value: '2'", "value: [2]"),
    "corrections that are a mapping": ("corrections", "corrections: {a: b}\n", "", ""),
    "an unknown section of the vocabulary": ("canonical", CANONICAL, "plain:", "plane:"),
    "an unknown key of a section": ("canonical", CANONICAL, "members:", "member:"),
    "a member that is a type": ("canonical", CANONICAL, "'*._meta'", "Tool"),
    "a type that is a member": ("canonical", CANONICAL, "'JSON*'", "Tool.x"),
    "an unknown key of a move": ("canonical", CANONICAL, "to:", "too:"),
    "an unknown key of a rule": ("selection", SELECTION, "refusal:", "refuse:"),
    "no rules": ("selection", "rules: {}\n", "", ""),
    "constants that are a list": ("selection", SELECTION, "{version: '1'}", "[a]"),
    "an unknown key of a type": ("words", WORDS, "is:", "has:"),
    "words that are a list": ("words", WORDS, "When.", "[a]"),
    "words that no docstring holds": ("words", WORDS, "When.", "'a \"b\"'"),
    "a keyword without a reason": ("keywords", KEYWORDS, " Doubles do no harm.", " ''"),
    "an unknown key of answers": ("answers", ANSWERS, "answers:", "answer:"),
    "an answer of no kind": ("answers", ANSWERS, "is: 3, ", ""),
    "a correction at no place": ("answers", ANSWERS, "  3:", "  x:"),
}


def published(kind: str) -> Any:
    return json.loads((ROOT / editor_schema_path(kind)).read_text("utf-8"))


def taken_by_generator(kind: str, text: str) -> bool:
    problems = Problems()
    read(MODELS[kind], parse(text, "f.yaml", problems), problems)
    return not problems.found


def taken_by_editor(kind: str, text: str) -> bool:
    return jsonschema_rs.validator_for(published(kind)).is_valid(yaml_core.load(text))


@pytest.mark.parametrize("kind", MODELS)
def test_a_schema_is_one_and_says_what_everything_is_for(kind: str) -> None:
    schema = published(kind)
    assert (ROOT / editor_schema_path(kind)).read_text("utf-8") == editor_schema(MODELS[kind])
    jsonschema.Draft7Validator.check_schema(schema)
    for owner in (schema, *schema.get("$defs", {}).values()):
        assert owner["additionalProperties"] is False
        assert owner["description"]
        assert [name for name, member in owner["properties"].items() if "description" not in member] == []


@pytest.mark.parametrize(("path", "kind"), FILES.items())
def test_a_file_names_its_schema_in_its_first_line_and_is_taken_by_it(path: str, kind: str) -> None:
    text = (ROOT / path).read_text("utf-8")
    first = text.splitlines()[0]
    assert f"{first}\n" == editor_line(kind, path)
    match = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
    assert match is not None
    named = json.loads(((ROOT / path).parent / match[1]).read_text("utf-8"))
    errors = [error.message for error in jsonschema_rs.validator_for(named).iter_errors(yaml_core.load(text))]
    assert errors == []
    # Some editors read YAML 1.1, where yes is a boolean.
    assert jsonschema_rs.validator_for(named).is_valid(yaml.safe_load(text))


@pytest.mark.parametrize(("kind", "text"), RIGHT.values(), ids=RIGHT)
def test_what_is_right_is_taken_by_both(kind: str, text: str) -> None:
    assert taken_by_generator(kind, text)
    assert taken_by_editor(kind, text)


@pytest.mark.parametrize(("kind", "text", "old", "new"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_refused_by_both(kind: str, text: str, old: str, new: str) -> None:
    assert not old or text.count(old) == 1, old
    broken = text.replace(old, new) if old else text
    assert not taken_by_generator(kind, broken)
    assert not taken_by_editor(kind, broken)


@pytest.mark.parametrize("value", ["{a: b}", "", "1.5", "[[a]]"])
def test_a_value_of_no_type_at_all_is_seen_by_an_editor_too(value: str) -> None:
    assert not taken_by_editor("area", VALUE.replace("is: 3", f"is: {value}"))
