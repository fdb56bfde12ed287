"""Who sends a request, and how somebody is told that this is not known or not enough.

Rule: whatever cannot tell who sends a request lets nobody in; what went wrong is for the log.
Specification: basic/authorization#token-handling
"""

from __future__ import annotations

import inspect
import logging
import re

from mcp_contract import Forbidden, ProtocolError, Unauthorized

from mcp_anyrev.head import Head
from mcp_anyrev.principal import Principal, Recognise

log = logging.getLogger("mcp_anyrev.server")

_UNQUOTED = re.compile(r"[^\x20\x21\x23-\x5b\x5d-\x7e]")


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


def challenge(error: ProtocolError, metadata_url: str | None) -> str | None:
    """The value of `WWW-Authenticate` for an error; None for one that no credentials would mend.

    Args:
        error: what happened.
        metadata_url: where the metadata of the protected resource is, if there is any.
    """
    if not isinstance(error, Unauthorized | Forbidden) or (isinstance(error, Forbidden) and not error.scopes):
        return None
    told = {"resource_metadata": metadata_url, "error": error.problem, "scope": " ".join(error.scopes) or None}
    members = [f'{name}="{_UNQUOTED.sub("", value)}"' for name, value in told.items() if value is not None]
    return f"Bearer {', '.join(members)}".rstrip()
