"""Scaffolded vectors, held against what is committed and generated: those of a revision that changed a lot, made as if it had none.

The adapters and models that judge here know nothing of the scaffold, so a vector that it words wrongly fails. What it makes is not what is
committed: a person goes through it first.
"""

from __future__ import annotations

import collections
import dataclasses
import json
import pathlib
import re
import shutil
from typing import Any

import pytest
from judges import Wrong, adapters, check_message, check_model
from revgen.specification.loading import Specification
from revgen.vectors.files import mark_in
from revgen.vectors.scaffold import Scaffolded, scaffold
from vector_files import (
    DIRECTIONS,
    ENCODERS,
    ROOT,
    MessageVector,
    encoding_vectors,
    read_concerns,
    read_encodings,
    read_messages,
)

OLD, NEW = "2025-11-25", "2026-07-28"

pytestmark = pytest.mark.skipif(not {OLD, NEW} <= adapters().keys(), reason=f"there is no {OLD} or no {NEW}")


@pytest.fixture(scope="module")
def scaffolded(specification: Specification, tmp_path_factory: pytest.TempPathFactory) -> Scaffolded:
    root = tmp_path_factory.mktemp("project")
    for other in (path for path in (ROOT / "tests/vectors").iterdir() if path.is_dir() and path.name != NEW):
        shutil.copytree(other, root / "tests/vectors" / other.name)
    return scaffold(dataclasses.replace(specification, root=root), NEW, OLD)


def files(scaffolded: Scaffolded, folder: str) -> dict[str, str]:
    return {
        pathlib.PurePath(path).stem: text
        for path, text in scaffolded.texts.items()
        if pathlib.PurePath(path).parent == pathlib.PurePath("tests/vectors", NEW, folder)
    }


@pytest.fixture(scope="module")
def messages(scaffolded: Scaffolded) -> list[MessageVector]:
    found = files(scaffolded, "")
    return [vector for kind, text in found.items() for vector in read_messages(text, NEW, kind, kind)]


def test_every_scaffolded_message_is_judged_as_it_says(messages: list[MessageVector]) -> None:
    wrong = []
    for vector in messages:
        try:
            if vector.only != "adapter":
                check_model(vector)
            if vector.only != "models":
                check_message(adapters()[NEW], vector)
        except Wrong as error:
            wrong.append(f"{vector.kind}: {vector.name}: {error}")
    assert wrong == []
    assert {vector.kind for vector in messages} == DIRECTIONS.keys()


def test_every_method_is_taken_and_refused(messages: list[MessageVector]) -> None:
    adapter: Any = adapters()[NEW]
    found = collections.defaultdict(set)
    for vector in messages:
        message = vector.message if isinstance(vector.message, dict) else {}
        found[vector.kind, vector.method or str(message.get("method"))].add(vector.valid)
    for kind in ("client_requests", "client_notifications", "server_notifications"):
        for method in getattr(adapter, kind):
            assert found[kind, method] == {True, False}, (kind, method)
        others = {method for other in adapters().values() for method in getattr(other, kind)}
        for method in others - getattr(adapter, kind).keys():
            assert found[kind, method] == {False}, (kind, method)
    for method in adapter.client_requests:
        assert found["results", method] == {True, False}, method


def test_everything_else_can_be_read_and_is_marked(scaffolded: Scaffolded, specification: Specification) -> None:
    for kind, text in files(scaffolded, "encoding").items():
        assert read_encodings(text, NEW, kind, kind)
    assert files(scaffolded, "encoding").keys() == ENCODERS.keys()
    answered = {}
    for area, text in files(scaffolded, "concerns").items():
        answered |= read_concerns(text, NEW, area, area)
    concerns = {concern.name: concern for area in specification.areas for concern in area.concerns}
    assert answered.keys() == concerns.keys()
    for path, text in scaffolded.texts.items():
        assert any(map(mark_in, text.splitlines())), path
    # A constant is what the inventory answers; a choice that is answered otherwise waits for a person.
    for name, concern in concerns.items():
        answer, before = concern.answers[NEW], concern.answers[OLD]
        if concern.kind == "choice":
            assert (name in scaffolded.to_write) is (
                (answer.choice, answer.arguments) != (before.choice, before.arguments)
            )
        else:
            wanted = list(answer.value) if isinstance(answer.value, tuple) else answer.value
            constant = answered[name].constant
            assert json.dumps(constant) == json.dumps(wanted if concern.kind == "value" else answer.rows, default=list)


def test_what_is_sent_is_scaffolded_right_but_for_answers_that_changed(scaffolded: Scaffolded) -> None:
    # Results are signed otherwise since the newest revision; of all else, what a person wrote says the same.
    for kind in ("params", "questions", "answers", "notifications", "implementations"):
        committed = {vector.name: vector for vector in encoding_vectors(NEW) if vector.kind == kind}
        made = {vector.name: vector for vector in read_encodings(files(scaffolded, "encoding")[kind], NEW, kind, kind)}
        both = [name for name in made if name in committed and committed[name].given == made[name].given]
        assert len(both) > len(made) / 4, kind
        assert [name for name in both if made[name].sent != committed[name].sent] == [], kind


def test_types_that_came_and_that_nothing_shows_are_listed(
    scaffolded: Scaffolded, specification: Specification
) -> None:
    """A result that asks is written by a choice, whose calls show it."""
    others = [schema["$defs"] for version, schema in specification.schemas.items() if version != NEW]
    came = {name for name in ("InputRequiredResult",) if not any(name in known for known in others)}
    assert {*scaffolded.unshown} == came


def test_an_adapter_that_judges_otherwise_is_caught(messages: list[MessageVector]) -> None:
    """Or else vectors that nothing can fail would pass above."""
    old = adapters()[OLD]
    caught = 0
    for vector in (vector for vector in messages if vector.only != "models"):
        try:
            check_message(old, vector)
        except Wrong:
            caught += 1
    assert caught > 100


def test_a_concern_that_came_with_a_revision_gets_vectors_in_all(
    specification: Specification, tmp_path: pathlib.Path
) -> None:
    """As if nobody had asked two of the concerns of one area before."""
    shutil.copytree(ROOT / "tests/vectors", tmp_path / "tests/vectors", ignore=shutil.ignore_patterns(NEW))
    area = next(area for area in specification.areas if {one.kind for one in area.concerns} >= {"value", "choice"})
    value = next(one for one in area.concerns if one.kind == "value")
    choice = next(one for one in area.concerns if one.kind == "choice")
    files = {
        one: tmp_path / f"tests/vectors/{one}/concerns/{area.name}.yaml" for one in specification.versions if one != NEW
    }
    for file in files.values():
        blocks = file.read_text("utf-8").split("\n\n")
        heads = [re.match(r"(?:#.*\n)*([a-z_]+):", block) for block in blocks]
        gone, kept = "", []
        for head, block in zip(heads, blocks, strict=True):
            gone = (head[1] if head else gone) if head else gone
            if gone not in (value.name, choice.name):
                kept.append(block)
        file.write_text("\n\n".join(kept).rstrip("\n") + "\n", "utf-8")
    made = scaffold(dataclasses.replace(specification, root=tmp_path), NEW, OLD)
    for one in (*files, NEW):
        path = f"tests/vectors/{one}/concerns/{area.name}.yaml"
        found = read_concerns(made.texts[path], one, area.name, path)
        assert found[value.name].constant == value.answers[one].value
        assert found[choice.name].calls == ()
        assert f"{choice.name} of {one}" in made.without_calls
        assert one == NEW or made.elsewhere[path] == 2
