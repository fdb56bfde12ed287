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

from mcp_anyrev.declaring.arguments import Read, from_model, from_parameters, from_schema, is_model
from mcp_anyrev.declaring.dependencies import (
    Dependency,
    Provided,
    dependency_marker,
    is_exchange,
    read_dependency,
    read_hints,
)
from mcp_anyrev.declaring.docstrings import described_members
from mcp_anyrev.declaring.functions import (
    doc_of,
    in_whole,
    is_async,
    own_name,
    parameters_of,
    plain_function,
    waited_for,
)
from mcp_anyrev.declaring.threads import CallThread, Threads
from mcp_anyrev.exchange import Exchange

RESERVED_PARAMETERS = (ANSWERS_ARGUMENT, STATE_ARGUMENT)

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
    for one in parameters_of(function):
        marker = dependency_marker(hints.get(one.name), one)
        if is_exchange(hints.get(one.name)):
            exchange.append(one.name)
        elif marker is not None:
            needs.append((one.name, read_dependency(marker, local_names)))
        else:
            own.append(one)
    _check_parameters(function, exchange, own)
    if input_schema is not None:
        schema, read = from_schema(input_schema, own)
    elif len(own) == 1 and is_model(hints.get(own[0].name)):
        model = hints[own[0].name]
        schema, read = from_model(model, own[0])
        schema = described_members(schema, doc_of(function), inspect.cleandoc(model.__doc__ or ""))
    else:
        schema, read = from_parameters(own_name(function), own, hints)
        schema = described_members(schema, doc_of(function)) if own else schema
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
    if inspect.isasyncgenfunction(inspect.unwrap(plain_function(function))):
        raise ValueError(
            "it is an async generator, but a result goes out as a whole: return a list, and tell how far it is with Exchange.progress"
        )
    if exchange and not is_async(function):
        raise ValueError("it takes the Exchange but is not async; only an async function can wait for an answer")
    for parameter in own:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise ValueError(f"the parameter {parameter.name} has no name that arguments could be given by")


def _caller(function: Callable[..., Any], exchange_name: str | None, needs: tuple[tuple[str, Dependency], ...]) -> Call:
    if needs:
        return _providing_caller(function, exchange_name, needs)
    if not inspect.iscoroutinefunction(plain_function(function)):
        run = in_whole(function)

        async def in_thread(given: dict[str, Any], exchange: Exchange | None, threads: Threads) -> Any:
            if exchange_name is not None:
                given = {**given, exchange_name: exchange}
            return await waited_for(await threads.run(run, given))

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
    waits = inspect.iscoroutinefunction(plain_function(function))
    run = in_whole(function)

    async def providing(given: dict[str, Any], exchange: Exchange | None, threads: Threads) -> Any:
        if exchange_name is not None:
            given[exchange_name] = exchange
        thread = CallThread(threads)
        try:
            async with AsyncExitStack() as stack:
                provided = Provided(exchange, stack, thread)
                for name, need in needs:
                    given[name] = await provided.value_of(need)
                if waits:
                    return await function(**given)
                return await waited_for(await thread.run(run, **given))
        finally:
            thread.leave()

    return providing
