"""What generated modules say of types and members: words, since and until, and an address that leads somewhere."""

from __future__ import annotations

import ast
import dataclasses
import json
import pathlib
import re
from collections.abc import Iterator

import pytest
import yaml
from revgen.canonical.merge import published_aliases
from revgen.canonical.origins import find_origins
from revgen.models.docstrings import canonical_docstrings
from revgen.reading.located import Problems
from revgen.schemas.pages import load_pages
from revgen.specification.loading import load_specification

ROOT = pathlib.Path(__file__).parents[2]
PACKAGE = ROOT / "generated/mcp_revisions"
MODULES = [PACKAGE / "canonical.py", *sorted(PACKAGE.glob("v*/models.py"))]
VERSIONS = re.findall(r'^  "(.+)":$', (ROOT / "specs/revisions.yaml").read_text("utf-8"), re.MULTILINE)


def docstrings(path: pathlib.Path) -> Iterator[tuple[str, str]]:
    """Each type with its docstring, and each member (as `Type.member`) with its own; empty where it has none."""
    tree = ast.parse(path.read_text("utf-8"))
    for statement, after in zip(tree.body, [*tree.body[1:], None], strict=True):
        if isinstance(statement, ast.ClassDef):
            yield statement.name, ast.get_docstring(statement) or ""
            for member, following in zip(statement.body, [*statement.body[1:], None], strict=True):
                if isinstance(member, ast.AnnAssign):
                    yield f"{statement.name}.{ast.unparse(member.target)}", said(following)
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            yield ast.unparse(target), said(after)


def said(statement: ast.stmt | None) -> str:
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return ast.literal_eval(statement.value) if is_text else ""  # type: ignore[union-attr]


CANONICAL = dict(docstrings(MODULES[0]))


def test_every_type_and_member_of_the_vocabulary_has_words() -> None:
    specification = load_specification(ROOT)
    words = yaml.safe_load((ROOT / "specs/words.yaml").read_text("utf-8"))["types"]
    # What has none is said: it may be new, and is worth a minute.
    told = [re.match("'([^']+)' has no words", remark.message) for remark in specification.remarks]
    without_words = {match[1] for match in told if match}
    lacking = {name.replace("_", "").lower() for name, text in CANONICAL.items() if "." in name and not text}
    assert lacking <= {name.lower() for name in without_words}
    assert without_words.isdisjoint(words)
    for name, entry in words.items():
        if name in specification.canonical["$defs"]:
            assert " ".join(CANONICAL[name].split()).startswith(entry["is"]), name


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.parent.name)
def test_every_address_has_an_anchor_that_is_there(path: pathlib.Path) -> None:
    pages = {version: load_pages(ROOT, version, Problems()) for version in VERSIONS}
    addresses = set(re.findall(r"https://\S+", path.read_text("utf-8")))
    assert len(addresses) > 50
    for address in addresses:
        if match := re.fullmatch(r"https://modelcontextprotocol\.io/specification/([^/]+)/(\S+)#(\S+)", address):
            version, page, anchor = match.groups()
            known = pages[version]
            # Nobody may have written down yet what a new one has.
            assert known is None or known.has(page, anchor), address
        else:
            match = re.fullmatch(r"https://github\.com/\S+/schema/([^/]+)/schema\.json#L(\d+)", address)
            assert match, address
            known = pages[match[1]]
            assert known is None or int(match[2]) in known.lines.values(), address


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.parent.name)
def test_every_docstring_says_more_than_an_address(path: pathlib.Path) -> None:
    for name, text in docstrings(path):
        if "." not in name:
            assert text and not text.startswith("https://"), name


def test_a_result_says_whose_it_is() -> None:
    for name, method in (
        ("CallToolResult", "tools/call"),
        ("GetPromptResult", "prompts/get"),
        ("ReadResourceResult", "resources/read"),
        ("InitializeResult", "initialize"),
        ("GetTaskResult", "tasks/get"),
    ):
        assert f"Result of the request `{method}`." in CANONICAL[name], name
    asking = "Result of the request `prompts/get`, request `resources/read`, request `tools/call`."
    assert asking in " ".join(CANONICAL["InputRequiredResult"].split())


