"""What the emitted code makes of any canonical value is valid in every revision, and defined by it to the last member."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import jsonschema_rs
import pytest
from emitted import ROOT, running, source
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp_contract.members import NotSendable
from revgen.canonical.merge import published_aliases
from revgen.canonical.rules import Rules
from revgen.projection.compare import Answers, Projection, compare, complain, complain_about_unused
from revgen.reading.located import Problems
from revgen.schemas.methods import Root, sendable
from revgen.schemas.revisions import load_removed
from revgen.schemas.shapes import resolved
from values import Values

pytestmark = pytest.mark.long

Schemas = dict[str, dict[str, Any]]
Block = dict[str, Any]

EXAMPLES = 20


def describe(adapter: Any, block: Block) -> list[Block]:
    """Stands in for the answers about content that a revision may lack: two blocks for one, both of a kind that all have."""
    return [{"type": "text", "text": f"a {block['type']}", "_meta": {}}, {"type": "text", "text": "with more"}]


def first(adapter: Any, blocks: list[Block]) -> Block:
    return blocks[0] if blocks else {"type": "text", "text": ""}


REFUSED = ("is no CompleteResultCompletion.values", "is no ElicitResult.content")
"""Values that some revision does not take, so that sending one is an error there."""

METHODS: dict[str, Callable[..., Any] | Any] = {
    "described": describe,
    "one_of": first,
    "result_type": "complete",
    "cache_scope": "private",
    "ttl": 0,
}


@dataclasses.dataclass(frozen=True)
class Built:
    """One revision's projection, its code as text and as an object, and its schema."""

    revision: str
    projection: Projection
    code: str
    adapter: Any
    schema: dict[str, Any]
    problems: list[str]


def answers(schema: dict[str, Any], rules: Rules) -> Answers:
    return Answers(
        replaced={"AudioContent": "described", "ResourceLink": "described", "CreateMessageResult.content": "one_of"},
        filled={"resultType": "self.result_type", "cacheScope": "self.cache_scope", "ttlMs": "self.ttl"},
        refused=tuple(pattern.text for pattern in rules.refused),
        refused_values=tuple(pattern.text for pattern in rules.refused_values),
        hints=tuple(pattern.text for pattern in rules.hints),
        plain=tuple(pattern.text for pattern in rules.plain_types),
        open=tuple(pattern.text for pattern in rules.open_types),
        plain_members=tuple(pattern.text for pattern in rules.plain_members),
        supplied=tuple(pattern.text for pattern in rules.supplied),
        aliases=published_aliases(schema, rules),
    )


@pytest.fixture(scope="module")
def built(schemas: Schemas, canonical: dict[str, Any], rules: Rules) -> dict[str, Built]:
    found = {}
    for revision, schema in schemas.items():
        problems = Problems()
        projection = compare(
            canonical,
            schema,
            sendable(schemas, revision),
            answers(schema, rules),
        )
        complain({revision: projection}, rules, problems)
        complaints = [problem.message for problem in problems.found]
        code = source(projection)
        found[revision] = Built(revision, projection, code, running(code, METHODS), schema, complaints)
    return found


def test_nothing_is_left_to_answer(built: dict[str, Built]) -> None:
    assert {revision: one.problems for revision, one in built.items()} == {revision: [] for revision in built}


def test_without_answers_every_revision_says_what_it_needs(
    schemas: Schemas, canonical: dict[str, Any], rules: Rules
) -> None:
    needed = {}
    for revision, schema in schemas.items():
        bare = dataclasses.replace(answers(schema, rules), replaced={}, filled={})
        found = compare(canonical, schema, sendable(schemas, revision), bare).complaints
        needed[revision] = sorted({complaint.what.split("'")[1] for complaint in found})
    answered = answers(next(iter(schemas.values())), rules)
    known = {*answered.replaced, *answered.filled}
    used = {name if name in known else name.rpartition(".")[2] for names in needed.values() for name in names}
    # Nothing else is asked, and none of the answers is given in vain.
    assert used == known
    # What an old one lacks it needs stand-ins for.
    oldest = next(iter(needed.values()))
    assert set(oldest) & answered.replaced.keys()


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


def test_the_code_is_the_same_on_every_run(
    built: dict[str, Built], schemas: Schemas, canonical: Any, rules: Rules
) -> None:
    for revision, one in built.items():
        again = compare(
            canonical,
            schemas[revision],
            tuple(reversed(sendable(schemas, revision))),
            answers(schemas[revision], rules),
        )
        assert again == one.projection


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


