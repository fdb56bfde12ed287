"""The generator's folders: imports run one way, in the order that the package's docstring tells."""

from __future__ import annotations

import ast
import collections
import pathlib

import revgen

PACKAGE = pathlib.Path(revgen.__file__).parent
ROOMS = (
    "reading",
    "schemas",
    "inventory",
    "canonical",
    "projection",
    "templates",
    "specification",
    "rendering",
    "models",
    "adapters",
    "differences",
    "documents",
    "vectors",
    "writing",
    "editing",
    "commands",
)


def imported_rooms() -> dict[str, set[str]]:
    """The folders that each folder imports from."""
    found: dict[str, set[str]] = collections.defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).parts
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if len(parts) == 2 and isinstance(node, ast.ImportFrom) and node.level == 2:
                names = [node.module] if node.module else [alias.name for alias in node.names]
                found[parts[0]] |= {name.partition(".")[0] for name in names}
    return found


def test_every_module_stands_in_a_folder() -> None:
    assert {path.name for path in PACKAGE.glob("*.py")} == {"__init__.py", "__main__.py", "main.py"}
    assert {path.parent.name for path in PACKAGE.glob("*/__init__.py")} == set(ROOMS)


def test_a_folder_imports_only_from_those_before_it() -> None:
    wrong = [
        f"{room} imports {other}"
        for room, others in imported_rooms().items()
        for other in others
        if other not in ROOMS[: ROOMS.index(room)]
    ]
    assert not wrong


def test_the_folders_are_seen_to_import() -> None:
    imported = imported_rooms()
    assert "reading" in imported["schemas"]
    assert {"specification", "documents", "writing", "editing"} <= imported["commands"]
