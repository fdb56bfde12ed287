"""Values that a handler needs and no client sends: made for one call by functions that may need more of the like.

Rule: what is missing or circular is found when the handler is declared. Within a call each provider runs once; what it has opened is
closed when the call ends, in reverse order, however it ends. A provider is told of a failure, and may put another in its place, but it
cannot make it a success. What is not async runs in the thread of the call, where it can wait.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import types
import typing
from collections.abc import Awaitable, Callable, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any

from mcp_anyrev.declaring.functions import is_async, own_name, parameters_of, plain_function
from mcp_anyrev.declaring.threads import CallThread
from mcp_anyrev.exchange import Exchange
from mcp_anyrev.user_code import called

log = logging.getLogger("mcp_anyrev.server")

_OTHERS = ("fastapi", "fastapi_slim", "starlette", "litestar")
"""Frameworks whose markers look as if they did something."""

_lifespan: ContextVar[Any] = ContextVar("lifespan")


class Depends:
    """Marks a parameter that a provider gives a value: `Annotated[Database, Depends(database)]`.

    Args:
        provider: a function or a class. Its own parameters are an `Exchange`, other dependencies, or have defaults. If it yields,
            what stands after the `yield` runs when the call has ended. What is not async, the handler and its providers, runs in one
            thread.
    """

    __slots__ = ("provider",)

    def __init__(self, provider: Callable[..., Any]) -> None:
        self.provider = provider


def lifespan_value() -> Any:
    """What the lifespan of the registry yielded; as a provider, or anywhere in a handler.

    Raises:
        LookupError: no handler is running, or its registry has no lifespan.
    """
    try:
        return _lifespan.get()
    except LookupError:
        raise LookupError("there is no lifespan value: no handler runs here, or its registry has no lifespan") from None


def set_lifespan_value(value: Any) -> None:
    """Give the handlers that run in this context their lifespan value."""
    _lifespan.set(value)


@dataclass(frozen=True, slots=True)
class Dependency:
    """A provider, looked at once.

    Attributes:
        provider: makes the value.
        exchange: the name of the parameter that takes the exchange, or None.
        needs: what its other parameters get.
        takes_exchange: does it, or anything that it needs, take the exchange?
        asks: is any of those that do able to wait for an answer?
    """

    provider: Callable[..., Any]
    exchange: str | None
    needs: tuple[tuple[str, Dependency], ...]
    takes_exchange: bool
    asks: bool


def read_dependency(marker: Depends, local_names: Mapping[str, Any], above: tuple[Any, ...] = ()) -> Dependency:
    """Look at a provider and at all that it needs.

    Args:
        marker: what the parameter is annotated with.
        local_names: what annotations may refer to beside the module's names.
        above: the providers that need this one.

    Raises:
        ValueError: it cannot be called; the text says why.
    """
    provider = marker.provider
    if not callable(provider):
        raise ValueError(f"Depends takes a function, not {provider!r}")
    name = own_name(provider) or repr(provider)
    if provider in above:
        raise ValueError(f"the dependency {name} needs itself")
    hints = read_hints(provider, local_names)
    exchange: str | None = None
    needs: list[tuple[str, Dependency]] = []
    for parameter in parameters_of(provider):
        inner = dependency_marker(hints.get(parameter.name), parameter)
        if is_exchange(hints.get(parameter.name)):
            exchange = parameter.name
        elif inner is not None:
            needs.append((parameter.name, read_dependency(inner, local_names, (*above, provider))))
        elif parameter.default is parameter.empty and parameter.kind not in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            raise ValueError(f"the dependency {name} has a parameter {parameter.name} that nothing gives a value")
    waits = is_async(provider) or inspect.isasyncgenfunction(inspect.unwrap(plain_function(provider)))
    return Dependency(
        provider,
        exchange,
        tuple(needs),
        exchange is not None or any(need.takes_exchange for _, need in needs),
        (exchange is not None and waits) or any(need.asks for _, need in needs),
    )


def dependency_marker(hint: Any, parameter: inspect.Parameter) -> Depends | None:
    """The marker of a parameter, where it has one.

    Raises:
        ValueError: it stands where a default does, or is that of another framework.
    """
    for one in (parameter.default, *getattr(hint, "__metadata__", ())):
        if type(one).__module__.partition(".")[0] in _OTHERS:
            raise ValueError(
                f"the parameter {parameter.name} has {type(one).__name__} of {type(one).__module__.partition('.')[0]},"
                " which means nothing here; write Annotated[…, Depends(…)] with Depends of mcp_anyrev, or Field of pydantic"
            )
    if isinstance(parameter.default, Depends):
        raise ValueError(f"the parameter {parameter.name} has Depends for a default; write Annotated[…, Depends(…)]")
    for one in getattr(hint, "__metadata__", ()):
        if isinstance(one, Depends):
            return one
    return None


def is_exchange(hint: Any) -> bool:
    """Is a parameter annotated so the one that takes the exchange? It may be None elsewhere, and have other metadata."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return is_exchange(arguments[0])
    if origin in (typing.Union, types.UnionType):
        others = [one for one in arguments if one is not type(None)]
        return len(others) == 1 and is_exchange(others[0])
    return hint is Exchange


