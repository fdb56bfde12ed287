"""Tools: listed, called, and what becomes of their schemas.

Rule: arguments are checked against the declared schema, whatever a client was shown, and a tool that could not do its work says so in
a result.
Specification: server/tools
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcp_contract import InvalidParams, JsonObject, Loss, NotSimplifiable, Simplified
from mcp_revisions import VERSIONS

from mcp_anyrev.declaring.kinds.kind import Announcement, Changed, Kind, Listing, Offered, Use, View, Withheld
from mcp_anyrev.declaring.output_schemas import is_object_schema, wrapped, wrapped_schema
from mcp_anyrev.declaring.results import failed, tool_result
from mcp_anyrev.errors import WrongArguments
from mcp_anyrev.extent import deeper_than
from mcp_anyrev.turns import LARGE_BYTES, others_first

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.declaring.threads import Threads
    from mcp_anyrev.declaring.tools import Tool
    from mcp_anyrev.exchange import Exchange
    from mcp_anyrev.settings import Schemas, Settings


@dataclass(frozen=True, slots=True)
class OfferedTool(Offered):
    """A tool as a revision gets it.

    Attributes:
        wraps_output: is a result that is no object wrapped?
        schemas: how its input schema is sent; None for what the revision says.
        wrong_arguments_in_result: are arguments that do not fit told in a result?
    """

    wraps_output: bool = field(kw_only=True)
    schemas: Schemas | None = field(kw_only=True)
    wrong_arguments_in_result: bool = field(kw_only=True)


UNREADABLE = "input_schema"
"""The question of the inventory that withholds a tool whose input schema clients could not read."""

_AT_ONCE = "a call is answered once its work is done, and not as a task"


class ToolCall(Use):
    """A call of a tool.

    Attributes:
        nesting: the most objects and arrays within each other that its arguments may hold.
    """

    __slots__ = ("nesting",)

    offered: OfferedTool
    part: Tool
    nesting: int

    @property
    def label(self) -> str:
        """See `Use.label`."""
        return f"the tool {self.target}"

    @property
    def once(self) -> bool:
        """See `Use.once`."""
        return self.part.once

    async def run(self, params: JsonObject, exchange: Exchange | None, threads: Threads) -> JsonObject:
        """See `Use.run`."""
        tool = self.part
        arguments: JsonObject = params.get("arguments", {})
        for value in arguments.values():
            if isinstance(value, dict | list):
                self._check_nesting(arguments)
                break
        if not tool.arguments.accepts(arguments):
            if self.offered.losses:  # a client that was shown less may have left out what it did not see
                arguments = tool.missing_members.as_null(arguments)
            if not self.offered.losses or not tool.arguments.accepts(arguments):
                raise WrongArguments(tool.arguments.faults(arguments))
        given = tool.read(arguments) if self.size < LARGE_BYTES else await threads.aside(tool.read, arguments)
        returned = await tool.call(given, exchange, threads)
        if self.size >= LARGE_BYTES:
            await others_first()
        result = tool_result(returned, tool.returned, tool.output)
        return wrapped(result, tool.description.get("outputSchema")) if self.offered.wraps_output else result

    def _check_nesting(self, arguments: JsonObject) -> None:
        place = deeper_than(arguments, self.nesting)
        if place is not None:
            raise WrongArguments(
                f"{place} is nested too deeply; at most {self.nesting} objects and arrays in each other"
            )

    def wrong(self, words: str) -> JsonObject:
        """See `Use.wrong`."""
        if not self.offered.wrong_arguments_in_result:
            return super().wrong(words)
        return failed(f"wrong arguments: {words}")

    def failed(self, words: str) -> JsonObject:
        """See `Use.failed`."""
        return failed(words)


class Tools(Kind):
    """What is peculiar to tools."""

    def offered(self, part: Tool, adapter: Adapter, settings: Settings) -> Offered | Withheld:
        """See `Kind.offered`."""
        if part.min_revision is not None and VERSIONS.index(adapter.version) > VERSIONS.index(part.min_revision):
            return Withheld(f"it is declared for {part.min_revision} and later", "min_revision")
        if part.asks and adapter.asks_in_arguments and not part.asks_in_arguments:
            return Withheld("it asks, and was not to ask in its arguments", "asks_in_arguments")
        schemas = part.schemas_sent(settings.schemas)
        try:
            without_headers = adapter.header_annotations(part.description["inputSchema"])
            simplified = _sent(without_headers.schema, adapter, schemas)
        except NotSimplifiable as error:
            reason = f'its input schema cannot be simplified: {error}; schemas="declared" would send it as it is'
            return Withheld(reason, UNREADABLE)
        listed = {**part.description, "inputSchema": simplified.schema}
        if part.asks:
            listed["inputSchema"] = adapter.answer_arguments(simplified.schema)
        wraps = part.wraps_output and adapter.wraps_output
        output_schema = part.description.get("outputSchema")
        if wraps and output_schema is not None and not is_object_schema(output_schema):
            listed["outputSchema"] = wrapped_schema(output_schema)
        header_schema = part.description["inputSchema"] if part.has_header_parameters else None
        return OfferedTool(
            part,
            listed,
            without_headers.losses + simplified.losses,
            header_schema,
            wraps_output=wraps,
            schemas=schemas,
            wrong_arguments_in_result=adapter.wrong_arguments_in_result,
        )

    def changed(self, offered: Offered, adapter: Adapter, sent: JsonObject) -> Iterator[Changed]:
        """See `Kind.changed`."""
        tool: Tool = offered.part
        if "title" in tool.description and "title" not in sent:
            yield Changed("`title` is no member of its own", None, "tool_title", "title")
        schema = tool.description["inputSchema"]
        stripped = adapter.header_annotations(schema)
        for loss in stripped.losses:
            yield Changed(_said(loss), loss.why, "header_annotations")
        schemas = offered.schemas if isinstance(offered, OfferedTool) else None
        for loss in _sent(stripped.schema, adapter, schemas).losses:
            yield Changed(_said(loss), loss.why, "input_schema")
        if tool.answers_later and "execution" not in sent:
            what = "a call is a task of a client that declared tasks" if adapter.task_methods else _AT_ONCE
            yield Changed(what, None, "task_asked", "execution")
        declared = tool.description.get("outputSchema")
        if declared is None or sent.get("outputSchema") == declared:
            return
        if "outputSchema" in sent:
            what = 'a result is sent as {"result": …}, and its schema wrapped'
            yield Changed(what, _WRAPPED, "wraps_output", "outputSchema")
            return
        hint = "; wrap_output=True would send it wrapped in an object" if adapter.wraps_output else ""
        what = "`outputSchema` is not published, and the result is sent as text alone"
        yield Changed(what, f"the revision cannot publish this one{hint}", "output_schema", "outputSchema")

    def use(self, view: View, method: str, params: JsonObject) -> Use:
        """See `Kind.use`."""
        name = params["name"]
        offered = view.indexes[self].get(name)
        if offered is None:
            withheld = view.withheld.get(self, {}).get(name)
            if withheld is not None:
                raise InvalidParams(f"the tool {name!r} is not offered on {view.adapter.version}: {withheld.reason}")
            raise InvalidParams(f"there is no tool {name!r}")
        call = ToolCall(offered, name)
        call.nesting = view.nesting
        return call


def _sent(schema: JsonObject, adapter: Adapter, schemas: Schemas | None) -> Simplified:
    """An input schema as a client gets it."""
    return Simplified(schema, ()) if schemas == "declared" else adapter.input_schema(schema, schemas == "plain")


def _said(loss: Loss) -> str:
    return f"input schema at `{loss.pointer or '/'}`: {loss.what}"


_WRAPPED = "a structured result has to be an object, and the tool is declared with wrap_output=True"

TOOLS = Tools(
    "tools",
    "tool",
    listings=(Listing("tools/list", "tools"),),
    methods=("tools/call",),
    capability="tools",
    announcements=(Announcement("tools", "listChanged", "notifications/tools/list_changed", "toolsListChanged"),),
)
