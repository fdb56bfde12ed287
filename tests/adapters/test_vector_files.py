"""What a vector file may hold, and that vectors would notice what they are there for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import mcp_contract
import pytest
import vector_files
from judges import OutOfPlace, Wrong, adapters, check_encoding, check_message, check_model, verdict
from known_defects import DEFECTS, defect
from pydantic import TypeAdapter
from vector_files import (
    ROOT,
    BadVectors,
    MessageVector,
    concern_vectors,
    encoding_vectors,
    message_vectors,
    read_concerns,
    read_encodings,
    read_messages,
)

GOOD = """\
direction: client to server
vectors:
  - name: ping
    definition: PingRequest
    cite: "schema: #/$defs/PingRequest"
    valid: true
    message: {"jsonrpc": "2.0", "id": 1, "method": "ping"}
"""
REVISIONS = list(adapters())


def read(text: str) -> list[MessageVector]:
    return read_messages(text, REVISIONS[0], "client_requests", "f.yaml")


def test_a_file_that_holds_what_it_may_is_read() -> None:
    assert [vector.name for vector in read(GOOD)] == ["ping"]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("valid: true", "valid: true\n    expected: x", "'expected' is no key of it"),
        ("valid: true", "valid: yes", "valid is 'yes'; it is true or false"),
        ("valid: true", "valid: false", "lacks 'wrong'"),
        ("    definition: PingRequest\n", "", "lacks 'definition'"),
        ("schema: #/$defs/PingRequest", "somewhere", "'somewhere' is no citation"),
        ("name: ping", "name: 7", "a name is a sentence"),
        ('"id": 1,', '"id": 1, "id": 2,', "line 7: 'id' stands there twice"),
        ("client to server", "server to client", "direction is 'server to client'"),
        ("vectors:", "vectors: []\nothers:", "'others' is no key of it"),
        ("valid: true", "valid: true\n    only: nobody", "only is 'nobody'; it is models or adapter"),
    ],
)
def test_what_no_vector_says_is_refused(old: str, new: str, complaint: str) -> None:
    assert old in GOOD
    with pytest.raises(BadVectors) as caught:
        read(GOOD.replace(old, new))
    assert str(caught.value).startswith("f.yaml")
    assert complaint in str(caught.value)


def test_two_vectors_of_one_name_are_refused() -> None:
    with pytest.raises(BadVectors, match="two vectors are named 'ping'"):
        read(GOOD + GOOD.partition("vectors:\n")[2])


def test_what_no_encoding_and_no_concern_says_is_refused() -> None:
    encoding = 'call: encode_question\nvectors:\n  - {name: a, cite: "page: a#b", given: {}, sent: {}}\n'
    assert read_encodings(encoding, "", "questions", "f")
    for broken in (encoding.replace("sent", "send"), encoding.replace("question", "answer")):
        with pytest.raises(BadVectors):
            read_encodings(broken, "", "questions", "f")
    concern = 'a: {is: 1, cite: "page: a#b"}\nb: {calls: [{name: n, cite: "page: a#b", call: {}, gives: 1}]}\n'
    assert list(read_concerns(concern, "", "area", "f")) == ["a", "b"]
    for broken in (
        concern.replace("gives", "give"),
        concern.replace("is: 1", "was: 1"),
        concern.replace(', cite: "page: a#b"}\nb', "}\nb"),
        concern.replace("gives: 1", "gives: 1, refuses: CannotAsk"),
    ):
        with pytest.raises(BadVectors):
            read_concerns(broken, "", "area", "f")


def test_scalars_are_those_of_json_and_all_else_is_text() -> None:
    text = GOOD.replace('"id": 1,', '"id": 9007199254740993, "a": [1.5, -1, true, null, yes, 2001-01-01, 010],')
    message = read(text)[0].message
    assert json.dumps([message["id"], *message["a"]]) == (
        '[9007199254740993, 1.5, -1, true, null, "yes", "2001-01-01", "010"]'
    )


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_cited_pointer_leads_somewhere(revision: str) -> None:
    schema = json.loads((ROOT / "specs" / "schemas" / f"{revision}.json").read_text("utf-8"))
    for pointer in sorted(set(cited_pointers(revision))):
        place: Any = schema
        for step in pointer.removeprefix("#/").split("/"):
            assert step in place, f"{pointer}: no {step}"
            place = place[step]


def cited_pointers(revision: str) -> Iterator[str]:
    for path in (vector_files.FOLDER / revision).rglob("*.yaml"):
        for line in path.read_text("utf-8").splitlines():
            for part in line.split('"'):
                if "cite" in line and part.startswith("schema: "):
                    yield part.removeprefix("schema: ")


# --- Vectors that notice ---


class Everything(dict[str, str]):
    """A table in which every key is found."""

    def __contains__(self, key: object) -> bool:
        return True


class TakesAll:
    """A stand-in for an adapter that refuses nothing."""

    client_requests = server_requests = embedded_requests = client_notifications = server_notifications = Everything()
    error_codes: Any

    def __init__(self, message: Any) -> None:
        code = (
            message["error"].get("code") if isinstance(message, dict) and isinstance(message.get("error"), dict) else 0
        )
        self.error_codes = type("Codes", (dict,), {"__getitem__": lambda self, kind: code})()

    def batching(self, payload: Any) -> list[Any]:
        return [payload]

    def read_questions(self, result: Any) -> None:
        return None

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: None


class RefusesAll(TakesAll):
    """A stand-in for an adapter that takes nothing."""

    def batching(self, payload: Any) -> list[Any]:
        return []

    def __getattr__(self, name: str) -> Any:
        def refuse(*arguments: Any) -> None:
            raise mcp_contract.InternalError("refused")

        return refuse


@pytest.mark.parametrize("revision", REVISIONS)
def test_an_adapter_that_refuses_nothing_is_caught_by_every_invalid_vector(revision: str) -> None:
    seen_without = []
    invalid = [vector for vector in message_vectors(revision) if not vector.valid and vector.only != "models"]
    for vector in invalid:
        stand_in: Any = TakesAll(vector.message)
        try:
            check_message(stand_in, vector)
        except Wrong:
            continue
        assert isinstance(verdict(stand_in, vector), OutOfPlace), vector.name
        seen_without.append(vector)
    # These are no request, no notification or no response at all, which a look at `id` and `method` tells.
    assert len(seen_without) < len(invalid) / 5


@pytest.mark.parametrize("revision", REVISIONS)
def test_an_adapter_that_takes_nothing_is_caught_by_every_valid_vector(revision: str) -> None:
    for vector in message_vectors(revision):
        if vector.valid and vector.only != "models":
            with pytest.raises(Wrong):
                check_message(RefusesAll(vector.message), vector)  # type: ignore[arg-type]


@pytest.mark.parametrize("revision", REVISIONS)
def test_models_that_take_anything_are_caught(revision: str, monkeypatch: pytest.MonkeyPatch) -> None:
    anything: TypeAdapter[Any] = TypeAdapter(Any)
    monkeypatch.setattr("judges.model", lambda revision, name: anything)
    for vector in message_vectors(revision):
        if not vector.valid and vector.only != "adapter":
            with pytest.raises(Wrong):
                check_model(vector)


@pytest.mark.parametrize("revision", REVISIONS)
def test_an_adapter_that_sends_values_as_they_are_is_caught(revision: str) -> None:
    class SendsAll:
        def encode_question(self, question: Any) -> Any:
            return question

        def encode_notification(self, method: str, params: Any) -> Any:
            return {"jsonrpc": "2.0", "method": method, "params": params}

        def __getattr__(self, name: str) -> Any:
            return lambda *arguments: arguments[0] if len(arguments) == 1 else arguments[1]

    caught = set()
    stand_in: Any = SendsAll()
    for vector in encoding_vectors(revision):
        try:
            check_encoding(stand_in, vector)
        except Wrong:
            caught.add((vector.kind, vector.method))
    # What answers `tasks/result` may be the result of any request, so that there is nothing to leave out.
    shown = {(vector.kind, vector.method) for vector in encoding_vectors(revision) if vector.method != "tasks/result"}
    assert shown - caught == set()


def test_every_known_defect_is_one_of_some_vector() -> None:
    named = set()
    for revision in adapters():
        for message in message_vectors(revision):
            named.add(defect(revision, message.kind, message.name))
        for encoding in encoding_vectors(revision):
            named.add(defect(revision, f"encoding/{encoding.kind}", encoding.name))
        for concern in concern_vectors(revision).values():
            for call in concern.calls:
                named.add(defect(revision, f"concerns/{concern.area}", f"{concern.concern}: {call.name}"))
    served = set(REVISIONS)
    assert {what for revisions, *_, what in DEFECTS if served & set(revisions.split())} == named - {""}
