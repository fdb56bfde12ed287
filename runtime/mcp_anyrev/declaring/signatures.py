"""From a function as its author wrote it to something that is called with JSON arguments.

Rule: everything that can be wrong with a declaration is found here, before anything is served, and says its reason.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any, NamedTuple

from mcp_contract import JsonObject
from mcp_contract.questions import ANSWERS_ARGUMENT, STATE_ARGUMENT
from mcp_contract.validators import describe
from pydantic import BaseModel, ConfigDict, PydanticUserError, RootModel, ValidationError, create_model

from mcp_anyrev.declaring.dependencies import (
    Dependency,
    Provided,
    dependency_marker,
    read_dependency,
    read_hints,
)
from mcp_anyrev.declaring.model_schemas import schema_of
from mcp_anyrev.declaring.recursion import check_recursion
from mcp_anyrev.declaring.threads import CallThread, Threads
from mcp_anyrev.errors import WrongArguments
from mcp_anyrev.exchange import Exchange

RESERVED_PARAMETERS = (ANSWERS_ARGUMENT, STATE_ARGUMENT)

Read = Callable[[JsonObject], dict[str, Any]]
"""From arguments as they were sent to what a function takes, by the names of its parameters; it raises `WrongArguments`."""

Call = Callable[[dict[str, Any], Exchange | None, Threads], Awaitable[Any]]
"""From what a function takes, the exchange of the call, where it has one, and the threads for what is not async to what it returns."""


class Signature(NamedTuple):
    """What a function takes and gives.

    Attributes:
        input_schema: the schema of its arguments, always of an object.
        takes_exchange: does it, or anything that it depends on, take the call it serves?
        asks: may it, or anything that it depends on, ask?
        returns: the annotation of what it returns, `inspect.Signature.empty` without one.
        read: from arguments to what the function takes.
        call: from that, exchange and threads to what it returns.
    """

    input_schema: JsonObject
    takes_exchange: bool
    asks: bool
    returns: Any
    read: Read
    call: Call


def read_signature(
    function: Callable[..., Any], input_schema: JsonObject | None, local_names: Mapping[str, Any]
) -> Signature:
    """Look at a handler once, so that no call has to.

    Args:
        function: a function, async or not.
        input_schema: the schema of its arguments where the author gives it; the function then takes them as a dictionary.
        local_names: what annotations may refer to beside the module's names.

    Raises:
        ValueError: it cannot be called with JSON arguments; the text is the reason.
    """
    hints = read_hints(function, local_names)
    exchange: list[str] = []
    needs: list[tuple[str, Dependency]] = []
    own: list[inspect.Parameter] = []
    for one in inspect.signature(function).parameters.values():
        marker = dependency_marker(hints.get(one.name), one)
        if hints.get(one.name) is Exchange:
            exchange.append(one.name)
        elif marker is not None:
            needs.append((one.name, read_dependency(marker, local_names)))
        else:
            own.append(one)
    _check_parameters(function, exchange, own)
    if input_schema is not None:
        schema, read = _raw(input_schema, own)
    elif len(own) == 1 and _is_model(hints.get(own[0].name)):
        schema, read = _from_model(hints[own[0].name], own[0].name)
    else:
        schema, read = _from_parameters(function.__name__, own, hints)
    for reserved in RESERVED_PARAMETERS:
        if reserved in schema.get("properties", {}):
            raise ValueError(f"a parameter cannot be named {reserved}: answers to questions travel under that name")
    return Signature(
        schema,
        bool(exchange) or any(need.takes_exchange for _, need in needs),
        bool(exchange) or any(need.asks for _, need in needs),
        hints.get("return", inspect.Signature.empty),
        read,
        _caller(function, exchange[0] if exchange else None, tuple(needs)),
    )


def _check_parameters(function: Callable[..., Any], exchange: list[str], own: list[inspect.Parameter]) -> None:
    if len(exchange) > 1:
        raise ValueError(f"it takes the Exchange twice: {', '.join(exchange)}")
    if exchange and not inspect.iscoroutinefunction(function):
        raise ValueError("it takes the Exchange but is not async; only an async function can wait for an answer")
    for parameter in own:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise ValueError(f"the parameter {parameter.name} has no name that arguments could be given by")


def _is_model(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, BaseModel)


def _raw(input_schema: JsonObject, own: list[inspect.Parameter]) -> tuple[JsonObject, Read]:
    if input_schema.get("type") != "object":
        raise ValueError('its input schema lacks "type": "object"; arguments are always an object')
    if len(own) > 1:
        raise ValueError(f"with an input schema it takes one dictionary, not {len(own)} parameters")
    if not own:
        return input_schema, lambda arguments: {}
    name = own[0].name
    return input_schema, lambda arguments: {name: arguments}


def _from_model(model: type[BaseModel], parameter: str) -> tuple[JsonObject, Read]:
    if issubclass(model, RootModel):
        raise ValueError(
            f"its arguments are {model.__name__}, a RootModel; arguments are always an object with members"
        )
    schema = _object_schema(model)
    validate = model.model_validate

    def read(arguments: JsonObject) -> dict[str, Any]:
        try:
            return {parameter: validate(arguments)}
        except ValidationError as error:
            raise WrongArguments(describe(error, arguments)) from None

    return schema, read


def _from_parameters(name: str, own: list[inspect.Parameter], hints: Mapping[str, Any]) -> tuple[JsonObject, Read]:
    if not own:  # nearly every resource, of which there may be thousands
        return {"type": "object", "properties": {}, "additionalProperties": False}, lambda arguments: {}
    fields: dict[str, Any] = {}
    for parameter in own:
        if parameter.name not in hints:
            raise ValueError(f"the parameter {parameter.name} has no annotation")
        if parameter.name.startswith("_"):
            raise ValueError(f"the parameter {parameter.name} begins with an underscore; arguments cannot")
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (hints[parameter.name], default)
    try:
        model = create_model(name, __config__=ConfigDict(extra="forbid", protected_namespaces=()), **fields)
    except PydanticUserError as error:
        raise ValueError(f"its arguments have no JSON Schema: {error.message.splitlines()[0]}") from None
    schema = {key: value for key, value in _object_schema(model).items() if key != "title"}
    validate = model.__pydantic_validator__.validate_python

    def read(arguments: JsonObject) -> dict[str, Any]:
        try:
            values: dict[str, Any] = validate(arguments).__dict__  # its fields and nothing else
        except ValidationError as error:
            raise WrongArguments(describe(error, arguments)) from None
        return values

    return schema, read


def _object_schema(model: type[BaseModel]) -> JsonObject:
    try:
        schema = schema_of(model)
    except PydanticUserError as error:
        raise ValueError(f"its arguments have no JSON Schema: {error.message.splitlines()[0]}") from None
    check_recursion(model)
    if schema.get("type") != "object":
        schema = {"type": "object", **schema}
    return schema


def _caller(function: Callable[..., Any], exchange_name: str | None, needs: tuple[tuple[str, Dependency], ...]) -> Call:
    if needs:
        return _providing_caller(function, exchange_name, needs)
    if not inspect.iscoroutinefunction(function):

        def in_thread(given: dict[str, Any], exchange: Exchange | None, threads: Threads) -> Awaitable[Any]:
            return threads.run(function, given)

        return in_thread
    if exchange_name is None:

        def plain(given: dict[str, Any], exchange: Exchange | None, threads: Threads) -> Awaitable[Any]:
            return function(**given)  # type: ignore[no-any-return]  # a coroutine function gives a coroutine

        return plain

    def asking(given: dict[str, Any], exchange: Exchange | None, threads: Threads) -> Awaitable[Any]:
        return function(**given, **{exchange_name: exchange})  # type: ignore[no-any-return]  # as above

    return asking


def _providing_caller(
    function: Callable[..., Any], exchange_name: str | None, needs: tuple[tuple[str, Dependency], ...]
) -> Call:
    waits = inspect.iscoroutinefunction(function)

    async def providing(given: dict[str, Any], exchange: Exchange | None, threads: Threads) -> Any:
        if exchange_name is not None:
            given[exchange_name] = exchange
        thread = CallThread(threads)
        try:
            async with AsyncExitStack() as stack:
                provided = Provided(exchange, stack, thread)
                for name, need in needs:
                    given[name] = await provided.value_of(need)
                return await (function(**given) if waits else thread.run(function, **given))
        finally:
            thread.leave()

    return providing
