"""Where the state of an unfinished call is while the person thinks.

Rule: bound to the server, the principal, the operation and its arguments. State that does not belong to this very call is none.
State that is to be used once is backed by a ticket in the session store, which exactly one of its users gets.
Specification: basic/patterns/mrtr#server-requirements-basic-workflow
"""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from mcp_contract import InvalidParams, Json, JsonObject
from mcp_contract.questions import ANSWERS_ARGUMENT, STATE_ARGUMENT
from pydantic_core import from_json, to_json

from mcp_anyrev.errors import ToolError
from mcp_anyrev.server.asking.sealing import Seal, SealBroken
from mcp_anyrev.storage.keys import key

if TYPE_CHECKING:
    from mcp_anyrev.storage.protocols import SessionStore

_KIND = "unfinished"
_REFUSAL = (
    f"{STATE_ARGUMENT} is not of this call, too old, or used up; call the tool again, with the same arguments, but without"
    f" {ANSWERS_ARGUMENT} and {STATE_ARGUMENT}"
)


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


@dataclass(slots=True)
class Unfinished:
    """What is known of a call that is not finished.

    Attributes:
        answered: key → digest of the question, and the answer that counted.
        open: key → digest of a question that has been asked and not answered.
        done: key → what work that is done only once has given.
        state: what the handler kept for its next attempt.
    """

    answered: dict[str, tuple[str, JsonObject]] = field(default_factory=dict)
    open: dict[str, str] = field(default_factory=dict)
    done: dict[str, Json] = field(default_factory=dict)
    state: Json = None

    def to_json(self) -> JsonObject:
        """As JSON, to be kept or to travel."""
        answered = {key: list(value) for key, value in self.answered.items()}
        return {"answered": answered, "open": self.open, "done": self.done, "state": self.state}

    @classmethod
    def from_json(cls, kept: JsonObject) -> Unfinished:
        """What `to_json` gave."""
        answered = {key: (digest, said) for key, (digest, said) in kept["answered"].items()}
        return cls(answered, dict(kept["open"]), dict(kept["done"]), kept["state"])


class Keeper(Protocol):
    """A way to get state from one attempt to the next."""

    async def save(self, unfinished: Unfinished, purpose: bytes, once: bool, owner: str) -> str:
        """State → what the client echoes.

        Args:
            unfinished: the state.
            purpose: what it is for.
            once: is it to be loaded only once?
            owner: whose budget counts what is stored.
        """
        ...

    async def load(self, echoed: str, purpose: bytes, once: bool) -> Unfinished:
        """What the client echoed → the state.

        Raises:
            InvalidParams: it is not what `save` gave for this purpose, its time is over, or it has been used.
            ToolError: the same, where a model has copied it and can be told how to go on.
        """
        ...


class SealedKeeper:
    """The state itself travels, sealed: nothing is stored, and it can be replayed until it expires, unless it is for once.

    Args:
        seal: seals and opens.
        store: where the tickets of state for once are.
        ttl: for how many seconds.
    """

    def __init__(self, seal: Seal, store: SessionStore, ttl: float) -> None:
        self._seal = seal
        self._store = store
        self._ttl = ttl

    async def save(self, unfinished: Unfinished, purpose: bytes, once: bool, owner: str) -> str:
        """See `Keeper.save`."""
        ticket = secrets.token_urlsafe(16) if once else None
        if ticket is not None:
            await self._store.put_if(key("ticket", ticket), None, b"", self._ttl, owner=owner, in_flight=True)
        return self._seal.seal({"unfinished": unfinished.to_json(), "ticket": ticket}, purpose)

    async def load(self, echoed: str, purpose: bytes, once: bool) -> Unfinished:
        """See `Keeper.load`."""
        try:
            opened = self._seal.open(echoed, purpose)
        except SealBroken:
            raise _refusal() from None
        if once and (opened["ticket"] is None or await self._store.consume(key("ticket", opened["ticket"])) is None):
            raise _refusal()
        return Unfinished.from_json(opened["unfinished"])


class StoredKeeper:
    """A short handle travels, since a model has to copy it; the state stays in the session store.

    Args:
        store: where it stays.
        ttl: for how many seconds.
    """

    def __init__(self, store: SessionStore, ttl: float) -> None:
        self._store = store
        self._ttl = ttl

    async def save(self, unfinished: Unfinished, purpose: bytes, once: bool, owner: str) -> str:
        """See `Keeper.save`."""
        handle = secrets.token_urlsafe(16)
        kept = to_json({"purpose": purpose.hex(), "unfinished": unfinished.to_json()})
        await self._store.put_if(key(_KIND, handle), None, kept, self._ttl, owner=owner, in_flight=True)
        return handle

    async def load(self, echoed: str, purpose: bytes, once: bool) -> Unfinished:
        """See `Keeper.load`."""
        try:
            under = key(_KIND, echoed)
        except ValueError:
            raise ToolError(_REFUSAL) from None
        stored = await self._store.get(under)
        kept = None if stored is None else from_json(stored.value)
        if kept is None or kept["purpose"] != purpose.hex():  # looked at first: a stranger must not use it up
            raise ToolError(_REFUSAL)
        if once and await self._store.consume(under) is None:
            raise ToolError(_REFUSAL)
        return Unfinished.from_json(kept["unfinished"])


def _refusal() -> InvalidParams:
    return InvalidParams("the echoed state is not of this call, too old, or used up; call again without it")
