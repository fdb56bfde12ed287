"""How the adapters of two revisions differ as code: what runs otherwise, and nothing of what is only said otherwise.

Rule: docstrings, headers and the revisions' own names are left out, and what is the same in both is not shown.
"""

from __future__ import annotations

import ast
import dataclasses
import difflib
from collections.abc import Iterator

from ..adapters.adapter import adapter_text
from ..rendering.formatting import laid_out
from ..schemas.revisions import Revision
from ..specification.loading import Specification

_OWN = "version"
"""The member that names the revision."""


@dataclasses.dataclass(frozen=True)
class CodeDifference:
    """One attribute, method or constant that differs: its name, and its lines, each behind `-`, `+` or a blank."""

    name: str
    lines: tuple[str, ...]


def code_differences(specification: Specification, old: str, new: str) -> tuple[CodeDifference, ...]:
    """What differs between two adapters, in the order of the newer one; what only the older one has stands where it had it.

    Args:
        specification: the inputs, checked.
        old: a revision.
        new: another one.
    """
    revisions = {revision.version: revision for revision in specification.revisions}
    before, after = (_parts(specification, revisions[version]) for version in (old, new))
    names = difflib.SequenceMatcher(None, [*before], [*after], autojunk=False)
    ordered: list[str] = []
    for _, first, last, start, end in names.get_opcodes():
        ordered += [*before][first:last] + [*after][start:end]
    return tuple(
        CodeDifference(name, tuple(_changed(before.get(name, ""), after.get(name, ""))))
        for name in dict.fromkeys(ordered)
        if before.get(name) != after.get(name)
    )


def _parts(specification: Specification, revision: Revision) -> dict[str, str]:
    """The code of every attribute, method and constant of an adapter by name, without docstrings."""
    parts: dict[str, str] = {}
    for statement in ast.parse(adapter_text(specification, revision)).body:
        for part in statement.body if isinstance(statement, ast.ClassDef) else [statement]:
            name = _name(part)
            if name is not None and name != _OWN:
                parts[name] = ast.unparse(_without_docstring(part))
    return parts


def _name(statement: ast.stmt) -> str | None:
    if isinstance(statement, ast.FunctionDef):
        return statement.name
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    target = statement.target if isinstance(statement, ast.AnnAssign) else target
    return target.id if isinstance(target, ast.Name) else None


def _without_docstring(statement: ast.stmt) -> ast.stmt:
    if isinstance(statement, ast.FunctionDef) and ast.get_docstring(statement) is not None:
        statement.body = statement.body[1:] or [ast.Pass()]
    return statement


def _changed(old: str, new: str) -> Iterator[str]:
    """The lines of one part that differ. Where only one revision has it, all of them do."""
    before, after = (laid_out(text).splitlines() if text else [] for text in (old, new))
    for line in list(difflib.unified_diff(before, after, n=0, lineterm=""))[2:]:
        if not line.startswith("@@"):
            yield f"{line[0]} {line[1:]}"
