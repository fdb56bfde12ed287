"""Models of files: whatever stands in one, every fault is one bounded line at its place, all of them at once, and never a traceback."""

from __future__ import annotations

import json
import pathlib
import re
from typing import Any

import pydantic
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from revgen.canonical.rules import CanonicalFile
from revgen.canonical.words import Words
from revgen.inventory.answers_file import AnswersFile
from revgen.inventory.area_file import AreaFile
from revgen.inventory.selection import SelectionFile
from revgen.reading.located import LONGEST_SHOWN, Problems, parse
from revgen.reading.models import Part, read
from revgen.schemas.keywords import KeywordsFile
from revgen.schemas.published import CorrectionsFile
from revgen.schemas.revisions import RevisionsFile

SPECS = pathlib.Path(__file__).parents[2] / "specs"
FILES: dict[type[Part], list[pathlib.Path]] = {
    RevisionsFile: [SPECS / "revisions.yaml"],
    CorrectionsFile: [SPECS / "corrections.yaml"],
    CanonicalFile: [SPECS / "canonical.yaml"],
    Words: [SPECS / "words.yaml"],
    SelectionFile: [SPECS / "selection.yaml"],
    AreaFile: sorted((SPECS / "variance").glob("*.yaml")),
    KeywordsFile: [],
    AnswersFile: [],
}
LINE = re.compile(r"f\.yaml:\d+:\d+: .+")

# Keys that mean something somewhere, so that what is made up gets behind the first level.
KEYS = (
    "revisions",
    "corrections",
    "types",
    "members",
    "rules",
    "concerns",
    "answers",
    "rows",
    "choices",
    "value",
    "is",
)
TEXTS = st.one_of(st.sampled_from((*KEYS, "cite", "with", "yes", "none", "2025-03-26", "")), st.text(max_size=200))
NODES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(TEXTS, st.integers(), st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=12,
)


class Letter(Part):
    """A model of its own."""

    model_config = pydantic.ConfigDict(title="letter")

    stamp: str = ""


def complaints(model: type[Part], text: str) -> tuple[Part | None, list[str]]:
    problems = Problems()
    part = read(model, parse(text, "f.yaml", problems), problems)
    return part, [str(problem) for problem in sorted(problems.found)]


@pytest.mark.parametrize("model", FILES)
@example(node={"concerns": {"a": "\n" * 500}, "title": ["x"]})
@given(node=st.dictionaries(TEXTS, NODES, max_size=4))
@settings(max_examples=60, deadline=None)
def test_whatever_stands_there_is_read_or_complained_about_in_one_bounded_line(model: type[Part], node: Any) -> None:
    part, found = complaints(model, json.dumps(node))
    assert part is not None or found
    for line in found:
        assert LINE.fullmatch(line), line
        assert len(line) < 8 * LONGEST_SHOWN


@pytest.mark.parametrize(("model", "path"), [(model, path) for model, paths in FILES.items() for path in paths])
def test_what_the_project_says_is_read(model: type[Part], path: pathlib.Path) -> None:
    part, found = complaints(model, path.read_text("utf-8"))
    assert part is not None
    assert found == []


def test_all_faults_of_a_file_are_said_at_once() -> None:
    part, found = complaints(
        AreaFile,
        """\
titel: Letters
concerns:
  stamp:
    question: [a]
    value: number
    answers:
      "2001-01-01": {iz: 3, cite: x}
  mark:
    question: What?
    value: text
    choices: {}
""",
    )
    assert part is None
    assert [re.sub(r"'page: .*", "…", line) for line in found] == [
        "f.yaml:1:1: 'titel' is not a key of this area; near: title; allowed: title, transport, concerns",
        "f.yaml:4:15: 'question' is a list; allowed: text",
        "f.yaml:5:12: 'value' is 'number'; allowed: boolean, integer, text, integer or none, text or none, boolean or none, "
        "list of text",
        "f.yaml:7:7: answer '2001-01-01' has no 'is'; allowed: is, cite, review",
        "f.yaml:7:22: 'iz' is not a key of answer '2001-01-01'; allowed: is, cite, review",
        "f.yaml:7:35: 'cite' is 'x'; allowed: …",
        "f.yaml:8:3: 'mark' has 'value' and 'choices'; allowed: one of the keys value, table, choices",
    ]


def test_what_is_near_is_said_of_values_too() -> None:
    _, found = complaints(AreaFile, "title: T\ntransport: studio\nconcerns: {a: {}}\n")
    assert found[:1] == ["f.yaml:2:12: 'transport' is 'studio'; near: stdio; allowed: streamable_http, http_sse, stdio"]


def test_a_long_text_is_shown_by_its_beginning() -> None:
    _, found = complaints(AreaFile, f"title: T\ntransport: {'x' * 5_000}\nconcerns: {{a: {{}}}}\n")
    assert found[:1] == [
        f"f.yaml:2:12: 'transport' is '{'x' * LONGEST_SHOWN}…'; allowed: streamable_http, http_sse, stdio"
    ]


def test_what_is_wrong_with_one_entry_hides_nothing_of_another() -> None:
    part, found = complaints(
        RevisionsFile, 'revisions:\n  "a": {}\n  "b": {source: s, sha256: %s, pages: p}\n' % ("0" * 64)
    )
    assert isinstance(part, RevisionsFile)
    assert [facts is None for facts in part.revisions.values()] == [True, False]
    assert found == [
        "f.yaml:2:3: revision 'a' has no 'source' and no 'sha256' and no 'pages'; "
        "allowed: source, sha256, pages, reference, draft"
    ]


def test_an_area_has_a_concern() -> None:
    _, found = complaints(AreaFile, "title: T\nconcerns: {}\n")
    assert found == [
        "f.yaml:2:11: 'concerns' is an empty mapping; allowed: a mapping from name to concern, with one at least"
    ]


@pytest.mark.parametrize("null", ["null", "~", "NULL", "Null"])
def test_what_yaml_takes_for_nothing_is_no_text(null: str) -> None:
    """Where nothing is meant, specs say `none`; a text of these letters has quotes."""
    _, found = complaints(AreaFile, f"title: {null}\nconcerns: {{a: {{}}}}\n")
    assert f"f.yaml:1:8: 'title' is '{null}'; allowed: text" in found
    _, found = complaints(AreaFile, f'title: "{null}"\nconcerns: {{a: {{}}}}\n')
    assert not [line for line in found if "'title'" in line]


def test_places_are_kept() -> None:
    part, _ = complaints(Letter, "stamp: red\n")
    assert part is not None
    assert (str(part.key_place("stamp")), str(part.place_of("stamp"))) == ("f.yaml:1:1", "f.yaml:1:8")
    assert str(part.place_of("date")) == "f.yaml:1:1"


def test_a_model_that_is_made_in_code_says_what_is_wrong_as_pydantic_does() -> None:
    with pytest.raises(pydantic.ValidationError):
        Letter(date=1)  # type: ignore[call-arg]
