"""Running code of the application, and what becomes of whatever leaves it.

Rule: this is the only place that does. Nothing of an exception leaves the process but the words of a `ToolError`, and what is a
protocol error already; the rest is for the log.
Specification: server/tools#error-handling
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from typing import TYPE_CHECKING

from mcp_contract import JsonObject, ProtocolError

from mcp_anyrev.declaring.results import UnusableResult
from mcp_anyrev.errors import ToolError, WrongArguments
from mcp_anyrev.server.asking.asking import Suspended

if TYPE_CHECKING:
    from mcp_anyrev.declaring.kinds import Use

log = logging.getLogger("mcp_anyrev.server")


async def handled(use: Use, work: Awaitable[JsonObject]) -> JsonObject:
    """What work of the application comes to: handler, dependencies, hooks.

    Args:
        use: what the request is for.
        work: does it.

    Returns:
        The result in canonical form; for some kinds one that says what went wrong.

    Raises:
        ProtocolError: the request is answered with an error.
        Suspended: it has asked, and the answer has to come first.
    """
    try:
        return await work
    except WrongArguments as fault:
        return use.wrong(str(fault))
    except ToolError as error:
        return use.failed(error.message)
    except ProtocolError:
        raise
    except UnusableResult as reason:
        log.error("%s: %r returned what it must not: %s", use.label, use.target, reason)
    except Exception:
        log.exception("%s: %r failed", use.label, use.target)
    except BaseExceptionGroup as group:
        # A task group wraps what its tasks raise; a suspension is meant for the caller of the whole handler.
        if group.subgroup(Suspended) is None:
            raise
        raise Suspended from None
    return use.failed(f"{use.label} failed; the server's log says why")
