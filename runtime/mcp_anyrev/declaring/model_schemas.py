"""JSON Schemas of Python types, as small as they can be.

Rule: a title that only repeats a name says nothing and is left out; a title that somebody wrote stays.
"""

from __future__ import annotations

import functools
from typing import Any, Literal

from mcp_contract import JsonObject, unshowable
from mcp_revisions import AdapterSet
from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind

from mcp_anyrev.messages import written

Mode = Literal["validation", "serialization"]

_HAS_DIGIT = r"\d"
_LOOKS_AROUND = ("(?=", "(?!", "(?<")


class _WithoutTitles(GenerateJsonSchema):
    ignored_warning_kinds: set[JsonSchemaWarningKind] = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012  # so it is there

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def decimal_schema(self, schema: Any) -> JsonObject:
        made = super().decimal_schema(schema)
        if self.mode == "serialization" or schema.get("allow_inf_nan"):
            return _linear(made, None)
        return _linear(made, _HAS_DIGIT)


def _linear(schema: JsonObject, pattern: str | None) -> JsonObject:
    """The schema of a number as text, with another pattern where there is none, or one that looks around: that differs by pydantic's release.

    Nothing is lost by it: what reads the number checks the text.
    """
    if "anyOf" in schema:
        return {**schema, "anyOf": [_linear(branch, pattern) for branch in schema["anyOf"]]}
    own = schema.get("pattern")
    if schema.get("type") != "string" or (own is not None and not any(look in own for look in _LOOKS_AROUND)):
        return schema
    rest = {key: value for key, value in schema.items() if key != "pattern"}
    return rest if pattern is None else {**rest, "pattern": pattern}


def schema_of(annotation: Any, mode: Mode = "validation", adapter: TypeAdapter[Any] | None = None) -> JsonObject:
    """The schema of a type.

    Args:
        annotation: a model, or any annotation that pydantic takes.
        mode: of what is read, or of what is written.
        adapter: what reads and writes the type, where it has been made already.

    Raises:
        pydantic.PydanticUserError: the type has none.
    """
    adapter = adapter or TypeAdapter(annotation)
    schema = adapter.json_schema(by_alias=True, mode=mode, schema_generator=_WithoutTitles)
    return _untitled(schema, annotation)


def _untitled(schema: JsonObject, annotation: Any) -> JsonObject:
    """Take out the titles that pydantic makes of class names."""
    names = {annotation.__name__} if isinstance(annotation, type) and issubclass(annotation, BaseModel) else set()
    definitions: JsonObject = {}
    for name, inner in schema.get("$defs", {}).items():
        definitions[name] = {key: value for key, value in inner.items() if key != "title" or value != name}
    plain = {key: value for key, value in schema.items() if key != "title" or value not in names}
    return {**plain, "$defs": definitions} if definitions else plain


def form_of(model: type[BaseModel]) -> JsonObject:
    """The form that asks for a model: flat, every member of a simple type.

    Args:
        model: a model whose members are text, numbers, booleans, or choices among constants; any of them may be optional. A format
            that no client knows is left out, since an answer is held against the model anyway.

    Raises:
        TypeError: a member is of another type, or has a default or a bound that JSON has not; the text names it.

    Specification: client/elicitation#requested-schema
    """
    schema = schema_of(model)
    definitions = schema.get("$defs", {})
    properties: JsonObject = {}
    for name, member in schema.get("properties", {}).items():
        properties[name] = _flat(f"{model.__name__}.{name}", member, definitions)
    form: JsonObject = {"type": "object", "properties": properties}
    required = [name for name in schema.get("required", ()) if not _nullable(schema["properties"][name])]
    if required:
        form["required"] = required
    reason = unshowable(form, known_formats())
    if reason is not None:
        raise TypeError(f"{model.__name__} cannot be asked for: {reason}")
    try:
        written(form)
    except ValueError as error:
        raise TypeError(f"{model.__name__} cannot be asked for: {error}") from None
    return form


@functools.cache
def known_formats() -> tuple[str, ...]:
    """The formats of text that the form of some revision may have: what any other one says, no client knows."""
    adapters = AdapterSet.default().by_version.values()
    return tuple(dict.fromkeys(name for adapter in adapters for name in adapter.form_formats))


def _nullable(member: JsonObject) -> bool:
    return any(branch.get("type") == "null" for branch in member.get("anyOf", ()))


def _flat(name: str, member: JsonObject, definitions: JsonObject) -> JsonObject:
    branches = [branch for branch in member.get("anyOf", ()) if branch.get("type") != "null"]
    if len(branches) == 1:
        rest = {key: value for key, value in member.items() if key not in ("anyOf", "default") or value is not None}
        rest.pop("anyOf")
        member = {**branches[0], **rest}
    if "$ref" in member:
        rest = {key: value for key, value in member.items() if key != "$ref"}
        member = {**definitions[member["$ref"].rpartition("/")[2]], **rest}
    if "const" in member:
        member = {**{key: value for key, value in member.items() if key != "const"}, "enum": [member["const"]]}
    items = member.get("items", {})
    if "$ref" in items:
        member = {**member, "items": definitions[items["$ref"].rpartition("/")[2]]}
    if "format" in member and member["format"] not in known_formats():
        member = {key: value for key, value in member.items() if key != "format"}
    simple = member.get("type") in ("string", "integer", "number", "boolean")
    if simple or (member.get("type") == "array" and "enum" in member.get("items", {})):
        return member
    raise TypeError(f"{name}: a form asks only for text, numbers, booleans and choices among constants")
