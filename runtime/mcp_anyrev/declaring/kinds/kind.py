"""What a kind of things is: how it is listed and used, what is declared and announced of it, and what becomes of it on a revision.

Rule: a descriptor knows the adapter that it is asked about, and neither a server nor a transport. What it does not say otherwise is
what most kinds do.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from mcp_contract import InternalError, InvalidParams, JsonObject, Loss, MethodNotFound, ProtocolError

from mcp_anyrev.declaring.declared import Declared
from mcp_anyrev.declaring.returned import UnusableResult
from mcp_anyrev.errors import ToolError, WrongArguments
from mcp_anyrev.user_code import causes

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.declaring.threads import Threads
    from mcp_anyrev.exchange import Exchange
    from mcp_anyrev.settings import Settings

log = logging.getLogger("mcp_anyrev.server")


class Listing(NamedTuple):
    """A list of things of a kind.

    Attributes:
        method: the request that asks for it.
        member: the member of the result that holds it.
        of: the declarations that are in it: exactly those of this class. None for all of the kind.
        noun: what one of them is; None for what one of the kind is.
    """

    method: str
    member: str
    of: type[Declared] | None = None
    noun: str | None = None

    def holds(self, part: Declared) -> bool:
        """Is a declaration in this list?"""
        return self.of is None or type(part) is self.of


class Announcement(NamedTuple):
    """A change of a kind that clients can be told of.

    Attributes:
        change: what `Settings.announce` and `Change.kind` call it.
        member: the member of the kind's capability that promises it; empty for none.
        notification: the notification that tells it.
        wanted: the member by which a client that opens a stream of changes asks for it.
        of_one: is it a change of one thing, named by its address, and not of a list?
        subscribing: the requests by which a session says that it wants to be told of one thing, and that it no longer does.
    """

    change: str
    member: str
    notification: str
    wanted: str
    of_one: bool = False
    subscribing: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Offered:
    """A declaration as a revision gets it.

    Attributes:
        part: the declaration.
        listed: what is listed of it, in canonical form.
        losses: what its schema has lost on the way.
        header_schema: the schema of arguments that headers repeat; None where they repeat none.
        alone: is its function all there is to using it?
    """

    part: Any
    listed: JsonObject
    losses: tuple[Loss, ...] = ()
    header_schema: JsonObject | None = None
    alone: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "alone", self.part.stands_alone)


@dataclass(frozen=True, slots=True)
class Withheld:
    """Why a revision does not get a declaration.

    Attributes:
        reason: in words that go on from "because".
        concern: the question of the inventory whose answer decided, or the option of the declaration; None where the revision has
            nothing of the kind.
        otherwise: does the revision get the same in another way?
    """

    reason: str
    concern: str | None
    otherwise: bool = False


class Changed(NamedTuple):
    """Something that becomes of a declaration on its way to a client.

    Attributes:
        what: what happens, a clause.
        why: why; None where the answer of the inventory says it.
        concern: the question of the inventory whose answer decided; None where the declaration did.
        member: the member of the description that this is all about, if it is about one.
    """

    what: str
    why: str | None = None
    concern: str | None = None
    member: str | None = None


class View(Protocol):
    """What is offered to one who asks."""

    adapter: Adapter

    nesting: int
    """The most objects and arrays within each other that arguments may hold."""

    indexes: Mapping[Kind, Any]
    """What things of a kind are found by, as `Kind.index` made it, for every kind that there may be."""

    offered: Mapping[Kind, Mapping[str, Offered]]
    """Everything that is offered, by kind and key."""

    withheld: Mapping[Kind, Mapping[str, Withheld]]
    """What the revision does not get, of what who asks would see otherwise."""


class Use(ABC):
    """What one request is for, and what comes of it.

    Args:
        offered: the declaration that is used; None for none.
        target: its name or address, as the request has it; None where the request names nothing.

    Attributes:
        offered, target: see above.
        part: the declaration itself.
        size: how many bytes the request has, roughly.
    """

    __slots__ = ("offered", "part", "size", "target")

    offered: Offered | None
    part: Any
    target: str | None

    def __init__(self, offered: Offered | None, target: str | None) -> None:
        self.offered = offered
        self.part = None if offered is None else offered.part
        self.target = target
        self.size = 0

    @property
    def label(self) -> str:
        """What is used, as a complaint calls it."""
        return "the request"

    @property
    def once(self) -> bool:
        """Does only one of several attempts go on, that continue the same request?"""
        return False

    @abstractmethod
    async def run(self, params: JsonObject, exchange: Exchange | None, threads: Threads) -> JsonObject:
        """Run the function, once.

        Args:
            params: the params of the request, without anything that belongs to asking.
            exchange: the call, for a function that takes it.
            threads: where what is not async runs.

        Returns:
            The result in canonical form.

        Raises:
            WrongArguments: the arguments do not fit.
            UnusableResult: the function returned what it must not.
            Exception: what it raised.
        """

    def answer_to(self, error: Exception) -> JsonObject:
        """What answers a request whose function, providers or hooks raised something.

        Nothing of that leaves the process but the words of a `ToolError`, and what is a protocol error already, whether it was raised
        alone or among others; the rest is for the log.

        Args:
            error: what was raised.

        Raises:
            ProtocolError: the request is answered with an error.
        """
        words: list[str] = []
        for cause in causes(error):
            if isinstance(cause, ProtocolError):
                raise cause
            if isinstance(cause, WrongArguments):
                return self.wrong(str(cause))
            if isinstance(cause, ToolError):
                words.append(str(cause.message))
            elif isinstance(cause, UnusableResult):
                log.error("%s: %r returned what it must not: %s", self.label, self.target, cause)
            else:
                log.error("%s: %r failed", self.label, self.target, exc_info=cause)
        return self.failed("\n".join(words) or f"{self.label} failed; the server's log says why")

    def wrong(self, words: str) -> JsonObject:
        """What answers a request whose arguments do not fit: a result, or an error."""
        raise InvalidParams(f"wrong arguments for {self.label}: {words}")

    def failed(self, words: str) -> JsonObject:
        """What answers a request that could not be carried out, with words for the client: a result, or an error."""
        raise InternalError(words)


class Kind:
    """A kind of things.

    Args:
        name: the name of the kind, in the plural.
        noun: what one of them is, as a complaint says it.
        listings: its lists.
        methods: the requests that use one of them.
        named_by: the member of their params that names which.
        capability: the member of the capabilities that says that there are any; None for none.
        announcements: the changes that clients can be told of.
        extension: the name of the extension that defines it; None where the protocol itself does. What an extension defines, no
            schema of a revision knows, so it is there where a revision's peers declare extensions.
        settings: what is declared of the extension besides.
    """

    def __init__(
        self,
        name: str,
        noun: str,
        *,
        listings: Sequence[Listing] = (),
        methods: Sequence[str] = (),
        named_by: str = "name",
        capability: str | None = None,
        announcements: Sequence[Announcement] = (),
        extension: str | None = None,
        settings: JsonObject | None = None,
    ) -> None:
        self.name = name
        self.noun = noun
        self.listings = tuple(listings)
        self.methods = tuple(methods)
        self.named_by = named_by
        self.capability = capability
        self.announcements = tuple(announcements)
        self.extension = extension
        self.settings = settings or {}
        self.declared_by_clients = True
        """Does a client have to declare the extension to use it?"""

    def __repr__(self) -> str:
        return f"<kind {self.name}>"

    def is_native(self, adapter: Adapter) -> bool:
        """Does a revision have anything of this kind?"""
        asked_by = (*(listing.method for listing in self.listings), *self.methods)
        return any(self.has_method(adapter, method) for method in asked_by)

    def has_method(self, adapter: Adapter, method: str) -> bool:
        """Does a revision have a method of this kind?"""
        return method in adapter.client_requests if self.extension is None else adapter.declares_extensions

    def declares(self, announced: Collection[str]) -> JsonObject:
        """The part of a server's capabilities that is about this kind, in canonical form.

        Args:
            announced: the changes that are told.
        """
        told = {one.member: True for one in self.announcements if one.member and one.change in announced}
        if self.extension is not None:
            return {"extensions": {self.extension: {**self.settings, **told}}}
        return {} if self.capability is None else {self.capability: told}

    def check_params(self, method: str, params: JsonObject) -> None:
        """See that the params of a request fit it, where no schema of a revision knows its method.

        Raises:
            InvalidParams: they do not.
        """

    def identity(self, part: Any) -> str:
        """What no two declarations of this kind may have in common; the key if not said otherwise."""
        key: str = part.key
        return key

    def offered(self, part: Any, adapter: Adapter, settings: Settings) -> Offered | Withheld:
        """A declaration as a revision gets it, or why it does not.

        Args:
            part: the declaration.
            adapter: the revision.
            settings: how the server is run.
        """
        return Offered(part, part.description)

    def changed(self, offered: Offered, adapter: Adapter, sent: JsonObject) -> Iterator[Changed]:
        """What becomes of a declaration, besides members that the revision's schema does not define.

        Args:
            offered: the declaration, as it is offered.
            adapter: the revision.
            sent: what is listed of it, as the revision has it.
        """
        return iter(())

    def index(self, offered: Mapping[str, Offered]) -> Any:
        """What those that are offered are found by; the same by their keys if not said otherwise."""
        return offered

    def use(self, view: View, method: str, params: JsonObject) -> Use:
        """What a request is for.

        Args:
            view: what is offered to who asks.
            method: the method of the request, one of `methods`.
            params: its params.

        Raises:
            ProtocolError: nothing that is offered to who asks.
        """
        raise MethodNotFound(f"this server has no method {method!r}")
