"""The one place that knows how JSON Schema is checked.

Rule: a schema never makes this process read a file or open a connection, and a pattern takes linear time. What is wrong is told by
member, without repeating the value that was sent.
Specification: basic/index#json-schema-usage
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mcp_contract import Json, JsonObject

if TYPE_CHECKING:
    from jsonschema_rs import Validator


class SchemaFault(ValueError):
    """A schema that cannot be used; the text says why."""


class JsonValidator:
    """Checks values against one schema.

    Args:
        schema: a JSON Schema, of the newest dialect unless it names another.

    Raises:
        SchemaFault: it is no schema, has a pattern that may take long, or refers to something outside itself.
    """

    def __init__(self, schema: JsonObject) -> None:
        import jsonschema_rs

        try:
            self._validator: Validator = jsonschema_rs.validator_for(
                schema,
                retriever=_refuse,
                pattern_options=jsonschema_rs.RegexOptions(),
                mask="the value",
            )
        except (ValueError, TypeError) as error:
            raise SchemaFault(str(error).splitlines()[0]) from None
        self.accepts: Callable[[Json], bool] = self._validator.is_valid
        """Does a value fit?"""

    def faults(self, value: Json, limit: int = 5) -> str:
        """What is wrong with a value, member by member; an empty text where nothing is.

        Args:
            value: a JSON value.
            limit: how many faults are named.
        """
        parts: list[str] = []
        for error in self._validator.iter_errors(value):
            if len(parts) == limit:
                parts.append("and more")
                break
            path = ".".join(str(step) for step in error.instance_path)
            words = error.message[:300].replace("the value ", "", 1) if path else error.message[:300]
            parts.append(f"{path} {words}" if path else words)
        return "; ".join(parts)


@lru_cache(maxsize=256)
def validator_for_text(schema: bytes) -> JsonValidator:
    """A validator for a schema given as JSON text, kept for the next question of the same form."""
    from pydantic_core import from_json

    return JsonValidator(from_json(schema))


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri} is outside the schema, and nothing outside it is read")
