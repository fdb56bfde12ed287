"""What stands around a request: the hooks of the registries that it goes through, and the value of the lifespan.

Rule: hooks see canonical values, never a wire form, and whatever was raised as it was raised. Those of a registry stand in the order in
which they were given, the first one outermost; those of an including registry stand outside those of an included one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_contract import Declaration, JsonObject

from mcp_anyrev.declaring.dependencies import set_lifespan_value
from mcp_anyrev.declaring.results import json_text
from mcp_anyrev.declaring.returned import UnusableResult

if TYPE_CHECKING:
    from mcp_anyrev.declaring.registry import Registry
    from mcp_anyrev.principal import Principal


@dataclass(frozen=True, slots=True)
class Invocation:
    """One attempt at answering a request.

    Attributes:
        method: the method of the request.
        target: the name or address of what it is for; None where it names nothing.
        params: its params in canonical form, without anything that belongs to asking.
        client: what the client declared.
        principal: who calls; None for nobody in particular.
    """

    method: str
    target: str | None
    params: JsonObject
    client: Declaration
    principal: Principal | None


Proceed = Callable[[Invocation], Awaitable[JsonObject]]
Around = Callable[[Invocation, Proceed], Awaitable[JsonObject]]
"""From an invocation, and what goes on with it or with one like it, to the result in canonical form."""


def surrounded(path: Sequence[Registry], values: Mapping[Registry, Any], work: Proceed) -> Proceed:
    """What is to be run for a request, with everything around it.

    Args:
        path: the registries that the request goes through, the served one first.
        values: the values of the lifespans that run.
        work: runs it.
    """
    owner = path[-1]
    if owner in values:
        work = _with_value(values[owner], work)
    hooks = [hook for registry in path for hook in registry.hooks]
    for hook in reversed(hooks):
        work = _within(hook, work)
    return _checked(work) if hooks else work


def _with_value(value: Any, work: Proceed) -> Proceed:
    def run(invocation: Invocation) -> Awaitable[JsonObject]:
        set_lifespan_value(value)
        return work(invocation)

    return run


def _checked(work: Proceed) -> Proceed:
    async def run(invocation: Invocation) -> JsonObject:
        result = json_text(await work(invocation))[0]
        if not isinstance(result, dict):
            raise UnusableResult("the result that leaves a hook is an object")
        return result

    return run


def _within(hook: Around, work: Proceed) -> Proceed:
    def run(invocation: Invocation) -> Awaitable[JsonObject]:
        return hook(invocation, work)

    return run
