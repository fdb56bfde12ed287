"""Every vector holds: on the generated adapters, and on the generated models."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from judges import (
    Wrong,
    adapters,
    check_call,
    check_constant,
    check_encoding,
    check_message,
    check_model,
)
from known_defects import defect
from vector_files import (
    CallVector,
    ConcernVectors,
    EncodingVector,
    MessageVector,
    concern_vectors,
    encoding_vectors,
    message_vectors,
)

MESSAGES = [vector for revision in adapters() for vector in message_vectors(revision)]
ENCODINGS = [vector for revision in adapters() for vector in encoding_vectors(revision)]
CONCERNS = [vectors for revision in adapters() for vectors in concern_vectors(revision).values()]
CONSTANTS = [vectors for vectors in CONCERNS if vectors.kind != "choice"]
CALLS = [(vectors, call) for vectors in CONCERNS for call in vectors.calls]


def message_name(vector: MessageVector) -> str:
    return f"{vector.revision}/{vector.kind}: {vector.name}"


def encoding_name(vector: EncodingVector) -> str:
    return f"{vector.revision}/{vector.kind}: {vector.name}"


@pytest.mark.parametrize("vector", MESSAGES, ids=message_name)
def test_a_message_is_taken_or_refused(vector: MessageVector) -> None:
    if vector.only != "adapter":
        check_model(vector)
    if vector.only != "models":
        holds_or_is_known(
            vector.revision, vector.kind, vector.name, lambda: check_message(adapters()[vector.revision], vector)
        )


@pytest.mark.parametrize("vector", ENCODINGS, ids=encoding_name)
def test_a_canonical_value_is_sent_exactly_so(vector: EncodingVector) -> None:
    kind = f"encoding/{vector.kind}"
    holds_or_is_known(vector.revision, kind, vector.name, lambda: check_encoding(adapters()[vector.revision], vector))


@pytest.mark.parametrize("vectors", CONSTANTS, ids=lambda vectors: f"{vectors.revision}/{vectors.concern}")
def test_a_constant_is_the_expected_one(vectors: ConcernVectors) -> None:
    check_constant(adapters()[vectors.revision], vectors.concern, vectors.constant)


@pytest.mark.parametrize(
    ("vectors", "call"), CALLS, ids=[f"{vectors.revision}/{vectors.concern}: {call.name}" for vectors, call in CALLS]
)
def test_a_call_gives_what_is_expected(vectors: ConcernVectors, call: CallVector) -> None:
    holds_or_is_known(
        vectors.revision,
        f"concerns/{vectors.area}",
        f"{vectors.concern}: {call.name}",
        lambda: check_call(adapters()[vectors.revision], vectors.concern, call),
    )


def holds_or_is_known(revision: str, kind: str, name: str, check: Callable[[], None]) -> None:
    """Let a known defect be one, and complain of one that is no longer there."""
    known = defect(revision, kind, name)
    try:
        check()
    except Wrong:
        if not known:
            raise
        pytest.xfail(known)
    assert not known, f"mended, so that its entry in known_defects.py can go: {known}"
