"""Who sends a request, as the application recognises them.

Rule: whatever cannot tell who sends a request lets nobody in; what went wrong is for the log.
Specification: basic/authorization#token-handling
"""

from __future__ import annotations

import inspect
import logging

from mcp_contract import Forbidden, Unauthorized

from mcp_anyrev.head import Head
from mcp_anyrev.principal import Principal, Recognise

log = logging.getLogger("mcp_anyrev.server")


async def recognised(recognise: Recognise, head: Head) -> Principal | None:
    """Who sends a request.

    Raises:
        Unauthorized: nobody that is let in, or it could not be found out.
        Forbidden: somebody who may not do this.
    """
    try:
        found = recognise(head)
        found = await found if inspect.isawaitable(found) else found
        return found if found is None or isinstance(found, Principal) else Principal(found)
    except (Unauthorized, Forbidden):
        raise
    except Exception:
        log.exception("finding out who sends a request failed")
        raise Unauthorized("who sends this could not be found out") from None
