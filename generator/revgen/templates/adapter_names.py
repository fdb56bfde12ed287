"""What the adapters have and import, whatever the inventory asks: read off their skeletons.

Rule: a skeleton says it once; nothing here lists it again.
"""

from __future__ import annotations

import ast
import importlib
import pathlib
import re
from collections.abc import Iterable
from types import ModuleType

from .macros import FOLDER
from .skeletons import ADAPTER, PROTOCOL, render_skeleton
from .used_names import Names

_IMPORT = re.compile(r"^(?:from [\w.]+ )?import .+$", re.MULTILINE)
_ASSIGNED = re.compile(r"^(\w+)(?:: .+)? = ", re.MULTILINE)


def adapter_members(root: pathlib.Path) -> frozenset[str]:
    """What every adapter has without a concern, as the skeleton of their protocol says.

    Raises:
        SpecificationError: the skeleton cannot be rendered.
    """
    text = render_skeleton(root, PROTOCOL, flags=(), sections=())
    try:
        tree = ast.parse(text)
    except SyntaxError:
        # That it is no Python is said, with its line, by whoever lays it out.
        return frozenset()
    nodes = [node for top in tree.body if isinstance(top, ast.ClassDef) for node in top.body]
    targets = [node.target for node in nodes if isinstance(node, ast.AnnAssign)]
    methods = [node.name for node in nodes if isinstance(node, ast.FunctionDef)]
    return frozenset([*methods, *(target.id for target in targets if isinstance(target, ast.Name))])


def read_names(root: pathlib.Path, members: Iterable[str]) -> Names:
    """What the bodies of choices may use.

    Args:
        root: the folder that holds `templates/`.
        members: what every adapter has, concerns included.
    """
    try:
        text = (root / FOLDER / ADAPTER).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        text = ""
    imported: dict[str, ModuleType | None] = dict.fromkeys(_ASSIGNED.findall(text))
    for line in _IMPORT.findall(text):
        for node in ast.parse(line).body:
            if isinstance(node, ast.ImportFrom):
                imported.update((alias.asname or alias.name, None) for alias in node.names)
            elif isinstance(node, ast.Import):
                imported.update(
                    (alias.asname or alias.name, importlib.import_module(alias.name)) for alias in node.names
                )
    return Names(imported, frozenset(members))
