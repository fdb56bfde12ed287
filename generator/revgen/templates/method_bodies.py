"""What the body of a method may be: Python that returns at once, and what the signature says, as far as the text alone tells it.

Rule: nothing is inferred. A literal and a parameter say what they are; of all else a type checker knows more.
"""

from __future__ import annotations

import ast
import textwrap

_UNFIT: tuple[tuple[tuple[type[ast.AST], ...], str], ...] = (
    ((ast.Yield, ast.YieldFrom), "it yields; allowed: to return at once"),
    ((ast.Await, ast.AsyncFor, ast.AsyncWith), "it awaits; allowed: to return at once"),
    ((ast.Import, ast.ImportFrom), "it imports; allowed: what templates/adapter.py.jinja imports"),
)
_LITERALS: tuple[tuple[tuple[type[ast.AST], ...], str], ...] = (
    ((ast.Dict, ast.DictComp), "dict"),
    ((ast.List, ast.ListComp), "list"),
    ((ast.Tuple,), "tuple"),
    ((ast.Set, ast.SetComp), "set"),
    ((ast.JoinedStr,), "str"),
)
"""Expressions whose kind the text tells."""

_KINDS = {
    "None": ("NoneType",),
    "bool": ("bool",),
    "int": ("int",),
    "str": ("str",),
    "list": ("list",),
    "JsonObject": ("dict",),
    "Mapping": ("dict",),
    "Sequence": ("list", "tuple", "str"),
}
"""An annotation → the kinds of values that are it."""


def fault_of_body(signature: str, body: str) -> str:
    """What is wrong with a body as that of a method, with the line of the body; empty where nothing is.

    Args:
        signature: the signature of the method.
        body: its lines, not indented.
    """
    if not body:
        return "it is empty"
    if body.startswith((" ", "\t")):
        return "it does not start at column 1"
    try:
        (method,) = ast.parse(f"def method{signature}:\n{textwrap.indent(body, '    ')}\n").body
    except SyntaxError as error:
        return f"{error.msg} (line {max((error.lineno or 2) - 1, 1)} of the body)"
    assert isinstance(method, ast.FunctionDef)
    for node in ast.walk(method):
        if isinstance(node, ast.expr | ast.stmt):
            for kinds, fault in _UNFIT:
                if isinstance(node, kinds):
                    return f"{fault} (line {node.lineno - 1} of the body)"
    return _fault_of_returns(method)


def _fault_of_returns(method: ast.FunctionDef) -> str:
    wanted = ast.unparse(method.returns) if method.returns is not None else "None"
    returned = [node.value for node in ast.walk(method) if isinstance(node, ast.Return)]
    if wanted != "None" and not any(returned) and not isinstance(method.body[-1], ast.Raise):
        return f"it returns nothing; allowed: {wanted}"
    set_again = {
        node.id for node in ast.walk(method) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }
    parameters = {
        argument.arg: _kinds_of(ast.unparse(argument.annotation))
        for argument in method.args.args
        if argument.annotation is not None and argument.arg not in set_again
    }
    allowed = _kinds_of(wanted)
    for value in returned:
        kinds = parameters.get(value.id, ()) if isinstance(value, ast.Name) else _kinds_of_literal(value)
        if value is not None and kinds and allowed and not set(kinds) & set(allowed):
            return f"it returns {ast.unparse(value)[:40]} (line {value.lineno - 1} of the body); allowed: {wanted}"
    return ""


def _kinds_of(annotation: str) -> tuple[str, ...]:
    """The kinds of values that an annotation allows; none where it has a name that is not known here."""
    found = [_KINDS.get(one.partition("[")[0]) for one in annotation.split(" | ")]
    return () if None in found else tuple(kind for kinds in found for kind in kinds or ())


def _kinds_of_literal(value: ast.expr | None) -> tuple[str, ...]:
    if isinstance(value, ast.Constant):
        return (type(value.value).__name__,)
    return next(((name,) for kinds, name in _LITERALS if isinstance(value, kinds)), ())
