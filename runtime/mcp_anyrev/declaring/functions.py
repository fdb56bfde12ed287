"""What can stand for a function: a partial, an object that can be called, and whatever wraps another function.

Rule: a declaration asks here what a callable is, and nowhere else.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any


def plain_function(function: Any) -> Callable[..., Any]:
    """The function that a callable comes to: of a partial the one that it fills in, of an object its `__call__`."""
    while callable(function) and not isinstance(function, type):
        if isinstance(function, functools.partial):
            function = function.func
        elif inspect.isroutine(function):
            break
        else:
            function = function.__call__  # its own, as it is bound
    found: Callable[..., Any] = function
    return found


def is_async(function: Callable[..., Any]) -> bool:
    """Does a call give something to wait for, whatever wraps the function that does?"""
    return inspect.iscoroutinefunction(inspect.unwrap(plain_function(function)))


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """What is left to give a function; a partial has given the rest.

    Raises:
        ValueError: nobody knows what it takes.
    """
    filled = function.keywords if isinstance(function, functools.partial) else {}
    return [one for one in inspect.signature(function).parameters.values() if one.name not in filled]


def own_name(function: Callable[..., Any]) -> str:
    """The name of a function, of a partial that of what it fills in; empty for what has none."""
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__name__", "")
    return name if isinstance(name, str) else ""


def doc_of(function: Callable[..., Any]) -> str | None:
    """The docstring of a function, of a partial that of what it fills in, of an object that of its class."""
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.getdoc(function) or inspect.getdoc(plain_function(function))


async def waited_for(value: Any) -> Any:
    """What a function that is not async gave; where it wraps one that is, what that gives."""
    return await value if inspect.isawaitable(value) else value


def in_whole(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is not async, whose values are all there when it returns: what yields them is code of the application, too."""

    def run(**given: Any) -> Any:
        value = function(**given)
        return list(value) if isinstance(value, Iterator) else value

    return run
