"""What a request is answered in: who sent it, in which revision, and where messages go before its answer.

Rule: plain data, the same for every transport.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_contract import Declaration

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.server.sessions import Session


@dataclass(slots=True)
class Context:
    """Where a message came from.

    Attributes:
        adapter: the revision that answers it.
        session: its session, where there is one.
        principal: who sent it; None for nobody in particular.
        send: puts a message on the stream of the reply.
    """

    adapter: Adapter
    session: Session | None
    principal: str | None
    send: Callable[[bytes], None]


@dataclass(slots=True)
class Call:
    """One request that is being answered.

    Attributes:
        context: where it came from.
        method: its method.
        client: what the client declared, as far as it holds for this request.
    """

    context: Context
    method: str
    client: Declaration
