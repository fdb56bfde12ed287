"""Running a tool: arguments checked, the function called, what it does turned into a result.

Rule: arguments are checked against the declared schema, whatever a client was shown. Nothing of an exception but a `ToolError`'s
words leaves this process.
Specification: server/tools#error-handling
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from mcp_contract import JsonObject, ProtocolError

from mcp_anyrev.declaring.output_schemas import wrapped
from mcp_anyrev.declaring.results import UnusableResult, failed, tool_result
from mcp_anyrev.declaring.signatures import ArgumentFault
from mcp_anyrev.errors import ToolError
from mcp_anyrev.server.asking.asking import Suspended

if TYPE_CHECKING:
    from mcp_anyrev.declaring.threads import Threads
    from mcp_anyrev.exchange import Exchange
    from mcp_anyrev.server.offers import OfferedTool

log = logging.getLogger("mcp_anyrev.server")


async def run_tool(
    offered: OfferedTool, arguments: JsonObject, exchange: Exchange | None, threads: Threads
) -> JsonObject:
    """Run a tool once.

    Args:
        offered: the tool, as the revision has it.
        arguments: its arguments as sent, without anything that belongs to asking.
        exchange: what a tool that takes one gets.
        threads: where what is not async runs.

    Returns:
        The result in canonical form; one with `isError` where the arguments are wrong or the tool failed.

    Raises:
        ProtocolError: the request is answered with an error instead.
        Suspended: the tool has asked, and the answer has to come first.
    """
    tool = offered.tool
    if not tool.arguments.accepts(arguments):
        if offered.losses:  # a client that was shown less may have left out what it did not see
            arguments = tool.missing_members.as_null(arguments)
        if not offered.losses or not tool.arguments.accepts(arguments):
            return failed(f"wrong arguments: {tool.arguments.faults(arguments)}")
    try:
        result = tool_result(await tool.call(arguments, exchange, threads), tool.output)
        return wrapped(result, tool.description.get("outputSchema")) if offered.wraps_output else result
    except ArgumentFault as fault:
        return failed(f"wrong arguments: {fault}")
    except ToolError as error:
        return failed(error.message)
    except ProtocolError:
        raise
    except UnusableResult as reason:
        log.error("tool %r returned what it must not: %s", tool.name, reason)
    except Exception:
        log.exception("tool %r failed", tool.name)
    except BaseExceptionGroup as group:
        # A task group wraps what its tasks raise; a suspension is meant for the caller of the whole handler.
        if group.subgroup(Suspended) is None:
            raise
        raise Suspended from None
    return failed(f"the tool {tool.name} failed; the server's log says why")
