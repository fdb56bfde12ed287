"""From the parameters of a function to the schema of its arguments, and to what reads them.

Rule: arguments are JSON, and are read by the rules for JSON, also where a model is strict: a date is text there, and a tuple an array.
What reads them is made once.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from mcp_contract import JsonObject
from mcp_contract.validators import describe
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PydanticUserError,
    RootModel,
    TypeAdapter,
    ValidationError,
    create_model,
)
from pydantic_core import SchemaError, to_json

from mcp_anyrev.declaring.model_schemas import schema_of
from mcp_anyrev.declaring.recursion import check_recursion
from mcp_anyrev.errors import WrongArguments

Read = Callable[[JsonObject], dict[str, Any]]
"""From arguments as they were sent to what a function takes, by the names of its parameters; it raises `WrongArguments`."""

_NOT_LOOKED_INTO = ("metadata", "default", "serialization", "cls")


def is_model(hint: Any) -> bool:
    """Is it a class of models?"""
    return isinstance(hint, type) and issubclass(hint, BaseModel)


def from_schema(input_schema: JsonObject, own: Sequence[inspect.Parameter]) -> tuple[JsonObject, Read]:
    """The arguments of a function whose author gives their schema.

    Args:
        input_schema: the schema.
        own: the parameters that get arguments.

    Raises:
        ValueError: they do not fit each other.
    """
    if input_schema.get("type") != "object":
        raise ValueError('its input schema lacks "type": "object"; arguments are always an object')
    if len(own) > 1:
        raise ValueError(f"with an input schema it takes one dictionary, not {len(own)} parameters")
    if not own:
        return input_schema, lambda arguments: {}
    name = own[0].name
    return input_schema, lambda arguments: {name: arguments}


def from_model(model: type[BaseModel], parameter: inspect.Parameter) -> tuple[JsonObject, Read]:
    """The arguments of a function that takes them as one model.

    Args:
        model: the model.
        parameter: the one parameter; its default, if it has one, is that of each member.

    Raises:
        ValueError: the model has no schema of an object.
    """
    if issubclass(model, RootModel):
        raise ValueError(
            f"its arguments are {model.__name__}, a RootModel; arguments are always an object with members"
        )
    name, default = parameter.name, parameter.default
    schema = _object_schema(model)
    validate = _reader(model)
    if isinstance(default, model):
        return _with_defaults(schema, model, default), _reading_on(name, model, default, validate)
    if default is not parameter.empty:
        raise ValueError(f"the default of {name} is no {model.__name__}, but {type(default).__name__}")

    def read(arguments: JsonObject) -> dict[str, Any]:
        try:
            return {name: validate(arguments)}
        except ValidationError as error:
            raise WrongArguments(describe(error, arguments)) from None

    return schema, read


def from_parameters(name: str, own: Sequence[inspect.Parameter], hints: Mapping[str, Any]) -> tuple[JsonObject, Read]:
    """The arguments of a function that takes them one by one.

    Args:
        name: the name of the function.
        own: the parameters that get arguments.
        hints: the annotations, by parameter.

    Raises:
        ValueError: one cannot be an argument.
    """
    if not own:  # nearly every resource, of which there may be thousands
        return {"type": "object", "properties": {}, "additionalProperties": False}, lambda arguments: {}
    fields: dict[str, Any] = {}
    renamed: dict[str, str] = {}
    for parameter in own:
        if parameter.name not in hints:
            raise ValueError(f"the parameter {parameter.name} has no annotation")
        if parameter.name.startswith("_"):
            raise ValueError(f"the parameter {parameter.name} begins with an underscore; arguments cannot")
        hint, field = hints[parameter.name], parameter.name
        if hasattr(BaseModel, field):  # a member of this name would hide one that all models have
            field = _free_name(field, hints)
            hint, renamed[field] = _with_alias(hint, parameter.name), parameter.name
        fields[field] = hint if parameter.default is parameter.empty else (hint, parameter.default)
    try:
        model = create_model(name, __config__=ConfigDict(extra="forbid", protected_namespaces=()), **fields)
    except PydanticUserError as error:
        raise ValueError(f"its arguments have no JSON Schema: {error.message.splitlines()[0]}") from None
    except SchemaError as error:
        raise ValueError(_unusable(own, hints, error)) from None
    schema = {key: value for key, value in _object_schema(model).items() if key != "title"}
    validate = _reader(model)

    def read(arguments: JsonObject) -> dict[str, Any]:
        try:
            values: dict[str, Any] = validate(arguments).__dict__  # its fields and nothing else
        except ValidationError as error:
            raise WrongArguments(describe(error, arguments)) from None
        return values

    def read_renamed(arguments: JsonObject) -> dict[str, Any]:
        return {renamed.get(field, field): value for field, value in read(arguments).items()}

    return schema, read_renamed if renamed else read


def _free_name(name: str, taken: Iterable[str]) -> str:
    while name in taken or hasattr(BaseModel, name):
        name += "_argument"
    return name


def _with_alias(hint: Any, alias: str) -> Any:
    """An annotation that says by what name a member is sent, if it does not say that itself."""
    inner, *metadata = typing.get_args(hint) if typing.get_origin(hint) is typing.Annotated else (hint,)
    return typing.Annotated[(inner, Field(alias=alias), *metadata)]


def _unusable(own: Sequence[inspect.Parameter], hints: Mapping[str, Any], error: SchemaError) -> str:
    """Why parameters cannot be read; which of them, and what about it."""
    for parameter in own:
        try:
            TypeAdapter(hints[parameter.name])
        except SchemaError as its_own:
            lines = [line.strip() for line in str(its_own).splitlines()]
            reason = lines[-1].removeprefix("error: ")
            if "regex parse error:" in " ".join(lines):
                pattern = lines[next(place for place, line in enumerate(lines) if "regex parse error:" in line) + 1]
                return f"the parameter {parameter.name} has a pattern that cannot be used: {pattern!r}: {reason}"
            return f"the parameter {parameter.name} cannot be read: {reason}"
    return f"its arguments cannot be read: {str(error).splitlines()[-1].strip()}"


def _object_schema(model: type[BaseModel]) -> JsonObject:
    try:
        schema = schema_of(model)
    except PydanticUserError as error:
        raise ValueError(f"its arguments have no JSON Schema: {error.message.splitlines()[0]}") from None
    check_recursion(model)
    if schema.get("type") != "object":
        schema = {"type": "object", **schema}
    return schema


def _reader(model: type[BaseModel]) -> Callable[[Any], Any]:
    """What makes a model of arguments."""
    validator = model.__pydantic_validator__
    if not _is_strict(model.__pydantic_core_schema__):
        return validator.validate_python

    def validate(arguments: Any) -> Any:
        return validator.validate_json(to_json(arguments))

    return validate


def _is_strict(core_schema: Any) -> bool:
    """Is anything in it read only if it is of its type already?"""
    waiting, seen = [core_schema], set()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, dict):
            if one.get("strict") is True:
                return True
            waiting += [inner for key, inner in one.items() if key not in _NOT_LOOKED_INTO]
        elif isinstance(one, list | tuple):
            waiting += one
    return False


def _with_defaults(schema: JsonObject, model: type[BaseModel], default: BaseModel) -> JsonObject:
    """The schema of a model of which nothing is required, since there is a default for all of it."""
    told = default.model_dump(mode="json", by_alias=True, exclude_unset=True)
    members = {
        name: {**member, "default": told[name]} if name in told and not member.get("writeOnly") else member
        for name, member in schema.get("properties", {}).items()
    }
    rest = {key: value for key, value in schema.items() if key not in ("required", "properties")}
    return {**rest, "properties": members}


def _reading_on(parameter: str, model: type[BaseModel], default: BaseModel, validate: Callable[[Any], Any]) -> Read:
    """What reads arguments where a whole model is the default of what is not given."""
    told = default.model_dump(mode="json", by_alias=True)
    names: dict[str, str] = {}
    held: JsonObject = {}
    for name, field in model.model_fields.items():
        alias = field.validation_alias if isinstance(field.validation_alias, str) else field.alias or name
        sent = field.serialization_alias or name
        if sent in told:
            names[alias], held[alias] = name, told[sent]

    def read(arguments: JsonObject) -> dict[str, Any]:
        copied = default.model_copy(deep=True)
        if not arguments:
            return {parameter: copied}
        try:
            made = validate({**held, **arguments})
        except ValidationError as error:
            raise WrongArguments(describe(error, arguments)) from None
        # As they are, and not as what they look like in JSON.
        made.__dict__.update({name: getattr(copied, name) for alias, name in names.items() if alias not in arguments})
        return {parameter: made}

    return read
