"""Which values one shape takes and another does not, and how to see whether a value is taken.

Rule: two shapes are compared value by value, never by how they are written. What is inside of an object that has members is not looked
at here: that is compared member by member.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from mcp_contract.members import is_one_of

from ..schemas.normal_form import LOWER_BOUNDS, UPPER_BOUNDS
from ..schemas.references import referred
from ..schemas.shapes import Definitions, Node, alternatives, bounds_of, json_types, kind_of, resolved, shown, values

_WORDS = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "text",
}
_INSIDE = {"array": "items", "object": "additionalProperties"}
NULL = _WORDS["null"]

_Pair = tuple[str, str]


def lacking(
    ours: Node,
    theirs: Node,
    our_definitions: Definitions,
    their_definitions: Definitions,
    within: frozenset[_Pair] = frozenset(),
) -> tuple[str, ...]:
    """What may stand at one place and not at another one, in words.

    Args:
        ours: the shape of the place that values come from.
        theirs: the shape of the place that is to take them.
        our_definitions, their_definitions: what the references of each mean.
        within: the pairs of shapes that this one is part of, so that a shape within itself ends.

    Returns:
        One entry for each kind of value or single value that is not taken, without doubles; none where all are.
    """
    pair = (json.dumps(ours, sort_keys=True), json.dumps(theirs, sort_keys=True))
    if pair in within:
        return ()
    takers = [resolved(branch, their_definitions) for branch in alternatives(theirs, their_definitions)]
    if any(_says_nothing(taker) for taker in takers):
        return ()
    found: list[str] = []
    for branch in alternatives(ours, our_definitions):
        inner = resolved(branch, our_definitions)
        listed = values(inner)
        if listed is not None:
            found += [json.dumps(value) for value in listed if not any(_takes(taker, value) for taker in takers)]
        elif _says_nothing(inner):
            found.append(f"anything but {' or '.join(dict.fromkeys(map(_described, takers)))}")
        else:
            for kind in json_types(inner):
                found += _lacking_of_kind(kind, inner, takers, our_definitions, their_definitions, within | {pair})
    return tuple(dict.fromkeys(found))


def _described(taker: Node) -> str:
    """A shape by the kinds of its values."""
    return shown(taker) if values(taker) else " or ".join(_WORDS[kind] for kind in json_types(taker))


def _lacking_of_kind(
    kind: str,
    inner: Node,
    takers: list[Node],
    our_definitions: Definitions,
    their_definitions: Definitions,
    within: frozenset[_Pair],
) -> tuple[str, ...]:
    alike = [taker for taker in takers if _has_kind(taker, kind)]
    if not alike:
        whole = kind == "number" and any(_has_kind(taker, "integer") for taker in takers)
        return ("a fraction",) if whole else (_WORDS[kind],)
    tries = []
    for taker in alike:
        listed = values(taker)
        if listed == []:
            return (_WORDS[kind],)
        words = [] if listed is None else [f"{_WORDS[kind]} other than {', '.join(map(json.dumps, listed))}"]
        words += [f"{_WORDS[kind]} beyond {keyword} {bound}" for keyword, bound in _tighter(kind, inner, taker)]
        if kind == "object" and "properties" not in inner and taker.get("required"):
            words.append(f"{_WORDS[kind]} without {', '.join(taker['required'])}")
        keyword = _INSIDE.get(kind, "")
        if keyword and "properties" not in {**inner, **taker}:
            ours, theirs = inner.get(keyword, {}), taker.get(keyword, {})
            if theirs is False and ours is not False:
                words.append(f"{_WORDS[kind]} that is not empty")
            elif isinstance(theirs, Mapping) and isinstance(ours, Mapping):
                inside = lacking(ours, theirs, our_definitions, their_definitions, within)
                words += [f"{word} in {_WORDS[kind]}" for word in inside]
        tries.append(tuple(words))
    return min(tries, key=len)


def _tighter(kind: str, inner: Node, taker: Node) -> Iterator[tuple[str, Any]]:
    """The bounds of a shape that another one goes beyond."""
    for keyword in bounds_of(kind):
        if keyword in taker and taker[keyword] != inner.get(keyword):
            reaches = inner.get(keyword)
            if (
                reaches is None
                or (keyword in LOWER_BOUNDS and reaches < taker[keyword])
                or (keyword in UPPER_BOUNDS and reaches > taker[keyword])
                or keyword not in LOWER_BOUNDS | UPPER_BOUNDS
            ):
                yield keyword, taker[keyword]


def _takes(taker: Node, value: Any) -> bool:
    """Whether a shape takes a single value."""
    listed = values(taker)
    if listed is not None:
        return is_one_of(value, tuple(listed))
    kind = kind_of(value)
    if not any(known in (kind, "number" if kind == "integer" else kind) for known in json_types(taker)):
        return False
    measured = len(value) if isinstance(value, str | list) else value
    for keyword in bounds_of(kind):
        bound = taker.get(keyword)
        if bound is None:
            continue
        if keyword == "pattern":
            holds = re.search(bound, value) is not None
        elif keyword in LOWER_BOUNDS:
            holds = measured > bound if keyword.startswith("exclusive") else measured >= bound
        else:
            holds = measured < bound if keyword.startswith("exclusive") else measured <= bound
        if not holds:
            return False
    return True


def _has_kind(taker: Node, kind: str) -> bool:
    kinds = json_types(taker)
    return kind in kinds or (kind == "integer" and "number" in kinds)


_STATES = frozenset({"$ref", "additionalProperties", "const", "enum", "items", "properties", "type"})


def _says_nothing(node: Node) -> bool:
    return not node.keys() & _STATES


# How to see it.


@dataclasses.dataclass(frozen=True)
class Check:
    """What a value must be to be taken.

    Attributes:
        form: "either" of the `parts`; "constant" for one of the `values`; "map" and "list" of the only part, if there is one; "fits" the
            definition of the revision called `definition`; else a kind: "string", "integer", "number", "boolean", "null", "object".
        bounds: keyword → number or pattern.
    """

    form: str
    parts: tuple[Check, ...] = ()
    values: tuple[Any, ...] = ()
    bounds: tuple[tuple[str, Any], ...] = ()
    definition: str = ""

    @property
    def definitions(self) -> frozenset[str]:
        """The definitions that a value is held against."""
        inner = frozenset({self.definition} - {""})
        return inner.union(*(part.definitions for part in self.parts))


def check(
    theirs: Node, definitions: Definitions, *, members_apart: bool, within: frozenset[str] = frozenset()
) -> Check | None:
    """How to see that a shape takes a value; None where it takes anything.

    Args:
        theirs: the shape.
        definitions: what its references mean.
        members_apart: the members of objects are somebody else's business, so that any object is taken for one with members.
        within: the definitions that this shape is part of.
    """
    own = referred(theirs) or ""
    if own in within:
        return Check("fits", definition=own)
    within = within | ({own} - {""})
    parts: list[Check] = []
    for branch in alternatives(theirs, definitions):
        name = referred(branch)
        inner = resolved(branch, definitions)
        if _says_nothing(inner):
            return None
        if "properties" in inner and members_apart:
            parts.append(Check("object"))
        elif name is not None and ("properties" in inner or (name in within and name != own)):
            parts.append(Check("fits", definition=name))
        else:
            parts += _checks(inner, definitions, members_apart, within | ({name or ""} - {""}))
    # By their text: to Python 1 is true.
    distinct = tuple({repr(part): part for part in parts}.values())
    return distinct[0] if len(distinct) == 1 else Check("either", distinct)


def _checks(inner: Node, definitions: Definitions, members_apart: bool, within: frozenset[str]) -> Iterator[Check]:
    listed = values(inner)
    if listed is not None:
        yield Check("constant", values=tuple(listed))
        return
    for kind in json_types(inner):
        bounds = tuple((keyword, inner[keyword]) for keyword in bounds_of(kind) if keyword in inner)
        inside = inner.get(_INSIDE.get(kind, ""), {})
        if inside is False:
            yield Check("constant", values=([] if kind == "array" else {},))
        elif kind in _INSIDE:
            part = check(inside, definitions, members_apart=members_apart, within=within) if inside else None
            form = "list" if kind == "array" else "map" if part else "object"
            yield Check(form, (part,) if part else (), bounds=bounds)
        else:
            yield Check(kind, bounds=bounds)
