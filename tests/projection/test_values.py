"""Values that a revision does not take: what is done by rule, what has to be answered, and that nothing else is ever sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jsonschema_rs
import pytest
from covering import examples
from emitted import emitted, source
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from mcp_contract.members import NotSendable
from revgen.canonical.merge import merge
from revgen.canonical.rules import Rules
from revgen.projection.compare import Answers, Projection, compare, complain
from revgen.projection.values import lacking
from revgen.reading.located import Place, Problems
from revgen.schemas.methods import Root
from revgen.schemas.references import reference
from test_compare import FREE, TEXT, attempt, either, kind, many, thing
from values import Values

Shape = dict[str, Any]
Schema = dict[str, Any]

WHOLE = {"type": "integer"}
NUMBER = {"type": "number"}
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def one_of(*values: Any, **more: Any) -> Shape:
    return {"enum": list(values), **more}


def one_or_all(shape: Shape) -> Shape:
    return {"anyOf": [shape, many(shape)]}


# What is lacking.


@pytest.mark.parametrize(
    ("ours", "theirs", "words"),
    [
        (TEXT, TEXT, []),
        (TEXT, {}, []),
        ({}, FREE, ["anything but an object"]),
        (WHOLE, NUMBER, []),
        (NUMBER, WHOLE, ["a fraction"]),
        ({"type": ["string", "integer", "null"]}, TEXT, ["an integer", "null"]),
        (one_of("a", "b", type="string"), one_of("b", "c", type="string"), ['"a"']),
        (one_of("a", type="string"), TEXT, []),
        (one_of(1, True, 1.5), {"type": "integer"}, ["true", "1.5"]),
        (one_of("a", None), {"type": "string"}, ["null"]),
        (TEXT, one_of("a", "b", type="string"), ['text other than "a", "b"']),
        ({"const": "a"}, {"const": "b"}, ['"a"']),
        (many(one_of("a", "b")), many(one_of("a")), ['"b" in a list']),
        (
            {"additionalProperties": NUMBER, "type": "object"},
            {"additionalProperties": TEXT, "type": "object"},
            ["a number in an object"],
        ),
        (one_or_all(TEXT), many(TEXT), ["text"]),
        (one_or_all(TEXT), TEXT, ["a list"]),
        (WHOLE, {"type": "integer", "minimum": 1}, ["an integer beyond minimum 1"]),
        ({"type": "integer", "minimum": 2}, {"type": "integer", "minimum": 1}, []),
        ({"type": "integer", "maximum": 2}, {"type": "integer", "maximum": 1}, ["an integer beyond maximum 1"]),
        (one_of("a", "ab"), {"type": "string", "maxLength": 1}, ['"ab"']),
        (one_of("a", "b"), {"type": "string", "pattern": "^a"}, ['"b"']),
        (TEXT, {"type": "string", "pattern": "^a"}, ["text beyond pattern ^a"]),
        (one_of(1, 2), {"type": "integer", "exclusiveMaximum": 2}, ["2"]),
        (many(TEXT), {"type": "array", "items": TEXT, "maxItems": 1}, ["a list beyond maxItems 1"]),
        (FREE, {"type": "object", "additionalProperties": False}, ["an object that is not empty"]),
        (FREE, thing(["a"], a=TEXT), ["an object without a"]),
        (FREE, thing(a=TEXT), []),
    ],
)
def test_what_is_lacking(ours: Shape, theirs: Shape, words: list[str]) -> None:
    assert list(lacking(ours, theirs, {}, {})) == words


def test_a_shape_within_itself_ends() -> None:
    tree = {"Tree": {"anyOf": [TEXT, many(reference("Tree"))]}}
    assert lacking(reference("Tree"), reference("Tree"), tree, tree) == ()
    wider = {"Tree": {"anyOf": [TEXT, WHOLE, many(reference("Tree"))]}}
    assert lacking(reference("Tree"), reference("Tree"), wider, tree) == ("an integer",)


# What is done.


def sent(ours: Shape, theirs: Shape, value: Any, answers: Answers = Answers(), **methods: Any) -> Any:  # noqa: B008
    """What becomes of the value of an optional member; of one of a required member where its shape says so."""
    projection, problems = attempt(definitions(ours), definitions(theirs), "Thing", answers=answers)
    assert problems == []
    return emitted(projection, methods)._thing({"it": value}).get("it", "left out")


def definitions(shape: Shape) -> dict[str, Shape]:
    required = ["it"] if shape.get("x-required") else []
    return {
        "Cat": kind("cat", name=TEXT),
        "Dog": kind("dog", name=TEXT),
        "Role": shape.get("x-role", one_of("user", "tool", type="string")),
        "Thing": thing(required, it={key: value for key, value in shape.items() if not key.startswith("x-")}),
    }


HINT = Answers(hints=("Thing.*",))
REFUSED = Answers(refused_values=("Thing.it",))


def test_one_becomes_a_list_where_only_lists_are_taken() -> None:
    assert sent(one_or_all(TEXT), many(TEXT), "a") == ["a"]
    assert sent(one_or_all(TEXT), many(TEXT), ["a", "b"]) == ["a", "b"]
    assert sent(one_or_all(TEXT), one_or_all(TEXT), "a") == "a"


def test_one_object_becomes_a_list_of_objects() -> None:
    cat = {"type": "cat", "name": "n"}
    for shape, theirs in (
        (reference("Cat"), many(reference("Cat"))),
        (either("Cat", "Dog"), many(either("Cat", "Dog"))),
    ):
        ours = {"anyOf": [*shape.get("anyOf", [shape]), many(shape)]}
        assert sent(ours, theirs, cat | {"x": 1}) == [cat]
        assert sent(ours, theirs, [cat | {"x": 1}, cat]) == [cat, cat]
        assert sent(ours, ours, cat | {"x": 1}) == cat
        assert sent(ours, ours, [cat | {"x": 1}]) == [cat]


def test_a_hint_is_left_out() -> None:
    light, all_ = one_of("light", "dark"), one_of("light", "dark", "sepia")
    assert sent(all_, light, "sepia", HINT) == "left out"
    assert sent(all_, light, "dark", HINT) == "dark"
    assert sent({"type": ["string", "integer"]}, TEXT, 5, HINT) == "left out"
    assert sent({"type": ["string", "integer"]}, TEXT, "5", HINT) == "5"
    assert sent(one_of(0, 1, True), one_of(0, 1), True, HINT) == "left out"
    assert sent(WHOLE, {"type": "integer", "maximum": 5}, 6, HINT) == "left out"


def test_of_a_list_of_hints_those_are_left_out() -> None:
    ours, theirs = many(one_of("user", "tool")), many(one_of("user"))
    assert sent(ours, theirs, ["user", "tool"], HINT) == ["user"]
    assert sent(ours, theirs, ["tool"], HINT) == "left out"
    assert sent(ours, theirs, [], HINT) == []
    assert sent(one_or_all(one_of("user", "tool")), theirs, "tool", HINT) == "left out"
    assert sent(one_or_all(one_of("user", "tool")), theirs, "user", HINT) == ["user"]
    assert sent(one_or_all(one_of("user", "tool")), one_or_all(one_of("user")), ["tool"], HINT) == "left out"


def test_what_is_refused_is_an_error() -> None:
    ours, theirs = one_of("a", "b"), one_of("a")
    assert sent(ours, theirs, "a", REFUSED) == "a"
    with pytest.raises(NotSendable, match=r"a value that is a str is no Thing\.it"):
        sent(ours, theirs, "b", REFUSED)


def test_an_answer_says_what_is_sent() -> None:
    ours, theirs = one_of("a", "b"), one_of("a")
    answered = Answers(replaced={"Thing.it": "answer"})
    assert sent(ours, theirs, "b", answered, answer=lambda _, value: "a") == "a"
    assert sent(ours, theirs, "b", answered, answer=lambda _, value: None) == "left out"
    assert sent(ours, ours, "b", answered, answer=lambda _, value: "a") == "a"
    with pytest.raises(NotSendable):
        sent(ours, theirs, "b", answered, answer=lambda _, value: value)


def test_an_answer_for_a_type_holds_wherever_it_stands() -> None:
    answered = Answers(replaced={"Role": "answer"})
    old = {"x-role": one_of("user", type="string")}

    def answer(_: Any, value: Any) -> Any:
        return "user" if value == "tool" else value

    for shape, value, expected in (
        (reference("Role"), "tool", "user"),
        (many(reference("Role")), ["tool", "user"], ["user", "user"]),
        (one_or_all(reference("Role")), "tool", "user"),
        (one_or_all(reference("Role")), ["tool"], ["user"]),
    ):
        assert sent(shape, shape | old, value, answered, answer=answer) == expected
    assert (
        sent(many(reference("Role")), many(reference("Role")) | old, ["tool"], answered, answer=lambda _, value: None)
        == []
    )


def test_null_where_the_revision_requires_a_value() -> None:
    ours, theirs = {"type": ["integer", "null"], "x-required": True}, WHOLE | {"x-required": True}
    with pytest.raises(NotSendable):
        sent(ours, theirs, None, REFUSED)
    assert sent(ours, theirs, None, Answers(replaced={"Thing.it": "answer"}), answer=lambda _, value: 0) == 0
    assert sent({"type": ["integer", "null"]}, WHOLE, None) == "left out"


def test_something_beside_objects() -> None:
    cat = {"type": "cat", "name": "n"}
    ours = {"anyOf": [reference("Cat"), TEXT]}
    assert sent(ours, ours, cat | {"x": 1}) == cat
    assert sent(ours, ours, "felix") == "felix"
    assert sent(ours, reference("Cat"), "felix", HINT) == "left out"
    assert sent(ours, reference("Cat"), cat, HINT) == cat
    assert sent(ours, TEXT, cat, HINT) == "left out"
    assert sent(
        {"anyOf": [TEXT, many(reference("Cat"))]}, {"anyOf": [TEXT, many(reference("Cat"))]}, [cat | {"x": 1}]
    ) == [cat]


COMPLAINTS = [
    (
        one_of("a", "b"),
        one_of("a"),
        "'Thing.it' may be \"b\", which is not taken in r1; say what is sent with a concern that has 'replaces: Thing.it', or list it "
        "under 'hints: members' in specs/canonical.yaml to leave such a value out, or list it under 'refused: members' in "
        "specs/canonical.yaml to make it an error",
    ),
    (
        {"type": ["integer", "null"], "x-required": True},
        WHOLE | {"x-required": True},
        "'Thing.it' may be null, which is not taken in r1; say what is sent with a concern that has 'replaces: Thing.it', or list it "
        "under 'refused: members' in specs/canonical.yaml to make it an error",
    ),
    (
        many(reference("Role")),
        many(reference("Role")) | {"x-role": one_of("user")},
        "'Thing.it' may be \"tool\" in a list, which is not taken in r1; say what is sent with a concern that has 'replaces: Thing.it' or "
        "'replaces: Role', or list it under 'hints: members' in specs/canonical.yaml to leave such a value out, or list it under 'refused: "
        "members' in specs/canonical.yaml to make it an error",
    ),
    (
        TEXT,
        {"type": ["string", "integer"]},
        "'Thing.it' may be an integer, which the canonical vocabulary does not take, in r1; list it under 'plain: members' in "
        "specs/canonical.yaml",
    ),
]


def complained(new: Schema, old: Schema, root: str, drafts: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Faults and remarks where `old` is held against a vocabulary that is `new`."""
    schemas = [{"$defs": one, "x-published": list(one)} for one in (new, old)]
    projection = compare(schemas[0], schemas[1], [Root(root, root)], Answers())
    problems = Problems()
    complain({"r1": projection}, Rules(Place("specs/canonical.yaml", 1, 1)), problems, drafts)
    return [str(one) for one in problems.found], [str(one) for one in problems.remarks]


