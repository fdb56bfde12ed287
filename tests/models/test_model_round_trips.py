"""What a revision's schema takes, its models take and give back exactly; what it refuses, they refuse.

Instances come from hypothesis, verdicts from jsonschema: neither has read the generator.
"""

from __future__ import annotations

import functools
import importlib
import json
import pathlib
from typing import Any

import jsonschema
import pytest
from covering import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pydantic import TypeAdapter, ValidationError
from revgen.reading.located import Problems
from revgen.schemas.published import load_schemas
from revgen.schemas.revisions import load_revisions

pytestmark = pytest.mark.long

ROOT = pathlib.Path(__file__).parents[2]
PROBLEMS = Problems()
REVISIONS = load_revisions(ROOT, PROBLEMS)
MODULES = {revision.version: revision.module for revision in REVISIONS}

QUICK = settings(max_examples=examples(120), suppress_health_check=list(HealthCheck))

TEXTS = st.sampled_from(
    ["", "a", "日本", "note:a b", "HTTP://EXAMPLE.com:80/%7efoo", "AAAA+/==", "//79", "1", "\x00", "e\u0301"]
)
INTEGERS = st.sampled_from([0, 1, -1, 7, 100, 2**53 + 1, -(2**63) - 1, 10**20])
NUMBERS = INTEGERS | st.sampled_from([0.0, 1.0, 0.5, -0.25, 2.5e-10, 1e100])
EXTRA_NAMES = st.sampled_from(
    ["extra", "mime_type", "meta", "list_changed", "io.example/k", "", "class", "model_config", "_x"]
)
ANYTHING: SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)


@functools.cache
def schemas() -> dict[str, Any]:
    """The schema of each revision."""
    return load_schemas(ROOT, REVISIONS, PROBLEMS)


@functools.cache
def validator(revision: str, name: str) -> Any:
    schema = schemas()[revision]
    return jsonschema.Draft202012Validator(schema).evolve(schema=schema["$defs"][name])


@functools.cache
def adapter(revision: str, name: str) -> TypeAdapter[Any]:
    return TypeAdapter(getattr(importlib.import_module(f"mcp_revisions.{MODULES[revision]}"), name))


def instances(revision: str, node: Any, depth: int = 0) -> SearchStrategy[Any]:
    """Instances of one schema, mostly valid."""
    if "$ref" in node:
        return st.deferred(
            lambda: instances(revision, schemas()[revision]["$defs"][node["$ref"].removeprefix("#/$defs/")], depth + 1)
        )
    if "const" in node:
        return st.just(node["const"])
    if "enum" in node:
        return st.sampled_from(node["enum"]) if node["enum"] else st.nothing()
    if "anyOf" in node:
        branches = node["anyOf"] if depth < 7 else node["anyOf"][-1:]
        return st.one_of([instances(revision, branch, depth + 1) for branch in branches])
    kinds = node.get("type", [])
    if isinstance(kinds, list):
        return st.one_of([instances(revision, {**node, "type": kind}, depth) for kind in kinds]) if kinds else ANYTHING
    low, high = node.get("minimum"), node.get("maximum")
    if kinds in ("integer", "number"):
        numbers = INTEGERS if kinds == "integer" else NUMBERS
        return numbers.filter(lambda number: (low is None or number >= low) and (high is None or number <= high))
    if kinds == "array":
        return st.lists(instances(revision, node.get("items", {}), depth + 1), max_size=2 if depth < 6 else 0)
    if kinds == "object":
        return st.builds(
            lambda known, extra: {**extra, **known}, objects(revision, node, depth), extras(revision, node, depth)
        )
    return {"string": TEXTS, "boolean": st.booleans(), "null": st.none()}[kinds]


def objects(revision: str, node: Any, depth: int) -> SearchStrategy[dict[str, Any]]:
    required = node.get("required", [])
    members = {
        name: instances(revision, child, depth + 1)
        for name, child in node.get("properties", {}).items()
        if child != {"enum": []}
    }
    optional = {name: values for name, values in members.items() if name not in required} if depth < 6 else {}
    return st.fixed_dictionaries({name: members.get(name, ANYTHING) for name in required}, optional=optional)


