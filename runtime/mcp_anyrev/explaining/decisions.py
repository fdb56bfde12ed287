"""The decisions of an adapter in words: which question it answers, how, and who says so.

Rule: read from the generated code itself, which is written to be read; there is no second copy of a decision to go stale.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

_SOURCES = ("page:", "schema:", "policy:")
_PROTOCOL = "mcp_revisions.protocol"


class Decision(NamedTuple):
    """One question of the inventory, as one revision answers it.

    Attributes:
        concern: the name of the question.
        question: the question.
        answer: the answer in words; for a value, the value.
        sources: the citations.
    """

    concern: str
    question: str
    answer: str
    sources: tuple[str, ...]


def decision(adapter: Adapter, concern: str) -> Decision:
    """How an adapter answers a question.

    Args:
        adapter: the revision.
        concern: the name of the question.

    Raises:
        KeyError: there is no such question.
    """
    question = _documentation(_PROTOCOL)[concern]
    told = _documentation(type(adapter).__module__)[concern].splitlines()
    sources = tuple(line.strip() for line in told if line.strip().startswith(_SOURCES))
    words = " ".join(line.strip() for line in told if line.strip() and not line.strip().startswith(_SOURCES))
    words = words.removeprefix(" ".join(question.split())).strip()
    return Decision(concern, question, words or _plain(getattr(adapter, concern)), sources)


def _plain(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_word(inner)}" for name, inner in value.items()) + "."
    return f"{_word(value).capitalize()}."


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


@functools.cache
def _documentation(module: str) -> dict[str, str]:
    """What stands below each attribute and method of the adapter class of a module."""
    tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    return dict(entry for node in tree.body if isinstance(node, ast.ClassDef) for entry in _entries(node))


def _entries(body: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for node, following in zip(body.body, [*body.body[1:], None], strict=True):
        if isinstance(node, ast.FunctionDef):
            yield node.name, ast.get_docstring(node) or ""
        elif (
            isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and isinstance(following, ast.Expr)
            and isinstance(following.value, ast.Constant)
        ):
            yield node.target.id, inspect.cleandoc(str(following.value.value))
