"""Every vector holds: on the generated adapters, and on the generated models.

Rule: a test a file, whose failure names each vector that does not hold. Files are read where they are run, since reading them all takes
longer than judging them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import pytest
from judges import Wrong, adapters, check_call, check_constant, check_encoding, check_message, check_model
from known_defects import defect
from vector_files import (
    concern_areas,
    encoding_kinds,
    message_kinds,
    vectors_of_area,
    vectors_of_encodings,
    vectors_of_messages,
)

Check = tuple[str, Callable[[], None]]

MESSAGES = [(revision, kind) for revision in adapters() for kind in message_kinds(revision)]
ENCODINGS = [(revision, kind) for revision in adapters() for kind in encoding_kinds(revision)]
AREAS = [(revision, area) for revision in adapters() for area in concern_areas(revision)]


@pytest.mark.parametrize(("revision", "kind"), MESSAGES)
def test_a_message_is_taken_or_refused(revision: str, kind: str) -> None:
    vectors = vectors_of_messages(revision, kind)
    # What models get wrong is no defect that may be known.
    hold((vector.name, partial(check_model, vector)) for vector in vectors if vector.only != "adapter")
    check = partial(check_message, adapters()[revision])
    hold_or_are_known(
        revision, kind, ((vector.name, partial(check, vector)) for vector in vectors if vector.only != "models")
    )


@pytest.mark.parametrize(("revision", "kind"), ENCODINGS)
def test_a_canonical_value_is_sent_exactly_so(revision: str, kind: str) -> None:
    check = partial(check_encoding, adapters()[revision])
    vectors = vectors_of_encodings(revision, kind)
    hold_or_are_known(revision, f"encoding/{kind}", ((vector.name, partial(check, vector)) for vector in vectors))


@pytest.mark.parametrize(("revision", "area"), AREAS)
def test_a_constant_is_the_expected_one(revision: str, area: str) -> None:
    check = partial(check_constant, adapters()[revision])
    constants = (vectors for vectors in vectors_of_area(revision, area).values() if vectors.kind != "choice")
    hold((vectors.concern, partial(check, vectors.concern, vectors.constant)) for vectors in constants)


@pytest.mark.parametrize(("revision", "area"), AREAS)
def test_a_call_gives_what_is_expected(revision: str, area: str) -> None:
    check = partial(check_call, adapters()[revision])
    checks = (
        (f"{concern}: {call.name}", partial(check, concern, call))
        for concern, vectors in vectors_of_area(revision, area).items()
        for call in vectors.calls
    )
    hold_or_are_known(revision, f"concerns/{area}", checks)


def hold(checks: Iterable[Check]) -> None:
    """Fail with the name of each vector that does not hold, and with what is wrong."""
    fail_if_any(f"{name}: {wrong}" for name, wrong in judged(checks) if wrong)


def hold_or_are_known(revision: str, kind: str, checks: Iterable[Check]) -> None:
    """The same, but let a known defect be one, and complain of one that is no longer there."""
    found = []
    for name, wrong in judged(checks):
        known = defect(revision, kind, name)
        if wrong and not known:
            found.append(f"{name}: {wrong}")
        if known and not wrong:
            found.append(f"{name}: mended, so that its entry in known_defects.py can go: {known}")
    fail_if_any(found)


def judged(checks: Iterable[Check]) -> Iterator[tuple[str, str]]:
    """What is wrong with each vector; nothing where it holds."""
    for name, check in checks:
        try:
            check()
        except Wrong as error:
            yield name, str(error)
        else:
            yield name, ""


def fail_if_any(found: Iterable[str]) -> None:
    if lines := list(found):
        # An assertion would show the first one alone.
        pytest.fail("\n".join(lines), pytrace=False)


def test_each_vector_that_does_not_hold_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    revision, kind = next((revision, kind) for revision, kind in MESSAGES if kind == "client_requests")
    both = [vector for vector in vectors_of_messages(revision, kind) if not vector.only][:2]
    for expected, changed in (
        (": taken by ", {"valid": False}),
        (": expected: other; found: ", {"refused": "other"}),
    ):
        vectors = [dataclasses.replace(vector, **changed) for vector in both]
        monkeypatch.setattr(f"{__name__}.vectors_of_messages", lambda *_, vectors=vectors: vectors)
        with pytest.raises(pytest.fail.Exception) as failure:
            test_a_message_is_taken_or_refused(revision, kind)
        lines = str(failure.value).splitlines()
        assert all(line.startswith(vector.name + expected) for line, vector in zip(lines, both, strict=True)), lines


def test_a_known_defect_is_passed_over_until_it_is_mended(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        raise Wrong("not so")

    checks: list[Check] = [("one", fails), ("two", lambda: None)]
    with pytest.raises(pytest.fail.Exception, match=r"^one: not so$"):
        hold_or_are_known("any", "kind", checks)
    monkeypatch.setattr(f"{__name__}.defect", lambda revision, kind, name: f"{name} is late")
    with pytest.raises(pytest.fail.Exception, match=r"^two: mended, .*: two is late$"):
        hold_or_are_known("any", "kind", checks)