def extras(revision: str, node: Any, depth: int) -> SearchStrategy[dict[str, Any]]:
    rest = node.get("additionalProperties", {})
    values = ANYTHING if rest == {} else st.nothing() if rest is False else instances(revision, rest, depth + 1)
    names = EXTRA_NAMES.filter(lambda name: name not in node.get("properties", {}))
    return st.just({}) | st.dictionaries(names, values, max_size=2) if depth < 6 and rest is not False else st.just({})


def exact(value: Any) -> str:
    """Text in which 1, 1.0 and true differ, and the order of members does not count."""
    return json.dumps(value, sort_keys=True)


def places(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place, *(below for key, item in items for below in places(item, (*place, key)))]


def changed(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    if not place:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[place[0]] = changed(value[place[0]], place[1:], new)
    return copy


def test_the_specs_can_be_loaded() -> None:
    assert len(schemas()) == len(REVISIONS) > 0
    assert PROBLEMS.found == []


@pytest.mark.parametrize("revision", MODULES)
def test_every_published_definition_is_an_attribute_under_its_name(revision: str) -> None:
    module = importlib.import_module(f"mcp_revisions.{MODULES[revision]}")
    for name in schemas()[revision]["x-published"]:
        assert name in dir(module)
        assert adapter(revision, name).core_schema["type"] != "any"


@pytest.mark.hypothesis
@pytest.mark.parametrize("revision", MODULES)
def test_what_is_valid_comes_back_exactly(revision: str) -> None:
    names = schemas()[revision]["x-published"]

    @QUICK
    @given(
        st.sampled_from(names).flatmap(
            lambda name: st.tuples(st.just(name), instances(revision, schemas()[revision]["$defs"][name]))
        )
    )
    def check(case: tuple[str, Any]) -> None:
        name, value = case
        if not validator(revision, name).is_valid(value):
            return
        messages = adapter(revision, name)
        for read in (messages.validate_json(json.dumps(value)), messages.validate_python(value)):
            assert exact(json.loads(messages.dump_json(read, exclude_unset=True))) == exact(value)
            assert exact(messages.dump_python(read, mode="json", exclude_unset=True)) == exact(value)

    check()


@pytest.mark.hypothesis
@pytest.mark.parametrize("revision", MODULES)
def test_what_is_broken_is_refused(revision: str) -> None:
    names = schemas()[revision]["x-published"]
    others: SearchStrategy[Any] = st.sampled_from([None, True, 0, 1, -5, 1.5, "", "5", "true", [], {}])

    @QUICK
    @given(
        st.sampled_from(names).flatmap(
            lambda name: st.tuples(st.just(name), instances(revision, schemas()[revision]["$defs"][name]))
        ),
        st.data(),
    )
    def check(case: tuple[str, Any], data: st.DataObject) -> None:
        name, value = case
        broken = changed(value, data.draw(st.sampled_from(places(value))), data.draw(others))
        if validator(revision, name).is_valid(broken):
            return
        with pytest.raises(ValidationError):
            adapter(revision, name).validate_json(json.dumps(broken))

    check()


@pytest.mark.parametrize("revision", MODULES)
@pytest.mark.parametrize("value", [0, "", -1, 2**53 + 1, "1", 10**20])
def test_identifiers_come_back_as_they_came(revision: str, value: int | str) -> None:
    ids = adapter(revision, "RequestId")
    assert exact(json.loads(ids.dump_json(ids.validate_json(json.dumps(value))))) == exact(value)


@pytest.mark.parametrize("revision", MODULES)
@pytest.mark.parametrize("value", [None, True, 1.5, [], {}])
def test_what_is_no_identifier_is_refused(revision: str, value: object) -> None:
    with pytest.raises(ValidationError):
        adapter(revision, "RequestId").validate_json(json.dumps(value))


@pytest.mark.parametrize("revision", MODULES)
def test_a_request_with_a_null_id_is_no_notification(revision: str) -> None:
    message = {"jsonrpc": "2.0", "method": "any"}
    assert type(adapter(revision, "JSONRPCMessage").validate_python(message)).__name__ == "JSONRPCNotification"
    with pytest.raises(ValidationError):
        adapter(revision, "JSONRPCMessage").validate_python({**message, "id": None})
