"""What one revision gets of a registry: made once, and again when the registry changes.

Rule: whatever does not depend on the request is made here, so that a call finds it ready.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_contract import JsonObject
from mcp_revisions import VERSIONS
from pydantic_core import to_json

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.server.registry import Registry, Tool


class Offer:
    """What is offered on one revision.

    Args:
        registry: what is declared.
        adapter: the revision.
        served: all revisions that the server serves, newest first.

    Attributes:
        edition: the state of the registry that this was made of.
        tools: the tools that are offered, by name, in the order of their declaration.
        tool_list: the finished result of a request for the list, as JSON.
        server: who the server is, as the revision has it.
        description: the finished result of a request that asks for a description of the server, as JSON.
    """

    def __init__(self, registry: Registry, adapter: Adapter, served: tuple[str, ...]) -> None:
        self.edition = registry.edition
        self.tools = {name: tool for name, tool in registry.tools.items() if _is_offered(tool, adapter)}
        listed = {"tools": [_listed(tool, adapter) for tool in self.tools.values()]}
        self.server = adapter.encode_implementation(registry.server)
        self.tool_list = to_json(adapter.encode_result("tools/list", listed, self.server))
        capabilities: JsonObject = {"tools": {}}
        described = adapter.description_result(registry.server, capabilities, registry.instructions, served)
        self.description = to_json(adapter.encode_result(adapter.description_method, described, self.server))


def _is_offered(tool: Tool, adapter: Adapter) -> bool:
    if tool.takes_exchange and adapter.asks_in_arguments and not tool.asks_in_arguments:
        return False
    oldest = VERSIONS[-1] if tool.min_revision is None else tool.min_revision
    return VERSIONS.index(adapter.version) <= VERSIONS.index(oldest)


def _listed(tool: Tool, adapter: Adapter) -> JsonObject:
    if not tool.takes_exchange:
        return tool.description
    return {**tool.description, "inputSchema": adapter.answer_arguments(tool.description["inputSchema"])}
