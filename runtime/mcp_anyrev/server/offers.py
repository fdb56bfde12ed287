"""What one revision gets of a registry: made once, and again when the registry changes.

Rule: whatever does not depend on the request is made here, so that a call finds it ready. What a revision does not get is kept with
the reason, so that it can be explained.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_contract import JsonObject, Loss, NotSimplifiable
from mcp_revisions import VERSIONS
from pydantic_core import to_json

from mcp_anyrev.declaring.output_schemas import is_object_schema, wrapped_schema
from mcp_anyrev.declaring.prompts import PROMPT
from mcp_anyrev.declaring.uri_templates import is_usable, normalized
from mcp_anyrev.server.pages import Pages

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.declaring.declared import Declared
    from mcp_anyrev.declaring.registry import Registry
    from mcp_anyrev.declaring.resources import Resource
    from mcp_anyrev.declaring.tools import Tool
    from mcp_anyrev.settings import Settings

METHODS: Mapping[str, tuple[str, ...]] = {
    "tools": ("tools/list", "tools/call"),
    "resources": (
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "resources/subscribe",
        "resources/unsubscribe",
    ),
    "prompts": ("prompts/list", "prompts/get"),
    "completions": ("completion/complete",),
}
"""The methods that there are only where there is, or has been, something of a kind."""


@dataclass(frozen=True, slots=True)
class Withheld:
    """Why a revision does not get a tool.

    Attributes:
        reason: in words that go on from "because".
        concern: the question of the inventory whose answer decided, or the option of the declaration.
    """

    reason: str
    concern: str


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool as a revision gets it.

    Attributes:
        tool: the declared tool.
        listed: what is listed of it, in canonical form.
        losses: what its input schema has lost.
        wraps_output: is a result that is no object wrapped?
        direct: does a call need nothing but its arguments?
    """

    tool: Tool
    listed: JsonObject
    losses: tuple[Loss, ...]
    wraps_output: bool
    direct: bool


