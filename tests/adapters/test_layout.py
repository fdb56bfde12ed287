"""How an adapter is laid out for whoever reads it, or the diff of it: answers first, each under its question."""

from __future__ import annotations

import ast
import functools
import pathlib
import re

import pytest
import yaml

ROOT = pathlib.Path(__file__).parents[2]
ADAPTERS = sorted((ROOT / "generated/mcp_revisions").glob("v*/adapter.py"))


@functools.cache
def questions() -> dict[str, str]:
    """What each concern asks."""
    return {
        name: concern["question"]
        for path in sorted((ROOT / "specs/variance").glob("*.yaml"))
        for name, concern in yaml.safe_load(path.read_text("utf-8"))["concerns"].items()
    }


def adapter_class(tree: ast.Module) -> ast.ClassDef:
    [found] = [statement for statement in tree.body if isinstance(statement, ast.ClassDef)]
    return found


@pytest.mark.parametrize("path", ADAPTERS, ids=lambda path: path.parent.name)
def test_every_answer_stands_under_its_question(path: pathlib.Path) -> None:
    body = adapter_class(ast.parse(path.read_text("utf-8"))).body
    said: dict[str, str] = {}
    for statement, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(statement, ast.FunctionDef):
            said[statement.name] = ast.get_docstring(statement) or ""
        elif isinstance(statement, ast.AnnAssign) and isinstance(after, ast.Expr):
            said[ast.unparse(statement.target)] = ast.literal_eval(after.value)
    assert len(questions()) > 50
    for name, question in questions().items():
        paragraph, _, rest = said[name].partition("\n\n")
        assert " ".join(paragraph.split()) == " ".join(question.split()), name
        assert re.search(r"^ *(page|schema|policy): ", rest, re.MULTILINE), name


@pytest.mark.parametrize("path", ADAPTERS, ids=lambda path: path.parent.name)
def test_answers_come_first_and_what_is_kept_of_each_type_last(path: pathlib.Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    place = tree.body.index(adapter_class(tree))
    before = [ast.unparse(statement) for statement in tree.body[:place] if isinstance(statement, ast.Assign)]
    assert before == ["Encoder = Callable[['Adapter', JsonObject], JsonObject]"]
    behind = tree.body[place + 1 :]
    assert behind and all(isinstance(statement, ast.Assign) for statement in behind)


@pytest.mark.parametrize("path", ADAPTERS, ids=lambda path: path.parent.name)
def test_a_type_that_is_not_looked_into_is_a_line_of_one_table(path: pathlib.Path) -> None:
    body = adapter_class(ast.parse(path.read_text("utf-8"))).body
    only_keeping = re.compile(r"return contract\.(keep|leave_out)\(value, \w+\)")
    single = [
        statement.name
        for statement in body
        if isinstance(statement, ast.FunctionDef)
        and only_keeping.fullmatch(ast.unparse(statement.body[-1]))
        # Where an answer adjusts the object beforehand, there is more to do.
        and len(statement.body) == 2
    ]
    assert single == []
    lines = [
        number
        for number, statement in enumerate(body)
        if isinstance(statement, ast.AnnAssign)
        and re.search(r"contract\.(keeping|leaving_out)\(", ast.unparse(statement))
    ]
    assert len(lines) > 20
    assert lines == list(range(lines[0], lines[-1] + 1))
