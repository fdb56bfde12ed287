"""The merge: small schemas with the vocabulary that they must give, and the text of every complaint."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any

from revgen.canonical.merge import merge, published_aliases
from revgen.canonical.rules import Move, Pattern, Rules
from revgen.reading.located import Place, Problems
from revgen.schemas.references import reference

TOP = Place("specs/canonical.yaml", 1, 1)
NONE = Rules(TOP)
TEXT = {"type": "string"}
FREE = {"type": "object"}


def thing(required: list[str] | None = None, /, **members: Any) -> dict[str, Any]:
    """An object type."""
    return {"type": "object", "properties": members} | ({"required": required} if required else {})


def many(shape: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": shape}


def one_of(*values: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}


def kind(name: str) -> dict[str, Any]:
    """A member of a union."""
    return thing(["type"], type={"const": name, "type": "string"})


def listed(*texts: str) -> tuple[Pattern, ...]:
    return tuple(Pattern(text, Place("specs/canonical.yaml", 2, column)) for column, text in enumerate(texts, 5))


def merged(*schemas: Mapping[str, Any], by: Rules = NONE, hoisted: tuple[str, ...] = ()) -> dict[str, Any]:
    """The definitions that revisions r1, r2, … give; there must be nothing to complain about."""
    definitions, problems = attempt(*schemas, by=by, hoisted=hoisted)
    assert problems == []
    return definitions


def attempt(
    *schemas: Mapping[str, Any], by: Rules = NONE, hoisted: tuple[str, ...] = ()
) -> tuple[dict[str, Any], list[str]]:
    numbered = {
        f"r{number}": {"$defs": schema, "x-published": [name for name in schema if name not in hoisted]}
        for number, schema in enumerate(schemas, 1)
    }
    problems = Problems()
    whole = merge(numbered, by, problems)
    return whole["$defs"], [str(problem) for problem in (*problems.found, *problems.remarks)]


def test_the_newest_definition_wins_and_older_members_are_optional() -> None:
    old = {"Tool": thing(["name", "kind"], name=TEXT, kind=TEXT, note={"type": "string", "maxLength": 5})}
    new = {"Tool": thing(["name"], name=TEXT, title=TEXT, note={"type": "string", "maxLength": 9})}
    assert merged(old, new) == {
        "Tool": thing(["name"], kind=TEXT, name=TEXT, note={"type": "string", "maxLength": 9}, title=TEXT)
    }


def test_required_is_what_every_revision_with_the_type_requires() -> None:
    assert merged({"Tool": thing(["a", "b"], a=TEXT, b=TEXT)}, {"Tool": thing(["b"], a=TEXT, b=TEXT)})["Tool"][
        "required"
    ] == ["b"]
    assert merged({}, {"Tool": thing(["a"], a=TEXT)})["Tool"]["required"] == ["a"]


def test_a_new_field_appears_without_a_rule() -> None:
    assert "novel" in merged({"Tool": thing(name=TEXT)}, {"Tool": thing(name=TEXT, novel=TEXT)})["Tool"]["properties"]


def test_unions_are_united() -> None:
    kinds = {name: thing(["type"], type={"const": name}) for name in ("A", "B", "C")}
    old = {**kinds, "Block": {"anyOf": [reference("A"), reference("C")]}}
    new = {**kinds, "Block": {"anyOf": [reference("B"), reference("A")]}}
    assert merged(old, new)["Block"] == {"anyOf": [reference("B"), reference("A"), reference("C")]}


def test_an_inline_union_is_the_named_one_of_a_newer_revision() -> None:
    kinds = {name: thing(["type"], type={"const": name}) for name in ("A", "B")}
    old = {**kinds, "Result": thing(content={"type": "array", "items": {"anyOf": [reference("A")]}})}
    new = {
        **kinds,
        "Block": {"anyOf": [reference("A"), reference("B")]},
        "Result": thing(content={"type": "array", "items": reference("Block")}),
    }
    assert merged(old, new)["Result"] == new["Result"]


def test_an_inline_object_is_the_type_that_a_newer_revision_names_there() -> None:
    old = {"Tool": thing(notes=reference("ToolNotes")), "ToolNotes": thing(["first"], first=TEXT, older=TEXT)}
    new = {"Tool": thing(notes=reference("Notes")), "Notes": thing(first=TEXT, newer=TEXT)}
    assert merged(old, new, hoisted=("ToolNotes",)) == {
        "Notes": thing(first=TEXT, newer=TEXT, older=TEXT),
        "Tool": thing(notes=reference("Notes")),
    }


def test_a_named_type_lends_its_members_to_a_newer_inline_object() -> None:
    old = {"Ask": thing(params=reference("Params")), "Params": thing(meta=FREE)}
    new = {"Ask": thing(params=reference("AskParams")), "AskParams": thing(name=TEXT)}
    assert merged(old, new, hoisted=("AskParams",)) == {
        "Ask": thing(params=reference("AskParams")),
        "AskParams": thing(meta=FREE, name=TEXT),
        "Params": thing(meta=FREE),
    }


def test_a_free_object_takes_part_in_a_newer_inline_one() -> None:
    old = {"Able": thing(roots=FREE)}
    new = {"Able": thing(roots=reference("AbleRoots")), "AbleRoots": thing(["deep"], deep=TEXT)}
    assert merged(old, new, hoisted=("AbleRoots",))["AbleRoots"] == thing(deep=TEXT)


def test_plain_members_and_types_stay_json() -> None:
    old = {"Tool": thing(schema=reference("Deep"), value=FREE), "Deep": thing(a=TEXT)}
    new = {
        "Tool": thing(schema=reference("Deep"), value={}, open=reference("Json")),
        "Deep": thing(b=TEXT),
        "Json": FREE,
    }
    by = Rules(TOP, plain_types=listed("Json"), plain_members=listed("*.no", "Tool.schema", "Tool.value")[1:])
    assert merged(old, new, by=by)["Tool"] == thing(open=FREE, schema=FREE, value={})


def test_wire_types_and_members_are_left_out_with_their_inline_objects() -> None:
    schema = {
        "Ask": thing(["id", "name"], id=TEXT, name=TEXT),
        "WireAsk": thing(method={"const": "ask"}, params=reference("WireAskParams"), other=reference("WireAskOther")),
        "WireAskOther": thing(a=TEXT),
        "WireAskParams": thing(name=TEXT),
    }
    by = Rules(TOP, left_out_types=listed("WireAsk"), left_out_members=(Pattern("Ask.id", Place("c", 3, 1)),))
    assert merged(schema, by=by, hoisted=("WireAskOther", "WireAskParams")) == {
        "Ask": thing(["name"], name=TEXT),
        "WireAskParams": thing(name=TEXT),
    }


def test_a_move_joins_two_names() -> None:
    old = {"Old": thing(["type"], type={"const": "ref"}, extra=TEXT), "Use": thing(ref=reference("Old"))}
    new = {"New": thing(["type"], type={"const": "ref"}), "Use": thing(ref=reference("New"))}
    by = Rules(TOP, moves=(Move("renamed", "Old", "New", Place("c", 4, 5)),))
    assert merged(old, new, by=by) == {
        "New": thing(["type"], extra=TEXT, type={"const": "ref"}),
        "Use": thing(ref=reference("New")),
    }
    assert published_aliases({"$defs": old}, by) == {"Old": "New"}
    assert published_aliases({"$defs": new}, by) == {}


def test_a_move_is_stronger_than_a_place() -> None:
    old = {"Ask": thing(params=reference("AskParams")), "AskParams": thing(["text"], text=TEXT)}
    new = {
        "Ask": thing(params=reference("AskParams")),
        "AskParams": {"anyOf": [reference("Form"), reference("Link")]},
        "Form": thing(["text"], text=TEXT),
        "Link": thing(["url"], url=TEXT),
    }
    by = Rules(TOP, moves=(Move("one kind became two", "AskParams", "Form", Place("c", 4, 5)),))
    assert merged(old, new, by=by, hoisted=()) == new


def test_conflicts_name_type_member_shapes_and_revisions() -> None:
    _, problems = attempt(
        {"Tool": thing(size=TEXT, kind=reference("Tool"))},
        {"Tool": thing(size=TEXT)},
        {"Tool": thing(size={"type": "number"}, kind={"type": "array", "items": TEXT})},
    )
    assert problems == [
        "specs/canonical.yaml:1:1: no rule settles 'Tool.kind': list of string in r3, but Tool in r1; "
        "list it under 'plain: members' to pass it as it is",
        "specs/canonical.yaml:1:1: no rule settles 'Tool.size': number in r3, but string in r1, r2; "
        "list it under 'plain: members' to pass it as it is",
    ]


def test_a_type_that_came_where_another_went_is_one_conflict_with_a_move_as_its_remedy() -> None:
    old = {"A": thing(hint=reference("Old")), "B": thing(hint=many(reference("Old"))), "Old": thing(x=TEXT)}
    new = {"A": thing(hint=reference("New")), "B": thing(hint=many(reference("New"))), "New": thing(x=TEXT, y=TEXT)}
    _, problems = attempt(old, new)
    assert problems == [
        "specs/canonical.yaml:1:1: no rule settles 'A.hint' (B.hint as well): 'New' in r2, but 'Old' in r1; if that is one type under two "
        "names, list {name: what changed, from: Old, to: New} under 'moves', else list them under 'plain: members' to pass them as they are"
    ]
    # Two types that a revision has side by side are two.
    both = {**new, "Old": thing(x=TEXT), "C": thing(hint=reference("Old"))}
    _, problems = attempt(old, both)
    assert problems[0].endswith(
        "no rule settles 'A.hint': New in r2, but Old in r1; list it under 'plain: members' to pass it as it is"
    )


def test_a_leaf_that_is_plain_without_need_is_remarked() -> None:
    by = Rules(TOP, plain_members=listed("Icon.theme", "Tool.schema", "Tool.size"))
    old = {"Icon": thing(theme=one_of("dark")), "Tool": thing(schema=thing(a=TEXT), size=TEXT)}
    new = {
        "Icon": thing(theme=one_of("dark", "sepia")),
        "Tool": thing(schema=thing(a=TEXT, b=TEXT), size={"type": "number"}),
    }
    _, problems = attempt(old, new, by=by)
    assert problems == [
        "specs/canonical.yaml:2:5: 'Icon.theme' is plain in every revision, although what they say of it can be united; take this out"
    ]


def test_what_a_draft_takes_and_no_final_revision_is_remarked() -> None:
    final = {
        "Block": {"anyOf": [reference("A"), reference("B")]},
        "A": kind("a"),
        "B": kind("b"),
        "Use": thing(it=reference("A")),
    }
    draft = final | {"Block": {"anyOf": [*map(reference, "ABC")]}, "C": kind("c")}
    problems = Problems()
    schemas = {name: {"$defs": one, "x-published": list(one)} for name, one in (("r1", final), ("r2", draft))}
    found = merge(schemas, NONE, problems, ["r2"])["$defs"]
    assert found == {**final, "C": kind("c")}
    assert problems.found == []
    assert [str(remark) for remark in problems.remarks] == [
        "specs/canonical.yaml:1:1: 'C' is in the vocabulary, and no member of 'Block' before the draft that has it there is final: what the "
        "newest final revision says stays"
    ]


def test_a_union_that_was_an_object_is_a_conflict() -> None:
    kinds = {name: thing(["type"], type={"const": name}) for name in ("A", "B")}
    _, problems = attempt(
        {**kinds, "Block": thing(text=TEXT)},
        {**kinds, "Block": {"anyOf": [reference("A"), reference("B")]}},
    )
    assert problems == [
        "specs/canonical.yaml:1:1: no rule settles 'Block': A | B in r2, but object with text in r1; "
        "list it under 'plain: types' to pass it as it is"
    ]


def test_conflicts_in_what_is_left_out_do_not_matter() -> None:
    by = Rules(TOP, left_out_types=listed("Tool"))
    assert merged({"Tool": thing(a=TEXT)}, {"Tool": thing(a={"type": "number"})}, by=by) == {}


def test_a_reference_to_what_is_left_out() -> None:
    _, problems = attempt({"A": thing(b=reference("B")), "B": thing(c=TEXT)}, by=Rules(TOP, left_out_types=listed("B")))
    assert problems == ["specs/canonical.yaml:1:1: 'B' is left out, but 'A' is kept and refers to it"]


def test_rules_that_settle_nothing() -> None:
    _, problems = attempt(
        {"Tool": thing(open=FREE)},
        by=Rules(
            TOP,
            plain_types=(Pattern("A", Place("c", 1, 1)),),
            plain_members=(Pattern("Tool.open", Place("c", 2, 1)),),
            left_out_types=(Pattern("B*", Place("c", 3, 1)),),
            left_out_members=(Pattern("Tool.id", Place("c", 4, 1)),),
            kept_types=(Pattern("Tool", Place("c", 5, 1)),),
        ),
    )
    assert problems == [
        "c:1:1: 'A' makes no type plain",
        "c:2:1: 'Tool.open' makes no member plain",
        "c:3:1: 'B*' leaves out no type",
        "c:4:1: 'Tool.id' leaves out no member",
        "c:5:1: 'Tool' keeps no type that would be left out",
    ]


def test_the_order_of_keys_does_not_matter() -> None:
    shuffler = random.Random(7)
    old = {"Tool": thing(["name"], name=TEXT, kind=TEXT), "Use": thing(tool=reference("Tool"))}
    new = {"Use": thing(tool=reference("Tool"), more=TEXT), "Tool": thing(["name"], title=TEXT, name=TEXT)}
    texts = {json.dumps(merged(shuffled(old, shuffler), shuffled(new, shuffler))) for _ in range(20)}
    assert len(texts) == 1


def shuffled(value: Any, shuffler: random.Random) -> Any:
    if not isinstance(value, dict):
        return value
    keys = list(value)
    shuffler.shuffle(keys)
    return {key: shuffled(value[key], shuffler) for key in keys}