class Offer:
    """What is offered on one revision.

    Args:
        registry: what is declared.
        adapter: the revision.
        served: all revisions that the server serves, newest first.
        settings: how the server is run.
        earlier: what was offered before, so that what has not changed is not made again.

    Attributes:
        edition: the state of the registry that this was made of.
        tools: the tools that are offered, by name, in the order of their declaration.
        withheld: the tools that are not, by name, with the reason.
        prompts: the prompts, by name, in the order of their declaration.
        missing_methods: the methods that this server does not have, since it offers nothing of their kind.
        capabilities: what the server declares, in canonical form.
        server: who the server is, as the revision has it.
        description: the finished result of a request that asks for a description of the server, as JSON.
    """

    def __init__(
        self,
        registry: Registry,
        adapter: Adapter,
        served: tuple[str, ...],
        settings: Settings,
        earlier: Offer | None = None,
    ) -> None:
        self.edition = registry.edition
        self._adapter = adapter
        self._page_size = settings.page_size
        self.server = adapter.encode_implementation(registry.server)
        self.withheld: dict[str, Withheld] = {}
        known: Mapping[str, OfferedTool] = {} if earlier is None else earlier.tools
        self.tools: dict[str, OfferedTool] = self._offered_tools(registry, known)
        self.prompts = registry.prompts
        self.completions = registry.completions
        self.resources = registry.resources
        self._at_address = {
            resource.address: resource for resource in self.resources.values() if resource.template is None
        }
        self._templates = [resource for resource in self.resources.values() if resource.template is not None]
        absent = METHODS.keys() - registry.kinds
        self.missing_methods = frozenset(method for kind in absent for method in METHODS[kind])
        self._pages = {
            "tools/list": self._listed("tools/list", "tools", {n: one.listed for n, one in self.tools.items()}),
            "prompts/list": self._listed("prompts/list", "prompts", _descriptions(self.prompts)),
            "resources/list": self._listed("resources/list", "resources", _descriptions(self._at_address)),
            "resources/templates/list": self._listed(
                "resources/templates/list",
                "resourceTemplates",
                {resource.key: resource.description for resource in self._templates},
            ),
        }
        self.capabilities = capabilities_of(registry, settings)
        described = adapter.description_result(registry.server, self.capabilities, registry.instructions, served)
        self.description = to_json(adapter.encode_result(adapter.description_method, described, self.server))

    @property
    def losses(self) -> dict[str, tuple[Loss, ...]]:
        """What the input schemas of the offered tools have lost, by the names of the tools that have lost something."""
        return {name: one.losses for name, one in self.tools.items() if one.losses}

    def page(self, method: str, cursor: str | None) -> bytes:
        """The finished result of a request for a list, as JSON.

        Args:
            method: the method of the request.
            cursor: as the request has it; None for none.

        Raises:
            InvalidParams: it is no cursor of this list.
        """
        if cursor == "" and self._adapter.empty_cursor_ends:  # no cursor here, so it stands for none
            cursor = None
        return self._pages[method].page(cursor)

    def resource(self, uri: str) -> tuple[Resource, JsonObject] | None:
        """The resource at an address with the arguments of its function; None where there is none.

        Where several templates have the address, the one that was declared first counts.
        """
        if not is_usable(uri):
            return None
        address = normalized(uri)
        fixed = self._at_address.get(address)
        if fixed is not None:
            return fixed, {}
        for resource in self._templates:
            arguments = resource.arguments_of(address)
            if arguments is not None:
                return resource, arguments
        return None

    def arguments_of(self, kind: str, of: str) -> Collection[str]:
        """The arguments of a prompt, or the variables of a template, that a client wants to have completed."""
        if kind == PROMPT:
            prompt = self.prompts.get(of)
            return () if prompt is None else prompt.arguments.keys()
        resource = self.resources.get(of)
        if resource is None or resource.template is None:
            return ()
        return [variable.name for variable in resource.template.variables]

    def _offered_tools(self, registry: Registry, earlier: Mapping[str, OfferedTool]) -> dict[str, OfferedTool]:
        offered = {}
        for name, tool in registry.tools.items():
            known = earlier.get(name)
            if known is not None and known.tool is tool and known.direct == _is_direct(tool):
                offered[name] = known
                continue
            try:
                made = self._offered(tool)
            except NotSimplifiable as error:
                made = Withheld(f"its input schema cannot be simplified: {error}", "input_schema")
            if isinstance(made, Withheld):
                self.withheld[name] = made
            else:
                offered[name] = made
        return offered

    def _offered(self, tool: Tool) -> OfferedTool | Withheld:
        adapter = self._adapter
        if tool.min_revision is not None and VERSIONS.index(adapter.version) > VERSIONS.index(tool.min_revision):
            return Withheld(f"it is declared for {tool.min_revision} and later", "min_revision")
        if tool.asks and adapter.asks_in_arguments and not tool.asks_in_arguments:
            return Withheld("it asks, and was not to ask in its arguments", "asks_in_arguments")
        without_headers = adapter.header_annotations(tool.description["inputSchema"])
        simplified = adapter.input_schema(without_headers.schema, tool.plain_schema)
        listed = {**tool.description, "inputSchema": simplified.schema}
        if tool.asks:
            listed["inputSchema"] = adapter.answer_arguments(simplified.schema)
        wraps = tool.wraps_output and adapter.wraps_output
        output_schema = tool.description.get("outputSchema")
        if wraps and output_schema is not None and not is_object_schema(output_schema):
            listed["outputSchema"] = wrapped_schema(output_schema)
        return OfferedTool(tool, listed, without_headers.losses + simplified.losses, wraps, _is_direct(tool))

    def _listed(self, method: str, member: str, described: Mapping[str, JsonObject]) -> Pages:
        def finish(items: Sequence[JsonObject], following: str | None) -> bytes:
            result: dict[str, Any] = {member: list(items)}
            if following is not None:
                result["nextCursor"] = following
            return to_json(self._adapter.encode_result(method, result, self.server))

        return Pages(list(described.values()), list(described), self._page_size, finish)


def capabilities_of(registry: Registry, settings: Settings) -> JsonObject:
    """What a server declares: what it has, and what changes of it it announces. In canonical form, for all revisions."""
    announced = set(settings.announce if settings.listen else ())  # what cannot be heard is not announced
    capabilities: JsonObject = {}
    for kind in ("tools", "prompts", "resources"):
        if kind in registry.kinds:
            capabilities[kind] = {"listChanged": True} if kind in announced else {}
    if "resources" in capabilities and "updates" in announced:
        capabilities["resources"]["subscribe"] = True
    if "completions" in registry.kinds:
        capabilities["completions"] = {}
    if any(part.takes_exchange for part in registry.parts()):
        capabilities["logging"] = {}
    return capabilities


def _descriptions(parts: Mapping[str, Declared]) -> dict[str, JsonObject]:
    return {part.key: part.description for part in parts.values()}


def _is_direct(tool: Tool) -> bool:
    return not tool.takes_exchange and all(one.hook is None and one.lifespan is None for one in tool.path)
