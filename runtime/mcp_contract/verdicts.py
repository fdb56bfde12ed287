"""Validators that only say whether a value fits.

Rule: the same verdict as the models give, without making a model for every object on the way: whoever asks only for the verdict
would throw them away, and making them takes more than half of the time. Of what is wrong in a list or a map only the first is looked
for, so that a refusal costs no more than a verdict.
"""

from __future__ import annotations

from operator import methodcaller
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import SchemaValidator

_LISTS = ("list", "tuple", "set", "frozenset")


def verdict_validator(definition: Any) -> SchemaValidator:
    """A validator of a definition.

    Args:
        definition: a model, a union of models, or any other annotation.

    Returns:
        What to call `validate_python(value, by_alias=True, by_name=False)` on; what that returns has no meaning.
    """
    adapter = TypeAdapter(definition)
    adapter.rebuild(force=True)  # models that wait for their first use have no schema until then
    return SchemaValidator(_without_models(adapter.core_schema))


def _without_models(schema: Any) -> Any:
    """A core schema in which every model is replaced by its members, and which ends at the first thing that is wrong in a list."""
    if isinstance(schema, dict):
        kind = schema.get("type")
        if kind == "model":
            members = _without_models(schema["schema"])
            return {**members, "ref": schema["ref"]} if "ref" in schema else members
        inner = {key: value if key == "metadata" else _without_models(value) for key, value in schema.items()}
        if kind in _LISTS:
            return {**inner, "fail_fast": True}
        return _of_map(inner) if kind == "dict" and "values_schema" in inner else inner
    if isinstance(schema, (list, tuple)):
        return type(schema)(_without_models(one) for one in schema)
    return schema


def _of_map(schema: Any) -> Any:
    """The same verdict on a map, which has no way to end at the first value that is wrong: its values are a list as well."""
    items = {"type": "list", "items_schema": schema["values_schema"], "fail_fast": True}
    is_map = {key: value for key, value in schema.items() if key not in ("values_schema", "ref")}
    values = {"type": "function-plain", "function": {"type": "no-info", "function": methodcaller("values")}}
    chain = {"type": "chain", "steps": [is_map, values, items]}
    return {**chain, "ref": schema["ref"]} if "ref" in schema else chain
