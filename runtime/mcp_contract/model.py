"""The base of every typed message: how members are spelt on the wire and in Python, and what becomes of unknown ones.

Rule: nothing here knows a message or a revision. What is read must come back exactly as it came, so members are looked up by
their wire names only, unknown ones are kept, and no scalar is converted.
"""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

from pydantic import AliasGenerator, AllowInfNan, BaseModel, ConfigDict, Field, GetCoreSchemaHandler, Strict
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from mcp_contract.members import is_one_of

Present = TypeVar("Present")

Number: TypeAlias = Annotated[int, Strict()] | Annotated[float, Strict(), AllowInfNan(False)]
"""A JSON number: 1 stays 1, and 1.0 stays 1.0; no infinities."""


class Absentable:
    """Marks a member whose None means that it is absent: null on the wire is refused."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The schema of what may be there, without the null that the annotation adds."""
        schema = handler(source)
        return schema["schema"] if schema["type"] == "nullable" else schema


if TYPE_CHECKING:
    Maybe: TypeAlias = Annotated[Present | None, Absentable()]
else:

    class Maybe:
        """A member that may be absent; in Python it is None then.

        A class and no generic alias, since putting a type in place of a variable takes several times as long.
        """

        def __class_getitem__(cls, present: Any) -> Any:
            return Annotated[present | None, Absentable()]


class OneOf:
    """Marks a value that is one of some constants, compared as JSON: true is not 1, and objects are compared by their members.

    Args:
        constants: JSON values.
    """

    def __init__(self, *constants: Any) -> None:
        self.constants = constants

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Takes the constants, each as it is given."""
        return core_schema.no_info_plain_validator_function(self._taken)

    def _taken(self, value: Any) -> Any:
        if is_one_of(value, self.constants):
            return value
        expected = " or ".join(map(json.dumps, self.constants))
        raise PydanticCustomError("one_of", "Input should be {expected}", {"expected": expected})


class Forbidden:
    """The type of a member that must not be there: it has no value."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Refuses whatever is given."""
        return core_schema.no_info_plain_validator_function(_refuse)


def _refuse(value: Any) -> Forbidden:
    raise PydanticCustomError("forbidden", "This member must not be given")


def camel(name: str) -> str:
    """The wire name that a Python name stands for where a definition says nothing else: `mime_type` → `mimeType`."""
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def wire(name: str) -> Any:
    """The wire name of a member that does not follow from its Python name, for use within `Annotated`."""
    return Field(validation_alias=name, serialization_alias=name)


class WireModel(BaseModel):
    """A typed message, or part of one.

    Reading (`model_validate`, `model_validate_json`, any `TypeAdapter`) goes by wire names alone: an unknown member that is
    spelt like a Python attribute stays an unknown member. The constructor takes Python names, and wire names as well; None for
    a member that may be absent leaves it out. Write with `exclude_unset=True`, so that only what was given is sent.
    """

    model_config = ConfigDict(
        alias_generator=AliasGenerator(validation_alias=camel, serialization_alias=camel),
        defer_build=True,
        extra="allow",
        protected_namespaces=(),
        serialize_by_alias=True,
    )

    if not TYPE_CHECKING:  # the checkers derive each constructor from its members

        def __init__(self, /, **members: Any) -> None:
            """Build from Python names or wire names.

            Raises:
                pydantic.ValidationError: when the members do not make a valid message.
            """
            if None in members.values():
                left_out = _absentable_names(type(self))
                members = {name: value for name, value in members.items() if value is not None or name not in left_out}
            self.__pydantic_validator__.validate_python(members, self_instance=self, by_alias=True, by_name=True)

        # Without this mark pydantic would call the constructor for every nested message that it reads.
        __init__.__pydantic_base_init__ = True

    def model_post_init(self, context: Any, /) -> None:
        """Keep apart a member and an unknown one that is spelt like its Python name.

        Pydantic counts both as set under the one name, so the absent member would be written as null.
        """
        if extra := self.__pydantic_extra__:
            fields = type(self).__pydantic_fields__
            for name in extra.keys() & fields.keys():
                if self.__dict__.get(name) is None and not fields[name].is_required():
                    self.__pydantic_fields_set__.discard(name)


@functools.cache
def _absentable_names(model: type[WireModel]) -> frozenset[str]:
    """The names, Python's and the wire's, of the members for which None means that they are absent."""
    if not model.__pydantic_fields_complete__:
        model.model_rebuild()
    names = set()
    for name, field in model.__pydantic_fields__.items():
        if any(isinstance(mark, Absentable) for mark in field.metadata):
            names |= {name, str(field.validation_alias or camel(name))}
    return frozenset(names)
