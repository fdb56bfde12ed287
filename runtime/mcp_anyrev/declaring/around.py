"""What stands around a call: the hooks of the registries that offer the thing, and the value of the lifespan.

Rule: hooks see canonical values, never a wire form; the hook of an including registry stands outside that of an included one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_contract import Declaration, JsonObject

from mcp_anyrev.declaring.dependencies import set_lifespan_value

if TYPE_CHECKING:
    from mcp_anyrev.declaring.declared import Declared
    from mcp_anyrev.declaring.registry import Registry
    from mcp_anyrev.principal import Principal


@dataclass(frozen=True, slots=True)
class Invocation:
    """One attempt to use something that is declared.

    Attributes:
        method: the method of the request.
        target: the name or address of what it is for.
        params: its params in canonical form, without anything that belongs to asking.
        client: what the client declared.
        principal: who calls; None for nobody in particular.
    """

    method: str
    target: str
    params: JsonObject
    client: Declaration
    principal: Principal | None


Proceed = Callable[[Invocation], Awaitable[JsonObject]]
Around = Callable[[Invocation, Proceed], Awaitable[JsonObject]]
"""From an invocation, and what goes on with it or with one like it, to the result in canonical form."""


def surrounded(part: Declared, values: Mapping[Registry, Any], work: Proceed) -> Proceed:
    """What is to be run for a part, with everything around it.

    Args:
        part: what is used.
        values: the values of the lifespans that run.
        work: runs it.
    """
    owner = part.path[-1]
    if owner in values:
        value, inner = values[owner], work

        def with_value(invocation: Invocation) -> Awaitable[JsonObject]:
            set_lifespan_value(value)
            return inner(invocation)

        work = with_value
    for registry in reversed(part.path):
        if registry.hook is not None:
            work = _within(registry.hook, work)
    return work


def _within(hook: Around, work: Proceed) -> Proceed:
    def run(invocation: Invocation) -> Awaitable[JsonObject]:
        return hook(invocation, work)

    return run