def test_members_that_are_alike_are_one_complaint_with_a_pattern() -> None:
    def both(*values: str) -> Schema:
        kinds = {name: thing(scope=one_of(*values, type="string")) for name in ("One", "Two", "Three")}
        return {"All": thing(**{name.lower(): reference(name) for name in kinds}), **kinds}

    found, _ = complained(both("a", "b"), both("a"), "All")
    assert found == [
        "specs/canonical.yaml:1:1: '*.scope' may be \"b\", which is not taken (of One, Three, Two) in r1; say what is sent with a concern "
        "that has 'replaces: One.scope' (one for each), or list \"*.scope\" under 'hints: members' in specs/canonical.yaml to "
        "leave such a value out, or list \"*.scope\" under 'refused: members' in specs/canonical.yaml to make it an error"
    ]


def test_what_only_a_draft_may_say_is_a_remark() -> None:
    final, draft = {"Thing": thing(it=TEXT)}, {"Thing": thing(it={"type": ["string", "integer"]})}
    assert complained(final, draft, "Thing")[1] == []
    assert complained(final, draft, "Thing", ["r1"]) == (
        [],
        [
            "specs/canonical.yaml:1:1: 'Thing.it' may be an integer, which the canonical vocabulary does not take, in r1; what the newest "
            "final revision says stays, so that is not read from a draft, and goes in when it becomes final"
        ],
    )
    # What a draft does not take is asked for as of any revision.
    assert len(complained(draft, final, "Thing", ["r1"])[0]) == 1


