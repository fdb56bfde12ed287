"""What the emitted code makes of any canonical value is valid in every revision, and defined by it to the last member."""

from __future__ import annotations

import copy
import dataclasses
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jsonschema_rs
import pytest
from covering import examples
from emitted import ROOT, source
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp_contract.members import NotSendable
from mcp_revisions import AdapterSet
from revgen.canonical.merge import published_aliases
from revgen.canonical.rules import Pattern, Rules
from revgen.projection.compare import Answers, Projection, compare, complain, complain_about_unused
from revgen.reading.located import Problems
from revgen.schemas.methods import Root, sendable
from revgen.schemas.revisions import load_removed
from revgen.schemas.shapes import resolved
from revgen.specification.loading import Specification, load_specification
from values import Values

pytestmark = pytest.mark.long

VERSIONS = re.findall(r'^  "(.+)":$', (ROOT / "specs/revisions.yaml").read_text("utf-8"), re.MULTILINE)
Block = dict[str, Any]

EXAMPLES = examples(20)


@dataclasses.dataclass(frozen=True)
class Built:
    """One revision's projection, its code as text, its adapter, and its schema."""

    revision: str
    projection: Projection
    code: str
    adapter: Any
    schema: dict[str, Any]
    problems: list[str]


def answers(specification: Specification, revision: str) -> Answers:
    """What the inventory says, as it stands."""
    rules = specification.rules
    concerns = [concern for area in specification.areas for concern in area.concerns]
    return Answers(
        replaced={concern.replaces: concern.name for concern in concerns if concern.replaces},
        filled={
            concern.fills: f"self.{concern.name}"
            for concern in concerns
            if concern.fills and concern.answers[revision].value is not None
        },
        refused=tuple(pattern.text for pattern in rules.refused),
        refused_values=tuple(pattern.text for pattern in rules.refused_values),
        hints=tuple(pattern.text for pattern in rules.hints),
        plain=tuple(pattern.text for pattern in rules.plain_types),
        open=tuple(pattern.text for pattern in rules.open_types),
        plain_members=tuple(pattern.text for pattern in rules.plain_members),
        supplied=tuple(pattern.text for pattern in rules.supplied),
        aliases=published_aliases(specification.schemas[revision], rules),
    )


def compared(specification: Specification, revision: str, given: Answers) -> Projection:
    schemas = specification.schemas
    return compare(specification.canonical, schemas[revision], sendable(schemas, revision), given)


@pytest.fixture(scope="module")
def specification() -> Specification:
    return load_specification(ROOT)


@pytest.fixture(scope="module")
def built(specification: Specification) -> dict[str, Built]:
    adapters = AdapterSet(VERSIONS).by_version
    found = {}
    for revision, projection in specification.projections.items():
        problems = Problems()
        complain({revision: projection}, specification.rules, problems)
        complaints = [problem.message for problem in problems.found]
        schema = specification.schemas[revision]
        found[revision] = Built(revision, projection, source(projection), adapters[revision], schema, complaints)
    return found


def test_nothing_is_left_to_answer(built: dict[str, Built]) -> None:
    assert {revision: one.problems for revision, one in built.items()} == {revision: [] for revision in built}


def test_every_answer_about_sending_matters(specification: Specification) -> None:
    """Without one of them something else is sent by some revision, or has to be answered."""
    vain = []
    given = {revision: answers(specification, revision) for revision in specification.versions}
    names = {name for one in given.values() for name in (*one.replaced, *one.filled)}
    for name in sorted(names):
        for revision, one in given.items():
            replaced = {key: answer for key, answer in one.replaced.items() if key != name}
            filled = {key: answer for key, answer in one.filled.items() if key != name}
            without = dataclasses.replace(one, replaced=replaced, filled=filled)
            if compared(specification, revision, without) != specification.projections[revision]:
                break
        else:
            vain.append(name)
    # One may wait for a revision that was taken out.
    assert vain == [] or load_removed(ROOT)


def test_without_answers_a_revision_says_what_it_needs(specification: Specification) -> None:
    oldest = specification.versions[0]
    given = answers(specification, oldest)
    bare = compared(specification, oldest, dataclasses.replace(given, replaced={}, filled={}))
    needed = {complaint.what.split("'")[1] for complaint in bare.complaints}
    # What an old one lacks it needs stand-ins for.
    assert needed & given.replaced.keys()