def test_since_and_until_are_facts_of_the_schemas() -> None:
    schemas = {
        version: json.loads((ROOT / f"specs/schemas/{version}.json").read_text("utf-8"))["$defs"]
        for version in VERSIONS
    }
    rules = load_specification(ROOT).rules
    names = {
        version: {canonical: published for published, canonical in published_aliases({"$defs": schema}, rules).items()}
        for version, schema in schemas.items()
    }

    def has(version: str, name: str, wire: str) -> bool:
        return wire in schemas[version].get(names[version].get(name, name), {}).get("properties", {})

    told = re.compile(r"(?:Since|Only in) (\S+?)[.,]")
    checked = 0
    for name, definition in schemas[VERSIONS[-1]].items():
        for wire in definition.get("properties", {}):
            text = CANONICAL.get(f"{name}.{re.sub('([A-Z])', lambda m: '_' + m[1].lower(), wire)}")
            having = [version for version in VERSIONS if has(version, name, wire)]
            if text is not None and (match := told.search(text)):
                assert having[0] == match[1], f"{name}.{wire}"
                checked += 1
    assert checked > 20


def test_words_stand_with_the_models_of_a_revision_where_they_hold() -> None:
    models = [dict(docstrings(path)) for path in MODULES[1:]]
    oldest = models[0]
    assert oldest["Tool.name"] == CANONICAL["Tool.name"]
    having = [one for one in models if "Tool.output_schema" in one]
    assert having and oldest not in having
    for one in having:
        assert one["Tool.output_schema"] == CANONICAL["Tool.output_schema"]
    # One block in some, one or a list of them in others: not the same.
    said = [one["SamplingMessage.content"] for one in models]
    assert set(said) == {"", CANONICAL["SamplingMessage.content"]} and said[0] == ""
    # Moved types have the words of what they became.
    moved = oldest["ResourceReference"]
    assert moved.startswith("Names a resource template whose variable is being typed.")


def test_a_type_that_a_move_renames_keeps_an_alias() -> None:
    from mcp_revisions import canonical

    assert canonical.ResourceReference is canonical.ResourceTemplateReference
    assert "call `ResourceTemplateReference`" in CANONICAL["ResourceReference"]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.parent.name)
def test_types_stand_by_name_but_behind_what_they_refer_to(path: pathlib.Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    refers: dict[str, set[str]] = {}
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef):
            refers[statement.name] = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            refers[ast.unparse(target)] = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    expected: list[str] = []

    def place(name: str, above: tuple[str, ...] = ()) -> None:
        if name not in expected and name not in above:
            for other in sorted(refers[name] & refers.keys()):
                place(other, (*above, name))
            expected.append(name)

    for name in sorted(refers):
        place(name)
    assert [*refers] == expected


def test_a_new_revision_changes_no_docstring_of_what_it_leaves_as_it_was() -> None:
    specification = load_specification(ROOT)
    *older, newest = specification.revisions
    schemas = dict(specification.schemas)
    # A made-up one that says what the newest says, and whose pages nobody has written down.
    following = dataclasses.replace(newest, version="9999-01-01", known=None)
    before, after = (
        canonical_docstrings(
            revisions,
            given,
            specification.canonical,
            specification.words,
            find_origins(given, specification.rules, specification.canonical),
            {},
        )
        for revisions, given in (
            ([*older, newest], schemas),
            ([*older, newest, following], {**schemas, following.version: schemas[newest.version]}),
        )
    )
    assert before == after
    # One that lacks a type tells until when there was one.
    lacking = {**schemas[newest.version], "$defs": dict(schemas[newest.version]["$defs"])}
    since = next(version for version in specification.versions if "DiscoverResult" in schemas[version]["$defs"])
    del lacking["$defs"]["DiscoverResult"]
    given = {**schemas, following.version: lacking}
    origins = find_origins(given, specification.rules, specification.canonical)
    only = f"Only in {since}." if since == newest.version else f"Since {since}, until {newest.version}."
    assert origins.when_type("DiscoverResult") == only
    assert origins.when_type("Tool") == ""
    # A draft that lacks it says nothing yet.
    draft = dataclasses.replace(following, draft=True)
    with_draft = canonical_docstrings(
        [*older, newest, draft],
        given,
        specification.canonical,
        specification.words,
        find_origins(given, specification.rules, specification.canonical, [draft.version]),
        {},
    )
    assert with_draft == before
