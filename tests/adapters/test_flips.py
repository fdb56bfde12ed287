"""No answer is decoration: another one changes its own section of the adapter, and a vector notices.

Every other answer of every revision is tried in place. For one revision each it is tried as a whole: the adapter is rendered again,
compared line by line, and run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest
from flips import (
    Flip,
    adapter_text,
    changed_lines,
    concern_notices,
    encoding_notices,
    flipped_areas,
    flipped_in_place,
    flips,
    running,
    sections,
    without_layout,
)
from judges import Wrong, adapters, check_call
from mcp_revisions.protocol import Adapter
from revgen.inventory.concerns import Concern
from revgen.specification.loading import Specification
from revgen.templates.macros import make_environment
from vector_files import CallVector, concern_vectors

REVISIONS = list(adapters())

NOT_ON_THE_WIRE = {
    (
        "structured_content",
        "any",
    ): "the schema of a revision says itself where only an object may stand, and the rest is left out",
}
"""Choices that a call alone tells from the others of every revision, and why nothing that is sent does."""


def concerns(specification: Specification) -> Iterator[Concern]:
    return (concern for area in specification.areas for concern in area.concerns)


def whole_flips(specification: Specification) -> Iterator[Flip]:
    """Each other choice of the newest revision that has not chosen it, another value, and a row changed, removed and added."""
    for concern in concerns(specification):
        tried: set[str] = set()
        for revision in reversed(REVISIONS):
            for flip in flips(concern, revision):
                if flip.sort not in tried:
                    tried.add(flip.sort)
                    yield flip


def test_every_other_answer_changes_its_own_section_and_is_noticed(
    specification: Specification, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_layout(specification, monkeypatch)
    generated = {revision: adapter_text(specification, revision, specification.areas) for revision in REVISIONS}
    places = {revision: sections(text) for revision, text in generated.items()}
    for flip in whole_flips(specification):
        name, revision = flip.concern.name, flip.revision
        text = adapter_text(specification, revision, flipped_areas(specification.areas, flip))
        assert text != generated[revision], f"{flip} changes nothing"
        for lines, (start, end) in zip(
            changed_lines(generated[revision], text), (places[revision][name], sections(text)[name]), strict=True
        ):
            assert start <= lines[0] and lines[1] <= end, f"{flip} changes lines {lines}, outside of {start} to {end}"
        assert concern_notices(running(text, revision), revision, name), f"no vector notices {flip}"


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_other_answer_of_every_revision_is_noticed(specification: Specification, revision: str) -> None:
    environment = make_environment(specification.root)
    unnoticed = [
        str(flip)
        for concern in concerns(specification)
        for flip in flips(concern, revision)
        if not concern_notices(flipped_in_place(flip, environment), revision, concern.name)
    ]
    assert unnoticed == []


def test_every_other_answer_about_leaving_out_is_noticed_on_the_wire(specification: Specification) -> None:
    environment = make_environment(specification.root)
    unnoticed: set[tuple[str, str]] = set()
    noticed: set[tuple[str, str]] = set()
    for concern in concerns(specification):
        if concern.adjusts or concern.replaces or concern.fills:
            for revision in REVISIONS:
                for flip in flips(concern, revision):
                    mark = (concern.name, flip.answer.choice)
                    seen = encoding_notices(flipped_in_place(flip, environment), revision)
                    (noticed if seen else unnoticed).add(mark)
    assert unnoticed - noticed <= NOT_ON_THE_WIRE.keys()


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_generated_adapter_itself_is_not_noticed(revision: str) -> None:
    """Or else a vector that fails anyway would seem to notice every other answer."""
    adapter = adapters()[revision]
    assert [name for name in concern_vectors(revision) if concern_notices(adapter, revision, name)] == []
    assert not encoding_notices(adapter, revision)


def test_an_answer_without_a_vector_that_tells_is_found(
    specification: Specification, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With calls that another choice answers alike, nothing notices; with the recorded ones, something does."""
    newest = REVISIONS[-1]
    environment = make_environment(specification.root)
    found = 0
    for concern in concerns(specification):
        for flip in flips(concern, newest) if concern.kind == "choice" else ():
            adapter, recorded = flipped_in_place(flip, environment), concern_vectors(newest)
            alike = [call for call in recorded[concern.name].calls if holds(adapter, concern.name, call)]
            with monkeypatch.context() as patch:
                vectors = dataclasses.replace(recorded[concern.name], calls=tuple(alike))
                patch.setattr("flips.concern_vectors", lambda revision, vectors=vectors: {vectors.concern: vectors})
                assert not concern_notices(adapter, newest, concern.name)
            assert concern_notices(adapter, newest, concern.name)
            found += bool(alike)
    assert found


def holds(adapter: Adapter, concern: str, call: CallVector) -> bool:
    try:
        check_call(adapter, concern, call)
    except Wrong:
        return False
    return True


def test_a_change_outside_of_a_section_is_found() -> None:
    old = 'class Adapter:\n    a: ClassVar[int] = 1\n    """x"""\n\n    def b(self) -> int:\n        return 2\n'
    assert sections(old) == {"a": (1, 4), "b": (4, 6)}
    assert changed_lines(old, old.replace("1", "7")) == ((1, 2), (1, 2))
    assert changed_lines(old, old.replace("x", "y")) == ((2, 3), (2, 3))
    assert changed_lines(old, old.replace("1", "7").replace("2", "3")) == ((1, 6), (1, 6))
    assert changed_lines(old, old.replace("        return 2\n", "        two = 2\n        return two\n")) == (
        (5, 6),
        (5, 7),
    )
