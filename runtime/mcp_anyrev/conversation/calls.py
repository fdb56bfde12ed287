"""What a request is answered in: who sent it, in which revision, and where messages go before its answer.

Rule: plain data, the same for every transport.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_contract import Declaration, Json, JsonObject

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.conversation.outbox import Outbox
    from mcp_anyrev.principal import Principal
    from mcp_anyrev.server.sessions import Session


@dataclass(slots=True)
class Context:
    """Where a message came from.

    Attributes:
        adapter: the revision that answers it.
        session: its session, where there is one.
        principal: who sent it; None for nobody in particular.
        send: puts a message on the stream of the reply.
        headers: the head of the request, looked up by names in lower case; None where the transport has none.
        outbox: where `send` puts messages, where that is a stream of this reply alone.
        cancelled: has the request been given up?
        endless: may it go on for as long as the client likes?
    """

    adapter: Adapter
    session: Session | None
    principal: Principal | None
    send: Callable[[bytes], None]
    headers: Mapping[str, str] | None = None
    outbox: Outbox | None = None
    cancelled: bool = False
    endless: bool = False


@dataclass(slots=True)
class Call:
    """One request that is being answered.

    Attributes:
        context: where it came from.
        method: its method.
        client: what the client declared, as far as it holds for this request.
        identifier: the id of the request.
        params: its params as sent.
        open: is the answer still to come?
    """

    context: Context
    method: str
    client: Declaration
    identifier: Json
    params: JsonObject
    open: bool = True
