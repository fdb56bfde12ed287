"""There is a vector for everything: every method both ways, every result, every kind of error, every concern, every member."""

from __future__ import annotations

import collections
import contextlib
import importlib
import inspect
import pathlib
import re
from collections.abc import Set as AbstractSet
from typing import Any

import mcp_contract
import mcp_contract.members
import pytest
from judges import Wrong, adapters, check_call, encoded
from mcp_contract.members import keep, leave_out
from revgen.inventory.concerns import Area
from revgen.projection.plan import ObjectFunction
from revgen.schemas.methods import methods
from revgen.specification.loading import Specification
from vector_files import FOLDER, ROOT, MessageVector, concern_vectors, encoding_vectors, message_vectors

REVISIONS = list(adapters())

# A result that asks is written by a concern, question by question, so that nothing calls what the projection has for the whole.
NOT_CALLED = {"CreateMessageRequest", "ElicitRequest", "InputRequiredResult", "ListRootsRequest"}
FRAMES = {"Error", "JSONRPCNotification", "JSONRPCRequest"}
Judged = dict[tuple[str, str], set[bool]]


def judged(revision: str) -> Judged:
    """(kind of file, method) → the verdicts for which there are vectors."""
    found: Judged = collections.defaultdict(set)
    for vector in message_vectors(revision):
        if vector.only != "models":
            found[vector.kind, vector.method or method_of(vector)].add(vector.valid)
    return found


def method_of(vector: MessageVector) -> str:
    method = vector.message.get("method", "") if isinstance(vector.message, dict) else ""
    return method if isinstance(method, str) else ""


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_method_has_valid_and_invalid_vectors_in_each_direction(revision: str) -> None:
    adapter, found = adapters()[revision], judged(revision)
    questions = {*adapter.server_requests, *adapter.embedded_requests}
    wanted = {
        "client_requests": adapter.client_requests,
        "server_requests": questions,
        "client_notifications": adapter.client_notifications,
        "server_notifications": adapter.server_notifications,
        "results": adapter.client_requests,
        "answers": questions,
    }
    lacking = [
        f"tests/vectors/{revision}/{kind}.yaml: no {'valid' if verdict else 'invalid'} vector for {method}"
        for kind, methods in wanted.items()
        for method in methods
        for verdict in (True, False)
        if verdict not in found[kind, method]
    ]
    assert lacking == []


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_method_that_a_revision_lacks_is_an_invalid_vector_there(revision: str) -> None:
    lacking = []
    for kind in ("client_requests", "client_notifications", "server_notifications"):
        here: AbstractSet[str] = set(getattr(adapters()[revision], kind))
        everywhere = {method for adapter in adapters().values() for method in getattr(adapter, kind)}
        for method in sorted(everywhere - here):
            if judged(revision)[kind, method] != {False}:
                lacking.append(f"tests/vectors/{revision}/{kind}.yaml: no vector says that {method} is unknown")
    assert lacking == []


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_kind_of_error_has_a_valid_and_an_invalid_vector(revision: str) -> None:
    found = collections.defaultdict(set)
    for vector in message_vectors(revision):
        found[vector.error].add(vector.valid)
    lacking = [kind for kind in adapters()[revision].error_codes if found[kind] != {True, False}]
    assert lacking == [], f"tests/vectors/{revision}/errors.yaml lacks these kinds"


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_published_message_and_result_is_the_definition_of_some_vector(
    revision: str, specification: Specification
) -> None:
    models = importlib.import_module(f"mcp_revisions.v{revision.replace('-', '_')}")
    named = {vector.definition for vector in message_vectors(revision) if vector.valid}
    schema = specification.schemas[revision]
    sent = {name for method in methods(schema) for name in (method.definition, *method.results)}
    members = {name: set(node["properties"]) for name, node in schema["$defs"].items() if "properties" in node}
    whole = ("Request", "Notification", "Result", "Response", "Error")
    published = {name for name in models.__all__ if name.endswith(whole) and not name.endswith("ErrorError")}
    # A union is judged by its members, one by one; a frame has nothing that the messages made of it do not show.
    objects = {name for name in published & members.keys() if name in sent or not is_frame(name, members)}
    assert sorted({*sent, *objects} - named) == []


