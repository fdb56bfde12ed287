"""Prompts: listed and filled in.

Rule: arguments are text, and a prompt reads them itself.
Specification: server/prompts
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_contract import InvalidParams, JsonObject

from mcp_anyrev.declaring.contents import prompt_result
from mcp_anyrev.declaring.kinds.kind import Announcement, Kind, Listing, Use, View

if TYPE_CHECKING:
    from mcp_anyrev.declaring.prompts import Prompt
    from mcp_anyrev.declaring.threads import Threads
    from mcp_anyrev.exchange import Exchange


class PromptFilling(Use):
    """Filling a prompt in."""

    __slots__ = ()

    part: Prompt

    @property
    def label(self) -> str:
        """See `Use.label`."""
        return "the prompt"

    async def run(self, params: JsonObject, exchange: Exchange | None, threads: Threads) -> JsonObject:
        """See `Use.run`."""
        given = self.part.read(self.part.filled_in(params.get("arguments", {})))
        return prompt_result(self.part, await self.part.call(given, exchange, threads))


class Prompts(Kind):
    """What is peculiar to prompts."""

    def use(self, view: View, method: str, params: JsonObject) -> Use:
        """See `Kind.use`."""
        name = params["name"]
        offered = view.indexes[self].get(name)
        if offered is None:
            raise InvalidParams(f"there is no prompt {name!r}")
        return PromptFilling(offered, name)


PROMPTS = Prompts(
    "prompts",
    "prompt",
    listings=(Listing("prompts/list", "prompts"),),
    methods=("prompts/get",),
    capability="prompts",
    announcements=(Announcement("prompts", "listChanged", "notifications/prompts/list_changed", "promptsListChanged"),),
)
