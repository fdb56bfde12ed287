"""A schema as datamodel-code-generator is to see it, and what our templates are told beside it.

Rule: every decision about the models is taken here, before the generator runs: Python names, how a scalar stays exact, which
constant tells the branches of a union apart, and what each docstring says.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

from mcp_contract.model import camel

from ..schemas.normal_form import Schema, member_words, singular
from ..schemas.references import reference, referred
from ..schemas.shapes import bounds_of, json_types, kind_of, values
from .docstrings import Docstrings
from .python_names import class_names, member_names, snake

_ANNOTATIONS = frozenset({"default", "deprecated", "format", "readOnly", "writeOnly"})
"""No verdict depends on these, and a URI or base64 must come back as the text it was."""


class Preparation:
    """One schema, made ready: `definitions` for the generator, and `template_data` for our templates, by class name.

    `constants` has what stands for constants that the generator would not tell apart: a name that it takes for a type → the annotation.
    """

    def __init__(self, schema: Schema, taken: frozenset[str], docstrings: Docstrings) -> None:
        self.schema = schema
        self.names = class_names(schema["$defs"])
        self.definitions: dict[str, Schema] = {}
        self.template_data: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        self.constants: dict[str, str] = {}
        self.owner = ""
        self.docstrings = docstrings
        for name, node in schema["$defs"].items():
            written = self.names[name]
            self.owner = name
            members = member_names(name, node.get("properties", {}), taken)
            self.template_data[written] = {
                "closed": node.get("additionalProperties") is False,
                "docstring": docstrings.of_type(name, "" if name == written else f"Published as `{name}`."),
                "member_docstrings": {
                    python: text for wire, python in members.items() if (text := docstrings.of_member(name, wire))
                },
                "nullable": [members[wire] for wire, child in node.get("properties", {}).items() if _says_null(child)],
                "plain_alias": node.keys() == {"$ref"},
                "wire_names": {python: wire for wire, python in members.items() if camel(python) != wire},
            }
            self.definitions[written] = self.node(node, name, members)

    def node(self, node: Schema, place: str, members: dict[str, str] | None = None, *, within: bool = False) -> Schema:
        """One schema; `place` is the class name that a type of its own would have, `within` a list, map or union."""
        if (listed := values(node)) is not None:
            listed = [value for value in listed if _is_of_type(value, node)]
            if not listed:
                return {"customTypePath": "mcp_contract.model.Forbidden"}
            if any(_takes_care(value) for value in listed):
                return {"customTypePath": f"mcp_contract.model.{self.placeholder(listed)}"}
            if "enum" in node:
                node = {**node, "enum": listed}
        constant = None
        for union in ("anyOf", "oneOf"):
            constant = constant or _constant_that_differs(node.get(union, []), self.schema)
        if within and constant:
            return self.type_of_its_own(node, place, "union")
        if within and (bounded := _bounded_kind(node)):
            names = (place + bounded.capitalize(), f"{place}Other{bounded.capitalize()}")
            return self.type_of_its_own(node, next((name for name in names if self._is_free(name)), names[0]), bounded)
        out: Schema = {"discriminator": {"propertyName": constant}} if constant else {}
        for key, value in node.items():
            if key in _ANNOTATIONS:
                continue
            if key == "$ref":
                out |= reference(self.names[_target(node)])
            elif key == "properties" and members is not None:
                out[key] = {
                    members[wire]: self.node(_member(child, self.schema), place + member_words(wire))
                    for wire, child in value.items()
                }
            elif key == "enum":
                out[key] = sorted(value, key=json.dumps)
            elif key == "required" and members is not None:
                out[key] = [members.get(wire, wire) for wire in value]
            elif key in ("items", "additionalProperties") and isinstance(value, dict):
                out[key] = self.node(value, singular(place) or f"{place}Item", within=True)
            elif key in ("anyOf", "oneOf"):
                out["anyOf"] = [
                    self.node(_branch(branch, self.owner, self.schema), place, within=True) for branch in value
                ]
            else:
                out[key] = value
        kinds = out.get("type")
        if isinstance(kinds, list):
            rest = {key: value for key, value in out.items() if key != "type"}
            return {"anyOf": [self.node({**rest, "type": kind}, place, within=True) for kind in kinds]}
        if kinds == "number":
            out["customTypePath"] = "mcp_contract.model.Number"
        return out

    def placeholder(self, constants: list[Any]) -> str:
        """A name for the annotation of some constants."""
        kinds = {kind_of(value) for value in constants}
        if kinds <= {"boolean", "integer", "null", "string"} and not any(
            isinstance(value, float) for value in constants
        ):
            annotation = f"Literal[{', '.join(map(repr, constants))}]"
        elif kinds <= {"integer", "number"}:
            annotation = "float"
        else:
            annotation = {"object": "dict[str, Any]", "array": "list[Any]"}.get("".join(kinds), "Any")
        whole = f"Annotated[{annotation}, OneOf({', '.join(map(repr, constants))})]"
        for name, known in self.constants.items():
            if known == whole:
                return name
        name = f"Constant__{len(self.constants)}__"
        self.constants[name] = whole
        return name

    def type_of_its_own(self, node: Schema, place: str, what: str) -> Schema:
        """Part of a list, map or union that the generator would name as well, but by a name that we do not choose.

        That is a union that a constant tells apart, and whatever has bounds.
        """
        if not self._is_free(place):
            raise ValueError(f"{self.owner}: the name '{place}' for a {what} within it is taken")
        self.template_data[place] = {"docstring": self.docstrings.of_type_within(self.owner, what)}
        self.definitions[place] = self.node(node, place)
        return reference(place)

    def _is_free(self, name: str) -> bool:
        return name not in self.names and name not in self.definitions


def _bounded_kind(node: Schema) -> str:
    """What something with bounds is; empty where nothing bounds it."""
    kind = node.get("type")
    if not isinstance(kind, str) or "properties" in node or not any(bound in node for bound in bounds_of(kind)):
        return ""
    return {"array": "list", "object": "map", "string": "text"}.get(kind, kind)


def _is_of_type(value: Any, node: Schema) -> bool:
    kind = kind_of(value)
    return kind in json_types(node) or (kind == "integer" and "number" in json_types(node))


def _takes_care(value: Any) -> bool:
    """Whether Python, to which true is 1, or the generator, which has no constants but scalars, would take it for something else."""
    return isinstance(value, bool | float | dict | list) or (isinstance(value, int) and value in (0, 1))


def _member(node: Schema, schema: Schema) -> Schema:
    """A member that is a list or a map of definitions says so itself, as most do, though the list or map has a name as well."""
    target = _list_or_map(node, schema)
    if target is None or _reaches(_target(node), _target(node), schema):
        return node
    content: Schema = target["items"] if "items" in target else target["additionalProperties"]
    return target if "$ref" in content else node


def _branch(node: Schema, owner: str, schema: Schema) -> Schema:
    """A list or map within the union that it holds is written out: type checkers follow a type into itself, but not through another."""
    target = _list_or_map(node, schema)
    return target if target and _reaches(_target(node), owner, schema) else node


def _list_or_map(node: Schema, schema: Schema) -> Schema | None:
    """The list or map that a reference leads to, if it does."""
    target: Schema = schema["$defs"].get(_target(node), {})
    content = target.get("items", target.get("additionalProperties"))
    return target if isinstance(content, dict) and not target.get("properties") else None


def _reaches(name: str, goal: str, schema: Schema) -> bool:
    """Whether a type contains another one, or itself, without a class in between."""
    todo, seen = [schema["$defs"][name]], set()
    while todo:
        node = todo.pop()
        if (target := _target(node)) and target not in seen and not schema["$defs"][target].get("properties"):
            seen.add(target)
            todo.append(schema["$defs"][target])
        todo += [node[key] for key in ("items", "additionalProperties") if isinstance(node.get(key), dict)]
        todo += node.get("anyOf", [])
    return goal in seen


def _target(node: Schema) -> str:
    return referred(node) or ""


def _constant_that_differs(branches: list[Schema], schema: Schema) -> str | None:
    """The member by whose constants the branches of a union can be told apart at once, if all of them require one."""
    targets = [schema["$defs"].get(_target(branch), {}) for branch in branches]
    if len(targets) < 2 or not all(target.get("properties") for target in targets):
        return None
    for member in sorted(set.intersection(*(set(target.get("required", [])) for target in targets))):
        shapes = [target["properties"].get(member, {}) for target in targets]
        constants = [shape["const"] for shape in shapes if isinstance(shape.get("const"), str)]
        if len(constants) == len(targets) == len(set(constants)) and snake(member) == member:
            return str(member)
    return None


def _says_null(node: Schema) -> bool:
    """Whether a member's own schema takes null, by saying nothing or by naming it."""
    if not node.keys() - _ANNOTATIONS:
        return True
    if "null" in node.get("type", []) or ("const" in node and node["const"] is None) or None in node.get("enum", []):
        return True
    return any(_says_null(branch) for keyword in ("anyOf", "oneOf") for branch in node.get(keyword, []))