def test_every_entry_about_sending_matters(built: dict[str, Built], rules: Rules) -> None:
    problems = Problems()
    complain_about_unused([one.projection for one in built.values()], rules, problems)
    # An entry may wait for a revision that was taken out.
    assert problems.remarks == [] or load_removed(ROOT)
    problems = Problems()
    complain_about_unused([], rules, problems)
    assert [problem.message for problem in problems.remarks] == [
        *(f"'{pattern.text}' is refused, and no revision lacks it in a union" for pattern in rules.refused),
        *(
            f"'{pattern.text}' is refused, and every revision takes all of its values"
            for pattern in rules.refused_values
        ),
        *(f"'{pattern.text}' is open, and no revision sends it" for pattern in rules.open_types),
        *(
            f"'{pattern.text}' is supplied, and no revision requires it beyond what all do"
            for pattern in rules.supplied
        ),
    ]


def test_the_code_is_the_same_on_every_run(specification: Specification) -> None:
    schemas = specification.schemas
    for revision, projection in specification.projections.items():
        roots = tuple(reversed(sendable(schemas, revision)))
        given = answers(specification, revision)
        assert compare(specification.canonical, schemas[revision], roots, given) == projection


def test_no_revision_is_named_in_the_code(built: dict[str, Built]) -> None:
    assert [one.revision for one in built.values() for other in built if other in one.code] == []


# Where the canonical type says less than some revision: what handlers put there is checked or made elsewhere.
_OBJECT_SCHEMA = st.fixed_dictionaries(
    {"type": st.just("object")}, optional={"properties": st.just({"a": {"type": "string"}}), "required": st.just(["a"])}
)
_SETTINGS = st.dictionaries(st.sampled_from(["a", "b"]), st.just({"deep": {"x": 1}}), max_size=2)
_WORD = st.text("ab", max_size=3)
_REQUEST_META = st.just(
    {
        "io.modelcontextprotocol/protocolVersion": "r",
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": 1,
        "own": {"x": None},
    }
)
_META = st.just({"own": {"x": None}, "io.modelcontextprotocol/subscriptionId": "s"})


def values(canonical: dict[str, Any], refused: frozenset[str], rules: Rules) -> Values:
    definitions = copy.deepcopy(canonical["$defs"])
    for definition in definitions.values():
        for union in (definition, *definition.get("properties", {}).values()):
            if "anyOf" in union:
                union["anyOf"] = [
                    branch
                    for branch in union["anyOf"]
                    if branch.get("$ref", "").removeprefix("#/$defs/") not in refused
                ]
    instead: dict[str, st.SearchStrategy[Any]] = {
        "Tool.inputSchema": _OBJECT_SCHEMA,
        "Tool.outputSchema": _OBJECT_SCHEMA,
        "ElicitRequestFormParams.requestedSchema": st.just({"type": "object", "properties": {"a": {"type": "string"}}}),
        # Beyond what an older one takes; `hold` knows that it is refused there.
        "CompleteResultCompletion.values": st.lists(_WORD, max_size=2) | st.just([""] * 101),
    }
    for name, definition in definitions.items():
        for member in definition.get("properties", {}):
            if member == "_meta":
                params = name.endswith("Params") and not name.endswith("NotificationParams")
                instead[f"{name}._meta"] = _REQUEST_META if params else _META
            if member in ("experimental", "extensions"):
                instead[f"{name}.{member}"] = _SETTINGS
    for name, definition in definitions.items():
        members = definition.get("properties", {})
        supplied = {member for member in members for one in rules.supplied if one.matches(f"{name}.{member}")}
        if supplied:
            definition["required"] = sorted({*definition.get("required", []), *supplied})
    return Values(definitions, instead)


def closed(schema: Mapping[str, Any], root: Root) -> dict[str, Any]:
    """The schema of a root in which nothing but published members is valid."""
    definitions = copy.deepcopy(dict(schema["$defs"]))
    base = definitions.get(root.base or "", {}).get("properties", {})
    for definition in definitions.values():
        if "properties" in definition:
            definition["additionalProperties"] = False
    for name, definition in definitions.items():
        if "MetaObject" in name or name.endswith("Meta") or "Schema" in name:
            definition.pop("additionalProperties", None)
    if (whole := definitions[root.published]).get("properties"):
        whole["properties"] = {**base, **whole["properties"]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": definitions,
        "$ref": f"#/$defs/{root.published}",
    }


def lacking(one: Built, rules: Rules) -> frozenset[str]:
    return frozenset(pattern.text for pattern in rules.refused if pattern.text not in one.schema["$defs"])


@pytest.mark.hypothesis
@pytest.mark.parametrize("revision", VERSIONS)
def test_everything_that_can_be_sent_is_valid_and_defined(
    built: dict[str, Built], canonical: dict[str, Any], rules: Rules, revision: str
) -> None:
    one = built[revision]
    made = values(canonical, lacking(one, rules), rules)
    for root, function in one.projection.calls.items():
        if root.canonical == "GetTaskPayloadResult":
            assert function is None
            continue
        assert function is not None, root
        checks = [
            jsonschema_rs.validator_for(closed(one.schema, root)),
            jsonschema_rs.validator_for({**one.schema, "$ref": f"#/$defs/{root.published}"}),
        ]
        hold(made.of(root.canonical), getattr(one.adapter, function), checks, rules.refused_values)


