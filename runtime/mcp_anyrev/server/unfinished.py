"""Where the state of an unfinished call is while the person thinks.

Rule: bound to the server, the principal, the operation and its arguments. State that does not belong to this very call is none.
Specification: basic/patterns/mrtr#server-requirements-basic-workflow
"""

from __future__ import annotations

import hashlib
import json
import secrets
from typing import TYPE_CHECKING, Protocol

from mcp_contract import InvalidParams, Json

from mcp_anyrev.server.asking import Unfinished
from mcp_anyrev.server.sealing import Seal, SealBroken

if TYPE_CHECKING:
    from mcp_anyrev.storage import SessionStore


def purpose_of(server: str, principal: str | None, method: str, target: str, arguments: Json) -> bytes:
    """What binds state to a call.

    Args:
        server: the server's name.
        principal: who calls.
        method: the method of the request.
        target: which tool, prompt or resource it is for.
        arguments: the call's own arguments, without answers and state.
    """
    told = json.dumps([server, principal, method, target, arguments], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(told.encode()).digest()


class Keeper(Protocol):
    """A way to get state from one attempt to the next."""

    async def save(self, unfinished: Unfinished, purpose: bytes) -> str:
        """State → what the client echoes."""
        ...

    async def load(self, echoed: str, purpose: bytes) -> Unfinished:
        """What the client echoed → the state.

        Raises:
            InvalidParams: it is not what `save` gave for this purpose, or its time is over.
        """
        ...


class SealedKeeper:
    """The state itself travels, sealed: nothing is stored, and it can be replayed until it expires.

    Args:
        seal: seals and opens.
    """

    def __init__(self, seal: Seal) -> None:
        self._seal = seal

    async def save(self, unfinished: Unfinished, purpose: bytes) -> str:
        """See `Keeper.save`."""
        return self._seal.seal(unfinished.to_json(), purpose)

    async def load(self, echoed: str, purpose: bytes) -> Unfinished:
        """See `Keeper.load`."""
        try:
            return Unfinished.from_json(self._seal.open(echoed, purpose))
        except SealBroken:
            raise InvalidParams("the echoed state is not of this call, or too old; call again without it") from None


class StoredKeeper:
    """A short handle travels, since a model has to copy it; the state stays in the session store.

    Args:
        store: where it stays.
        ttl: for how many seconds.
    """

    def __init__(self, store: SessionStore, ttl: float) -> None:
        self._store = store
        self._ttl = ttl

    async def save(self, unfinished: Unfinished, purpose: bytes) -> str:
        """See `Keeper.save`."""
        handle = secrets.token_urlsafe(16)
        kept = {"purpose": purpose.hex(), "unfinished": unfinished.to_json()}
        await self._store.put(f"unfinished/{handle}", kept, self._ttl)
        return handle

    async def load(self, echoed: str, purpose: bytes) -> Unfinished:
        """See `Keeper.load`."""
        kept = await self._store.get(f"unfinished/{echoed}")
        if kept is None or kept["purpose"] != purpose.hex():
            raise InvalidParams("the echoed state is not of this call, or too old; call again without it")
        return Unfinished.from_json(kept["unfinished"])
