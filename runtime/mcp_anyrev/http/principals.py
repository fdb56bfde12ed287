"""Who sends a request, as the application recognises them.

Rule: whatever cannot tell who sends a request lets nobody in; what went wrong is for the log. What is not async may wait, so it runs in
a thread.
Specification: basic/authorization#token-handling
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NoReturn

from mcp_contract import ProtocolError, Unauthorized

from mcp_anyrev.head import Head
from mcp_anyrev.principal import Principal, Recognise
from mcp_anyrev.user_code import awaited

if TYPE_CHECKING:
    from mcp_anyrev.declaring.threads import Threads

log = logging.getLogger("mcp_anyrev.server")


class Recognition:
    """Finds out who sends a request.

    Args:
        recognise: knows it.
        threads: where it runs if it is not async.
    """

    def __init__(self, recognise: Recognise, threads: Threads) -> None:
        self._recognise = recognise
        self._threads = threads

    async def __call__(self, head: Head) -> Principal | None:
        """Who sends a request.

        Raises:
            Unauthorized: nobody that is let in, or it could not be found out.
            ProtocolError: any other refusal of the application's.
        """
        return await awaited(self._recognised(head), _not_known)

    async def _recognised(self, head: Head) -> Principal | None:
        found = await self._threads.result_of(self._recognise, head)
        return found if found is None or isinstance(found, Principal) else Principal(found)


def _not_known(error: Exception) -> NoReturn:
    if isinstance(error, ProtocolError):
        raise error
    log.error("finding out who sends a request failed", exc_info=error)
    raise Unauthorized("who sends this could not be found out") from None
