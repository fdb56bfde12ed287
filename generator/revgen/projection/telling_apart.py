"""How to see which branch of a union a JSON object is.

Rule: only what the schema says of every branch counts: a constant that each has, else a required member that no other has. An only branch
is any object.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from ..schemas.shapes import Node, constant


@dataclasses.dataclass(frozen=True)
class Test:
    """What tells one branch from the others.

    Attributes:
        form: "is" where a member has a constant, "is or absent" where the branch may leave that member out, "has" where the
            member is there at all, "only" where there is no other branch.
        member: the member to look at; empty for "only".
        value: the constant; empty but for "is" and "is or absent".
    """

    form: str
    member: str
    value: str = ""


def tell_apart(branches: Mapping[str, Node]) -> dict[str, Test] | None:
    """A test for each branch.

    Args:
        branches: name → definition, all objects with members.

    Returns:
        The tests, in the order of the branches; None where the schema does not tell the branches apart.
    """
    if len(branches) == 1:
        return dict.fromkeys(branches, Test("only", ""))
    return _by_constant(branches) or _by_presence(branches)


def _by_constant(branches: Mapping[str, Node]) -> dict[str, Test] | None:
    shared = set.intersection(*(set(branch.get("properties", {})) for branch in branches.values()))
    for member in sorted(shared):
        values = [constant(branch["properties"][member]) for branch in branches.values()]
        optional = [name for name, branch in branches.items() if member not in branch.get("required", [])]
        if all(isinstance(value, str) for value in values) and len(set(values)) == len(values) and len(optional) <= 1:
            return {
                name: Test("is or absent" if name in optional else "is", member, value)
                for name, value in zip(branches, values, strict=True)
            }
    return None


def _by_presence(branches: Mapping[str, Node]) -> dict[str, Test] | None:
    tests = {}
    for name, branch in branches.items():
        others = {member for other, node in branches.items() if other != name for member in node.get("properties", {})}
        own = sorted(set(branch.get("required", [])) - others)
        if not own:
            return None
        tests[name] = Test("has", own[0])
    return tests
