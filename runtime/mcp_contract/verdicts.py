"""Validators that only say whether a value fits.

Rule: the same verdict and the same complaints as the models give, without making a model for every object on the way: whoever asks
only for the verdict would throw them away, and making them takes more than half of the time.
"""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter
from pydantic_core import SchemaValidator


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
    """A core schema in which every model is replaced by its members."""
    if isinstance(schema, dict):
        if schema.get("type") == "model":
            members = _without_models(schema["schema"])
            return {**members, "ref": schema["ref"]} if "ref" in schema else members
        return {key: value if key == "metadata" else _without_models(value) for key, value in schema.items()}
    if isinstance(schema, (list, tuple)):
        return type(schema)(_without_models(one) for one in schema)
    return schema