def read_hints(function: Callable[..., Any], local_names: Mapping[str, Any]) -> dict[str, Any]:
    """The annotations of a function, or of what makes an object of a class.

    Raises:
        ValueError: one cannot be read.
    """
    annotated = function.__init__ if isinstance(function, type) else plain_function(function)  # type: ignore[misc]  # its own
    try:
        return typing.get_type_hints(annotated, localns=dict(local_names), include_extras=True)
    except (NameError, TypeError) as error:
        raise ValueError(f"an annotation cannot be read: {error}") from None


class Provided:
    """The values of one call.

    Args:
        exchange: the call, for providers that take it.
        stack: closes what they open.
        thread: where those run that are not async.
    """

    def __init__(self, exchange: Exchange | None, stack: AsyncExitStack, thread: CallThread) -> None:
        self._exchange = exchange
        self._stack = stack
        self._thread = thread
        self._made: dict[Any, Any] = {}

    async def value_of(self, dependency: Dependency) -> Any:
        """The value that a provider gives, made when it is first needed."""
        provider = dependency.provider
        if provider in self._made:
            return self._made[provider]
        given: dict[str, Any] = {name: await self.value_of(need) for name, need in dependency.needs}
        if dependency.exchange is not None:
            given[dependency.exchange] = self._exchange
        value = await self._call(provider, given)
        self._made[provider] = value
        return value

    async def _call(self, provider: Callable[..., Any], given: dict[str, Any]) -> Any:
        if provider is lifespan_value:  # it waits for nothing
            return lifespan_value()
        function = plain_function(provider)
        if inspect.iscoroutinefunction(function):
            return await provider(**given)
        if inspect.isasyncgenfunction(function):
            return await self._opened(asynccontextmanager(provider)(**given))
        if inspect.isgeneratorfunction(function):
            return await self._opened(_InThread(contextmanager(provider)(**given), self._thread))
        if inspect.isasyncgenfunction(inspect.unwrap(provider)):  # decorated as a context manager already
            return await self._opened(provider(**given))
        value = await self._thread.run(provider, **given)
        if inspect.isgeneratorfunction(inspect.unwrap(provider)):
            return await self._opened(_InThread(value, self._thread))
        return await value if inspect.iscoroutine(value) else value  # what wraps an async function gives what it gives

    async def _opened(self, manager: AbstractAsyncContextManager[Any]) -> Any:
        value = await manager.__aenter__()
        self._stack.push_async_exit(_leaving(manager))
        return value


def _leaving(manager: AbstractAsyncContextManager[Any]) -> Callable[..., Awaitable[None]]:
    """What leaves a context manager, and hides nothing of what was raised in it."""

    async def leave(*raised: Any) -> None:
        await manager.__aexit__(*raised)

    return leave


class _InThread(AbstractAsyncContextManager[Any]):
    """A context manager that is entered and left in the thread of a call."""

    def __init__(self, manager: AbstractContextManager[Any], thread: CallThread) -> None:
        self._manager = manager
        self._thread = thread
        self._entered = False

    async def __aenter__(self) -> Any:
        try:
            return await self._thread.run(self._enter)
        except asyncio.CancelledError:  # it may be entered all the same, and then nobody else would leave it
            self._thread.start(self._leave)
            raise

    async def __aexit__(self, *raised: Any) -> None:
        await self._thread.run(self._manager.__exit__, *raised)

    def _enter(self) -> Any:
        value = self._manager.__enter__()
        self._entered = True
        return value

    def _leave(self) -> None:
        if self._entered:
            called(partial(self._manager.__exit__, None, None, None), _not_closed)


def _not_closed(error: Exception) -> None:
    log.error("closing what a dependency had opened for a call that was given up failed", exc_info=error)
