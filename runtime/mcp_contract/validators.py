"""Validators of one revision's messages, built when first needed.

Rule: an adapter imports no models; a method's validator costs its building only in a process that meets the method.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from itertools import islice

from pydantic import ValidationError
from pydantic_core import ErrorDetails, SchemaValidator

from mcp_contract.errors import InvalidParams
from mcp_contract.messages import Json
from mcp_contract.verdicts import verdict_validator
from mcp_contract.wording import cut, pointer


class Validators:
    """One validator a method.

    Args:
        module: what has the revision's models under their published names: its package, which imports them when the first one is asked for.
        definitions: method → name of the definition that its messages must fit.
        envelope: the definition that each message must fit besides, where a schema keeps apart what is common to all.
    """

    def __init__(self, module: str, definitions: Mapping[str, str], envelope: str | None = None) -> None:
        self._module = module
        self._definitions = definitions
        self._envelope = envelope
        self._built: dict[str, tuple[SchemaValidator, ...]] = {}

    def build(self) -> None:
        """Build every validator now, so that no caller waits for one."""
        for method in self._definitions:
            self._of(method)

    def check(self, method: str, message: Json) -> None:
        """See that a message fits its definition.

        Args:
            method: one of the methods given at the start.
            message: the message as a JSON object, by the wire's names.

        Raises:
            InvalidParams: it does not fit; the text names the members, never their values.
        """
        try:
            for validator in self._built.get(method) or self._of(method):
                validator.validate_python(message, by_alias=True, by_name=False)
        except ValidationError as error:
            raise InvalidParams(f"{method}: {describe(error, message)}") from None

    def takes(self, method: str, value: Json) -> bool:
        """Whether a value fits its definition.

        Args:
            method: one of the names given at the start.
            value: any JSON value, by the wire's names.
        """
        try:
            self.check(method, value)
        except InvalidParams:
            return False
        return True

    def _of(self, method: str) -> tuple[SchemaValidator, ...]:
        built = self._built.get(method)
        if built is None:
            models = importlib.import_module(self._module)
            names = (self._definitions[method], self._envelope)
            built = tuple(verdict_validator(getattr(models, name)) for name in names if name is not None)
            self._built[method] = built
        return built


_MOST_READ = 1_000
"""Of how many faults pydantic is asked for the words: it makes those of all of them, or of none."""


def describe(error: ValidationError, value: Json, limit: int = 5) -> str:
    """What is wrong, member by member, without the values that were sent.

    Args:
        error: what pydantic found.
        value: where it found that.
        limit: how many members are named.

    Returns:
        One line such as `/params/name: Field required; /params/uri: Input should be a valid string`; of too many faults, how many.
    """
    if error.error_count() > _MOST_READ:
        return (
            f"{error.error_count()} members do not fit, which are too many to name; correct one and try with that alone"
        )
    found = error.errors(include_url=False, include_context=False, include_input=False)
    parts = [f"{pointer(_steps(one, value))}: {one['msg']}" for one in found[:limit]]
    if len(found) > limit:
        parts.append(f"and {len(found) - limit} more")
    return cut("; ".join(parts))


def _steps(error: ErrorDetails, value: Json) -> Iterator[str | int]:
    """The way to what is wrong. Pydantic's goes by branches of unions as well, and, of a map's values, by their places."""
    for step in error["loc"]:
        if isinstance(value, dict) and isinstance(step, int):
            step = next(islice(value, step, None), step)
        if step in value if isinstance(value, dict) else _is_place(step, value):
            value = value[step]
            yield step
    if error["type"] == "missing":
        yield error["loc"][-1]


def _is_place(step: str | int, value: Json) -> bool:
    return isinstance(step, int) and isinstance(value, list) and step < len(value)
