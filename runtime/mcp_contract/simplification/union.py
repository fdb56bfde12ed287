"""A union of schemas → one schema.

Rule: exact or refused: a value fits the result if and only if it fits the union. There are three unions that one schema can say:
one branch and null, constants, and branches for different kinds of value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mcp_contract.messages import JsonObject
from mcp_contract.simplification.keywords import (
    ASSERTS,
    KIND_OF_KEYWORD,
    KIND_OF_TYPE,
    Schema,
    constants_of,
    equality_key,
    has_type,
    types_of,
)
from mcp_contract.simplification.limits import NotSimplifiable

_FEW_VALUES: dict[str, list[bool | None]] = {"null": [None], "boolean": [False, True]}


def united(branches: Sequence[Schema], pointer: str, *, exactly_one: bool) -> Schema:
    """The schema of what fits a union.

    Args:
        branches: plain schemas, free of references and composition.
        pointer: where the union stands, for the error.
        exactly_one: must a value fit no second branch, as with `oneOf`?

    Returns:
        A plain schema, which may be one of the branches.

    Raises:
        NotSimplifiable: no plain schema says exactly that.
    """
    possible = [branch for branch in branches if branch is not False]
    if not possible:
        return False
    if len(possible) == 1:
        return possible[0]
    objects = [branch for branch in possible if isinstance(branch, dict) and not ASSERTS.isdisjoint(branch)]
    if len(objects) < len(possible):
        if exactly_one:
            raise NotSimplifiable(pointer, "one branch takes anything, so that the others are what must not fit")
        return True
    others = [branch for branch in objects if not _is_null(branch)]
    nulls = len(objects) - len(others)
    if exactly_one and (nulls > 1 or (nulls and any(_takes_null(branch) for branch in others))):
        raise NotSimplifiable(pointer, "null fits two branches of a oneOf, so it is refused")
    if not others:
        return {"type": "null"}
    merged = others[0] if len(others) == 1 else _of_several(others, pointer, exactly_one)
    return _with_null(merged) if nulls else merged


def _of_several(branches: list[JsonObject], pointer: str, exactly_one: bool) -> JsonObject:
    if any(constants_of(branch) is not None for branch in branches):
        return _of_constants(branches, pointer, exactly_one)
    return _of_kinds(branches, pointer, exactly_one)


def _of_constants(branches: list[JsonObject], pointer: str, exactly_one: bool) -> JsonObject:
    values = []
    for branch in branches:
        types, constants = types_of(branch), constants_of(branch)
        if not (branch.keys() & ASSERTS) <= {"type", "enum", "const"}:
            raise NotSimplifiable(pointer, "a union of constants and of something that is none")
        if constants is None:
            if not all(name in _FEW_VALUES for name in types or ("any",)):
                raise NotSimplifiable(pointer, "a union of constants and of something that is none")
            constants = [value for name in types or () for value in _FEW_VALUES[name]]
        values += [value for value in constants if types is None or any(has_type(value, name) for name in types)]
    different: dict[str, Any] = {}
    for value in values:
        different.setdefault(equality_key(value), value)
    if exactly_one and len(different) < len(values):
        raise NotSimplifiable(pointer, "a constant fits two branches of a oneOf, so it is refused")
    if not different:
        raise NotSimplifiable(pointer, "no value fits any branch")
    return _typed(branches) | {"enum": list(different.values())}


def _of_kinds(branches: list[JsonObject], pointer: str, exactly_one: bool) -> JsonObject:
    merged: JsonObject = {}
    seen: dict[str, JsonObject] = {}
    for branch in branches:
        types = types_of(branch) or tuple(KIND_OF_TYPE)
        for kind in dict.fromkeys(KIND_OF_TYPE[name] for name in types):
            says = {keyword: value for keyword, value in branch.items() if KIND_OF_KEYWORD.get(keyword) == kind}
            if kind in seen and (exactly_one or kind in ("array", "object") or says != seen[kind]):
                raise NotSimplifiable(pointer, f"a union of several schemas for a value that is {_with_article(kind)}")
            seen[kind] = says
            merged |= says
    return _typed(branches) | merged


def _typed(branches: list[JsonObject]) -> JsonObject:
    """The types of all branches together, where each names its types."""
    named = [types_of(branch) for branch in branches]
    if any(types is None for types in named):
        return {}
    together = dict.fromkeys(name for types in named for name in types or ())
    if "number" in together:
        together.pop("integer", None)
    return {"type": list(together) if len(together) > 1 else next(iter(together))}


def _is_null(branch: JsonObject) -> bool:
    constants = constants_of(branch)
    nothing_else = types_of(branch) == ("null",) or all(value is None for value in constants or ("any",))
    return nothing_else and _takes_null(branch)


def _takes_null(branch: JsonObject) -> bool:
    types, constants = types_of(branch), constants_of(branch)
    return (types is None or "null" in types) and (constants is None or any(value is None for value in constants))


def _with_null(branch: JsonObject) -> JsonObject:
    """The schema that takes null besides."""
    if _takes_null(branch):
        return branch
    changed = dict(branch)
    types, constants = types_of(branch), constants_of(branch)
    if types is not None and "null" not in types:
        changed["type"] = [*types, "null"]
    if constants is not None and all(value is not None for value in constants):
        changed.pop("const", None)
        changed["enum"] = [*constants, None]
    return changed


def _with_article(kind: str) -> str:
    return f"{'an' if kind[0] in 'ao' else 'a'} {kind}"
