"""The Python names that the code of a choice can use, and those that it uses although nothing defines them.

Rule: a body sees its parameters, what the skeleton of adapters imports, what Python has, and through `self` what every adapter has.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import textwrap
from collections.abc import Iterable, Iterator
from types import ModuleType

from ..reading.models import near

BUILTINS = frozenset(vars(builtins))


@dataclasses.dataclass(frozen=True)
class Names:
    """What there is to use.

    Attributes:
        imported: what the skeleton of adapters imports or sets, by name; a module stands for itself, all else is None.
        members: what every adapter has, concerns included.
    """

    imported: dict[str, ModuleType | None]
    members: frozenset[str]


def undefined_in_body(signature: str, body: str, names: Names) -> Iterator[str]:
    """What a body uses although nothing defines it, as the end of a sentence with what is near; it is Python."""
    method = ast.parse(f"def method{signature}:\n{textwrap.indent(body, '    ')}\n").body[0]
    assert isinstance(method, ast.FunctionDef)
    defined = {argument.arg for argument in ast.walk(method) if isinstance(argument, ast.arg)}
    for node in ast.walk(method):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            defined.add(node.id)
        elif isinstance(node, ast.ExceptHandler):
            defined |= {node.name} if node.name else set()
        elif isinstance(node, ast.FunctionDef | ast.ClassDef) and node is not method:
            defined |= {node.name}
        elif isinstance(node, ast.Import | ast.ImportFrom):
            defined.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
    yield from _undefined(method.body, defined, names)


def undefined_in_signature(signature: str, names: Names) -> Iterator[str]:
    """What the annotations of a signature name although nothing defines it, likewise."""
    method = ast.parse(f"def method{signature}: ...").body[0]
    assert isinstance(method, ast.FunctionDef)
    annotations = [argument.annotation for argument in ast.walk(method) if isinstance(argument, ast.arg)]
    nodes = [node for node in (*annotations, method.returns) if node is not None]
    yield from _undefined(nodes, set(), names)


def _undefined(nodes: Iterable[ast.AST], defined: set[str], names: Names) -> Iterator[str]:
    said = set()
    for node in (inner for outer in nodes for inner in ast.walk(outer)):
        missing = ""
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            if node.id not in defined and node.id not in names.imported and node.id not in BUILTINS:
                missing = f"'{node.id}', which nothing defines{near(node.id, {*defined, *names.imported} - {'self'})}"
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = names.imported.get(node.value.id)
            if node.value.id == "self" and node.attr not in names.members:
                missing = f"'self.{node.attr}', which no adapter has{near(node.attr, names.members)}"
            elif module is not None and node.value.id not in defined and not hasattr(module, node.attr):
                missing = (
                    f"'{node.value.id}.{node.attr}', which {module.__name__} has not{near(node.attr, dir(module))}"
                )
        if missing and missing not in said:
            said.add(missing)
            yield missing