@pytest.mark.parametrize(("ours", "theirs", "complaint"), COMPLAINTS)
def test_what_has_to_be_answered(ours: Shape, theirs: Shape, complaint: str) -> None:
    _, problems = attempt(definitions(ours), definitions(theirs), "Thing")
    assert problems == [f"specs/canonical.yaml:1:1: {complaint}"]


def test_a_value_held_against_a_definition() -> None:
    projection, problems = attempt(definitions({}), definitions(reference("Cat")), "Thing", answers=HINT)
    assert problems == []
    assert projection.held_against == ("Cat",)
    assert 'self._values.takes("Cat", kept["it"])' in source(projection)


# Whatever the two revisions are.

_TEXTS = [
    TEXT,
    {"type": "string", "maxLength": 1},
    {"type": ["string", "integer"]},
    {"type": ["string", "null"]},
    one_of("a", "b", type="string"),
    one_of("b", "c", type="string"),
    {"const": "a", "type": "string"},
    reference("Role"),
]
_NUMBERS = [
    WHOLE,
    NUMBER,
    {"type": ["integer", "null"]},
    {"type": ["string", "integer"]},
    {"type": "integer", "minimum": 0, "maximum": 5},
    {"type": "number", "minimum": 2},
    one_of(1, 2, type="integer"),
    one_of(1, 3, type="integer"),
]
_OBJECTS = [
    reference("Cat"),
    either("Cat", "Dog"),
    either("Dog", "Cat"),
    {"anyOf": [reference("Cat"), TEXT]},
    {"anyOf": [TEXT, many(reference("Dog")), reference("Cat")]},
]
_ANYTHING = [{}, FREE, TEXT, reference("Cat"), reference("Bag"), many(TEXT)]
_FAMILIES = [_TEXTS, _NUMBERS, _OBJECTS, _ANYTHING]
"""Shapes of which one may become another one."""


