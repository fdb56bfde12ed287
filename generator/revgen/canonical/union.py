"""The shape that takes what either of two shapes takes, where there is one without guessing.

Rule: a widening is computed only where both sides clearly mean the same thing: one contains the other, or both are unions with
something in common. Bounds are the wider ones, and annotations those of the newer side.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..schemas.normal_form import LOWER_BOUNDS, UPPER_BOUNDS
from ..schemas.references import referred
from ..schemas.shapes import (
    Definitions,
    Node,
    alternatives,
    bounds_of,
    is_union,
    json_types,
    resolved,
    shown,
    values,
)

_STATES = frozenset(
    {"$ref", "additionalProperties", "anyOf", "const", "enum", "items", "oneOf", "properties", "required", "type"}
)
"""What makes a shape; everything else annotates or bounds it."""


class Clash(Exception):
    """Two shapes have nothing in common. `newer` and `older` are the parts that clash, in a few words; `types` their names, where both have one."""

    def __init__(self, newer: Node, older: Node) -> None:
        names = referred(newer), referred(older)
        self.types = None if None in names else (str(names[0]), str(names[1]))
        self.newer = shown(newer)
        self.older = shown(older)
        super().__init__(f"{self.newer} and {self.older}")


def united(newer: Node, older: Node, definitions: Definitions) -> Node:
    """The shape that takes what either takes.

    Args:
        newer: the shape of the newer side; its spelling is kept where it already takes everything.
        older: the shape of the older side.
        definitions: what the references of both mean.

    Raises:
        Clash: where only a person can say what is meant.
    """
    if [] in (values(newer), values(older)):
        # What must not be there takes nothing.
        return older if values(newer) == [] else newer
    if newer == older or not older.keys() & _STATES:
        return newer if newer == older else older
    if not newer.keys() & _STATES:
        return newer
    if is_union(newer, definitions) or is_union(older, definitions):
        return _either(newer, older, definitions)
    if referred(newer) is not None or referred(older) is not None:
        return _through_reference(newer, older, definitions)
    kinds, others = set(json_types(newer)), set(json_types(older))
    if kinds == others == {"object"}:
        return _map(newer, older, definitions)
    if kinds == others == {"array"}:
        out = {**_unbounded(newer), **_bounds(newer, older)}
        if "items" not in newer or "items" not in older:
            return {key: value for key, value in out.items() if key != "items"}
        return {**out, "items": united(newer["items"], older["items"], definitions)}
    return _scalar(newer, older)


def _either(newer: Node, older: Node, definitions: Definitions) -> Node:
    branches = alternatives(newer, definitions)
    missing = []
    common = False
    for branch in alternatives(older, definitions):
        if branch in branches:
            common = True
            continue
        for index, known in enumerate(branches):
            try:
                wider = united(known, branch, definitions)
            except Clash:
                continue
            if wider != known:
                branches[index] = wider
                newer = {"anyOf": branches}
            common = True
            break
        else:
            missing.append(branch)
    if not common:
        raise Clash(newer, older)
    return {"anyOf": [*alternatives(newer, definitions), *missing]} if missing else newer


def _through_reference(newer: Node, older: Node, definitions: Definitions) -> Node:
    inner, outer = resolved(newer, definitions), resolved(older, definitions)
    if "$ref" in inner or "$ref" in outer:
        raise Clash(newer, older)
    if inner == outer:
        return newer
    if _is_free(outer) and json_types(inner) == ["object"]:
        return newer
    if _is_free(inner) and json_types(outer) == ["object"]:
        return older
    if "object" in json_types(inner) and "object" in json_types(outer):
        raise Clash(newer, older)
    try:
        whole = united(inner, outer, definitions)
    except Clash:
        # The name says more than what is behind it.
        raise Clash(newer, older) from None
    return newer if whole == inner else whole


def _is_free(node: Node) -> bool:
    return node.get("type") == "object" and not node.keys() & {"additionalProperties", "properties"}


def _map(newer: Node, older: Node, definitions: Definitions) -> Node:
    out: dict[str, Any] = dict(newer)
    values, others = newer.get("additionalProperties", {}), older.get("additionalProperties", {})
    value = united(values, others, definitions) if isinstance(values, Mapping) and isinstance(others, Mapping) else {}
    out.pop("additionalProperties", None)
    return {**out, "additionalProperties": value} if value else out


def _scalar(newer: Node, older: Node) -> Node:
    kinds, others = json_types(newer), json_types(older)
    wide = {"number" if kind == "integer" else kind for kind in kinds}
    narrow = {"number" if kind == "integer" else kind for kind in others}
    if not wide & narrow or {"array", "object"} & (wide ^ narrow):
        raise Clash(newer, older)
    out = {key: value for key, value in _unbounded(newer).items() if key not in ("const", "enum", "type")}
    out |= _bounds(newer, older)
    both = [*kinds, *(kind for kind in others if kind not in kinds)]
    if "number" in both:
        both = [kind for kind in both if kind != "integer"]
    out["type"] = both[0] if len(both) == 1 else both
    ours, theirs = values(newer), values(older)
    if ours is None or theirs is None:
        return out
    if ours == theirs:
        return newer
    if "const" in newer and "const" in older:
        # A constant tells types apart: another one is another type, not a wider one.
        raise Clash(newer, older)
    out["enum"] = [*ours, *(value for value in theirs if value not in ours)]
    return out


_PATTERN = "pattern"


def _unbounded(node: Node) -> dict[str, Any]:
    return {key: value for key, value in node.items() if key not in LOWER_BOUNDS | UPPER_BOUNDS | {_PATTERN}}


def _bounds(newer: Node, older: Node) -> dict[str, Any]:
    """The bounds within which the values of both are."""
    found: dict[str, Any] = {}
    for keyword in sorted(LOWER_BOUNDS | UPPER_BOUNDS | {_PATTERN}):
        bounded = [side for side in (newer, older) if any(keyword in bounds_of(kind) for kind in json_types(side))]
        if not bounded or any(keyword not in side for side in bounded):
            continue
        bounds = [side[keyword] for side in bounded]
        if keyword in LOWER_BOUNDS:
            found[keyword] = min(bounds)
        elif keyword in UPPER_BOUNDS:
            found[keyword] = max(bounds)
        elif len(set(bounds)) == 1:
            found[keyword] = bounds[0]
    return found