def hold(
    strategy: st.SearchStrategy[Any],
    send: Callable[[Any], Any],
    checks: list[Any],
    refused: Sequence[Pattern],
    examples: int = EXAMPLES,
) -> None:
    """Whatever value is made, sending it leaves it as it is, and gives what all checks accept; or it is one that is refused."""

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def holds(value: Any) -> None:
        before = copy.deepcopy(value)
        try:
            sent = send(value)
        except NotSendable as error:
            assert any(pattern.matches(str(error).rpartition("is no ")[2]) for pattern in refused), error
            return
        finally:
            assert value == before
        for check in checks:
            check.validate(sent)

    holds()


def test_that_check_can_fail(built: dict[str, Built]) -> None:
    """The same values, sent as they are, are refused by what the property test validates against."""
    oldest = next(iter(built.values()))
    check = jsonschema_rs.validator_for(closed(oldest.schema, Root("Tool", "Tool")))
    tool = {"name": "n", "title": "t", "inputSchema": {"type": "object"}}
    assert not check.is_valid(tool)
    assert check.is_valid(oldest.adapter._tool(tool))
    filling = filling_results(built)
    check = jsonschema_rs.validator_for(closed(filling.schema, Root("CallToolResult", "CallToolResult")))
    assert not check.is_valid({"content": []})
    assert check.is_valid(filling.adapter._call_tool_result({"content": []}))


def filling_results(built: dict[str, Built]) -> Built:
    """The newest revision whose results need more than what a handler gives."""
    return next(
        one for one in reversed(built.values()) if set(one.schema["$defs"]["CallToolResult"]["required"]) - {"content"}
    )


def test_that_property_can_fail(built: dict[str, Built], canonical: dict[str, Any], rules: Rules) -> None:
    """Code that forgets one thing is found: a member that is not left out, one that is not filled, a part that is passed on."""
    oldest, filling = next(iter(built.values())), filling_results(built)
    made = values(canonical, frozenset(), rules)

    def check(one: Built, name: str) -> list[Any]:
        return [jsonschema_rs.validator_for(closed(one.schema, Root(name, name)))]

    def unfilled(value: Block) -> Block:
        sent: Block = filling.adapter._call_tool_result(value)
        return {name: item for name, item in sent.items() if name in value}

    def content_passed_on(value: Block) -> Block:
        return {"content": value["content"] if isinstance(value["content"], list) else [value["content"]]}

    for one, name, broken in (
        (oldest, "Tool", lambda value: value),
        (filling, "CallToolResult", unfilled),
        (oldest, "CallToolResult", content_passed_on),
    ):
        with pytest.raises(jsonschema_rs.ValidationError):
            hold(made.of(name), broken, check(one, name), (), examples=200)


def test_every_type_that_can_be_sent_was_compared(built: dict[str, Built], canonical: dict[str, Any]) -> None:
    """No object that a root contains passes without a function of its own."""
    for one in built.values():
        compared = {function.type_name for function in one.projection.objects}
        for root in one.projection.calls:
            assert "properties" not in resolved(canonical["$defs"][root.canonical], canonical["$defs"]) or (
                {root.canonical, "Result"} & compared
            )


def test_what_is_refused_where_a_revision_lacks_it(built: dict[str, Built]) -> None:
    link = {"mode": "url", "message": "m", "url": "https://example.org", "elicitationId": "e", "x": 1}
    tried = 0
    for one in built.values():
        if not {"elicitation/create"} & {*one.adapter.server_requests, *one.adapter.embedded_requests}:
            continue
        tried += 1
        published = one.schema["$defs"].get("ElicitRequestURLParams")
        if published is None:
            with pytest.raises(NotSendable):
                one.adapter._elicit_request_params(link)
        else:
            sent = one.adapter._elicit_request_params(link)
            assert sent == {name: link[name] for name in link if name in published["properties"]}
    assert tried


def test_a_message_with_several_blocks(built: dict[str, Built]) -> None:
    texts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    params = {"maxTokens": 1, "messages": [{"role": "user", "content": texts}]}
    for one in built.values():
        sent = one.adapter._create_message_request_params(params)["messages"]
        several = [{"role": "user", "content": text} for text in texts]
        takes_many = '"array"' in json.dumps(one.schema["$defs"]["SamplingMessage"]["properties"]["content"])
        assert sent == (params["messages"] if takes_many else several)
