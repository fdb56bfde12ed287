"""Completions: what completes an argument of a prompt, or a variable of a resource template.

Rule: only what is offered to who asks can be completed; an argument that nothing completes has no values to choose from.
Specification: server/utilities/completion
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_contract import InvalidParams, JsonObject

from mcp_anyrev.declaring.contents import completion_result
from mcp_anyrev.declaring.kinds.kind import Kind, Use, View
from mcp_anyrev.declaring.kinds.prompts import PROMPTS
from mcp_anyrev.declaring.kinds.resources import RESOURCES
from mcp_anyrev.declaring.prompts import PROMPT, completion_key

if TYPE_CHECKING:
    from mcp_anyrev.declaring.declared import Declared
    from mcp_anyrev.declaring.prompts import Completion
    from mcp_anyrev.declaring.threads import Threads
    from mcp_anyrev.exchange import Exchange


class Completing(Use):
    """Completing an argument of a prompt or a template, which is the target."""

    __slots__ = ()

    part: Completion | None

    @property
    def label(self) -> str:
        """See `Use.label`."""
        return "the completion"

    async def run(self, params: JsonObject, exchange: Exchange | None, threads: Threads) -> JsonObject:
        """See `Use.run`."""
        if self.part is None:
            return completion_result([])
        arguments: JsonObject = {"value": params["argument"]["value"]}
        if self.part.takes_others:
            arguments["arguments"] = params.get("context", {}).get("arguments", {})
        return completion_result(await self.part.call(self.part.read(arguments), exchange, threads))


class Completions(Kind):
    """What is peculiar to completions."""

    def use(self, view: View, method: str, params: JsonObject) -> Use:
        """See `Kind.use`."""
        reference, name = params["ref"], params["argument"]["name"]
        kind = reference["type"]
        of = reference["name"] if kind == PROMPT else reference["uri"]
        completed = _completed(view, kind, of)
        if completed is None or name not in completed.completed_arguments:
            raise InvalidParams(f"there is nothing to complete: {of!r} has no argument {name!r}")
        return Completing(view.indexes[self].get(completion_key(kind, completed.key, name)), of)


def _completed(view: View, kind: str, of: str) -> Declared | None:
    offered = view.indexes[PROMPTS].get(of) if kind == PROMPT else view.indexes[RESOURCES].listed(of)
    return None if offered is None else offered.part


COMPLETIONS = Completions("completions", "completion of", methods=("completion/complete",), capability="completions")
