"""What is written for small schemas, and that it is the same bytes each time."""

from __future__ import annotations

import importlib.util
import itertools
import os
import pathlib
import re
import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError
from revgen.models.docstrings import Docstrings
from revgen.models.python_names import member_names
from revgen.models.text import render_models, render_package
from revgen.schemas.normal_form import Schema, normalise
from revgen.schemas.roles import owners, roles

ROOT = pathlib.Path(__file__).parents[2]
TEMPLATES = ROOT / "templates" / "models"
COUNTER = itertools.count()
TEXT = {"type": "string"}


def schema(**definitions: Any) -> Schema:
    return normalise({"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": definitions}).schema


def members(*required: str, **properties: Any) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required)}


def described(definitions: Schema, **members: dict[str, str]) -> Docstrings:
    """Docstrings of roles alone, but for words of members."""
    addresses = {name: f"https://example.com/#{owner.lower()}" for name, owner in owners(definitions).items()}
    return Docstrings({name: [role] for name, role in roles(definitions).items()}, members, addresses)


def text_of(definitions: Schema) -> str:
    return render_models(
        definitions,
        templates=TEMPLATES,
        header="# Generated.",
        docstring="Small messages.",
        docstrings=described(definitions),
    )


def package_of(definitions: Schema, folder: pathlib.Path) -> ModuleType:
    """The definitions as an imported package."""
    name = f"small_{next(COUNTER)}"
    (folder / name).mkdir()
    (folder / name / "models.py").write_text(text_of(definitions), "utf-8")
    text = render_package(
        definitions["$defs"], header="# Generated.", docstring="Small.", attributes={"Adapter": "adapter"}
    )
    (folder / name / "__init__.py").write_text(text, "utf-8")
    spec = importlib.util.spec_from_file_location(name, folder / name / "__init__.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_members_have_python_names_and_the_wire_keeps_its_own(tmp_path: pathlib.Path) -> None:
    names = {
        "mimeType": TEXT,
        "_meta": TEXT,
        "$schema": TEXT,
        "list": TEXT,
        "io.example/serverInfo": TEXT,
        "class": TEXT,
        "snake_case": TEXT,
    }
    package = package_of(schema(A=members(**names)), tmp_path)
    made = package.A(mime_type="1", meta="2", schema_="3", list_="4", server_info="5", class_="6", snake_case="7")
    assert made.model_dump(exclude_unset=True) == dict(
        zip(sorted(names, key=list(names).index), "1234567", strict=True)
    )
    assert package.A.model_validate(made.model_dump(exclude_unset=True)) == made


def test_members_that_would_have_one_name_keep_what_tells_them_apart() -> None:
    assert member_names("A", ["progressToken", "io.example/progressToken"], frozenset()) == {
        "progressToken": "progress_token",
        "io.example/progressToken": "io_example_progress_token",
    }
    with pytest.raises(ValueError, match="A: the members 'fooBar' and 'foo_bar' would both be 'foo_bar' in Python"):
        member_names("A", ["fooBar", "foo_bar"], frozenset())


def test_an_unknown_member_spelt_like_a_python_name_stays_unknown(tmp_path: pathlib.Path) -> None:
    package = package_of(schema(A=members(mimeType=TEXT)), tmp_path)
    for value in ({"mime_type": 1}, {"mime_type": 1, "mimeType": "x"}):
        assert package.A.model_validate(value).model_dump(exclude_unset=True) == value


def test_none_for_a_member_that_may_be_absent_leaves_it_out(tmp_path: pathlib.Path) -> None:
    nullable = {"type": ["string", "null"]}
    package = package_of(
        schema(A=members("must", title=TEXT, _meta=TEXT, anything={}, either=nullable, must=nullable)), tmp_path
    )
    made = package.A(title=None, meta=None, anything=None, either=None, must=None, unknown=None)
    assert made.model_dump(exclude_unset=True) == {"anything": None, "either": None, "must": None, "unknown": None}
    with pytest.raises(ValidationError):
        package.A.model_validate({"must": None, "title": None})


def test_numbers_keep_their_form_and_their_limits(tmp_path: pathlib.Path) -> None:
    package = package_of(
        schema(A=members(share={"type": "number", "minimum": 0, "maximum": 1}, size={"type": "integer"})), tmp_path
    )
    for text in ('{"share":1}', '{"share":1.0}', '{"size":9007199254740993}', '{"size":100000000000000000000}'):
        assert package.A.model_validate_json(text).model_dump_json(exclude_unset=True) == text
    for text in ('{"share":1.5}', '{"share":true}', '{"share":"1"}', '{"share":NaN}', '{"size":1.5}', '{"size":null}'):
        with pytest.raises(ValidationError):
            package.A.model_validate_json(text)


def test_what_is_bounded_within_a_list_a_map_or_a_union_is_named_like_its_place(tmp_path: pathlib.Path) -> None:
    few = {"type": "array", "items": {"type": "string"}, "maxItems": 1}
    some = {"type": "array", "items": {"type": "integer"}, "minItems": 1}
    short = {"type": "string", "maxLength": 3}
    package = package_of(
        schema(
            Proposal=members(
                values={"anyOf": [{"type": "string"}, few]},
                either={"anyOf": [few, some]},
                kinds={"type": ["string", "integer"], "maxLength": 2, "minimum": 0},
                rows={"type": "array", "items": few},
                tags={"type": "object", "additionalProperties": short},
            )
        ),
        tmp_path,
    )
    written = (tmp_path / package.__name__ / "models.py").read_text("utf-8")
    named = re.findall(r"^(\w+) = TypeAliasType", written, re.MULTILINE)
    assert set(named) == {
        "ProposalValuesList",
        "ProposalEitherList",
        "ProposalEitherOtherList",
        "ProposalKindsText",
        "ProposalKindsInteger",
        "ProposalRowList",
        "ProposalTagText",
    }
    assert [*package.Proposal.model_fields] == ["either", "kinds", "rows", "tags", "values"]
    valid = [
        {"values": "a"},
        {"values": ["a"]},
        {"either": [1, 2]},
        {"kinds": 1},
        {"rows": [["a"]]},
        {"tags": {"a": "abc"}},
    ]
    for value in valid:
        assert package.Proposal.model_validate(value).model_dump(exclude_unset=True) == value
    for broken in (
        {"values": ["a", "b"]},
        {"either": ["a", "b"]},
        {"kinds": "abc"},
        {"kinds": -1},
        {"tags": {"a": "abcd"}},
    ):
        with pytest.raises(ValidationError):
            package.Proposal.model_validate(broken)


def test_a_closed_object_is_closed_and_a_typed_rest_is_typed(tmp_path: pathlib.Path) -> None:
    closed = {**members(a=TEXT), "additionalProperties": False}
    typed = {**members(a=TEXT), "additionalProperties": {"type": "integer"}}
    package = package_of(schema(Closed=closed, Typed=typed), tmp_path)
    with pytest.raises(ValidationError):
        package.Closed.model_validate({"b": 1})
    assert package.Typed.model_validate({"a": "x", "b": 1}).model_dump(exclude_unset=True) == {"a": "x", "b": 1}
    with pytest.raises(ValidationError):
        package.Typed.model_validate({"b": "x"})


def test_a_definition_that_is_called_like_an_import_keeps_its_published_name(tmp_path: pathlib.Path) -> None:
    package = package_of(
        schema(
            Annotated=members(priority=TEXT),
            Literal={"$ref": "#/$defs/Annotated"},
            B=members(a={"$ref": "#/$defs/Annotated"}),
        ),
        tmp_path,
    )
    assert package.B(a=package.Annotated(priority="x")).model_dump(exclude_unset=True) == {"a": {"priority": "x"}}
    assert package.Literal is package.Annotated
    assert {"Annotated", "Literal", "B", "Adapter"} == set(dir(package)) == set(package.__all__)


def test_a_union_whose_branches_a_constant_tells_apart_gives_one_error(tmp_path: pathlib.Path) -> None:
    one, two = members("type", type={"const": "one"}, a=TEXT), members("type", type={"const": "two"}, b=TEXT)
    union = {"anyOf": [{"$ref": "#/$defs/One"}, {"$ref": "#/$defs/Two"}]}
    package = package_of(
        schema(One=one, Two=two, Block=union, Held=members(blocks={"type": "array", "items": union}, block=union)),
        tmp_path,
    )
    for target, value in (
        (package.Block, {"type": "no"}),
        (package.Held, {"blocks": [{"type": "no"}]}),
        (package.Held, {"block": {"type": "no"}}),
    ):
        with pytest.raises(ValidationError) as caught:
            TypeAdapter(target).validate_python(value)
        assert caught.value.error_count() == 1
    assert isinstance(package.Held.model_validate({"blocks": [{"type": "two"}]}).blocks[0], package.Two)


@pytest.mark.parametrize(
    ("shape", "taken", "refused"),
    [
        ({"const": {"a": 1, "b": [True]}}, [{"a": 1, "b": [True]}], [{"a": 1, "b": [1]}, {"a": 1}, [], "a", 1]),
        ({"const": [1, 2]}, [[1, 2]], [[True, 2], [1], [2, 1], [1, 2, 3], {}]),
        ({"const": True}, [True], [1, False, "true", 1.0]),
        ({"const": 1}, [1], [True, 2, "1"]),
        ({"enum": [0, 1], "type": "integer"}, [0, 1], [False, True, 2, 0.5]),
        ({"enum": [1.5, 2], "type": "number"}, [1.5, 2], [1, 3, True]),
        ({"enum": [1, "a", None, True]}, [1, "a", None, True], [False, "b", 0]),
        ({"enum": [{"a": 1}, "b"]}, [{"a": 1}, "b"], [{"a": 2}, {"a": True}, "c"]),
        ({"enum": ["a", 1], "type": "string"}, ["a"], [1, "b"]),
        ({"enum": [1], "type": "string"}, [], [1, "1"]),
        ({"type": "array", "items": {"enum": [0, 1]}}, [[0, 1], []], [[True], [2], 0]),
        ({"anyOf": [{"const": {"a": 1}}, {"type": "string"}]}, [{"a": 1}, "x"], [{"a": 2}, 1]),
        (False, [], [1, {}, "a"]),
        (True, [1, "a", {}, []], []),
    ],
)
def test_constants_are_compared_as_json(
    shape: Any, taken: list[Any], refused: list[Any], tmp_path: pathlib.Path
) -> None:
    package = package_of(schema(A=members("x", x=shape), Named=shape, B=members(x={"$ref": "#/$defs/Named"})), tmp_path)
    for model in (package.A, package.B):
        for value in taken:
            assert repr(model.model_validate({"x": value}).model_dump(exclude_unset=True)) == repr({"x": value})
        for value in refused:
            with pytest.raises(ValidationError):
                model.model_validate({"x": value})


def test_names_that_python_cannot_have_are_written_otherwise_and_given_back(tmp_path: pathlib.Path) -> None:
    names = ["harbour.Ship", "dashed-name", "class", "None", "2nd"]
    package = package_of(
        schema(
            Fleet=members(**{f"m{number}": {"$ref": f"#/$defs/{name}"} for number, name in enumerate(names)}),
            **{name: members("x", x=TEXT) for name in names},
        ),
        tmp_path,
    )
    for number, name in enumerate(names):
        made = getattr(package, name)(x="a")
        assert package.Fleet.model_validate({f"m{number}": {"x": "a"}}).model_dump(exclude_unset=True) == {
            f"m{number}": made.model_dump(exclude_unset=True)
        }
    with pytest.raises(ValueError, match=r"the definitions 'a\.b' and 'a_b' would both be 'a_b' in Python"):
        text_of(schema(**{"a.b": members(x=TEXT), "a_b": members(x=TEXT)}))


def test_members_that_are_called_like_keywords(tmp_path: pathlib.Path) -> None:
    names = ["$ref", "$defs", "type", "properties", "enum", "const", "items", "anyOf", "allOf", "required"]
    inner = members("$ref", **{"$ref": members("x", x=TEXT)})
    package = package_of(schema(A=members("$ref", **dict.fromkeys(names, TEXT)), B=inner), tmp_path)
    value = dict.fromkeys(sorted(names), "a")
    assert package.A.model_validate(value).model_dump(exclude_unset=True) == value
    with pytest.raises(ValidationError):
        package.A.model_validate({**value, "$ref": 1})
    with pytest.raises(ValidationError):
        package.B.model_validate({"$ref": {}})


def test_what_is_required_and_not_defined_is_required(tmp_path: pathlib.Path) -> None:
    bare = {"type": "object", "required": ["x"]}
    package = package_of(schema(A=bare, B={**members("x", y=TEXT), "additionalProperties": TEXT}), tmp_path)
    assert package.A.model_validate({"x": 1}).model_dump(exclude_unset=True) == {"x": 1}
    assert package.B.model_validate({"x": "a"}).model_dump(exclude_unset=True) == {"x": "a"}
    for model, value in ((package.A, {}), (package.B, {"y": "a"}), (package.B, {"x": 1})):
        with pytest.raises(ValidationError):
            model.model_validate(value)


def test_a_type_may_contain_itself(tmp_path: pathlib.Path) -> None:
    anything = {
        "anyOf": [
            {"$ref": "#/$defs/Map"},
            {"type": "array", "items": {"$ref": "#/$defs/Anything"}},
            {"type": ["string", "number", "null"]},
        ]
    }
    package = package_of(
        schema(Anything=anything, Map={"type": "object", "additionalProperties": {"$ref": "#/$defs/Anything"}}),
        tmp_path,
    )
    values = TypeAdapter(package.Anything)
    assert values.dump_json(values.validate_json('{"a":[1,1.0,null,{"b":"x"}]}')) == b'{"a":[1,1.0,null,{"b":"x"}]}'


def test_nothing_is_imported_before_it_is_asked_for(tmp_path: pathlib.Path) -> None:
    package = package_of(schema(A=members(a=TEXT)), tmp_path)
    assert f"{package.__name__}.models" not in sys.modules
    assert package.A is package.A
    with pytest.raises(AttributeError, match="has no attribute 'Missing'"):
        package.Missing  # noqa: B018
    with pytest.raises(ModuleNotFoundError, match="adapter"):
        package.Adapter  # noqa: B018


def test_a_definition_cannot_have_the_name_of_another_attribute() -> None:
    with pytest.raises(
        ValueError, match="'Adapter' is a definition, so the package cannot have another attribute of that name"
    ):
        render_package(["Adapter"], header="#", docstring="D", attributes={"Adapter": "adapter"})


def test_docstrings_say_what_a_type_is_for_and_where_to_read_about_it() -> None:
    definitions = schema(
        CallRequest=members("method", method={"const": "tools/call"}, params=members(name=TEXT)),
        CallResult=members(content={"type": "array", "items": {"$ref": "#/$defs/Content"}}),
        ChangedNotification=members("method", method={"const": "notifications/changed"}),
        Content=members(text=TEXT),
        Everything={"anyOf": [{"$ref": "#/$defs/Content"}, {"$ref": "#/$defs/CallResult"}]},
        Same={"$ref": "#/$defs/Everything"},
    )
    assert roles(definitions) == {
        "CallRequest": "The request `tools/call`.",
        "CallRequestParams": "Parameters of the request `tools/call`.",
        "CallResult": "Result of the request `tools/call`.",
        "ChangedNotification": "The notification `notifications/changed`.",
        "Content": "One of the union `Everything`. Stands at `CallResult.content`.",
        "Everything": "Another name is `Same`.",
        "Same": "The same as `Everything`.",
    }
    assert owners(definitions)["CallRequestParams"] == "CallRequest"
    assert "    https://example.com/#callrequestparams\n" not in text_of(definitions)
    assert '    """The request `tools/call`.\n\n    https://example.com/#callrequest\n    """\n' in text_of(definitions)


def test_the_bytes_do_not_depend_on_the_hash_seed() -> None:
    script = (
        "import pathlib, sys\n"
        "from revgen.canonical.origins import find_origins\n"
        "from revgen.canonical.rules import Rules\n"
        "from revgen.canonical.words import Line, Words\n"
        "from revgen.models.docstrings import revision_docstrings\n"
        "from revgen.reading.located import Problems\n"
        "from revgen.models.text import render_models, render_package\n"
        "from revgen.schemas.revisions import load_revisions\n"
        "from revgen.schemas.published import load_schemas\n"
        "root = pathlib.Path(sys.argv[1])\n"
        "problems = Problems()\n"
        "revision, *_ = load_revisions(root, problems)\n"
        "schema = load_schemas(root, [revision], Problems())[revision.version]\n"
        "lines = {'_meta': Line('M.', revision.place), 'name': Line('N.', revision.place)}\n"
        "words = Words.model_construct(members=lines, types={})\n"
        "rules = Rules(revision.place)\n"
        "schemas = {revision.version: schema}\n"
        "origins = find_origins(schemas, rules, schema)\n"
        "docstrings = revision_docstrings(revision, schema, words, origins)\n"
        "print(render_models(schema, templates=root / 'templates' / 'models', header='#', docstring='D', docstrings=docstrings))\n"
        "print(render_package(schema['$defs'], header='#', docstring='D', attributes={'Adapter': 'adapter'}))\n"
    )
    command = [sys.executable, "-c", script, str(ROOT)]
    texts = {
        subprocess.run(
            command, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1
