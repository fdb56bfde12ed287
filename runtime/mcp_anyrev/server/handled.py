"""Running the function of a resource, a prompt or a completion: what it raises, turned into what a client may know.

Rule: nothing of an exception but a `ToolError`'s words leaves this process.
Specification: server/resources#error-handling, server/prompts#error-handling
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mcp_contract import InternalError, InvalidParams, JsonObject, ProtocolError

from mcp_anyrev.declaring.results import UnusableResult
from mcp_anyrev.declaring.signatures import ArgumentFault
from mcp_anyrev.errors import ToolError
from mcp_anyrev.server.asking.asking import Suspended

if TYPE_CHECKING:
    from mcp_anyrev.declaring.declared import Declared
    from mcp_anyrev.declaring.threads import Threads
    from mcp_anyrev.exchange import Exchange

log = logging.getLogger("mcp_anyrev.server")


async def handled(
    what: str,
    part: Declared,
    arguments: JsonObject,
    exchange: Exchange | None,
    threads: Threads,
    result_of: Callable[[Any], JsonObject],
    wrong: Callable[[str], ProtocolError] = InvalidParams,
) -> JsonObject:
    """Run a function once.

    Args:
        what: what the part is, in one word.
        part: what is used.
        arguments: what its function gets.
        exchange: the call, for a function that takes it.
        threads: where what is not async runs.
        result_of: from what the function returns to the result in canonical form.
        wrong: from words to the error for arguments that the function's own types refuse.

    Raises:
        InternalError: it failed.
        ProtocolError: it ended in an error of another kind.
        Suspended: it has asked, and the answer has to come first.
    """
    try:
        return result_of(await part.call(arguments, exchange, threads))
    except ArgumentFault as fault:
        raise wrong(f"wrong arguments for the {what}: {fault}") from None
    except ToolError as error:
        raise InternalError(error.message) from None
    except ProtocolError:
        raise
    except UnusableResult as reason:
        log.error("%s %r returned what it must not: %s", what, part.key, reason)
    except Exception:
        log.exception("%s %r failed", what, part.key)
    except BaseExceptionGroup as group:
        # A task group wraps what its tasks raise; a suspension is meant for the caller of the whole handler.
        if group.subgroup(Suspended) is None:
            raise
        raise Suspended from None
    raise InternalError(f"the {what} failed; the server's log says why")