def bag(shape: Shape) -> Shape:
    return {"type": "object", "additionalProperties": shape}


@st.composite
def shapes(draw: st.DrawFn, families: list[list[Shape]]) -> tuple[Shape, Shape]:
    """The shape of one member in two revisions."""
    family = draw(st.sampled_from(families))
    around: list[Callable[[Shape], Shape]] = draw(
        st.sampled_from([[dict], [many], [one_or_all], [many, one_or_all], [dict, one_or_all], [bag], [few, many]])
    )
    first, second = (draw(st.sampled_from(around))(draw(st.sampled_from(family))) for _ in range(2))
    return first, second


def few(shape: Shape) -> Shape:
    return many(shape) | {"maxItems": 2}


@st.composite
def revisions(draw: st.DrawFn) -> tuple[Schema, Schema]:
    """Two schemas with the same types, of which each may have members in another shape."""
    a, b, c = (draw(shapes(_FAMILIES)) for _ in range(3))
    name, size = draw(shapes([_TEXTS])), draw(shapes([_NUMBERS]))
    found = []
    for number in range(2):
        required = draw(st.lists(st.sampled_from("abc"), unique=True, max_size=2))
        types = {
            "Bag": thing([], size=size[number]),
            "Cat": kind("cat", name=name[number]),
            "Dog": kind("dog", name=TEXT),
            "Role": one_of(*draw(st.sampled_from([("user",), ("user", "tool"), ("tool", "system")])), type="string"),
            "Thing": thing(required, a=a[number], b=b[number], c=c[number]),
        }
        found.append({"$defs": types, "x-published": sorted(types)})
    return found[0], found[1]