def values(canonical: dict[str, Any], refused: frozenset[str]) -> Values:
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
    definitions["CancelledNotificationParams"]["required"] = ["requestId"]
    definitions["ElicitRequestURLParams"]["required"] += ["elicitationId"]
    for name, definition in definitions.items():
        if name.endswith("Params") and "_meta" in definition.get("properties", {}):
            definition["required"] = sorted({*definition.get("required", []), "_meta"})
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
@pytest.mark.parametrize("column", range(5))
def test_everything_that_can_be_sent_is_valid_and_defined(
    built: dict[str, Built], canonical: dict[str, Any], rules: Rules, column: int
) -> None:
    one = list(built.values())[column]
    made = values(canonical, lacking(one, rules))
    for root, function in one.projection.calls.items():
        if root.canonical == "GetTaskPayloadResult":
            assert function is None
            continue
        assert function is not None, root
        checks = [
            jsonschema_rs.validator_for(closed(one.schema, root)),
            jsonschema_rs.validator_for({**one.schema, "$ref": f"#/$defs/{root.published}"}),
        ]
        hold(made.of(root.canonical), getattr(one.adapter, function), checks)


def hold(
    strategy: st.SearchStrategy[Any], send: Callable[[Any], Any], checks: list[Any], examples: int = EXAMPLES
) -> None:
    """Whatever value is made, sending it leaves it as it is, and gives what all checks accept."""

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def holds(value: Any) -> None:
        before = copy.deepcopy(value)
        try:
            sent = send(value)
        except NotSendable as error:
            assert str(error).endswith(REFUSED)
            return
        finally:
            assert value == before
        for check in checks:
            check.validate(sent)

    holds()


def test_that_check_can_fail(built: dict[str, Built], schemas: Schemas) -> None:
    """The same values, sent as they are, are refused by what the property test validates against."""
    oldest = next(iter(built.values()))
    check = jsonschema_rs.validator_for(closed(oldest.schema, Root("Tool", "Tool")))
    tool = {"name": "n", "title": "t", "inputSchema": {"type": "object"}}
    assert not check.is_valid(tool)
    assert check.is_valid(oldest.adapter._tool(tool))
    newest = list(built.values())[-1]
    check = jsonschema_rs.validator_for(closed(newest.schema, Root("CallToolResult", "CallToolResult")))
    assert not check.is_valid({"content": []})
    assert check.is_valid(newest.adapter._call_tool_result({"content": []}))


def test_that_property_can_fail(built: dict[str, Built], canonical: dict[str, Any]) -> None:
    """Code that forgets one thing is found: a member that is not left out, one that is not filled, a part that is passed on."""
    oldest, *_, newest = built.values()
    made = values(canonical, frozenset())

    def check(one: Built, name: str) -> list[Any]:
        return [jsonschema_rs.validator_for(closed(one.schema, Root(name, name)))]

    def unfilled(value: Block) -> Block:
        return {name: item for name, item in newest.adapter._call_tool_result(value).items() if name != "resultType"}

    def content_passed_on(value: Block) -> Block:
        return {"content": [block for block in value["content"] if block["type"] == "text"]}

    for one, name, broken in (
        (oldest, "Tool", lambda value: value),
        (newest, "CallToolResult", unfilled),
        (oldest, "CallToolResult", content_passed_on),
    ):
        with pytest.raises(jsonschema_rs.ValidationError):
            hold(made.of(name), broken, check(one, name), examples=200)


def test_every_type_that_can_be_sent_was_compared(built: dict[str, Built], canonical: dict[str, Any]) -> None:
    """No object that a root contains passes without a function of its own."""
    for one in built.values():
        compared = {function.type_name for function in one.projection.objects}
        for root in one.projection.calls:
            assert "properties" not in resolved(canonical["$defs"][root.canonical], canonical["$defs"]) or (
                {root.canonical, "Result"} & compared
            )


def test_what_is_refused_where_a_revision_lacks_it(built: dict[str, Built]) -> None:
    names = list(built)
    link = {"mode": "url", "message": "m", "url": "https://example.org", "elicitationId": "e", "x": 1}
    with pytest.raises(NotSendable):
        built[names[2]].adapter._elicit_request_params(link)
    assert built[names[3]].adapter._elicit_request_params(link) == {name: link[name] for name in link if name != "x"}
    assert built[names[4]].adapter._elicit_request_params(link) == {
        name: link[name] for name in link if name not in ("x", "elicitationId")
    }


def test_a_message_with_several_blocks(built: dict[str, Built]) -> None:
    texts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    params = {"maxTokens": 1, "messages": [{"role": "user", "content": texts}]}
    for index, revision in enumerate(built):
        sent = built[revision].adapter._create_message_request_params(params)["messages"]
        several = [{"role": "user", "content": text} for text in texts]
        assert sent == (several if index < 3 else params["messages"])
