"""The comparison, on small schemas: the emitted code runs here for real, and every complaint has its text."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import pytest
from emitted import emitted, source
from mcp_contract.members import NotSendable
from revgen.canonical.rules import Rules
from revgen.projection.compare import Answers, Projection, compare, complain
from revgen.reading.located import Place, Problems
from revgen.schemas.methods import Root
from revgen.schemas.references import reference

PLACE = Place("specs/canonical.yaml", 1, 1)
TEXT = {"type": "string"}
FREE = {"type": "object"}


def thing(required: list[str] | None = None, /, **members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members} | ({"required": required} if required else {})


def many(node: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": node}


def either(*names: str) -> dict[str, Any]:
    return {"anyOf": [reference(name) for name in names]}


def kind(name: str, /, **members: Any) -> dict[str, Any]:
    return thing(["type"], type={"const": name}, **members)


def attempt(
    ours: dict[str, Any],
    theirs: dict[str, Any],
    *roots: str | Root,
    answers: Answers = Answers(),  # noqa: B008
) -> tuple[Projection, list[str]]:
    problems = Problems()
    wanted: Iterable[Root] = [Root(root, root) if isinstance(root, str) else root for root in roots]
    projection = compare({"$defs": ours}, {"$defs": theirs}, wanted, answers)
    complain({"r1": projection}, Rules(PLACE), problems)
    return projection, [str(problem) for problem in problems.found]


def sent(
    ours: dict[str, Any],
    theirs: dict[str, Any],
    root: str | Root,
    value: Any,
    answers: Answers | None = None,
    **methods: Any,
) -> Any:
    """What the emitted code makes of a value; there must be nothing to complain about."""
    projection, problems = attempt(ours, theirs, root, answers=answers or Answers())
    assert problems == []
    (function,) = projection.calls.values()
    assert function is not None
    return getattr(emitted(projection, methods), function)(value)


def test_lists_in_lists_are_walked() -> None:
    """A list in a list has no name, so it is not taken for one that contains itself."""
    cell = {"C": thing(a=TEXT, b=TEXT)}
    rows = {"R": thing(words=many(many(many(TEXT))), cells=many(many(reference("C"))))}
    value = {"words": [[["a"]]], "cells": [[{"a": "1", "b": "2"}], []]}
    assert sent({**cell, **rows}, {"C": thing(a=TEXT), **rows}, "R", value) == {
        "words": [[["a"]]],
        "cells": [[{"a": "1"}], []],
    }


def test_members_that_the_revision_lacks_are_left_out_and_unknown_ones_too() -> None:
    ours = {"Tool": thing(["name"], name=TEXT, title=TEXT, note=TEXT)}
    theirs = {"Tool": thing(["name"], name=TEXT, note=TEXT)}
    assert sent(ours, theirs, "Tool", {"name": "n", "title": "t", "note": None, "x": 1}) == {"name": "n"}


def test_a_type_that_the_revision_has_whole_loses_unknown_members() -> None:
    both = {"Tool": thing(name=TEXT)}
    assert sent(both, both, "Tool", {"name": "n", "x": 1}) == {"name": "n"}


def test_null_stays_where_the_revision_takes_it() -> None:
    both = {"Tool": thing(ttl={"type": ["integer", "null"]}, data={}, name=TEXT)}
    assert sent(both, both, "Tool", {"ttl": None, "data": None, "name": None}) == {"ttl": None, "data": None}


def test_free_maps_stay_as_they_are() -> None:
    both = {"Tool": thing(meta=FREE, any={})}
    value = {"meta": {"a": None, "b": {"c": 1}}, "any": [None]}
    assert sent(both, both, "Tool", value) == value


def test_what_must_not_be_there_is_left_out() -> None:
    ours, theirs = (
        {"Tool": thing(name=TEXT, id=TEXT)},
        {"Tool": thing(name=TEXT, id=reference("Never")), "Never": {"enum": []}},
    )
    assert sent(ours, theirs, "Tool", {"name": "n", "id": "i"}) == {"name": "n"}


def test_an_open_type_passes_with_all_of_its_members() -> None:
    both = {"Tool": thing(payload=reference("Payload"), name=TEXT), "Payload": thing(meta=FREE)}
    value = {"payload": {"meta": {}, "x": None, "content": [1]}}
    assert sent(both, both, "Tool", value, Answers(open=("Payload",))) == value
    assert sent(both, both, "Tool", value) == {"payload": {"meta": {}}}


def test_what_is_inside_of_members_lists_and_maps() -> None:
    inner_ours, inner_theirs = thing(a=TEXT, b=TEXT), thing(a=TEXT)
    outer = thing(
        one=reference("Inner"), list=many(reference("Inner")), map={"additionalProperties": reference("Inner")}
    )
    value = {"one": {"a": "1", "b": "2"}, "list": [{"b": "2"}], "map": {"k": {"a": "1", "b": "2"}}}
    assert sent({"Outer": outer, "Inner": inner_ours}, {"Outer": outer, "Inner": inner_theirs}, "Outer", value) == {
        "one": {"a": "1"},
        "list": [{}],
        "map": {"k": {"a": "1"}},
    }


def test_a_map_that_has_a_name() -> None:
    ours = {
        "Outer": thing(all=reference("All")),
        "All": {"additionalProperties": reference("In")},
        "In": thing(a=TEXT, b=TEXT),
    }
    theirs = ours | {"In": thing(a=TEXT)}
    assert sent(ours, theirs, "Outer", {"all": {"k": {"a": "1", "b": "2"}}}) == {"all": {"k": {"a": "1"}}}


def test_a_type_that_the_revision_gives_no_form_loses_only_what_is_published_elsewhere() -> None:
    ours = {"Able": thing(roots=reference("Roots")), "Roots": thing(listChanged={})}
    assert sent(ours, {"Able": thing(roots=FREE)}, "Able", {"roots": {"listChanged": True, "own": None}}) == {
        "roots": {"own": None}
    }


def test_a_member_that_must_be_an_object_is_left_out_otherwise() -> None:
    ours, theirs = {"Result": thing(value={})}, {"Result": thing(value=FREE)}
    hint = Answers(hints=("Result.*",))
    assert sent(ours, theirs, "Result", {"value": [1]}, hint) == {}
    assert sent(ours, theirs, "Result", {"value": {"a": 1}}, hint) == {"value": {"a": 1}}
    assert sent(ours, theirs, "Result", {}, hint) == {}


def test_the_base_of_a_message_adds_members() -> None:
    ours = {"Params": thing(_meta=FREE, cursor=TEXT)}
    theirs = {"Params": thing(cursor=TEXT), "RequestParams": thing(_meta=FREE)}
    value = {"_meta": {"t": 1}, "cursor": "c", "x": 1}
    assert sent(ours, theirs, Root("Params", "Params", "RequestParams"), value) == {"_meta": {"t": 1}, "cursor": "c"}
    assert sent(ours, theirs, Root("Params", "Params"), value) == {"cursor": "c"}


BLOCKS = {
    "Text": kind("text", text=TEXT, note=TEXT),
    "Sound": kind("sound", data=TEXT),
    "Block": either("Text", "Sound"),
    "Result": thing(["content"], content=many(reference("Block"))),
}
OLD_BLOCKS = {"Text": kind("text", text=TEXT), "Result": thing(["content"], content=many(either("Text")))}
SOUND = Answers(replaced={"Sound": "sound"})


def described(adapter: Any, block: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": word, "note": "n"} for word in block["data"].split()]


def test_a_member_of_a_union_that_the_revision_lacks_is_replaced_in_a_list() -> None:
    value = {"content": [{"type": "text", "text": "a", "note": "n"}, {"type": "sound", "data": "b c"}]}
    assert sent(BLOCKS, OLD_BLOCKS, "Result", value, SOUND, sound=described) == {
        "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, {"type": "text", "text": "c"}]
    }


def test_the_answer_is_asked_where_the_revision_has_the_member_too() -> None:
    value = {"content": [{"type": "sound", "data": "b", "x": 1}]}
    assert sent(BLOCKS, BLOCKS, "Result", value, SOUND, sound=lambda adapter, block: [block, block]) == {
        "content": [{"type": "sound", "data": "b"}] * 2
    }


def test_an_answer_that_the_revision_lacks_is_not_sent() -> None:
    value = {"content": [{"type": "sound", "data": "b"}]}
    with pytest.raises(NotSendable, match="a value of type 'sound' is no Block"):
        sent(BLOCKS, OLD_BLOCKS, "Result", value, SOUND, sound=lambda adapter, block: [block])


def test_an_unknown_member_of_a_union_is_not_sent() -> None:
    with pytest.raises(NotSendable, match="a value of type 'film' is no Block"):
        sent(BLOCKS, BLOCKS, "Result", {"content": [{"type": "film"}]})


def test_a_refused_member_is_not_sent() -> None:
    with pytest.raises(NotSendable, match="a value of type 'sound' is no Block"):
        sent(BLOCKS, OLD_BLOCKS, "Result", {"content": [{"type": "sound", "data": "b"}]}, Answers(refused=("Sound",)))


def test_an_answer_for_one_union_alone() -> None:
    answers = Answers(replaced={"Sound": "sound", "Block.Sound": "block_sound"})
    projection, problems = attempt(BLOCKS, OLD_BLOCKS, "Result", answers=answers)
    assert problems == []
    assert projection.used == {"Block.Sound"}
    assert "self.block_sound(value)" in source(projection)


MESSAGES = BLOCKS | {
    "Message": thing(["content", "role"], role=TEXT, content=reference("Block")),
    "Prompt": thing(["messages"], messages=many(reference("Message"))),
}
OLD_MESSAGES = OLD_BLOCKS | {
    "Message": thing(["content", "role"], role=TEXT, content=either("Text")),
    "Prompt": thing(["messages"], messages=many(reference("Message"))),
}


def test_several_values_in_a_single_place_become_several_objects_of_the_list_around() -> None:
    value = {"messages": [{"role": "user", "content": {"type": "sound", "data": "b c"}}]}
    assert sent(MESSAGES, OLD_MESSAGES, "Prompt", value, SOUND, sound=described) == {
        "messages": [
            {"role": "user", "content": {"type": "text", "text": "b"}},
            {"role": "user", "content": {"type": "text", "text": "c"}},
        ]
    }


def test_a_single_place_with_no_list_around_needs_an_answer() -> None:
    _, problems = attempt(MESSAGES, OLD_MESSAGES, "Message", answers=SOUND)
    assert problems == [
        "specs/canonical.yaml:1:1: 'Message.content', where an answer may give several values, takes one in r1; say what is sent with "
        "a concern that has 'replaces: Message.content'"
    ]
    answers = Answers(replaced={"Sound": "sound", "Message.content": "joined"})
    value = {"role": "user", "content": {"type": "sound", "data": "b c"}}
    assert sent(
        MESSAGES,
        OLD_MESSAGES,
        "Message",
        value,
        answers,
        sound=described,
        joined=lambda adapter, blocks: {"type": "text", "text": "+".join(block["text"] for block in blocks)},
    ) == {"role": "user", "content": {"type": "text", "text": "b+c"}}


LISTED = BLOCKS | {
    "Message": thing(["content"], content={"anyOf": [*either("Text", "Sound")["anyOf"], many(reference("Block"))]})
}


def test_where_the_revision_takes_one_or_a_list() -> None:
    both = LISTED
    for content, expected in (
        ({"type": "text", "text": "a"}, {"type": "text", "text": "a"}),
        ([{"type": "text", "text": "a"}], [{"type": "text", "text": "a"}]),
        ({"type": "sound", "data": "b"}, {"type": "text", "text": "b"}),
        ({"type": "sound", "data": "b c"}, [{"type": "text", "text": "b"}, {"type": "text", "text": "c"}]),
    ):
        result = sent(
            both, both, "Message", {"content": content}, SOUND, sound=lambda _, block: strip(described(_, block))
        )
        assert result == {"content": expected}


def test_one_object_becomes_several_where_the_revision_takes_one_or_a_list() -> None:
    """Each block is a message of its own, and so one message may be sent as several."""
    listed = {"anyOf": [reference("Message"), many(reference("Message"))]}
    message = {"Message": thing(["content"], content=reference("Block"))}
    ours = BLOCKS | message | {"All": thing(["messages"], messages=listed)}
    text, other = {"type": "text", "text": "a"}, {"type": "sound", "data": "b c"}
    parts = [{"content": {"type": "text", "text": "b"}}, {"content": {"type": "text", "text": "c"}}]
    for theirs, messages, expected in (
        (listed, {"content": text}, {"content": text}),
        (listed, {"content": other}, parts),
        (listed, [{"content": text}, {"content": other}], [{"content": text}, *parts]),
        (many(reference("Message")), {"content": text}, [{"content": text}]),
        (many(reference("Message")), {"content": other}, parts),
    ):
        revision = ours | {"All": thing(["messages"], messages=theirs)}
        result = sent(
            ours, revision, "All", {"messages": messages}, SOUND, sound=lambda _, block: strip(described(_, block))
        )
        assert result == {"messages": expected}


def strip(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: item for name, item in block.items() if name != "note"} for block in blocks]


def test_a_list_where_the_revision_takes_one_becomes_several_objects() -> None:
    ours = LISTED | {"All": thing(["messages"], messages=many(reference("Message")))}
    theirs = OLD_BLOCKS | {"All": ours["All"], "Message": thing(["content"], content=either("Text"))}
    value = {"messages": [{"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]}
    assert sent(ours, theirs, "All", value, Answers(refused=("Sound",))) == {
        "messages": [{"content": {"type": "text", "text": "a"}}, {"content": {"type": "text", "text": "b"}}]
    }


def test_what_a_revision_requires_is_filled() -> None:
    ours, theirs = {"Result": thing(kind=TEXT, a=TEXT)}, {"Result": thing(["kind"], kind=TEXT)}
    fill = Answers(filled={"kind": "self.kind_of_result"})
    assert sent(ours, theirs, "Result", {"a": "1"}, fill, kind_of_result="complete") == {"kind": "complete"}
    assert sent(ours, theirs, "Result", {"kind": "own"}, fill, kind_of_result="complete") == {"kind": "own"}
    own = Answers(filled={"kind": "'no'", "Result.kind": "'yes'"})
    assert sent(ours, theirs, "Result", {}, own) == {"kind": "yes"}
    assert sent(ours, theirs, "Result", {"kind": "given"}, Answers(supplied=("*.kind",))) == {"kind": "given"}


def test_members_are_recognised_by_presence_and_by_a_constant_that_may_be_absent() -> None:
    both = {
        "Text": thing(["text"], text=TEXT),
        "Blob": thing(["blob"], blob=TEXT),
        "Form": thing(["message"], mode={"const": "form"}, message=TEXT),
        "Link": thing(["mode"], mode={"const": "url"}, url=TEXT),
        "All": thing(contents=many(either("Text", "Blob")), ask=either("Form", "Link")),
    }
    for value in (
        {"contents": [{"text": "a"}, {"blob": "b"}], "ask": {"message": "m"}},
        {"ask": {"mode": "form", "message": "m"}},
        {"ask": {"mode": "url", "url": "u"}},
    ):
        assert sent(both, both, "All", value) == value
    assert sent(both, both, "All", {"ask": {"mode": None, "message": "m"}}) == {"ask": {"message": "m"}}


def test_members_of_a_union_are_matched_by_alias_and_by_constant() -> None:
    ours = {"New": kind("ref", uri=TEXT, more=TEXT), "Other": kind("other"), "Use": thing(ref=either("New", "Other"))}
    renamed = {"Old": kind("ref", uri=TEXT), "Other": kind("other"), "Use": thing(ref=either("Old", "Other"))}
    value = {"ref": {"type": "ref", "uri": "u", "more": "m"}}
    assert sent(ours, renamed, "Use", value) == {"ref": {"type": "ref", "uri": "u"}}
    single = {"Params": thing(["text"], text=TEXT), "Use": thing(ref=reference("Params"))}
    ours = {
        "Form": thing(["text"], text=TEXT, more=TEXT),
        "Link": thing(["url"], url=TEXT),
        "Use": thing(ref=either("Form", "Link")),
    }
    answers = Answers(refused=("Link",), aliases={"Params": "Form"})
    assert sent(ours, single, "Use", {"ref": {"text": "t", "more": "m"}}, answers) == {"ref": {"text": "t"}}


def test_types_that_contain_themselves() -> None:
    ours = {"Tree": thing(children=many(reference("Tree")), a=TEXT, b=TEXT)}
    theirs = {"Tree": thing(children=many(reference("Tree")), a=TEXT)}
    value = {"b": "x", "children": [{"a": "y", "b": "x", "children": []}]}
    assert sent(ours, theirs, "Tree", value) == {"children": [{"a": "y", "children": []}]}


def test_a_type_that_contains_itself_and_gives_several() -> None:
    ours = BLOCKS | {"Node": thing(["content"], content=reference("Block"), below=many(reference("Node")))}
    ours |= {"Top": thing(nodes=many(reference("Node")))}
    theirs = OLD_BLOCKS | {
        "Node": thing(["content"], content=either("Text"), below=many(reference("Node"))),
        "Top": ours["Top"],
    }
    sound = {"type": "sound", "data": "b c"}
    value = {"nodes": [{"content": {"type": "text", "text": "a"}, "below": [{"content": sound}]}]}
    assert sent(ours, theirs, "Top", value, SOUND, sound=described) == {
        "nodes": [
            {
                "content": {"type": "text", "text": "a"},
                "below": [{"content": {"type": "text", "text": "b"}}, {"content": {"type": "text", "text": "c"}}],
            }
        ]
    }


def test_one_function_for_one_type_unless_the_revision_has_it_in_several_forms() -> None:
    note = thing(a=TEXT, b=TEXT)
    ours = {"X": thing(note=reference("Note")), "Y": thing(note=reference("Note")), "Note": note}
    same = {
        "X": thing(note=reference("XNote")),
        "Y": thing(note=reference("YNote")),
        "XNote": thing(a=TEXT),
        "YNote": thing(a=TEXT),
    }
    projection, _ = attempt(ours, same, "X", "Y")
    assert [function.name for function in projection.objects] == ["_note", "_x", "_y"]
    projection, _ = attempt(ours, same | {"YNote": thing(b=TEXT)}, "X", "Y")
    assert [function.name for function in projection.objects] == ["_note", "_x", "_y", "_y_note"]
    adapter = emitted(projection)
    assert adapter._x({"note": {"a": "1", "b": "2"}}) == {"note": {"a": "1"}}
    assert adapter._y({"note": {"a": "1", "b": "2"}}) == {"note": {"b": "2"}}


def test_the_given_value_is_not_changed() -> None:
    value = {"content": [{"type": "text", "text": "a", "note": "n"}]}
    sent(BLOCKS, OLD_BLOCKS, "Result", value, Answers(refused=("Sound",)))
    assert value == {"content": [{"type": "text", "text": "a", "note": "n"}]}


COMPLAINTS = [
    (
        (BLOCKS, OLD_BLOCKS, "Result"),
        "'Sound', a member of 'Block', is lacking in r1; say what is sent with a concern that has 'replaces: Sound', or list it under "
        "'refused: types' in specs/canonical.yaml to make it an error",
    ),
    (
        (
            {
                "R": thing(x={"anyOf": [reference("New"), {"type": "array", "items": reference("New")}]}),
                "New": thing(["a"], a=TEXT),
            },
            {"R": thing(x={"type": "array", "items": reference("Old")}), "Old": thing(["a"], a=TEXT, b=TEXT)},
            "R",
        ),
        "'New', a member of 'RX', is lacking in r1; if it is 'Old' under another name, list {name: what changed, from: Old, to: New} under "
        "'moves'; else say what is sent with a concern that has 'replaces: New', or list it under 'refused: types' in specs/canonical.yaml "
        "to make it an error",
    ),
    (
        ({"R": thing(a=TEXT)}, {"R": thing(["a"], a=TEXT)}, "R"),
        "'R.a' is required in r1; say what fills it with a concern that has 'fills: R.a'; or where that depends on what else is sent, "
        "put it in with a concern that has 'adjusts: R', and list 'R.a' under 'supplied: members' in specs/canonical.yaml; or list it "
        "there alone where whoever sends one has put it in",
    ),
    (
        ({"A": kind("a"), "B": kind("a", b=TEXT), "R": thing(x=either("A", "B"))}, {"R": thing(x=FREE)}, "R"),
        "nothing tells the members A, B of 'RX' apart in r1",
    ),
    (
        ({}, {"R": thing(a=TEXT)}, "R"),
        "'R', which the canonical vocabulary leaves out, is sent in r1; list it under 'kept: types' in specs/canonical.yaml",
    ),
    (
        (
            {"L": many(reference("L")), "R": thing(x=reference("L"))},
            {"L": many(reference("L")), "R": thing(x=reference("L"))},
            "R",
        ),
        "'L' contains itself with no object in between in r1; list it under 'plain' in specs/canonical.yaml",
    ),
    (
        (
            {
                "A": kind("a"),
                "B": kind("b"),
                "R": thing(x={"anyOf": [*either("A", "B")["anyOf"], many(either("A", "B"))]}),
            },
            {
                "A": kind("a"),
                "B": kind("b"),
                "R": thing(x={"anyOf": [reference("A"), many(either("A", "B"))]}),
            },
            "R",
        ),
        "'B', a member of 'RX', is taken in lists only in r1; say what is sent with a concern that has 'replaces: RX.B'",
    ),
]


@pytest.mark.parametrize(("inputs", "complaint"), COMPLAINTS)
def test_complaints(inputs: tuple[Any, Any, str], complaint: str) -> None:
    _, problems = attempt(*inputs)
    assert f"specs/canonical.yaml:1:1: {complaint}" in problems


def test_places_where_several_values_cannot_stand() -> None:
    ours = MESSAGES | {"All": thing(map={"additionalProperties": reference("Message")}, maybe=reference("Maybe"))}
    ours |= {"Maybe": thing(content=reference("Block"))}
    theirs = OLD_MESSAGES | {"All": ours["All"], "Maybe": thing(content=either("Text"))}
    _, problems = attempt(ours, theirs, "All", answers=SOUND)
    assert [problem.removeprefix(f"{PLACE}: ") for problem in problems] == [
        f"'{place}', where an answer may give several values, takes one in r1; say what is sent with a concern that has "
        f"'replaces: {place}'"
        for place in ("All.maybe", "AllMap", "Maybe.content")
    ]


def test_the_order_of_roots_and_keys_does_not_matter() -> None:
    shuffler = random.Random(11)
    expected, _ = attempt(MESSAGES, OLD_MESSAGES, "Prompt", "Result", "Text", answers=SOUND)
    for _ in range(20):
        roots = ["Prompt", "Result", "Text"]
        shuffler.shuffle(roots)
        ours, theirs = (
            dict(sorted(schema.items(), key=lambda _: shuffler.random())) for schema in (MESSAGES, OLD_MESSAGES)
        )
        projection, _problems = attempt(ours, theirs, *roots, answers=SOUND)
        assert projection == expected
