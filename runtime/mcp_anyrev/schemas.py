"""The one place that knows how JSON Schema is checked.

Rule: a schema never makes this process read a file or open a connection, and a pattern takes linear time. Whoever only wants to know
whether a value fits pays for nothing else; what is wrong is looked for afterwards.
Specification: basic/index#json-schema-usage
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from mcp_contract import Json, JsonObject
from mcp_contract.simplification.keywords import at as pointer_at
from mcp_contract.simplification.keywords import subschemas
from mcp_contract.wording import cut

from mcp_anyrev.schema_faults import Faults

if TYPE_CHECKING:
    from jsonschema_rs import RegexOptions, Validator

_MASK = "the value"
_DIALECTS = "2020-12, 2019-09, draft-07, draft-06 and draft-04"
_MOST_LARGE_INTEGERS = 100
"""How many integers beyond 64 bits there may be where items are compared with each other, each counted by its 64 bits."""


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
        self._schema = schema
        self._fits = _compiled(schema).is_valid
        self.accepts: Callable[[Json], bool] = self._accepts_few_large_integers if _compares(schema) else self._fits
        """Does a value fit?"""

    def faults(self, value: Json) -> str:
        """What is wrong with a value that does not fit: a few members by their JSON pointers, without what they hold.

        Args:
            value: a JSON value.
        """
        if self.accepts != self._fits and _large_integers(value) > _MOST_LARGE_INTEGERS:
            return f"at most {_MOST_LARGE_INTEGERS} integers may be beyond 64 bits where items have to differ"
        return Faults(self._schema, self._validators, _own_words).words(value)

    def _accepts_few_large_integers(self, value: Json) -> bool:
        """A verdict that refuses many integers beyond 64 bits: each would be compared with each, as text."""
        return _large_integers(value) <= _MOST_LARGE_INTEGERS and self._fits(value)

    @cached_property
    def _validators(self) -> Callable[[str], Validator | None]:
        import jsonschema_rs

        return jsonschema_rs.validator_map_for(self._schema, retriever=_refuse, pattern_options=_linear()).get


@lru_cache(maxsize=256)
def validator_for_text(schema: bytes) -> JsonValidator:
    """A validator for a schema given as JSON text, kept for the next question of the same form."""
    from pydantic_core import from_json

    return JsonValidator(from_json(schema))


def _compiled(schema: JsonObject) -> Validator:
    import jsonschema_rs

    try:
        return jsonschema_rs.validator_for(schema, retriever=_refuse, pattern_options=_linear(), mask=_MASK)
    except (ValueError, TypeError) as error:
        raise SchemaFault(_unusable_pattern(schema) or _unread_dialect(schema) or _words_of(error)) from None


def _words_of(error: Exception) -> str:
    """Why a schema is none, and where."""
    words, steps = str(error).splitlines()[0], getattr(error, "instance_path", ())
    return f"{pointer_at('', *map(str, steps))} {words.removeprefix(f'{_MASK} ')}" if steps else words


def _unread_dialect(schema: JsonObject) -> str | None:
    """Which dialect it is of, if that is none that is read."""
    import jsonschema_rs

    named = schema.get("$schema")
    if not isinstance(named, str):
        return None
    try:
        jsonschema_rs.validator_for({"$schema": named}, retriever=_refuse)
    except ValueError:
        return f"its dialect {cut(named, 200)!r} is not read; {_DIALECTS} are"
    return None


def _unusable_pattern(schema: Any, place: str = "") -> str | None:
    """Which pattern of a schema cannot be used, and where it is; None where that is not what is wrong."""
    if not isinstance(schema, dict):
        return None
    own = schema.get("pattern")
    patterns = [(pointer_at(place, "pattern"), own)] if isinstance(own, str) else []
    patterns += [(pointer_at(place, "patternProperties", one), one) for one in schema.get("patternProperties") or ()]
    for at, pattern in patterns:
        if not _is_usable(pattern):
            return f"the pattern at {at} cannot be used: {pattern!r}; it has to take linear time, without look-around and back-references"
    found = (_unusable_pattern(inner, pointer_at(place, *steps)) for steps, inner in subschemas(schema))
    return next((words for words in found if words is not None), None)


def _is_usable(pattern: str) -> bool:
    import jsonschema_rs

    try:
        jsonschema_rs.validator_for({"pattern": pattern}, retriever=_refuse, pattern_options=_linear())
    except (ValueError, TypeError):
        return False
    return True


def _linear() -> RegexOptions:
    """Patterns that take linear time."""
    import jsonschema_rs

    return jsonschema_rs.RegexOptions()


def _own_words(schema: JsonObject, value: Json) -> Iterator[str]:
    """What a schema without subschemas says is wrong with a value."""
    for error in _compiled(schema).iter_errors(value):
        yield error.message.removeprefix(f"{_MASK} ")


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri} is outside the schema, and nothing outside it is read")


def _compares(schema: Json) -> bool:
    """Does a schema have items compared with each other?"""
    if isinstance(schema, dict):
        return bool(schema.get("uniqueItems")) or any(map(_compares, schema.values()))
    return isinstance(schema, list) and any(map(_compares, schema))


def _large_integers(value: Json) -> int:
    if isinstance(value, dict):
        return sum(map(_large_integers, value.values()))
    if isinstance(value, list):
        return sum(map(_large_integers, value))
    return isinstance(value, int) and value.bit_length() >> 6