ANSWERS = (
    Answers(hints=("*",), refused_values=("*",), refused=("Cat", "Dog"), supplied=("*",)),
    Answers(refused_values=("*",), refused=("Cat", "Dog"), supplied=("*",)),
)


@settings(
    max_examples=examples(120),
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)
@given(revisions(), st.sampled_from(ANSWERS), st.data())
def test_nothing_is_sent_or_read_that_does_not_fit(
    both: tuple[dict[str, Any], dict[str, Any]], answers: Answers, data: st.DataObject
) -> None:
    problems = Problems()
    canonical = merge({"r1": both[0], "r2": both[1]}, Rules(Place("c", 1, 1)), problems)
    assume(not problems.found)
    for schema in both:
        projection = compare(canonical, schema, [Root("Thing", "Thing")], answers)
        if any("canonical vocabulary" in complaint.what for complaint in projection.complaints):
            # An object of any form in one revision, and one with a required member in the other: no shape is both.
            assume(False)
        read = data.draw(Values(schema["$defs"], {}).of("Thing"))
        judge(canonical, "Thing").validate(without_null(read, schema["$defs"]["Thing"].get("required", ())))
        if projection.complaints:
            continue
        value = data.draw(Values(canonical["$defs"], {}).of("Thing"))
        see_sending(projection, schema, value)


def see_sending(projection: Projection, schema: dict[str, Any], value: Any) -> None:
    adapter = emitted(projection)
    adapter._values = Held(schema)
    try:
        found = adapter._thing(value)
    except NotSendable:
        return
    if not lacks_supplied(value, schema):
        judge(schema, "Thing").validate(found)


class Held:
    """What an adapter asks whether a value fits a definition."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema

    def takes(self, name: str, value: Any) -> bool:
        return bool(judge(self.schema, name).is_valid(value))


def judge(schema: dict[str, Any], name: str) -> Any:
    return jsonschema_rs.validator_for({"$schema": DIALECT, "$defs": schema["$defs"], "$ref": f"#/$defs/{name}"})


def lacks_supplied(value: Any, schema: Schema) -> bool:
    """Whether something is missing that whoever sends a value is said to have put in."""
    return any(value.get(member) is None for member in schema["$defs"]["Thing"].get("required", []))


def without_null(value: Any, required: Sequence[str]) -> Any:
    """What was read, without the members whose None stands for an absent one."""
    if isinstance(value, list):
        return [without_null(item, ()) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: without_null(item, ()) for name, item in value.items() if item is not None or name in required}
