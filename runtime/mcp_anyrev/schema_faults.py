"""What is wrong with a value, and where, found by asking for verdicts.

Rule: a verdict is cheap, and a list of everything that is wrong is not: of a union it holds what is wrong with each branch, level by
level. So only what does not fit is gone into, as far as it takes to name a few members, and never for long.
Specification: server/tools#error-handling
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from mcp_contract import Json, JsonObject
from mcp_contract.simplification.keywords import (
    HOLDS_LIST,
    HOLDS_NAMED,
    HOLDS_ONE,
    KIND_OF_TYPE,
    kind_of_value,
    types_of,
)
from mcp_contract.simplification.keywords import at as pointer_at
from mcp_contract.wording import cut, pointer

if TYPE_CHECKING:
    from jsonschema_rs import Validator

MOST_FAULTS = 5
MOST_SECONDS = 0.05
"""How long is looked, in seconds of the processor."""

_DEEPEST = 64
_LONGEST_FAULT = 300
_MOST_FORMS = 4
_ELSEWHERE = HOLDS_ONE | HOLDS_LIST | HOLDS_NAMED | {"$ref", "required", "$id", "$schema"}

Steps = tuple[str | int, ...]


class OutOfTime(Exception):
    """It has been looked for long enough."""


class Faults:
    """Looks for them, once.

    Args:
        schema: the schema.
        validator_at: from a JSON pointer into it (`#/properties/a`) to the validator of what stands there, if it is a schema.
        own_words: from a schema that holds no other, and a value, to what it says is wrong with it.
    """

    def __init__(
        self,
        schema: JsonObject,
        validator_at: Callable[[str], Validator | None],
        own_words: Callable[[JsonObject, Json], Iterator[str]],
    ) -> None:
        self._schema = schema
        self._validator_at = validator_at
        self._own_words = own_words
        self._end = time.thread_time() + MOST_SECONDS
        self._found: list[str] = []

    def words(self, value: Json) -> str:
        """What is wrong with a value that does not fit: a few members, by their JSON pointers, and what is allowed there."""
        try:
            self._look("#", self._schema, value, (), 0)
        except OutOfTime:
            self._found.append("and maybe more")
        if not self._found:
            return "it does not fit its schema"
        more = ["and more"] if len(self._found) > MOST_FAULTS else []
        return cut("; ".join([*self._found[:MOST_FAULTS], *more]))

    def _fits(self, at: str, value: Json) -> bool:
        if time.thread_time() > self._end:
            raise OutOfTime
        validator = self._validator_at(at)
        return validator is None or validator.is_valid(value)

    def _say(self, place: Steps, words: str) -> None:
        self._found.append(cut(f"{pointer(place)} {words}", _LONGEST_FAULT))
        if len(self._found) > MOST_FAULTS:
            raise OutOfTime

    def _look(self, at: str, schema: Any, value: Json, place: Steps, depth: int) -> None:
        """Say what is wrong with a value that does not fit a schema."""
        before = len(self._found)
        if isinstance(schema, dict) and depth < _DEEPEST:
            own = {keyword: said for keyword, said in schema.items() if keyword not in _ELSEWHERE}
            for words in self._own_words(own, value):
                self._say(place, words)
            for inner_at, inner, item, step in self._within(at, schema, value, place):
                if inner is not None and not self._fits(inner_at, item):
                    self._look(inner_at, inner, item, (*place, *step), depth + 1)
            for keyword in ("anyOf", "oneOf"):
                if keyword in schema:
                    self._look_at_forms(f"{at}/{keyword}", schema[keyword], value, place, depth)
        if len(self._found) == before:
            self._say(place, "does not fit" if schema is not False else "is not allowed")

    def _within(self, at: str, schema: JsonObject, value: Json, place: Steps) -> Iterator[tuple[str, Any, Json, Steps]]:
        """What else has to fit, besides the branches of unions: where its schema is, the schema, the value, and the way to it."""
        if "$ref" in schema:
            target = _target(self._schema, schema["$ref"])
            if target is not None:
                yield unquote(schema["$ref"]), target, value, ()
        for number, branch in enumerate(schema.get("allOf", ())):
            yield f"{at}/allOf/{number}", branch, value, ()
        if "if" in schema:
            keyword = "then" if self._fits(f"{at}/if", value) else "else"
            if keyword in schema:
                yield f"{at}/{keyword}", schema[keyword], value, ()
        if isinstance(value, dict):
            yield from self._within_object(at, schema, value, place)
        elif isinstance(value, list):
            first = schema.get("prefixItems", ())
            for number, (inner, item) in enumerate(zip(first, value, strict=False)):
                yield f"{at}/prefixItems/{number}", inner, item, (number,)
            rest = schema.get("items")
            if isinstance(rest, dict):
                for number in range(len(first), len(value)):
                    yield f"{at}/items", rest, value[number], (number,)

    def _within_object(
        self, at: str, schema: JsonObject, value: JsonObject, place: Steps
    ) -> Iterator[tuple[str, Any, Json, Steps]]:
        members, others = schema.get("properties", {}), schema.get("additionalProperties", True)
        for name in schema.get("required", ()):
            if name not in value:
                self._say((*place, name), "is missing")
        for name, inner in members.items():
            if name in value:
                yield pointer_at(at, "properties", name), inner, value[name], (name,)
        if others is True or "patternProperties" in schema:
            return
        allowed = f"is not allowed; allowed: {', '.join(members)}"
        for name, item in value.items():
            if name in members:
                continue
            if others is False:
                self._say((*place, name), allowed)
            else:
                yield f"{at}/additionalProperties", others, item, (name,)

    def _look_at_forms(self, at: str, forms: list[Any], value: Json, place: Steps, depth: int) -> None:
        fitting = [number for number in range(len(forms)) if self._fits(f"{at}/{number}", value)]
        if fitting:
            if at.endswith("oneOf") and len(fitting) > 1:
                self._say(place, f"fits {len(fitting)} forms of which exactly one is wanted")
            return
        meant = [number for number, form in enumerate(forms) if self._may_be_meant(form, value)]
        if len(meant) == 1:
            self._look(f"{at}/{meant[0]}", forms[meant[0]], value, place, depth + 1)
            return
        told = [self._told(forms[number]) for number in (meant or range(len(forms)))[:_MOST_FORMS]]
        more = " or others" if len(meant or forms) > _MOST_FORMS else ""
        self._say(place, f"fits no form that is allowed: {' or '.join(dict.fromkeys(told))}{more}")

    def _may_be_meant(self, form: Any, value: Json) -> bool:
        """Is a value of the kind of a form, with the constants by which it is told from others?"""
        form = self._resolved(form)
        if not isinstance(form, dict):
            return False
        types = types_of(form)
        if types is not None and kind_of_value(value) not in (KIND_OF_TYPE[one] for one in types):
            return False
        if isinstance(value, dict):
            for name, member in form.get("properties", {}).items():
                if isinstance(member, dict) and "const" in member and name in value and value[name] != member["const"]:
                    return False
        return True

    def _told(self, form: Any) -> str:
        """A form in a few words."""
        form = self._resolved(form)
        if not isinstance(form, dict):
            return "nothing"
        if "const" in form or "enum" in form:
            return " or ".join(repr(one) for one in form.get("enum", [form.get("const")])[:_MOST_FORMS])
        if "required" in form:
            members = form.get("properties", {})
            return f"an object with {', '.join(_with_constant(name, members.get(name)) for name in form['required'])}"
        return str(form.get("title") or " or ".join(types_of(form) or ("another form",)))

    def _resolved(self, form: Any) -> Any:
        for _ in range(_DEEPEST):
            if not isinstance(form, dict) or "$ref" not in form:
                break
            form = _target(self._schema, form["$ref"])
        return form


def _target(schema: Any, reference: str) -> Any:
    """What a reference within a schema leads to; None where it is not told by a pointer."""
    if not reference.startswith("#"):
        return None
    for step in unquote(reference).split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(schema, dict):
            schema = schema.get(name)
        elif isinstance(schema, list) and name.isdecimal() and int(name) < len(schema):
            schema = schema[int(name)]
        else:
            return None
    return schema


def _with_constant(name: str, member: Any) -> str:
    return f"{name} {member['const']!r}" if isinstance(member, dict) and "const" in member else name