def is_frame(name: str, members: dict[str, set[str]]) -> bool:
    """Whether others of its kind have every member that it has, or every message stands in it."""
    suffix = next(end for end in ("Request", "Notification", "Result", "Response", "Error") if name.endswith(end))
    others = (other for other in members if other.endswith(suffix) and other != name)
    return name in FRAMES or any(members[name] <= members[other] for other in others)


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_value_that_is_sent_has_an_encoding_vector(revision: str) -> None:
    adapter: Any = adapters()[revision]
    shown = collections.defaultdict(set)
    for vector in encoding_vectors(revision):
        shown[vector.kind].add(vector.method or str(vector.given.get("method", "")))
    lacking = {
        kind: sorted(set(methods) - shown[kind])
        for kind, methods in {
            "params": adapter.client_requests,
            "results": adapter.client_requests,
            "questions": {**adapter.server_requests, **adapter.embedded_requests},
            "answers": {**adapter.server_requests, **adapter.embedded_requests},
            "notifications": {**adapter.client_notifications, **adapter.server_notifications},
        }.items()
    }
    assert {kind: methods for kind, methods in lacking.items() if methods} == {}
    assert {"client_capabilities", "server_capabilities", "implementations"} <= shown.keys()


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_concern_has_vectors(revision: str, specification: Specification) -> None:
    complaints = concerns_without_vectors(specification.areas, revision)
    assert complaints == [], "\n" + "\n".join(complaints)


def concerns_without_vectors(areas: tuple[Area, ...], revision: str) -> list[str]:
    """One line for each concern that has no vectors of its kind, and for each vector of no concern."""
    found = concern_vectors(revision)
    asked = {concern.name: (area, concern) for area in areas for concern in area.concerns}
    complaints = []
    for name, (area, concern) in asked.items():
        path = f"tests/vectors/{revision}/concerns/{area.name}.yaml"
        wanted = {"value": "is: … and cite: …", "table": "rows: … and cite: …"}.get(
            concern.kind, f"calls of {concern.signature} that tell {', '.join(concern.choices)} apart"
        )
        vectors = found.get(name)
        if vectors is None or (concern.kind == vectors.kind == "choice" and not vectors.calls):
            complaints.append(f"{path}: no vectors for '{name}'; wanted: {wanted}")
        elif vectors.kind != concern.kind:
            complaints.append(f"{path}: '{name}' has the vectors of a {vectors.kind}; it is a {concern.kind}")
        elif vectors.area != area.name:
            complaints.append(f"tests/vectors/{revision}/concerns/{vectors.area}.yaml: '{name}' belongs into {path}")
    complaints += [
        f"tests/vectors/{revision}/concerns/{vectors.area}.yaml: '{name}' is no concern"
        for name, vectors in found.items()
        if name not in asked
    ]
    return complaints


