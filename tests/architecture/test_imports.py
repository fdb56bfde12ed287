"""The rooms of the runtime: imports run down the list, whatever they are for, and no two modules need each other to be imported."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

RUNTIME = Path(__file__).parents[2] / "runtime"
PACKAGE = "mcp_anyrev"
VOCABULARY = "the package itself"

ROOMS: tuple[frozenset[str], ...] = (
    frozenset({"cli"}),
    frozenset({"explaining", "testing"}),
    frozenset({"serving"}),
    frozenset({"transports"}),
    frozenset({"http"}),
    frozenset({"server", "client"}),
    frozenset({"declaring"}),
    frozenset({"conversation"}),
    frozenset({VOCABULARY}),
    frozenset({"storage"}),
)
"""From the top down: a room imports what stands below it, and nothing else."""


class Import(NamedTuple):
    """One import of a module of the package: which, and does it happen when the importing module is imported?"""

    module: str
    at_once: bool


@functools.cache
def modules() -> dict[str, ast.Module]:
    """All modules of the package, by name."""
    found = {}
    for path in sorted((RUNTIME / PACKAGE).rglob("*.py")):
        parts = path.relative_to(RUNTIME).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def imports_of(name: str, tree: ast.AST, known: Mapping[str, ast.Module], at_once: bool = True) -> Iterator[Import]:
    """What a module imports of the package."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name}:{node.lineno}: relative import"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                module = inner if inner in known else node.module or ""
                if module in known:
                    yield Import(module, at_once)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in known:
                    yield Import(alias.name, at_once)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or (
            isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        ):
            yield from imports_of(name, node, known, at_once=False)
        else:
            yield from imports_of(name, node, known, at_once)


def room_of(module: str) -> str:
    """The folder that a module is in; what `python -m` runs is the command line."""
    parts = module.split(".")
    if parts[-1] == "__main__":
        return "cli"
    inner = RUNTIME / PACKAGE / (parts[1] if len(parts) > 1 else "")
    return parts[1] if len(parts) > 1 and inner.is_dir() else VOCABULARY


def level_of(room: str) -> int:
    """How far down the list a room stands."""
    return next(level for level, rooms in enumerate(ROOMS) if room in rooms)


@functools.cache
def graph() -> dict[str, list[Import]]:
    """What every module imports."""
    known = modules()
    return {name: list(imports_of(name, tree, known)) for name, tree in known.items()}


def test_imports_run_down_the_list_of_rooms() -> None:
    wrong = []
    for module, imports in graph().items():
        room = room_of(module)
        for imported in imports:
            other = room_of(imported.module)
            if other != room and level_of(other) <= level_of(room):
                wrong.append(f"{module} ({room}) imports {imported.module} ({other})")
    assert not wrong, "\n".join(wrong)


def test_no_two_modules_need_each_other_to_be_imported() -> None:
    needed = {module: {one.module for one in imports if one.at_once} for module, imports in graph().items()}
    done: set[str] = set()

    def visit(module: str, on_the_way: tuple[str, ...]) -> None:
        assert module not in on_the_way, " imports ".join((*on_the_way[on_the_way.index(module) :], module))
        if module not in done:
            for other in sorted(needed[module] - {module}):
                visit(other, (*on_the_way, module))
            done.add(module)

    for module in needed:
        visit(module, ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from mcp_anyrev.http.front import Front", [Import("mcp_anyrev.http.front", True)]),
        ("from mcp_anyrev.http import front", [Import("mcp_anyrev.http.front", True)]),
        ("import mcp_anyrev.http.front", [Import("mcp_anyrev.http.front", True)]),
        ("def late():\n    from mcp_anyrev.http.front import Front", [Import("mcp_anyrev.http.front", False)]),
        ("if TYPE_CHECKING:\n    from mcp_anyrev.http.front import Front", [Import("mcp_anyrev.http.front", False)]),
        ("class Here:\n    from mcp_anyrev.http.front import Front", [Import("mcp_anyrev.http.front", True)]),
    ],
)
def test_every_way_to_import_is_seen(text: str, expected: list[Import]) -> None:
    assert list(imports_of("some", ast.parse(text), modules())) == expected