def test_the_complaint_about_missing_vectors_says_what_is_wanted(
    specification: Specification, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest = REVISIONS[-1]
    concerns = [concern for area in specification.areas for concern in area.concerns]
    choice = next(concern for concern in concerns if concern.kind == "choice")
    value = next(concern for concern in concerns if concern.kind == "value")
    table = next(concern for concern in concerns if concern.kind == "table")
    vectors = dict(concern_vectors(newest))
    vectors["tides"], vectors[table.name] = vectors[value.name], vectors[choice.name]
    del vectors[choice.name], vectors[value.name]
    monkeypatch.setattr(f"{__name__}.concern_vectors", lambda revision: vectors)

    def path(area: str) -> str:
        return f"tests/vectors/{newest}/concerns/{area}.yaml"

    assert sorted(concerns_without_vectors(specification.areas, newest)) == sorted(
        [
            f"{path(choice.area)}: no vectors for '{choice.name}'; wanted: calls of {choice.signature} that tell "
            f"{', '.join(choice.choices)} apart",
            f"{path(value.area)}: no vectors for '{value.name}'; wanted: is: … and cite: …",
            f"{path(table.area)}: '{table.name}' has the vectors of a choice; it is a table",
            f"{path(value.area)}: 'tides' is no concern",
        ]
    )


def test_vectors_are_where_they_belong() -> None:
    assert [path.name for path in FOLDER.iterdir() if path.is_file()] == ["README.md"]
    for revision in REVISIONS:
        assert (FOLDER / revision).is_dir(), f"no vectors for {revision}"
        stray = [path for path in (FOLDER / revision).rglob("*") if path.is_file() and path.suffix != ".yaml"]
        assert stray == []
        deep: list[pathlib.Path] = [path for path in (FOLDER / revision).rglob("*.yaml") if not depth_is_right(path)]
        assert deep == []


def depth_is_right(path: pathlib.Path) -> bool:
    return len(path.relative_to(FOLDER).parts) == (3 if path.parent.name in ("encoding", "concerns") else 2)


def names_of(adapter: Any, function: ObjectFunction) -> AbstractSet[str]:
    """The members that an adapter keeps of a type, or leaves out: a constant, or what stands in the table of those not looked into."""
    module = importlib.import_module(type(adapter).__module__)
    found = getattr(module, function.constant, None)
    if found is None:
        nonlocals = inspect.getclosurevars(getattr(type(adapter), function.name)).nonlocals
        found = nonlocals["kept"] if "kept" in nonlocals else nonlocals["gone"]
    names: AbstractSet[str] = found
    return names


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_member_is_shown_where_it_is_sent_and_where_it_is_left_out(
    revision: str, specification: Specification, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[int, set[str]] = collections.defaultdict(set)

    def keep_and_note(value: Any, names: AbstractSet[str], *rest: Any) -> Any:
        seen[id(names)] |= value.keys()
        return keep(value, names, *rest)

    def leave_out_and_note(value: Any, names: AbstractSet[str]) -> Any:
        seen[id(names)] |= value.keys()
        return leave_out(value, names)

    for module in (mcp_contract, mcp_contract.members):
        monkeypatch.setattr(module, "keep", keep_and_note)
        monkeypatch.setattr(module, "leave_out", leave_out_and_note)
    adapter = adapters()[revision]
    for vector in encoding_vectors(revision):
        try:
            encoded(adapter, vector)
        except mcp_contract.ProtocolError:
            assert vector.refuses
    for concern, vectors in concern_vectors(revision).items():
        for call in vectors.calls:
            with contextlib.suppress(Wrong):  # whether it holds is tested elsewhere
                check_call(adapter, concern, call)
    adjusted = {concern.adjusts for area in specification.areas for concern in area.concerns}
    unseen = []
    asked_about = [function for function in specification.projections[revision].objects if function.kept is not None]
    uncalled = {function.type_name for function in asked_about if id(names_of(adapter, function)) not in seen}
    assert uncalled <= NOT_CALLED
    for function in specification.projections[revision].objects:
        if function.type_name in uncalled:
            continue
        names = names_of(adapter, function)
        lacking = set() if function.type_name in adjusted else set(function.lacks)
        for member in sorted((set(function.kept or ()) | lacking) - seen[id(names)]):
            unseen.append(f"{function.type_name}.{member}")
    assert unseen == []


def test_every_answer_is_read_or_says_by_whom_it_will_be(specification: Specification) -> None:
    """Nothing in the inventory is there for nobody: the runtime reads it, a macro does, or what is sent depends on it."""
    sources = [path.read_text("utf-8") for path in (ROOT / "runtime").rglob("*.py")]
    templates = {path.name.partition(".")[0]: path.read_text("utf-8") for path in (ROOT / "templates").rglob("*.jinja")}
    wrong = []
    for concern in (concern for area in specification.areas for concern in area.concerns):
        others = [text for name, text in templates.items() if name != concern.name]
        used = re.compile(rf"\.{concern.name}\b")
        read = concern.adjusts or concern.replaces or concern.fills or any(map(used.search, [*sources, *others]))
        if bool(read) is bool(concern.read_by):
            wrong.append(f"{concern.name}: {'read, and says that it is not' if read else 'read by nobody'}")
    assert wrong == []
